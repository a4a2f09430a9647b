// SPDX-License-Identifier: Apache-2.0
//! Compares expansions with the reference functions of the table.

use super::{Class, Expansion, narrow, rounding};
use crate::numbers::RealType;
use crate::{Scalar, ScalarKind, ScalarOp, real};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

fn call(expansion: &Expansion, arguments: &[f32]) -> f32 {
    let bits: Vec<u64> = arguments.iter().map(|x| u64::from(x.to_bits())).collect();
    f32::from_bits(expansion.run(&bits) as u32)
}

/// Units in the last place between a result and the true value; infinite if only one is NaN or infinite, or if their signs differ.
fn distance(result: f32, wanted: f64) -> f64 {
    if result.is_nan() || wanted.is_nan() {
        let both = result.is_nan() && wanted.is_nan();
        return if both { 0.0 } else { f64::INFINITY };
    }
    if result.is_sign_negative() != wanted.is_sign_negative() {
        return f64::INFINITY;
    }
    // Numbers from half a unit above the maximum on round to infinity.
    if result.is_infinite() {
        let beyond = wanted.abs() >= f64::from(f32::MAX) * (1.0 + 2f64.powi(-25));
        return if beyond { 0.0 } else { f64::INFINITY };
    }
    let exponent = (wanted.abs().to_bits() >> 52).cast_signed() - 1023;
    let unit = 2f64.powi(exponent.clamp(-126, 127) as i32 - 23);
    (f64::from(result) - wanted).abs() / unit
}

/// Whether numbers differ by at most two units in the last place.
fn is_near(result: f64, wanted: f64) -> bool {
    let [a, b] = [result, wanted].map(|value| value.to_bits().cast_signed());
    result.is_nan() && wanted.is_nan() || a.abs_diff(b) <= 2
}

/// Whether reals have the same bits, or both are NaN.
fn is_same(result: f64, wanted: f64) -> bool {
    result.is_nan() && wanted.is_nan() || result.to_bits() == wanted.to_bits()
}

/// Pseudorandom 53-bit integers.
fn random() -> impl FnMut() -> u64 {
    let mut state = 1u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 11
    }
}

/// Arguments at which functions change their behaviour, and their neighbours.
fn corners() -> Vec<f32> {
    let mut corners = vec![0.0, f32::MIN_POSITIVE, 1e-45, f32::MAX, f32::INFINITY];
    for exponent in (-149..128).step_by(9) {
        corners.push(2f32.powi(exponent));
    }
    corners.extend([0.5, 0.625, 1.0, 2.0, 3.0, 4.0, 88.722_84, 89.0, 104.0, 149.0, 16_777_216.0]);
    // 2⁵⁰, 2⁷⁶ and 2¹⁰², where the arguments of sin are reduced differently; f32 numbers next to multiples of π/2.
    corners.extend([50, 76, 102].map(|n| 2f32.powi(n)));
    corners.extend([
        16_367_173.0 * 2f32.powi(72),
        std::f32::consts::FRAC_PI_2,
        std::f32::consts::PI,
        4.712_389,
        std::f32::consts::TAU,
    ]);
    let near = corners.iter().flat_map(|x| {
        let bits = x.to_bits();
        [bits.saturating_sub(1), bits, bits + 1].map(f32::from_bits)
    });
    let mut all: Vec<f32> = near.flat_map(|x| [x, -x]).collect();
    all.push(f32::NAN);
    all
}

fn samples() -> impl Iterator<Item = f32> {
    let random = (0..=u32::MAX).step_by(65_521 * 3).map(f32::from_bits);
    corners().into_iter().chain(random)
}

/// Functions with an expansion, and the maximum error of the f32 expansion in units in the last place.
const FUNCTIONS: [(ScalarOp, f64); 15] = [
    (ScalarOp::Exp, 1.0),
    (ScalarOp::Log, 1.0),
    (ScalarOp::Tanh, 1.0),
    (ScalarOp::Erf, 1.0),
    (ScalarOp::Sin, 0.52),
    (ScalarOp::Cos, 0.52),
    (ScalarOp::Tan, 0.52),
    (ScalarOp::Asin, 0.52),
    (ScalarOp::Acos, 0.52),
    (ScalarOp::Atan, 0.52),
    (ScalarOp::Sinh, 0.52),
    (ScalarOp::Cosh, 0.52),
    (ScalarOp::Asinh, 0.52),
    (ScalarOp::Acosh, 0.52),
    (ScalarOp::Atanh, 0.52),
];

#[test]
fn functions_are_as_exact_as_documented() {
    for (op, bound) in FUNCTIONS {
        let expansion = op.expansion(RealType::F32).unwrap();
        let reference = real::unary(op).unwrap();
        for x in samples() {
            let (result, wanted) = (call(&expansion, &[x]), reference(f64::from(x)));
            let error = distance(result, wanted);
            assert!(error <= bound, "{op:?}({x:e}) is {result:e}, not {wanted:e}: {error}");
        }
    }
}

/// The reference functions have errors of up to one unit in the last place.
#[test]
fn functions_of_f64_are_as_exact_as_documented() {
    for (op, _) in FUNCTIONS {
        let expansion = op.expansion(RealType::F64).unwrap();
        let reference = real::unary(op).unwrap();
        let wide = (0..40_000u64).map(|n| f64::from_bits(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        let near = (-30_000..30_000).map(|n| f64::from(n) * 0.000_317);
        let corners = [
            0.0,
            5e-324,
            f64::MIN_POSITIVE,
            0.5,
            1.0,
            2.0,
            6.0,
            709.782_712_893,
            745.2,
            // Next to multiples of π/2.
            FRAC_PI_2,
            FRAC_PI_4,
            PI,
            6_381_956_970_095_103.0 * 2f64.powi(797),
            f64::MAX,
            f64::INFINITY,
            f64::NAN,
        ];
        let unit = (-4000..4000).map(|n| f64::from(n) / 3999.0);
        for x in corners.into_iter().flat_map(|x| [x, -x]).chain(near).chain(wide).chain(unit) {
            let result = f64::from_bits(expansion.run(&[x.to_bits()]));
            let wanted = reference(x);
            assert!(is_near(result, wanted), "{op:?}({x:e}) is {result:e}, not {wanted:e}");
        }
    }
}

/// All pairs of the special arguments, and random pairs whose powers are neither 0 nor infinite.
#[test]
fn powers_are_as_exact_as_documented() {
    let expansion = ScalarOp::Pow.expansion(RealType::F32).unwrap();
    let check = |x: f32, y: f32| {
        let wanted = real::binary(ScalarOp::Pow).unwrap()(f64::from(x), f64::from(y));
        let result = call(&expansion, &[x, y]);
        let error = distance(result, wanted);
        assert!(error <= 0.54, "{x:e} ** {y:e} is {result:e}, not {wanted:e}: {error}");
    };
    let corners = corners();
    for x in corners.iter() {
        corners.iter().for_each(|y| check(*x, *y));
    }
    let mut random = random();
    let mut random = || (random() >> 22) as u32;
    for _ in 0..50_000 {
        let x = f32::from_bits(random() & 0x7fff_ffff);
        if x.is_finite() && x > 0.0 {
            let limit = 150.0 / x.log2().abs().max(1e-6);
            check(x, limit * (random() as f32 / 2f32.powi(30) - 1.0));
            // Bases close to 1, with large exponents.
            let x = 1.0 + (random() as f32 / 2f32.powi(31) - 0.5) / 64.0;
            check(x, (random() as f32 / 2f32.powi(30) - 1.0) * 12_000.0);
        }
    }
}

/// As above; the bound includes the error of the reference function.
#[test]
fn powers_of_f64_are_as_exact_as_documented() {
    let expansion = ScalarOp::Pow.expansion(RealType::F64).unwrap();
    let check = |x: f64, y: f64| {
        let wanted = real::binary(ScalarOp::Pow).unwrap()(x, y);
        let result = f64::from_bits(expansion.run(&[x.to_bits(), y.to_bits()]));
        assert!(is_near(result, wanted), "{x:e} ** {y:e} is {result:e}, not {wanted:e}");
    };
    let corners: Vec<f64> = corners().into_iter().map(f64::from).collect();
    let corners: Vec<f64> = corners.into_iter().chain([f64::MAX, f64::MIN, 5e-324, 1e300]).collect();
    for x in corners.iter() {
        corners.iter().for_each(|y| check(*x, *y));
    }
    let mut random = random();
    let unit = 2f64.powi(-53);
    for _ in 0..50_000 {
        let x = f64::from_bits(random() << 10);
        if x.is_finite() && x > 0.0 {
            let limit = 1080.0 / x.log2().abs().max(1e-6);
            check(x, limit * (random() as f64 * unit * 2.0 - 1.0));
            // Bases close to 1, with large exponents.
            let x = 1.0 + (random() as f64 * unit - 0.5) / 64.0;
            check(x, (random() as f64 * unit * 2.0 - 1.0) * 90_000.0);
        }
    }
}

#[test]
fn extremes_are_those_of_the_table() {
    for op in [ScalarOp::Min, ScalarOp::Max] {
        let expansion = op.expansion(RealType::F32).unwrap();
        let of_numbers = op.number_expansion(RealType::F32).unwrap();
        let reference = real::binary(op).unwrap();
        for x in corners() {
            for y in corners() {
                let wanted = reference(f64::from(x), f64::from(y)) as f32;
                if !x.is_nan() && !y.is_nan() {
                    let result = call(&of_numbers, &[x, y]);
                    assert_eq!(result.to_bits(), wanted.to_bits(), "{op:?} of {x:e} and {y:e}");
                }
                let result = call(&expansion, &[x, y]);
                assert!(is_same(result.into(), wanted.into()), "{op:?} of {x:e} and {y:e} is {result:e}");
            }
        }
    }
}

#[test]
fn constant_powers_are_those_of_the_table() {
    let pow = real::binary(ScalarOp::Pow).unwrap();
    for exponent in [-32.0, -3.0, -2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 32.0] {
        let expansion = ScalarOp::power_expansion(exponent, RealType::F32).unwrap();
        for x in samples() {
            let (result, wanted) = (call(&expansion, &[x]), pow(f64::from(x), exponent));
            let error = distance(result, wanted);
            assert!(error <= 0.500_001, "{x:e} ** {exponent} is {result:e}, not {wanted:e}: {error}");
        }
    }
    for exponent in [-0.5, 1.5, 33.0, f64::INFINITY, f64::NAN] {
        assert_eq!(ScalarOp::power_expansion(exponent, RealType::F32), None);
    }
    assert_eq!(ScalarOp::power_expansion(3.0, RealType::F64), None);
}

/// Rounding and remainders of special arguments, of halves, and of numbers with large quotients.
#[test]
fn rounding_and_remainders_are_exact() {
    let rounded = |function: for<'b> fn(super::Value<'b>) -> super::Value<'b>, wanted: fn(f32) -> f32| {
        let expansion = Expansion::record([Class::F32], |[x]| function(x));
        for x in samples().chain((-9..9).map(|n| n as f32 / 2.0)).filter(|x| !x.is_nan()) {
            assert_eq!(call(&expansion, &[x]).to_bits(), wanted(x).to_bits(), "{x:e}");
        }
    };
    rounded(rounding::floor, f32::floor);
    rounded(rounding::ceil, f32::ceil);
    rounded(rounding::trunc, f32::trunc);
    rounded(rounding::trunc_by_sides, f32::trunc);
    rounded(rounding::round, f32::round);
    rounded(rounding::round_even, f32::round_ties_even);
    let remainder = Expansion::record([Class::F32; 2], |[x, y]| rounding::real_remainder(x, y));
    let wide = Expansion::record([Class::F64; 2], |[x, y]| rounding::real_remainder(x, y));
    for x in corners().into_iter().step_by(5) {
        for y in corners().into_iter().step_by(3) {
            let (result, wanted) = (call(&remainder, &[x, y]), x % y);
            assert!(is_same(result.into(), wanted.into()), "{x:e} % {y:e} is {result:e}, not {wanted:e}");
            let (x, y) = (f64::from(x) * 1.1, f64::from(y) * 0.7);
            let (result, wanted) = (f64::from_bits(wide.run(&[x.to_bits(), y.to_bits()])), x % y);
            assert!(is_same(result, wanted), "{x:e} % {y:e} is {result:e}, not {wanted:e}");
        }
    }
    let power = Expansion::record([Class::I64; 2], |[x, y]| rounding::integer_power(x, y));
    for x in INTS {
        for y in INTS.map(|y| y.max(0)) {
            let wanted = ScalarOp::Pow.eval(&[Scalar::Int(x), Scalar::Int(y)]);
            assert_eq!(power.value(&[Scalar::Int(x), Scalar::Int(y)]), wanted, "{x} ** {y}");
        }
    }
}

/// Each 16-bit real converts to f32 and back, and numbers between two 16-bit reals round to the nearer real.
#[test]
fn narrow_reals_are_rounded_to_nearest() {
    let widened =
        [narrow::f32_of_f16, narrow::f32_of_bf16].map(|f| Expansion::record([Class::I16], |[x]| f(x)));
    let rounded =
        [narrow::f16_of_f32, narrow::bf16_of_f32].map(|f| Expansion::record([Class::F32], |[x]| f(x)));
    let odd = Expansion::record([Class::F64], |[x]| narrow::odd_f32_of_f64(x));
    for (real, (widened, rounded)) in
        [RealType::F16, RealType::BF16].into_iter().zip(widened.iter().zip(&rounded))
    {
        let wide = |bits: u64| f32::from_bits(widened.run(&[bits]) as u32);
        let narrow = |x: f32| rounded.run(&[u64::from(x.to_bits())]);
        for bits in 0..0x10000 {
            let x = wide(bits);
            if x.is_nan() {
                assert!(wide(narrow(x)).is_nan());
                continue;
            }
            assert_eq!(narrow(x), bits, "{real:?} {x:e}");
            if x <= 0.0 || x.is_infinite() {
                continue;
            }
            let below = real.below(f64::from(x));
            assert_eq!(f64::from(wide(bits - 1)), below, "{real:?} {x:e}");
            let middle = (f64::from(x) + below) / 2.0;
            let even = bits - (bits & 1);
            assert_eq!(narrow(middle as f32), even, "{real:?} {middle:e}");
            assert_eq!(narrow((middle as f32).next_up()), bits, "{real:?} {middle:e}");
            let above = f64::from_bits(middle.to_bits() + 1);
            let at_once = f32::from_bits(odd.run(&[above.to_bits()]) as u32);
            assert_eq!(narrow(at_once), bits, "{real:?} {above:e}");
        }
    }
}

const INTS: [i64; 13] = [0, 1, -1, 2, -2, 3, -3, 7, -7, i64::MAX, i64::MIN, i64::MIN + 1, 1 << 40];

const REALS: [f32; 24] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    -2.5,
    2.5,
    0.1,
    0.7,
    -0.3,
    3.25,
    1e-40,
    1e30,
    -1e30,
    9.223_372e18,
    -9.223_372e18,
    9.223_371e18,
    16_777_216.0,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    -7.75,
];

fn values(class: Class) -> Vec<Scalar> {
    match class {
        Class::BOOL => [false, true].map(Scalar::Bool).to_vec(),
        Class::Real(_) => REALS.map(|x| Scalar::Real(f64::from(x))).to_vec(),
        _ => INTS.map(Scalar::Int).to_vec(),
    }
}

fn kind(class: Class) -> ScalarKind {
    match class {
        Class::BOOL => ScalarKind::Bool,
        Class::Real(_) => ScalarKind::Real,
        _ => ScalarKind::Int,
    }
}

/// Compares every lowering with the table, at all pairs of special values.
#[test]
fn lowerings_agree_with_the_table() {
    let classes = [Class::BOOL, Class::I64, Class::Index, Class::F32];
    let mut count = 0;
    for op in ScalarOp::ALL {
        for class in classes {
            for result in classes {
                let operands: &[ScalarKind] = &match op.row().arity {
                    1 => vec![kind(class)],
                    2 => vec![kind(class); 2],
                    _ => vec![ScalarKind::Bool, kind(class), kind(class)],
                };
                let Some(lowering) = op.lowering(class, result) else {
                    let wanted = op.result_kind(operands);
                    let is_none = wanted.is_none() || wanted != Some(kind(result));
                    assert!(is_none, "{op:?} on {class:?} has no lowering");
                    continue;
                };
                assert!(op.result_kind(operands).is_some(), "{op:?} on {class:?}");
                count += 1;
                compare(op, &lowering, class);
            }
        }
    }
    assert!(count > 100);
}

fn compare(op: ScalarOp, lowering: &Expansion, class: Class) {
    let all = values(class);
    let seconds = if op.row().arity == 1 { &all[..1] } else { &all[..] };
    for a in &all {
        for b in seconds {
            for condition in [false, true] {
                let arguments = match op.row().arity {
                    1 => vec![*a],
                    2 => vec![*a, *b],
                    _ => vec![Scalar::Bool(condition), *a, *b],
                };
                let (result, wanted) = (lowering.value(&arguments), op.eval_f32(&arguments));
                let agree = match (result, wanted) {
                    (Scalar::Real(x), Scalar::Real(y)) => is_same(x, y),
                    _ => result == wanted,
                };
                assert!(agree, "{op:?}{arguments:?}: lowering {result:?}, table {wanted:?}");
            }
        }
    }
}

#[test]
fn integers_saturate_in_narrower_types() {
    let cast = |x: i64, from, to| {
        ScalarOp::ToInt.lowering(from, to).map(|lowering| lowering.value(&[Scalar::Int(x)]))
    };
    assert_eq!(cast(200, Class::I64, Class::Int(8)), Some(Scalar::Int(127)));
    assert_eq!(cast(-200, Class::Index, Class::Int(8)), Some(Scalar::Int(-128)));
    assert_eq!(cast(-5, Class::Int(8), Class::I32), Some(Scalar::Int(-5)));
}
