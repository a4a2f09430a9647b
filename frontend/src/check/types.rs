// SPDX-License-Identifier: Apache-2.0
//! Static types of expressions (2.3), independent of any invocation.
//!
//! Every aspect has an "unknown" state, which agrees with anything: an expression that could not be typed (already
//! reported, or not decidable here) suppresses errors that depend on it.

use crate::ast::TypeParameter;
use crate::check::lengths::Length;
use std::fmt;
use std::rc::Rc;

/// The restriction of a generic type (2.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// `type`: all types.
    Any,
    /// `arith`: int, real, bool.
    Arith,
    /// `num`: int, real.
    Num,
    /// Another word (reported).
    Unknown,
}

impl Bound {
    /// The bound of a type parameter, from its word.
    pub(super) fn from_parameter(parameter: &TypeParameter) -> Bound {
        Bound::from_name(&parameter.bound.name).unwrap_or(Bound::Unknown)
    }

    pub(super) fn from_name(name: &str) -> Option<Bound> {
        match name {
            "type" => Some(Bound::Any),
            "arith" => Some(Bound::Arith),
            "num" => Some(Bound::Num),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Bound::Any | Bound::Unknown => "type",
            Bound::Arith => "arith",
            Bound::Num => "num",
        }
    }

    /// Whether `base` satisfies the bound; a generic satisfies it if the generic's bound is at least as narrow.
    pub(super) fn admits(self, base: &Base) -> bool {
        match (self, base) {
            (_, Base::Unknown) | (Bound::Any | Bound::Unknown, _) => true,
            (_, Base::Generic(g)) if g.bound == Bound::Unknown => true,
            (Bound::Arith, Base::Int | Base::Real | Base::Bool) => true,
            (Bound::Num, Base::Int | Base::Real) => true,
            (Bound::Arith, Base::Generic(g)) => g.bound != Bound::Any,
            (Bound::Num, Base::Generic(g)) => g.bound == Bound::Num,
            _ => false,
        }
    }

    /// The concrete types, for messages.
    pub(super) fn members(self) -> &'static str {
        match self {
            Bound::Any | Bound::Unknown => "any type",
            Bound::Arith => "int, real or bool",
            Bound::Num => "int or real",
        }
    }
}

/// A name of `@dtype`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Generic {
    pub(super) name: String,
    pub(super) bound: Bound,
}

/// A primitive type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Int,
    Real,
    Bool,
    Str,
    Generic(Rc<Generic>),
    Unknown,
}

impl Base {
    pub(super) fn concrete(name: &str) -> Option<Base> {
        match name {
            "int" => Some(Base::Int),
            "real" => Some(Base::Real),
            "bool" => Some(Base::Bool),
            "str" => Some(Base::Str),
            _ => None,
        }
    }

    /// Whether the two can be the same type; an unknown type agrees with all types, and two generics may be bound to one
    /// type.
    pub(super) fn agrees(&self, other: &Base) -> bool {
        match (self, other) {
            (Base::Unknown, _) | (_, Base::Unknown) | (Base::Generic(_), Base::Generic(_)) => true,
            _ => self == other,
        }
    }

    /// int, real, a generic over them, or unknown.
    pub(super) fn is_numeric(&self) -> bool {
        match self {
            Base::Int | Base::Real | Base::Unknown => true,
            Base::Generic(g) => matches!(g.bound, Bound::Num | Bound::Unknown),
            Base::Bool | Base::Str => false,
        }
    }

    /// Returns the known type of two types that agree.
    pub(super) fn or(self, other: &Base) -> Base {
        match self {
            Base::Unknown => other.clone(),
            known => known,
        }
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Base::Int => "int",
            Base::Real => "real",
            Base::Bool => "bool",
            Base::Str => "str",
            Base::Generic(g) => &g.name,
            Base::Unknown => "?",
        })
    }
}

/// One value or a pack of values.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Pack {
    Single,
    Packed(Length),
    Unknown,
}

/// Whether the value can be null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Optional {
    No,
    /// Depends on the invocation in a way that the definition does not determine.
    Maybe,
    Yes,
    /// Inside the branch of a failed null test.
    Null,
}

impl Optional {
    /// Null propagation: one null operand makes the result null (2.4.1).
    pub(super) fn join(self, other: Optional) -> Optional {
        use Optional::*;
        match (self, other) {
            (Null, _) | (_, Null) => Null,
            (Yes, _) | (_, Yes) => Yes,
            (Maybe, _) | (_, Maybe) => Maybe,
            (No, No) => No,
        }
    }

    /// Whether the type is certainly optional.
    pub(super) fn is_optional(self) -> bool {
        matches!(self, Optional::Yes | Optional::Null)
    }
}

/// Whether a name or expression denotes a tensor, and its rank.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tensor {
    No,
    Ranked(Length),
    Unknown,
}

/// The static type of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Type {
    pub(super) base: Base,
    pub(super) pack: Pack,
    pub(super) optional: Optional,
    pub(super) tensor: Tensor,
}

impl Type {
    /// The unknown type, which agrees with every type.
    pub(super) fn unknown() -> Type {
        Type { base: Base::Unknown, pack: Pack::Unknown, optional: Optional::Maybe, tensor: Tensor::Unknown }
    }

    pub(super) fn scalar(base: Base) -> Type {
        Type { base, pack: Pack::Single, optional: Optional::No, tensor: Tensor::No }
    }

    pub(super) fn packed(base: Base, length: Length) -> Type {
        Type { pack: Pack::Packed(length), ..Type::scalar(base) }
    }

    pub(super) fn tensor(base: Base, rank: Length) -> Type {
        Type { tensor: Tensor::Ranked(rank), ..Type::scalar(base) }
    }

    pub(super) fn is_tensor(&self) -> bool {
        matches!(self.tensor, Tensor::Ranked(_))
    }

    pub(super) fn is_single(&self) -> bool {
        self.pack == Pack::Single
    }

    pub(super) fn is_packed(&self) -> bool {
        matches!(self.pack, Pack::Packed(_))
    }

    /// The pack's length; unknown for other types.
    pub(super) fn length(&self) -> Length {
        match &self.pack {
            Pack::Packed(length) => length.clone(),
            _ => Length::unknown(),
        }
    }

    /// The type of one item of the pack.
    pub(super) fn item(&self) -> Type {
        Type { pack: Pack::Single, ..self.clone() }
    }

    pub(super) fn with_optional(mut self, optional: Optional) -> Type {
        self.optional = optional;
        self
    }

    pub(super) fn with_base(mut self, base: Base) -> Type {
        self.base = base;
        self
    }
}

impl fmt::Display for Type {
    /// The type as a declaration, without extents: `optional int..(k)`, `real[…]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.optional.is_optional() {
            f.write_str("optional ")?;
        }
        write!(f, "{}", self.base)?;
        if let Tensor::Ranked(rank) = &self.tensor {
            match rank.constant() {
                Some(0) => f.write_str("[]")?,
                Some(n @ 1..=8) => {
                    let extents: Vec<&str> = (0..n).map(|_| "_").collect();
                    write!(f, "[{}]", extents.join(","))?;
                }
                _ => f.write_str("[…]")?,
            }
        }
        if let Pack::Packed(length) = &self.pack {
            match length.text() {
                Some(text) => write!(f, "..({text})")?,
                None => f.write_str("..")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_print_as_declared() {
        let t = Type::packed(Base::Int, Length::symbol("k")).with_optional(Optional::Yes);
        assert_eq!(t.to_string(), "optional int..(k)");
        assert_eq!(Type::tensor(Base::Real, Length::number(2)).to_string(), "real[_,_]");
    }

    #[test]
    fn bounds_admit_their_members_only() {
        let generic = |bound| Base::Generic(Rc::new(Generic { name: "T".into(), bound }));
        assert!(Bound::Num.admits(&Base::Int) && !Bound::Num.admits(&Base::Bool));
        assert!(Bound::Arith.admits(&Base::Bool) && !Bound::Arith.admits(&Base::Str));
        assert!(Bound::Any.admits(&Base::Str));
        assert!(Bound::Arith.admits(&generic(Bound::Num)));
        assert!(!Bound::Num.admits(&generic(Bound::Arith)));
    }
}
