// SPDX-License-Identifier: Apache-2.0
//! The scalar operations of the language.

/// A scalar operation of an expression or a formula (SkriptND 2.4).
///
/// Operands of one operation have one kind unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScalarOp {
    // arithmetic: int, real
    /// `a + b`; integers wrap.
    Add,
    /// `a - b`; integers wrap.
    Sub,
    /// `a * b`; integers wrap.
    Mul,
    /// Int: rounds down; by zero: see the table.
    Div,
    /// `\`: int rounds up; real is `ceil(a / b)`.
    CeilDiv,
    /// `%`: int has the sign of the divisor; real is `x - y * floor(x / y)`.
    Mod,
    /// `a ** b`.
    Pow,
    /// NaN if either operand is NaN.
    Min,
    /// NaN if either operand is NaN.
    Max,
    /// `-a`; integers wrap.
    Neg,
    /// The absolute value; the minimum of an integer type is its own.
    Abs,
    /// -1, 0 or 1.
    Sign,
    // comparisons: bool, int, real; result bool
    /// `a < b`; false for NaN.
    Lt,
    /// `a <= b`; false for NaN.
    Le,
    /// `a > b`; false for NaN.
    Gt,
    /// `a >= b`; false for NaN.
    Ge,
    /// `a == b`; false for NaN.
    Eq,
    /// `a != b`; true for NaN.
    Ne,
    // logic: bool
    /// `a && b`.
    And,
    /// `a || b`.
    Or,
    /// `a ^ b`.
    Xor,
    /// `a => b`: false only for true and false.
    Implies,
    /// `!a`.
    Not,
    // real functions
    /// The square root; NaN below zero.
    Sqrt,
    /// The exponential function.
    Exp,
    /// The natural logarithm.
    Log,
    /// The sine of an angle in radians.
    Sin,
    /// The cosine of an angle in radians.
    Cos,
    /// The tangent of an angle in radians.
    Tan,
    /// The inverse sine, in radians.
    Asin,
    /// The inverse cosine, in radians.
    Acos,
    /// The inverse tangent, in radians.
    Atan,
    /// The hyperbolic sine.
    Sinh,
    /// The hyperbolic cosine.
    Cosh,
    /// The hyperbolic tangent.
    Tanh,
    /// The inverse hyperbolic sine.
    Asinh,
    /// The inverse hyperbolic cosine.
    Acosh,
    /// The inverse hyperbolic tangent.
    Atanh,
    /// The error function.
    Erf,
    /// Halves away from zero.
    Round,
    /// The largest integer that is not above the operand, as a real.
    Floor,
    /// The smallest integer that is not below the operand, as a real.
    Ceil,
    /// `x - trunc(x)`: keeps the sign.
    Frac,
    // casts from any kind
    /// Conversion to bool: whether the operand is not zero.
    ToBool,
    /// Real: truncates toward zero, saturates, NaN gives 0.
    ToInt,
    /// Conversion to real, rounded to nearest even.
    ToReal,
    /// Condition (bool), value if true, value if false; both evaluated.
    Select,
}
