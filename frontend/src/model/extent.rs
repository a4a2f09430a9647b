// SPDX-License-Identifier: Apache-2.0
//! Extents: static, or dynamic with an upper bound (2.6, 3.1).

use std::fmt;
use std::sync::Arc;

use super::print::infix;

/// The size of one dimension.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// Known at composition.
    Fixed(u64),
    /// Computed at run time by `expr`, at most `bound`.
    Dynamic {
        /// Its value over the dynamic extents of the function's inputs.
        expr: Arc<ShapeExpr>,
        /// The upper bound.
        bound: u64,
    },
}

/// An expression over dynamic extents of the function's inputs, with an i64 value. Conditions in it are 0 and 1, reals
/// are f64, as at compile time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ShapeExpr {
    /// A constant.
    Constant(i64),
    /// The bits of an f64.
    Real(u64),
    /// A named dynamic extent, unique in its function.
    Symbol(String),
    /// A scalar operation.
    Apply {
        /// The operation.
        op: skript_semantics::ScalarOp,
        /// The operands, in order.
        operands: Vec<ShapeExpr>,
    },
}

/// The shape as text, `[2,3]`; `~|8` for an extent that has no name in the document.
pub fn shape_text(shape: &[Extent]) -> String {
    let extents = shape.iter().map(|extent| match extent {
        Extent::Dynamic { expr, bound } if is_unnamed(expr) => format!("~|{bound}"),
        known => known.to_string(),
    });
    let extents: Vec<String> = extents.collect();
    format!("[{}]", extents.join(","))
}

/// Whether the expression contains a synthesized name, which has a dot.
fn is_unnamed(expr: &ShapeExpr) -> bool {
    match expr {
        ShapeExpr::Symbol(name) => name.contains('.'),
        ShapeExpr::Apply { operands, .. } => operands.iter().any(is_unnamed),
        ShapeExpr::Constant(_) | ShapeExpr::Real(_) => false,
    }
}

impl Extent {
    /// The extent if it is static.
    pub fn fixed(&self) -> Option<u64> {
        match self {
            Extent::Fixed(n) => Some(*n),
            Extent::Dynamic { .. } => None,
        }
    }

    /// The extent, or its upper bound.
    pub fn bound(&self) -> u64 {
        match self {
            Extent::Fixed(n) => *n,
            Extent::Dynamic { bound, .. } => *bound,
        }
    }
}

impl ShapeExpr {
    /// The number of operations; each occurrence counts.
    pub fn operations(&self) -> usize {
        self.operations_with(&mut |_| 0)
    }

    /// The number of operations if each symbol is replaced by an expression with `symbol(name)` operations.
    pub fn operations_with(&self, symbol: &mut dyn FnMut(&str) -> usize) -> usize {
        match self {
            ShapeExpr::Constant(_) | ShapeExpr::Real(_) => 0,
            ShapeExpr::Symbol(name) => symbol(name),
            ShapeExpr::Apply { operands, .. } => {
                operands.iter().fold(1, |sum, operand| sum.saturating_add(operand.operations_with(symbol)))
            }
        }
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extent::Fixed(n) => write!(f, "{n}"),
            Extent::Dynamic { expr, bound } => write!(f, "{expr}|{bound}"),
        }
    }
}

impl fmt::Display for ShapeExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        With { expr: self, symbol: &str::to_owned }.fmt(f)
    }
}

impl ShapeExpr {
    /// The text, with a text for each symbol.
    pub fn text(&self, symbol: &dyn Fn(&str) -> String) -> String {
        With { expr: self, symbol }.to_string()
    }
}

/// An expression with a text for each symbol.
struct With<'e> {
    expr: &'e ShapeExpr,
    symbol: &'e dyn Fn(&str) -> String,
}

impl With<'_> {
    /// Prints an operand, in parentheses if it is an infix operation.
    fn operand(&self, expr: &ShapeExpr, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = With { expr, ..*self };
        match expr {
            ShapeExpr::Apply { op, .. } if infix(*op).is_some() => write!(f, "({text})"),
            _ => write!(f, "{text}"),
        }
    }
}

impl fmt::Display for With<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.expr {
            ShapeExpr::Constant(n) => write!(f, "{n}"),
            ShapeExpr::Real(bits) => write!(f, "{:?}", f64::from_bits(*bits)),
            ShapeExpr::Symbol(name) => f.write_str(&(self.symbol)(name)),
            ShapeExpr::Apply { op, operands } => match (infix(*op), operands.as_slice()) {
                (Some(sign), [a, b]) => {
                    self.operand(a, f)?;
                    write!(f, " {sign} ")?;
                    self.operand(b, f)
                }
                _ => {
                    write!(f, "{}(", format!("{op:?}").to_lowercase())?;
                    for (index, expr) in operands.iter().enumerate() {
                        let comma = if index == 0 { "" } else { ", " };
                        write!(f, "{comma}{}", With { expr, ..*self })?;
                    }
                    f.write_str(")")
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skript_semantics::ScalarOp;

    fn apply(op: ScalarOp, a: ShapeExpr, b: ShapeExpr) -> ShapeExpr {
        ShapeExpr::Apply { op, operands: vec![a, b] }
    }

    #[test]
    fn extents_are_printed_as_the_language_writes_them() {
        let s = || ShapeExpr::Symbol("s".into());
        let sum = apply(ScalarOp::Add, s(), ShapeExpr::Constant(1));
        let product = apply(ScalarOp::Mul, ShapeExpr::Constant(2), sum);
        let extent = Extent::Dynamic { expr: Arc::new(apply(ScalarOp::Max, product, s())), bound: 8 };
        assert_eq!(extent.to_string(), "max(2 * (s + 1), s)|8");
    }

    #[test]
    fn operations_are_counted_as_often_as_they_are_written() {
        let s = || ShapeExpr::Symbol("s".into());
        let square = apply(ScalarOp::Mul, s(), s());
        assert_eq!(square.operations(), 1);
        assert_eq!(square.operations_with(&mut |_| 10), 21);
    }
}
