// SPDX-License-Identifier: Apache-2.0
//! The scalar operations of the language: one row for each, with its name in the dialect, its operands and its result.
//!
//! [`crate::eval`] and [`crate::checked`] define the meaning, [`crate::expansion`] the form in operations of dialects,
//! [`crate::stablehlo`] the StableHLO form; all are keyed by [`ScalarOp`].

use crate::scalar::ScalarKind;
use crate::table::Domain::{self, Any, Logical, Numeric, Real};
use crate::table::{ResultKind, Row};

const SAME: ResultKind = ResultKind::Operand;
const BOOL: ResultKind = ResultKind::Fixed(ScalarKind::Bool);
const INT: ResultKind = ResultKind::Fixed(ScalarKind::Int);
const REAL: ResultKind = ResultKind::Fixed(ScalarKind::Real);

/// Name, number of operands, their kinds and the kind of the result of each operation.
macro_rules! operations {
    ($($(#[$doc:meta])* $op:ident = $name:literal, $arity:literal, $domain:expr, $result:expr;)*) => {
        /// A scalar operation of an expression or a formula (SkriptND 2.4).
        ///
        /// All operands of an operation have the same kind unless stated otherwise.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ScalarOp {
            $($(#[$doc])* $op,)*
        }

        impl ScalarOp {
            /// All operations, in the order of the enum.
            pub const ALL: [ScalarOp; [$($name),*].len()] = [$(ScalarOp::$op),*];

            /// The row of the table.
            pub fn row(self) -> Row {
                let (name, arity, domain, result): (_, _, Domain, ResultKind) = match self {
                    $(ScalarOp::$op => ($name, $arity, $domain, $result),)*
                };
                Row { op: self, name, arity, domain, result }
            }
        }
    };
}

operations! {
    // arithmetic: int, real
    /// `a + b`; integers wrap.
    Add = "skript.add", 2, Numeric, SAME;
    /// `a - b`; integers wrap.
    Sub = "skript.sub", 2, Numeric, SAME;
    /// `a * b`; integers wrap.
    Mul = "skript.mul", 2, Numeric, SAME;
    /// `a / b`; integers round down, and division by zero gives 0.
    Div = "skript.div", 2, Numeric, SAME;
    /// `\`: int rounds up; real is `ceil(a / b)`.
    CeilDiv = "skript.ceildiv", 2, Numeric, SAME;
    /// `%`: int has the sign of the divisor; real is `x - y * floor(x / y)`.
    Mod = "skript.mod", 2, Numeric, SAME;
    /// `a ** b`.
    Pow = "skript.pow", 2, Numeric, SAME;
    /// NaN if either operand is NaN.
    Min = "skript.min", 2, Numeric, SAME;
    /// NaN if either operand is NaN.
    Max = "skript.max", 2, Numeric, SAME;
    /// `-a`; integers wrap.
    Neg = "skript.neg", 1, Numeric, SAME;
    /// The absolute value; the minimum of an integer type is unchanged.
    Abs = "skript.abs", 1, Numeric, SAME;
    /// -1, 0 or 1.
    Sign = "skript.sign", 1, Numeric, SAME;
    // comparisons: bool, int, real; result bool
    /// `a < b`; false for NaN.
    Lt = "skript.lt", 2, Any, BOOL;
    /// `a <= b`; false for NaN.
    Le = "skript.le", 2, Any, BOOL;
    /// `a > b`; false for NaN.
    Gt = "skript.gt", 2, Any, BOOL;
    /// `a >= b`; false for NaN.
    Ge = "skript.ge", 2, Any, BOOL;
    /// `a == b`; false for NaN.
    Eq = "skript.eq", 2, Any, BOOL;
    /// `a != b`; true for NaN.
    Ne = "skript.ne", 2, Any, BOOL;
    // logic: bool
    /// `a && b`.
    And = "skript.and", 2, Logical, BOOL;
    /// `a || b`.
    Or = "skript.or", 2, Logical, BOOL;
    /// `a ^ b`.
    Xor = "skript.xor", 2, Logical, BOOL;
    /// `a => b`: false only for true and false.
    Implies = "skript.implies", 2, Logical, BOOL;
    /// `!a`.
    Not = "skript.not", 1, Logical, BOOL;
    // real functions
    /// The square root; NaN below zero.
    Sqrt = "skript.sqrt", 1, Real, SAME;
    /// The exponential function.
    Exp = "skript.exp", 1, Real, SAME;
    /// The natural logarithm.
    Log = "skript.log", 1, Real, SAME;
    /// The sine of an angle in radians.
    Sin = "skript.sin", 1, Real, SAME;
    /// The cosine of an angle in radians.
    Cos = "skript.cos", 1, Real, SAME;
    /// The tangent of an angle in radians.
    Tan = "skript.tan", 1, Real, SAME;
    /// The inverse sine, in radians.
    Asin = "skript.asin", 1, Real, SAME;
    /// The inverse cosine, in radians.
    Acos = "skript.acos", 1, Real, SAME;
    /// The inverse tangent, in radians.
    Atan = "skript.atan", 1, Real, SAME;
    /// The hyperbolic sine.
    Sinh = "skript.sinh", 1, Real, SAME;
    /// The hyperbolic cosine.
    Cosh = "skript.cosh", 1, Real, SAME;
    /// The hyperbolic tangent.
    Tanh = "skript.tanh", 1, Real, SAME;
    /// The inverse hyperbolic sine.
    Asinh = "skript.asinh", 1, Real, SAME;
    /// The inverse hyperbolic cosine.
    Acosh = "skript.acosh", 1, Real, SAME;
    /// The inverse hyperbolic tangent.
    Atanh = "skript.atanh", 1, Real, SAME;
    /// The error function.
    Erf = "skript.erf", 1, Real, SAME;
    /// Rounds to nearest, halves away from zero.
    Round = "skript.round", 1, Real, SAME;
    /// The largest integer that is not above the operand, as a real.
    Floor = "skript.floor", 1, Real, SAME;
    /// The smallest integer that is not below the operand, as a real.
    Ceil = "skript.ceil", 1, Real, SAME;
    /// `x - trunc(x)`: keeps the sign.
    Frac = "skript.frac", 1, Real, SAME;
    // casts from any kind
    /// Conversion to bool: whether the operand is not zero.
    ToBool = "skript.cast", 1, Any, BOOL;
    /// Real: truncates toward zero, saturates, NaN gives 0.
    ToInt = "skript.cast", 1, Any, INT;
    /// Conversion to real, rounded to nearest even.
    ToReal = "skript.cast", 1, Any, REAL;
    /// Condition (bool), value if true, value if false; both evaluated.
    Select = "skript.select", 3, Any, SAME;
}
