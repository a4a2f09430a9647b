//! Extents: fixed, or known at run time below a bound (2.6, 3.1).

use std::fmt;
use std::sync::Arc;

/// One dimension's size.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    Fixed(u64),
    /// Computed at run time by `expr`, at most `bound`.
    Dynamic {
        expr: Arc<ShapeExpr>,
        bound: u64,
    },
}

/// An expression over run-time extents of the function's inputs; as a whole an i64. Conditions in it are 0 and 1, reals
/// are f64, as at compile time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ShapeExpr {
    Constant(i64),
    /// The bits of an f64.
    Real(u64),
    /// A named run-time extent, unique in its function.
    Symbol(String),
    Apply {
        op: skript_semantics::ScalarOp,
        operands: Vec<ShapeExpr>,
    },
}

impl Extent {
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
        match self {
            ShapeExpr::Constant(n) => write!(f, "{n}"),
            ShapeExpr::Real(bits) => write!(f, "{:?}", f64::from_bits(*bits)),
            ShapeExpr::Symbol(name) => f.write_str(name),
            ShapeExpr::Apply { op, operands } => {
                write!(f, "{op:?}(")?;
                for (index, operand) in operands.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{operand}")?;
                }
                f.write_str(")")
            }
        }
    }
}
