// SPDX-License-Identifier: Apache-2.0
//! Expands functions without a StableHLO operation into StableHLO operations.

use skript_passes::ir::ops;
use skript_semantics::expansion::{Value, rounding};
use skript_semantics::{Class, Expansion, ScalarOp};
use std::f64::consts::LN_2;

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

/// The expansion of an operation of `arith` or `math` on operands of one class; `None` if it is unknown.
pub(crate) fn expansion(name: &str, class: Class) -> Option<Expansion> {
    let function: fn(Value) -> Value = match name {
        ops::arith::FLOORDIVSI => return Some(rounded_quotient(class, ScalarOp::Ne)),
        ops::arith::CEILDIVSI => return Some(rounded_quotient(class, ScalarOp::Eq)),
        ops::math::TRUNC => rounding::trunc_by_sides,
        ops::math::TAN => |x| x.apply(ScalarOp::Sin) / x.apply(ScalarOp::Cos),
        ops::math::ATAN => |x| x.atan2(1.0),
        ops::math::ASIN => |x| x.atan2(other_leg(x)),
        ops::math::ACOS => |x| other_leg(x).atan2(x),
        ops::math::SINH => sinh,
        ops::math::COSH => |x| half_exp(x) + half_exp(-x),
        ops::math::ASINH => asinh,
        ops::math::ACOSH => acosh,
        ops::math::ATANH => |x| (x.log1p() - (-x).log1p()) * 0.5,
        ops::math::ERF if class == Class::F64 => erf_of_double,
        ops::math::ERF => erf,
        ops::math::ERFC => erfc,
        _ => return None,
    };
    Some(Expansion::record([class], |[x]| function(x)))
}

/// The quotient of a defined division, rounded down (`signs` is `Ne`: adjusted if the signs differ) or up (`Eq`:
/// adjusted if the signs are equal).
fn rounded_quotient(class: Class, signs: ScalarOp) -> Expansion {
    Expansion::record([class; 2], |[x, y]| {
        let quotient = x.quotient(y);
        let is_inexact = x.remainder(y).not_equal(0);
        // Uses the sign of the dividend: it is the sign of the remainder, unless the remainder is zero and the quotient
        // is exact.
        let moves = is_inexact.and(x.less(0).compare(signs, y.less(0)));
        moves.select(if signs == ScalarOp::Ne { quotient - 1 } else { quotient + 1 }, quotient)
    })
}

/// `√((1 - x)(1 + x))`
fn other_leg(x: Value<'_>) -> Value<'_> {
    ((1.0 - x) * (1.0 + x)).sqrt()
}

/// Half of an exponential: a sum of two halves does not overflow unless the result does.
fn half_exp(x: Value<'_>) -> Value<'_> {
    (x - LN_2).exp()
}

/// Near zero, the difference of exponentials cancels: (e + e / (e + 1)) / 2 with e = exp(x) - 1.
fn sinh(x: Value<'_>) -> Value<'_> {
    let large = half_exp(x) - half_exp(-x);
    let e = x.expm1();
    let small = (e + e / (e + 1.0)) * 0.5;
    x.abs().less(1.0).select(small, large)
}

/// An odd function, computed from |x|: log1p(a + a² / (1 + √(a² + 1))); log(a) + log(2) where a² overflows.
fn asinh(x: Value<'_>) -> Value<'_> {
    let a = x.abs();
    let square = a * a;
    let part = square / ((square + 1.0).sqrt() + 1.0);
    let small = (a + part).log1p();
    let value = is_huge(a).select(log_of_double(a), small);
    let signed = x.less(0.0).select(-value, value);
    // Keeps the sign of zero.
    x.equal(0.0).select(x, signed)
}

/// log1p(t + √(2t + t²)) with t = x - 1; NaN below 1.
fn acosh(x: Value<'_>) -> Value<'_> {
    let t = x - 1.0;
    let small = (t + (t * (t + 2.0)).sqrt()).log1p();
    let value = is_huge(x).select(log_of_double(x), small);
    x.less(1.0).select(f64::NAN, value)
}

fn is_huge(x: Value<'_>) -> Value<'_> {
    x.greater(1e9)
}

fn log_of_double(x: Value<'_>) -> Value<'_> {
    x.log() + LN_2
}

fn erf(x: Value<'_>) -> Value<'_> {
    let inside = x.constant(-4.0).max(x).min(4.0);
    let square = inside * inside;
    let above = polynomial(square, &ERF_NUMERATOR);
    let below = polynomial(square, &ERF_DENOMINATOR);
    inside * above / below
}

fn erf_of_double(x: Value<'_>) -> Value<'_> {
    let near = x * quotient(x * x, NEAR);
    // Above 6, one is the nearest value.
    let size = x.abs().min(6.0);
    let scale = (-(size * size)).exp();
    let far = 1.0 - scale * quotient(size, FAR);
    let far = x.less(0.0).select(-far, far);
    size.less(1.0).select(near, far)
}

/// 1 - erf(x) near zero; for negative x, 2 minus the value at -x.
fn erfc(x: Value<'_>) -> Value<'_> {
    let near = 1.0 - x * quotient(x * x, NEAR);
    // Above 28, zero is the nearest value of either width.
    let size = x.abs().min(28.0);
    let is_farther = size.compare(ScalarOp::Ge, 8.0);
    let (far, farther) = (quotient(size, FAR), quotient(size, FARTHER));
    let factor = is_farther.select(farther, far);
    let scale = (-(size * size)).exp();
    let far = scale * factor;
    let far = x.less(0.0).select(2.0 - far, far);
    size.less(1.0).select(near, far)
}

fn quotient<'b>(x: Value<'b>, [above, below]: [&[f64]; 2]) -> Value<'b> {
    polynomial(x, above) / polynomial(x, below)
}

fn polynomial<'b>(x: Value<'b>, coefficients: &[f64]) -> Value<'b> {
    coefficients.iter().fold(x.constant(0.0), |sum, coefficient| sum * x + *coefficient)
}
