// SPDX-License-Identifier: Apache-2.0
//! Functions that StableHLO has no operation for, in terms of its operations.

use super::tensors::Tensors;
use melior::Error;
use melior::ir::{Type, Value};
use skript_dialect::melior;
use skript_passes::ir::ops;
use skript_semantics::Scalar;

/// Numerator of a rational approximation of erf(x) / x in x², leading coefficient first; with [`ERF_DENOMINATOR`] it is
/// accurate to a few ulp of f32 for |x| ≤ 4 (the approximation of the Eigen library).
const ERF_NUMERATOR: [f64; 7] = [
    -2.726_142_258_013_06e-10,
    2.770_681_424_959_02e-8,
    -2.101_024_020_825_08e-6,
    -5.692_506_394_623_46e-5,
    -7.349_906_303_268_55e-4,
    -2.954_599_808_540_25e-3,
    -1.609_603_332_624_15e-2,
];
const ERF_DENOMINATOR: [f64; 5] = [
    -1.456_607_184_649_96e-5,
    -2.133_740_552_789_05e-4,
    -1.682_826_974_382_03e-3,
    -7.373_329_167_204_68e-3,
    -1.426_473_905_141_89e-2,
];

/// Rational approximations of erf(x) / x in x² for |x| ≤ 1, and of exp(x²) erfc(x) in x for 1 ≤ x ≤ 8: numerators and
/// denominators, leading coefficients first, accurate to an ulp of f64 (S. Moshier's Cephes library).
const NEAR: [&[f64]; 2] = [
    &[
        9.604_973_739_870_516,
        90.026_019_720_384_27,
        2_232.005_345_946_843,
        7_003.325_141_128_051,
        55_592.301_301_039_49,
    ],
    &[
        1.0,
        33.561_714_164_750_31,
        521.357_949_780_152_7,
        4_594.323_829_709_801,
        22_629.000_061_389_095,
        49_267.394_260_863_59,
    ],
];
const FAR: [&[f64]; 2] = [
    &[
        2.461_969_814_735_305e-10,
        0.564_189_564_831_068_8,
        7.463_210_564_422_699,
        48.637_197_098_568_14,
        196.520_832_956_077_1,
        526.445_194_995_477_4,
        934.528_527_171_957_6,
        1_027.551_886_895_157,
        557.535_335_369_399_3,
    ],
    &[
        1.0,
        13.228_195_115_474_5,
        86.707_214_088_598_97,
        354.937_778_878_198_9,
        975.708_501_743_205_5,
        1_823.909_166_879_097_4,
        2_246.337_608_187_109_8,
        1_656.663_091_941_613_5,
        557.535_340_817_727_7,
    ],
];

/// Rational approximation of exp(x²) erfc(x) for 8 ≤ x, in the same form.
const FARTHER: [&[f64]; 2] = [
    &[
        0.564_189_583_547_755_1,
        1.275_366_707_599_781,
        5.019_050_422_511_805,
        6.160_210_979_930_536,
        7.409_742_699_504_489,
        2.978_866_653_721_002_4,
    ],
    &[
        1.0,
        2.260_528_632_201_172_8,
        9.396_035_249_380_015,
        12.048_953_980_809_666,
        17.081_445_074_756_59,
        9.608_968_090_632_859,
        3.369_076_451_000_815,
    ],
];

pub(crate) struct Functions<'s, 'c, 'a> {
    pub at: &'s Tensors<'c, 'a>,
}

impl<'c: 'a, 'a> Functions<'_, 'c, 'a> {
    fn like(&self, x: Value<'c, 'a>, value: Scalar) -> Result<Value<'c, 'a>, Error> {
        self.at.splat(value, &self.at.extents(x)?, self.at.element(x)?)
    }

    fn number(&self, x: Value<'c, 'a>, value: f64) -> Result<Value<'c, 'a>, Error> {
        self.like(x, Scalar::Real(value))
    }

    /// The quotient rounded down (`signs` is `NE`) or up (`EQ`); the division must be defined.
    pub(crate) fn rounded_quotient(
        &self,
        a: Value<'c, 'a>,
        b: Value<'c, 'a>,
        signs: &str,
    ) -> Result<Value<'c, 'a>, Error> {
        let at = self.at;
        let zero = self.like(a, Scalar::Int(0))?;
        let one = self.like(a, Scalar::Int(1))?;
        let quotient = at.same("divide", &[a, b])?;
        let rest = at.same("remainder", &[a, b])?;
        let inexact = at.compare("NE", "SIGNED", rest, zero)?;
        // The sign of the dividend, not that of the remainder: a remainder of zero is exact anyway.
        let a_negative = at.compare("LT", "SIGNED", a, zero)?;
        let b_negative = at.compare("LT", "SIGNED", b, zero)?;
        let away = at.compare(signs, "UNSIGNED", a_negative, b_negative)?;
        let adjust = at.same("and", &[inexact, away])?;
        let step = if signs == "NE" { "subtract" } else { "add" };
        let moved = at.same(step, &[quotient, one])?;
        at.select(adjust, moved, quotient)
    }

    /// A function of one real; `None` if it is unknown.
    pub(crate) fn real(&self, name: &str, x: Value<'c, 'a>) -> Result<Option<Value<'c, 'a>>, Error> {
        let at = self.at;
        let number = |value| self.number(x, value);
        Ok(Some(match name {
            ops::math::TRUNC => {
                let negative = at.compare("LT", "FLOAT", x, number(0.0)?)?;
                let (up, down) = (at.same("ceil", &[x])?, at.same("floor", &[x])?);
                at.select(negative, up, down)?
            }
            ops::math::TAN => {
                let (sine, cosine) = (at.same("sine", &[x])?, at.same("cosine", &[x])?);
                at.same("divide", &[sine, cosine])?
            }
            ops::math::ATAN => at.same("atan2", &[x, number(1.0)?])?,
            ops::math::ASIN => at.same("atan2", &[x, self.other_leg(x)?])?,
            ops::math::ACOS => at.same("atan2", &[self.other_leg(x)?, x])?,
            ops::math::SINH | ops::math::COSH => self.hyperbolic(name, x)?,
            ops::math::ASINH => self.inverse_sinh(x)?,
            ops::math::ACOSH => self.inverse_cosh(x)?,
            ops::math::ATANH => {
                let plus = at.same("log_plus_one", &[x])?;
                let negated = at.same("negate", &[x])?;
                let minus = at.same("log_plus_one", &[negated])?;
                let difference = at.same("subtract", &[plus, minus])?;
                at.same("multiply", &[difference, number(0.5)?])?
            }
            ops::math::ERF => self.erf(x)?,
            ops::math::ERFC => self.erfc(x)?,
            _ => return Ok(None),
        }))
    }

    /// `√((1 - x)(1 + x))`
    fn other_leg(&self, x: Value<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let one = self.number(x, 1.0)?;
        let less = self.at.same("subtract", &[one, x])?;
        let more = self.at.same("add", &[one, x])?;
        let product = self.at.same("multiply", &[less, more])?;
        self.at.same("sqrt", &[product])
    }

    fn hyperbolic(&self, name: &str, x: Value<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let at = self.at;
        // Half of each exponential is multiplied in before the sum, so that it does not overflow before the result
        // does.
        let half = self.number(x, std::f64::consts::LN_2)?;
        let up = at.same("subtract", &[x, half])?;
        let up = at.same("exponential", &[up])?;
        let negated = at.same("negate", &[x])?;
        let down = at.same("subtract", &[negated, half])?;
        let down = at.same("exponential", &[down])?;
        if name == ops::math::COSH {
            return at.same("add", &[up, down]);
        }
        let large = at.same("subtract", &[up, down])?;
        // Near zero the difference cancels: (e + e / (e + 1)) / 2 with e = exp(x) - 1.
        let one = self.number(x, 1.0)?;
        let e = at.same("exponential_minus_one", &[x])?;
        let more = at.same("add", &[e, one])?;
        let quotient = at.same("divide", &[e, more])?;
        let sum = at.same("add", &[e, quotient])?;
        let small = at.same("multiply", &[sum, self.number(x, 0.5)?])?;
        let size = at.same("abs", &[x])?;
        let near = at.compare("LT", "FLOAT", size, one)?;
        at.select(near, small, large)
    }

    /// An odd function, computed from |x|: log1p(a + a² / (1 + √(a² + 1))); log(a) + log(2) where a² overflows.
    fn inverse_sinh(&self, x: Value<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let at = self.at;
        let one = self.number(x, 1.0)?;
        let a = at.same("abs", &[x])?;
        let square = at.same("multiply", &[a, a])?;
        let root = at.same("add", &[square, one])?;
        let root = at.same("sqrt", &[root])?;
        let below = at.same("add", &[root, one])?;
        let part = at.same("divide", &[square, below])?;
        let sum = at.same("add", &[a, part])?;
        let small = at.same("log_plus_one", &[sum])?;
        let value = at.select(self.is_huge(a)?, self.log_of_double(a)?, small)?;
        let zero = self.number(x, 0.0)?;
        let negative = at.compare("LT", "FLOAT", x, zero)?;
        let negated = at.same("negate", &[value])?;
        let signed = at.select(negative, negated, value)?;
        // Keeps the sign of zero.
        let is_zero = at.compare("EQ", "FLOAT", x, zero)?;
        at.select(is_zero, x, signed)
    }

    /// log1p(t + √(2t + t²)) with t = x - 1; NaN below 1.
    fn inverse_cosh(&self, x: Value<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let at = self.at;
        let one = self.number(x, 1.0)?;
        let t = at.same("subtract", &[x, one])?;
        let more = at.same("add", &[t, self.number(x, 2.0)?])?;
        let product = at.same("multiply", &[t, more])?;
        let root = at.same("sqrt", &[product])?;
        let sum = at.same("add", &[t, root])?;
        let small = at.same("log_plus_one", &[sum])?;
        let value = at.select(self.is_huge(x)?, self.log_of_double(x)?, small)?;
        let below = at.compare("LT", "FLOAT", x, one)?;
        at.select(below, self.number(x, f64::NAN)?, value)
    }

    fn is_huge(&self, x: Value<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        self.at.compare("GT", "FLOAT", x, self.number(x, 1e9)?)
    }

    fn log_of_double(&self, x: Value<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let log = self.at.same("log", &[x])?;
        self.at.same("add", &[log, self.number(x, std::f64::consts::LN_2)?])
    }

    fn erf(&self, x: Value<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let at = self.at;
        if at.element(x)? == Type::float64(at.at.context) {
            return self.erf_of_double(x);
        }
        let (low, high) = (self.number(x, -4.0)?, self.number(x, 4.0)?);
        let inside = at.same("maximum", &[low, x])?;
        let inside = at.same("minimum", &[inside, high])?;
        let square = at.same("multiply", &[inside, inside])?;
        let above = self.polynomial(square, &ERF_NUMERATOR)?;
        let below = self.polynomial(square, &ERF_DENOMINATOR)?;
        let above = at.same("multiply", &[inside, above])?;
        at.same("divide", &[above, below])
    }

    fn erf_of_double(&self, x: Value<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let at = self.at;
        let square = at.same("multiply", &[x, x])?;
        let near = at.same("multiply", &[x, self.quotient(square, NEAR)?])?;
        // Above 6, one is the nearest value.
        let size = at.same("abs", &[x])?;
        let size = at.same("minimum", &[size, self.number(x, 6.0)?])?;
        let square = at.same("multiply", &[size, size])?;
        let minus = at.same("negate", &[square])?;
        let scale = at.same("exponential", &[minus])?;
        let rest = at.same("multiply", &[scale, self.quotient(size, FAR)?])?;
        let one = self.number(x, 1.0)?;
        let far = at.same("subtract", &[one, rest])?;
        let negative = at.compare("LT", "FLOAT", x, self.number(x, 0.0)?)?;
        let minus = at.same("negate", &[far])?;
        let far = at.select(negative, minus, far)?;
        let is_near = at.compare("LT", "FLOAT", size, one)?;
        at.select(is_near, near, far)
    }

    /// 1 - erf(x) near zero; 2 minus the value at -x for negative x.
    fn erfc(&self, x: Value<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let at = self.at;
        let one = self.number(x, 1.0)?;
        let square = at.same("multiply", &[x, x])?;
        let near = at.same("multiply", &[x, self.quotient(square, NEAR)?])?;
        let near = at.same("subtract", &[one, near])?;
        // Above 28, zero is the nearest value of either width.
        let size = at.same("abs", &[x])?;
        let size = at.same("minimum", &[size, self.number(x, 28.0)?])?;
        let is_farther = at.compare("GE", "FLOAT", size, self.number(x, 8.0)?)?;
        let (far, farther) = (self.quotient(size, FAR)?, self.quotient(size, FARTHER)?);
        let rest = at.select(is_farther, farther, far)?;
        let square = at.same("multiply", &[size, size])?;
        let minus = at.same("negate", &[square])?;
        let scale = at.same("exponential", &[minus])?;
        let far = at.same("multiply", &[scale, rest])?;
        let negative = at.compare("LT", "FLOAT", x, self.number(x, 0.0)?)?;
        let less = at.same("subtract", &[self.number(x, 2.0)?, far])?;
        let far = at.select(negative, less, far)?;
        let is_near = at.compare("LT", "FLOAT", size, one)?;
        at.select(is_near, near, far)
    }

    fn quotient(&self, x: Value<'c, 'a>, [above, below]: [&[f64]; 2]) -> Result<Value<'c, 'a>, Error> {
        let (above, below) = (self.polynomial(x, above)?, self.polynomial(x, below)?);
        self.at.same("divide", &[above, below])
    }

    fn polynomial(&self, x: Value<'c, 'a>, coefficients: &[f64]) -> Result<Value<'c, 'a>, Error> {
        let mut sum = self.number(x, 0.0)?;
        for coefficient in coefficients {
            let product = self.at.same("multiply", &[sum, x])?;
            sum = self.at.same("add", &[product, self.number(x, *coefficient)?])?;
        }
        Ok(sum)
    }
}
