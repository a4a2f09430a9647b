// SPDX-License-Identifier: Apache-2.0
//! The scalar operations of the language.

/// A scalar operation of an expression or a formula (SkriptND 2.4).
///
/// Operands of one operation have one kind unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScalarOp {
    // arithmetic: int, real
    Add,
    Sub,
    Mul,
    /// Int: rounds down; by zero: see the table.
    Div,
    /// `\`: int rounds up; real is `ceil(a / b)`.
    CeilDiv,
    /// `%`: int has the sign of the divisor; real is `x - y * floor(x / y)`.
    Mod,
    Pow,
    /// NaN if either operand is NaN.
    Min,
    /// NaN if either operand is NaN.
    Max,
    Neg,
    Abs,
    Sign,
    // comparisons: bool, int, real; result bool
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    // logic: bool
    And,
    Or,
    Xor,
    Implies,
    Not,
    // real functions
    Sqrt,
    Exp,
    Log,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Erf,
    /// Halves away from zero.
    Round,
    Floor,
    Ceil,
    /// `x - trunc(x)`: keeps the sign.
    Frac,
    // casts from any kind
    ToBool,
    /// Real: truncates toward zero, saturates, NaN gives 0.
    ToInt,
    ToReal,
    /// Condition (bool), value if true, value if false; both evaluated.
    Select,
}
