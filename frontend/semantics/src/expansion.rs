// SPDX-License-Identifier: Apache-2.0
//! Scalar operations expanded to machine arithmetic, as plain data: each dialect needs one emitter for all of them.
//!
//! Each step is one operation with fixed types, rounded once; a product and a sum may be fused where [`Operation::MultiplyAdd`]
//! permits it. [`ScalarOp::lowering`] expresses an operation of the table by dialect operations, with guards for operands for which
//! these are undefined. [`ScalarOp::expansion`] computes a function by arithmetic instead of a call of the C library, without branches
//! and lookup tables, so that loops around it are vectorized. The results for NaN, infinities, signed zeros and subnormal numbers are
//! those of [`crate::real`].
//!
//! Functions of f32 that need more precision than f32 are computed in f64 and rounded once: their error is barely more than half a
//! unit in the last place. `docs/numerics.md` lists the errors; `scripts/fit-math.py` computes the coefficients.
//!
//! The methods: W. J. Cody and W. Waite, *Software Manual for the Elementary Functions* (1980); M. H. Payne and R. N. Hanek,
//! *Radian Reduction for Trigonometric Functions* (1983).

mod builder;
mod coefficients;
mod double;
mod exponential;
pub mod extremes;
mod hyperbolic;
#[cfg(test)]
mod interpreter;
mod logarithmic;
mod lowering;
pub mod narrow;
mod pairs;
mod power;
pub mod rounding;
#[cfg(test)]
mod tests;
mod trigonometric;
mod turns;

use crate::numbers::RealType;
use crate::op::ScalarOp;
use crate::scalar::Scalar;
pub use builder::{Term, Value};

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// A signless integer of this width; 1-bit integers are truth values.
    Int(u32),
    /// An integer of the width of addresses, which is 64 bits here.
    Index,
    /// A real.
    Real(RealType),
}

impl Class {
    /// A truth value.
    pub const BOOL: Class = Class::Int(1);
    /// A 16-bit signless integer.
    pub const I16: Class = Class::Int(16);
    /// A 32-bit signless integer.
    pub const I32: Class = Class::Int(32);
    /// A 64-bit signless integer.
    pub const I64: Class = Class::Int(64);
    /// IEEE binary32.
    pub const F32: Class = Class::Real(RealType::F32);
    /// IEEE binary64.
    pub const F64: Class = Class::Real(RealType::F64);
    /// bfloat16.
    pub const BF16: Class = Class::Real(RealType::BF16);

    /// Whether values are reals.
    pub fn is_real(self) -> bool {
        matches!(self, Class::Real(_))
    }

    /// The width of integers in bits.
    fn width(self) -> u32 {
        match self {
            Class::Int(width) => width,
            Class::Index => 64,
            Class::Real(_) => unreachable!("internal compiler error: a real has no width of integers"),
        }
    }

    /// The minimum integer.
    fn least(self) -> i64 {
        i64::MIN >> (64 - self.width())
    }

    /// The class of the bits of f32 or f64.
    fn bits(self) -> Class {
        if self == Class::F64 { Class::I64 } else { Class::I32 }
    }
}

/// The operation of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The table's operation on truth values, signed integers or reals. Integer division is undefined for a zero divisor and for
    /// INT_MIN by -1, an integer power for a negative exponent.
    Scalar(ScalarOp),
    /// A comparison, remainder or conversion of unsigned integers.
    Unsigned(ScalarOp),
    /// The quotient of two integers, rounded toward zero; undefined as in [`Operation::Scalar`].
    Quotient,
    /// The remainder of [`Operation::Quotient`], or of the truncated quotient of two reals; it has the sign of the dividend.
    Remainder,
    /// `a · b + c` of reals, rounded once or twice.
    MultiplyAdd,
    /// The first real with the sign of the second.
    CopySign,
    /// The integer part of a real.
    Trunc,
    /// `atan2(y, x)`
    Atan2,
    /// `exp(x) - 1`
    Expm1,
    /// `log(1 + x)`
    Log1p,
    /// An integer shifted to the left, by a number of positions below its width.
    ShiftLeft,
    /// An integer shifted to the right, filled with zeros, by a number of positions below its width.
    ShiftRight,
    /// An integer shifted to the right, filled with its sign.
    ShiftRightSigned,
    /// Whether one real is less than another, or greater.
    LessOrGreater,
    /// Whether one of two reals is NaN.
    Unordered,
    /// The bits as a value of another type of the same width.
    Bits,
    /// Conversion between reals, between signed integers, or from one to the other. Undefined for reals out of range.
    Convert,
    /// `x · 2ⁿ`, rounded once. The operands are x, n as a 32-bit integer, and n as a real.
    Scale,
}

/// An operand of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    /// An argument of the function, from 0.
    Argument(usize),
    /// A value by its number: the results of steps in order. The carried values of a repetition are numbered before its steps; these
    /// numbers are reused after the repetition.
    Step(usize),
    /// A constant.
    Constant(Scalar),
}

/// An operand with its class.
pub type Typed = (Operand, Class);

/// A step, which has one result.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// One operation.
    Apply {
        /// The operation.
        operation: Operation,
        /// Its operands.
        operands: Vec<Typed>,
        /// The class of the result.
        class: Class,
    },
    /// Repeated steps. The result is the final value of the first carried one.
    Repeat {
        /// The number of repetitions, an index.
        count: Operand,
        /// The initial carried values.
        first: Vec<Typed>,
        /// The steps of one repetition.
        body: Vec<Step>,
        /// The carried values for the next repetition.
        next: Vec<Typed>,
    },
}

/// The steps of a function in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Expansion {
    /// The classes of the arguments.
    pub arguments: Vec<Class>,
    /// The steps, each of which reads results of earlier steps.
    pub steps: Vec<Step>,
    /// The value.
    pub result: Typed,
}

/// The target of steps: a dialect, or the interpreter.
pub trait Emitter: Sized {
    /// A value.
    type Value: Copy;
    /// The reason of a failure.
    type Error;

    /// A constant.
    ///
    /// # Errors
    /// The dialect cannot express it.
    fn constant(&mut self, number: Scalar, class: Class) -> Result<Self::Value, Self::Error>;

    /// One operation.
    ///
    /// # Errors
    /// The dialect cannot express it.
    fn apply(
        &mut self,
        operation: Operation,
        operands: &[(Self::Value, Class)],
        class: Class,
    ) -> Result<Self::Value, Self::Error>;

    /// Repeats the steps that `body` emits, with the carried values that the previous repetition yields. Returns the final value of
    /// the first carried one.
    ///
    /// # Errors
    /// The dialect cannot express it, or an error of `body`.
    fn repeat(
        &mut self,
        _count: Self::Value,
        _first: &[(Self::Value, Class)],
        _body: Body<'_, Self>,
    ) -> Result<Self::Value, Self::Error> {
        unreachable!("internal compiler error: a repetition for an emitter without loops")
    }
}

/// Emits one repetition with the carried values, and returns the next carried values.
pub type Body<'f, E> = &'f mut (
            dyn FnMut(
    &mut E,
    &[<E as Emitter>::Value],
) -> Result<Vec<<E as Emitter>::Value>, <E as Emitter>::Error>
                + 'f
        );

impl Expansion {
    /// Emits all steps.
    ///
    /// # Errors
    /// The emitter's error.
    pub fn emit<E: Emitter>(&self, emitter: &mut E, arguments: &[E::Value]) -> Result<E::Value, E::Error> {
        let mut run = Run { emitter, arguments, results: Vec::new() };
        run.steps(&self.steps)?;
        let (operand, class) = self.result;
        run.operand(operand, class)
    }
}

/// The values so far.
struct Run<'e, E: Emitter> {
    emitter: &'e mut E,
    arguments: &'e [E::Value],
    results: Vec<E::Value>,
}

impl<E: Emitter> Run<'_, E> {
    fn steps(&mut self, steps: &[Step]) -> Result<(), E::Error> {
        for step in steps {
            let result = match step {
                Step::Apply { operation, operands, class } => {
                    let operands = self.operands(operands)?;
                    self.emitter.apply(*operation, &operands, *class)?
                }
                Step::Repeat { count, first, body, next } => {
                    let count = self.operand(*count, Class::Index)?;
                    let first = self.operands(first)?;
                    let (arguments, outer) = (self.arguments, self.results.clone());
                    self.emitter.repeat(count, &first, &mut |emitter, carried| {
                        let results = [outer.as_slice(), carried].concat();
                        let mut run = Run { emitter, arguments, results };
                        run.steps(body)?;
                        let next = run.operands(next)?;
                        Ok(next.into_iter().map(|(value, _)| value).collect())
                    })?
                }
            };
            self.results.push(result);
        }
        Ok(())
    }

    fn operands(&mut self, operands: &[Typed]) -> Result<Vec<(E::Value, Class)>, E::Error> {
        operands.iter().map(|(operand, class)| Ok((self.operand(*operand, *class)?, *class))).collect()
    }

    #[expect(clippy::indexing_slicing, reason = "an expansion names its arguments and earlier values only")]
    fn operand(&mut self, operand: Operand, class: Class) -> Result<E::Value, E::Error> {
        match operand {
            Operand::Argument(number) => Ok(self.arguments[number]),
            Operand::Step(number) => Ok(self.results[number]),
            Operand::Constant(number) => self.emitter.constant(number, class),
        }
    }
}

impl ScalarOp {
    /// The operation in terms of dialect operations, defined for all operands of one class (for [`ScalarOp::Select`], the class of the
    /// two values). `result` is relevant only for casts. `None` if the operation does not accept such operands.
    pub fn lowering(self, operand: Class, result: Class) -> Option<Expansion> {
        lowering::lower(self, operand, result)
    }

    /// The expansion of a function for reals of this type. `None` for operations that are machine instructions or calls
    /// of the C library. Values of f16 and bf16 are computed in f32.
    pub fn expansion(self, real: RealType) -> Option<Expansion> {
        let [single, double]: [fn(Value) -> Value; 2] = match self {
            ScalarOp::Exp => [exponential::exp, double::exp],
            ScalarOp::Tanh => [exponential::tanh, double::tanh],
            ScalarOp::Erf => [exponential::erf, double::erf],
            ScalarOp::Sinh => [exponential::sinh, hyperbolic::sinh],
            ScalarOp::Cosh => [exponential::cosh, hyperbolic::cosh],
            ScalarOp::Log => [logarithmic::log, double::log],
            ScalarOp::Asinh => [logarithmic::asinh, hyperbolic::asinh],
            ScalarOp::Acosh => [logarithmic::acosh, hyperbolic::acosh],
            ScalarOp::Atanh => [logarithmic::atanh, hyperbolic::atanh],
            ScalarOp::Sin => [trigonometric::sin, turns::sin],
            ScalarOp::Cos => [trigonometric::cos, turns::cos],
            ScalarOp::Tan => [trigonometric::tan, turns::tan],
            ScalarOp::Asin => [trigonometric::asin, hyperbolic::asin],
            ScalarOp::Acos => [trigonometric::acos, hyperbolic::acos],
            ScalarOp::Atan => [trigonometric::atan, hyperbolic::atan],
            _ => return self.binary_expansion(real),
        };
        let function = match real {
            RealType::F32 => single,
            RealType::F64 => double,
            RealType::F16 | RealType::BF16 => return None,
        };
        Some(Expansion::record([Class::Real(real)], |[x]| function(x)))
    }

    fn binary_expansion(self, real: RealType) -> Option<Expansion> {
        let function: for<'b> fn(Value<'b>, Value<'b>) -> Value<'b> = match (self, real) {
            (_, RealType::F16 | RealType::BF16) => return None,
            (ScalarOp::Min, _) => extremes::minimum,
            (ScalarOp::Max, _) => extremes::maximum,
            (ScalarOp::Pow, RealType::F32) => power::pow,
            (ScalarOp::Pow, RealType::F64) => pairs::pow,
            _ => return None,
        };
        Some(Expansion::record([Class::Real(real); 2], |[x, y]| function(x, y)))
    }

    /// The expansion of [`ScalarOp::Pow`] as a function of the base, for an exponent that needs neither exponential nor logarithm.
    pub fn power_expansion(exponent: f64, real: RealType) -> Option<Expansion> {
        match real {
            RealType::F16 | RealType::BF16 => None,
            _ => Expansion::try_record([Class::Real(real)], |[x]| power::constant(x, exponent)),
        }
    }

    /// The expansion of [`ScalarOp::Min`] or [`ScalarOp::Max`] for operands that are not NaN; the result for NaN is unspecified.
    pub fn number_expansion(self, real: RealType) -> Option<Expansion> {
        let function = match (self, real) {
            (_, RealType::F16 | RealType::BF16) => return None,
            (ScalarOp::Min, _) => extremes::lesser,
            (ScalarOp::Max, _) => extremes::greater,
            _ => return None,
        };
        Some(Expansion::record([Class::Real(real); 2], |[x, y]| function(x, y)))
    }
}
