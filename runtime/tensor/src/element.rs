// SPDX-License-Identifier: Apache-2.0
//! Types of tensor elements, in memory and in files.

use skript_semantics::{IntType, Numbers, RealType, Scalar, ScalarKind};
use std::fmt;

/// The type of one element; little endian in memory. A bool is one byte, 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementType {
    /// IEEE 754 binary16.
    F16,
    /// bfloat16.
    BF16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// Two's complement, 8 bits.
    I8,
    /// Two's complement, 16 bits.
    I16,
    /// Two's complement, 32 bits.
    I32,
    /// Two's complement, 64 bits.
    I64,
    /// Unsigned, 8 bits.
    U8,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 64 bits.
    U64,
    /// One byte, 0 or 1.
    Bool,
}

impl ElementType {
    /// All types, in the order of their codes in compiled models, the cache and the C interfaces.
    pub const ALL: [ElementType; 13] = [
        ElementType::Bool,
        ElementType::I32,
        ElementType::I64,
        ElementType::F32,
        ElementType::F64,
        ElementType::F16,
        ElementType::BF16,
        ElementType::I8,
        ElementType::I16,
        ElementType::U8,
        ElementType::U16,
        ElementType::U32,
        ElementType::U64,
    ];

    /// The code, a position in [`ElementType::ALL`].
    pub fn code(self) -> u8 {
        let at = ElementType::ALL.iter().position(|e| *e == self);
        at.and_then(|at| u8::try_from(at).ok()).unwrap_or(u8::MAX)
    }

    /// The type of a code; `None` for unknown codes.
    pub fn from_code(code: u32) -> Option<ElementType> {
        let at = usize::try_from(code).ok()?;
        ElementType::ALL.get(at).copied()
    }

    /// The size of one element in bytes.
    pub fn size(self) -> usize {
        match self {
            ElementType::I8 | ElementType::U8 | ElementType::Bool => 1,
            ElementType::F16 | ElementType::BF16 | ElementType::I16 | ElementType::U16 => 2,
            ElementType::F32 | ElementType::I32 | ElementType::U32 => 4,
            ElementType::F64 | ElementType::I64 | ElementType::U64 => 8,
        }
    }

    /// The scalar kind of the elements in the language.
    pub fn kind(self) -> ScalarKind {
        match self {
            ElementType::F16 | ElementType::BF16 | ElementType::F32 | ElementType::F64 => ScalarKind::Real,
            ElementType::Bool => ScalarKind::Bool,
            _ => ScalarKind::Int,
        }
    }

    /// Whether the elements are ints.
    pub fn is_int(self) -> bool {
        self.kind() == ScalarKind::Int
    }

    /// The minimum and the maximum of this integer type, within 64 bits.
    pub fn int_range(self) -> (i64, i64) {
        let unused = 64 - 8 * self.size() as u32;
        match self {
            ElementType::U64 => (0, i64::MAX),
            ElementType::U8 | ElementType::U16 | ElementType::U32 => (0, (u64::MAX >> unused).cast_signed()),
            _ => (i64::MIN >> unused, i64::MAX >> unused),
        }
    }

    /// The element type of values of `kind`, if reals and ints have the storage types `numbers`; a bool is one byte.
    pub fn for_kind(kind: ScalarKind, numbers: Numbers) -> ElementType {
        match (kind, numbers.real, numbers.int) {
            (ScalarKind::Real, RealType::F16, _) => ElementType::F16,
            (ScalarKind::Real, RealType::BF16, _) => ElementType::BF16,
            (ScalarKind::Real, RealType::F32, _) => ElementType::F32,
            (ScalarKind::Real, RealType::F64, _) => ElementType::F64,
            (ScalarKind::Int, _, IntType::I8) => ElementType::I8,
            (ScalarKind::Int, _, IntType::I16) => ElementType::I16,
            (ScalarKind::Int, _, IntType::I32) => ElementType::I32,
            (ScalarKind::Int, _, IntType::I64) => ElementType::I64,
            (ScalarKind::Bool, ..) => ElementType::Bool,
        }
    }

    /// This type as a storage type of reals; `None` for ints and bools.
    pub fn real(self) -> Option<RealType> {
        match self {
            ElementType::F16 => Some(RealType::F16),
            ElementType::BF16 => Some(RealType::BF16),
            ElementType::F32 => Some(RealType::F32),
            ElementType::F64 => Some(RealType::F64),
            _ => None,
        }
    }

    /// This type as a storage type of ints; `I64` for all other types.
    pub fn int(self) -> IntType {
        match self {
            ElementType::I8 => IntType::I8,
            ElementType::I16 => IntType::I16,
            ElementType::I32 => IntType::I32,
            _ => IntType::I64,
        }
    }

    /// The message for a number that this storage type cannot represent. `value` is `None` for an int beyond 64 bits.
    pub fn refusal(self, value: Option<Scalar>) -> String {
        let (real, int) = (self.real().unwrap_or_default(), self.int());
        match value {
            Some(Scalar::Real(x)) => real.refusal(x),
            Some(Scalar::Int(i)) => int.refusal(Some(i)),
            Some(Scalar::Bool(_)) | None => int.refusal(None),
        }
    }

    /// The message for a value that does not fit this type, which the model declares.
    pub(crate) fn declared_refusal(self, value: Option<Scalar>) -> String {
        let (smallest, largest) = self.int_range();
        let range = match self {
            _ if !self.is_int() => return self.refusal(value),
            ElementType::U64 => format!("0 to {}", u64::MAX),
            _ => format!("{smallest} to {largest}"),
        };
        format!("which does not fit {self} ({range}), its type in the model")
    }

    /// The name in messages: `f32`.
    pub fn name(self) -> &'static str {
        match self {
            ElementType::F16 => "f16",
            ElementType::BF16 => "bf16",
            ElementType::F32 => "f32",
            ElementType::F64 => "f64",
            ElementType::I8 => "i8",
            ElementType::I16 => "i16",
            ElementType::I32 => "i32",
            ElementType::I64 => "i64",
            ElementType::U8 => "u8",
            ElementType::U16 => "u16",
            ElementType::U32 => "u32",
            ElementType::U64 => "u64",
            ElementType::Bool => "bool",
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ElementType::*;

    /// Name, bytes, minimum and maximum of each type, in the order of the codes.
    #[test]
    fn each_type_has_its_size_and_range() {
        let (all, positive) = ((i64::MIN, i64::MAX), (0, i64::MAX));
        let table = [
            (Bool, "bool", 1, ScalarKind::Bool, None),
            (I32, "i32", 4, ScalarKind::Int, Some((-2_147_483_648, 2_147_483_647))),
            (I64, "i64", 8, ScalarKind::Int, Some(all)),
            (F32, "f32", 4, ScalarKind::Real, None),
            (F64, "f64", 8, ScalarKind::Real, None),
            (F16, "f16", 2, ScalarKind::Real, None),
            (BF16, "bf16", 2, ScalarKind::Real, None),
            (I8, "i8", 1, ScalarKind::Int, Some((-128, 127))),
            (I16, "i16", 2, ScalarKind::Int, Some((-32_768, 32_767))),
            (U8, "u8", 1, ScalarKind::Int, Some((0, 255))),
            (U16, "u16", 2, ScalarKind::Int, Some((0, 65_535))),
            (U32, "u32", 4, ScalarKind::Int, Some((0, 4_294_967_295))),
            (U64, "u64", 8, ScalarKind::Int, Some(positive)),
        ];
        for (code, (element, name, size, kind, range)) in (0..).zip(table) {
            assert_eq!((element.code(), ElementType::from_code(code.into())), (code, Some(element)));
            assert_eq!((element.name(), element.size(), element.kind()), (name, size, kind));
            assert_eq!(element.to_string(), name);
            assert_eq!(element.is_int(), kind == ScalarKind::Int);
            assert!(range.is_none_or(|range| range == element.int_range()), "{name}");
            let is_real = kind == ScalarKind::Real;
            assert_eq!(element.real().map(RealType::name), is_real.then_some(name));
            let int = if ["i8", "i16", "i32"].contains(&name) { name } else { "i64" };
            assert_eq!(element.int().name(), int);
        }
        assert_eq!(ElementType::from_code(13), None);
    }

    #[test]
    fn kinds_have_the_storage_types_of_the_command_line() {
        let reals = [RealType::F16, RealType::BF16, RealType::F32, RealType::F64];
        let ints = [IntType::I8, IntType::I16, IntType::I32, IntType::I64];
        for (real, int) in reals.into_iter().zip(ints) {
            let numbers = Numbers { real, int };
            let [b, i, r] = [ScalarKind::Bool, ScalarKind::Int, ScalarKind::Real]
                .map(|kind| ElementType::for_kind(kind, numbers));
            assert_eq!((b.name(), i.name(), r.name()), ("bool", int.name(), real.name()));
        }
    }

    #[test]
    fn refusals_state_the_type_of_the_model() {
        let text = U8.declared_refusal(Some(Scalar::Int(256)));
        assert_eq!(text, "which does not fit u8 (0 to 255), its type in the model");
        assert!(U64.declared_refusal(None).contains("(0 to 18446744073709551615)"));
        assert!(F16.declared_refusal(Some(Scalar::Real(1e5))).contains("does not fit f16 (at most 6.5504e4"));
        assert!(I8.refusal(Some(Scalar::Int(200))).ends_with("--int=i16 holds it"));
        assert!(I8.refusal(None).starts_with("which does not fit i8"));
    }
}
