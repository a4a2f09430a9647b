// SPDX-License-Identifier: Apache-2.0
//! Functions in the arithmetic of processors, as plain data: what code generation emits instead of calls of the C library.
//!
//! An expansion has no branches and no tables in memory, so a compiler vectorizes a loop around it. Each step is one operation
//! with a fixed type, rounded once; a product and a sum may be fused where [`Operation::MultiplyAdd`] permits it. NaN, infinities,
//! signs of zeros and subnormal numbers are those of [`crate::real`].
//!
//! Functions of f32 in whose tables f32 would not suffice are computed in f64 and rounded once: their error is barely more than half a unit
//! in the last place. `docs/numerics.md` has the errors, `scripts/fit-math.py` the coefficients.
//!
//! The methods: W. J. Cody and W. Waite, *Software Manual for the Elementary Functions* (1980); M. H. Payne and R. N. Hanek,
//! *Radian Reduction for Trigonometric Functions* (1983).

mod builder;
mod coefficients;
mod double;
mod exponential;
mod extremes;
mod hyperbolic;
#[cfg(test)]
mod interpreter;
mod logarithmic;
mod pairs;
mod power;
mod trigonometric;
mod turns;

use crate::numbers::RealType;
use crate::op::ScalarOp;
use builder::{Builder, Value};

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// A truth value.
    I1,
    /// A signless integer of 32 bits.
    I32,
    /// A signless integer of 64 bits.
    I64,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
}

/// What a step computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The sum of two reals or integers; integers wrap.
    Add,
    /// The difference of two reals or integers; integers wrap.
    Sub,
    /// The product of two reals or integers; integers wrap.
    Mul,
    /// The quotient of two reals.
    Div,
    /// `a · b + c` of reals, rounded once or twice.
    MultiplyAdd,
    /// The negated real.
    Neg,
    /// The absolute value of a real.
    Abs,
    /// The first real with the sign of the second.
    CopySign,
    /// The square root.
    Sqrt,
    /// The largest whole number that is not above the real.
    Floor,
    /// An integer shifted to the left, by a number of positions below its width.
    ShiftLeft,
    /// An integer shifted to the right, filled with zeros, by a number of positions below its width.
    ShiftRight,
    /// An integer shifted to the right, filled with its sign.
    ShiftRightSigned,
    /// The bits that two integers or truth values share.
    And,
    /// The bits of either of two integers or truth values.
    Or,
    /// The bits that differ between two integers or truth values.
    Xor,
    /// Whether one real is less than another.
    Less,
    /// Whether one real is greater than another.
    Greater,
    /// Whether two reals or integers are equal.
    Equal,
    /// Whether one of two reals is NaN.
    Unordered,
    /// The second operand where the first is true, else the third.
    Select,
    /// The bits as a value of another type of the same width.
    Bits,
    /// Conversion between reals, or of a signed integer of 32 bits to a real.
    Convert,
    /// `x · 2ⁿ`, rounded once: a real, an integer of 32 bits, and the same number as a real.
    Scale,
}

/// An operand of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    /// An argument of the function, from 0.
    Argument(usize),
    /// The result of an earlier step.
    Step(usize),
    /// A constant of a real class.
    Real(f64),
    /// A constant of an integer class.
    Integer(i64),
    /// A constant truth value.
    Truth(bool),
}

/// One operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What it computes.
    pub operation: Operation,
    /// Operands with their classes.
    pub operands: Vec<(Operand, Class)>,
    /// The class of the result.
    pub class: Class,
}

/// The steps of a function in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Expansion {
    /// The number of arguments.
    pub arity: usize,
    /// The class of arguments and result.
    pub class: Class,
    /// The steps, each of which reads results of earlier ones.
    pub steps: Vec<Step>,
    /// The value.
    pub result: Operand,
}

impl ScalarOp {
    /// The expansion of a function for reals of this type. `None` for operations that processors have, and for those
    /// that are left to the C library. Values of f16 and bf16 are computed in f32.
    pub fn expansion(self, real: RealType) -> Option<Expansion> {
        match real {
            RealType::F32 => self.expansion_f32(),
            RealType::F64 => self.expansion_f64(),
            _ => None,
        }
    }

    fn expansion_f64(self) -> Option<Expansion> {
        let unary: fn(Value) -> Value = match self {
            ScalarOp::Exp => double::exp,
            ScalarOp::Log => double::log,
            ScalarOp::Tanh => double::tanh,
            ScalarOp::Erf => double::erf,
            ScalarOp::Sinh => hyperbolic::sinh,
            ScalarOp::Cosh => hyperbolic::cosh,
            ScalarOp::Asin => hyperbolic::asin,
            ScalarOp::Acos => hyperbolic::acos,
            ScalarOp::Atan => hyperbolic::atan,
            ScalarOp::Asinh => hyperbolic::asinh,
            ScalarOp::Acosh => hyperbolic::acosh,
            ScalarOp::Atanh => hyperbolic::atanh,
            ScalarOp::Sin => turns::sin,
            ScalarOp::Cos => turns::cos,
            ScalarOp::Tan => turns::tan,
            ScalarOp::Pow => return Some(binary(Class::F64, pairs::pow)),
            _ => return self.extreme(Class::F64),
        };
        Some(self::unary(Class::F64, unary))
    }

    /// The expansion of [`ScalarOp::Pow`] as a function of the base, for an exponent that needs neither exponential nor logarithm.
    pub fn power_expansion(exponent: f64, real: RealType) -> Option<Expansion> {
        let class = match real {
            RealType::F32 => Class::F32,
            RealType::F64 => Class::F64,
            _ => return None,
        };
        let builder = Builder::default();
        let result = power::constant(builder.argument(0, class), exponent)?.operand();
        Some(builder.finish(1, class, result))
    }

    /// The expansion of [`ScalarOp::Min`] or [`ScalarOp::Max`] for operands that are numbers; the result for NaN is any value.
    pub fn number_expansion(self, real: RealType) -> Option<Expansion> {
        let class = match real {
            RealType::F32 => Class::F32,
            RealType::F64 => Class::F64,
            _ => return None,
        };
        match self {
            ScalarOp::Min => Some(binary(class, extremes::lesser)),
            ScalarOp::Max => Some(binary(class, extremes::greater)),
            _ => None,
        }
    }

    fn extreme(self, class: Class) -> Option<Expansion> {
        match self {
            ScalarOp::Min => Some(binary(class, extremes::minimum)),
            ScalarOp::Max => Some(binary(class, extremes::maximum)),
            _ => None,
        }
    }

    fn expansion_f32(self) -> Option<Expansion> {
        let unary: fn(Value) -> Value = match self {
            ScalarOp::Exp => exponential::exp,
            ScalarOp::Tanh => exponential::tanh,
            ScalarOp::Erf => exponential::erf,
            ScalarOp::Sinh => exponential::sinh,
            ScalarOp::Cosh => exponential::cosh,
            ScalarOp::Log => logarithmic::log,
            ScalarOp::Asinh => logarithmic::asinh,
            ScalarOp::Acosh => logarithmic::acosh,
            ScalarOp::Atanh => logarithmic::atanh,
            ScalarOp::Sin => trigonometric::sin,
            ScalarOp::Cos => trigonometric::cos,
            ScalarOp::Tan => trigonometric::tan,
            ScalarOp::Asin => trigonometric::asin,
            ScalarOp::Acos => trigonometric::acos,
            ScalarOp::Atan => trigonometric::atan,
            ScalarOp::Pow => return Some(binary(Class::F32, power::pow)),
            _ => return self.extreme(Class::F32),
        };
        Some(self::unary(Class::F32, unary))
    }
}

fn unary(class: Class, function: fn(Value) -> Value) -> Expansion {
    let builder = Builder::default();
    let result = function(builder.argument(0, class)).operand();
    builder.finish(1, class, result)
}

fn binary(class: Class, function: for<'b> fn(Value<'b>, Value<'b>) -> Value<'b>) -> Expansion {
    let builder = Builder::default();
    let (x, y) = (builder.argument(0, class), builder.argument(1, class));
    let result = function(x, y).operand();
    builder.finish(2, class, result)
}
