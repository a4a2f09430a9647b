// SPDX-License-Identifier: Apache-2.0
//! Test only: computes expansions, and compares them with the table's meaning.

use super::{Class, Expansion, Operand, Operation};
use crate::ScalarOp;
use crate::numbers::RealType;
use crate::real;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// The bits of a value, in the low ones.
fn run(expansion: &Expansion, arguments: &[u64]) -> u64 {
    let mut results: Vec<u64> = Vec::new();
    for step in &expansion.steps {
        let inputs: Vec<u64> = step
            .operands
            .iter()
            .map(|(operand, class)| read(*operand, *class, arguments, &results))
            .collect();
        let from = step.operands[0].1;
        results.push(apply(step.operation, from, step.class, &inputs));
    }
    read(expansion.result, expansion.class, arguments, &results)
}

fn read(operand: Operand, class: Class, arguments: &[u64], results: &[u64]) -> u64 {
    match operand {
        Operand::Argument(n) => arguments[n],
        Operand::Step(n) => results[n],
        Operand::Real(x) => {
            let exact = class == Class::F64 || x.is_nan() || f64::from(x as f32) == x;
            assert!(exact, "{x:e} is not a number of f32");
            write(class, x)
        }
        Operand::Integer(i) if class == Class::I32 => u64::from(i as i32 as u32),
        Operand::Integer(i) => i as u64,
        Operand::Truth(b) => u64::from(b),
    }
}

fn write(class: Class, x: f64) -> u64 {
    match class {
        Class::F32 => u64::from((x as f32).to_bits()),
        Class::F64 => x.to_bits(),
        _ => panic!("{class:?} is not a class of reals"),
    }
}

fn real_of(class: Class, bits: u64) -> f64 {
    match class {
        Class::F32 => f64::from(f32::from_bits(bits as u32)),
        Class::F64 => f64::from_bits(bits),
        _ => panic!("{class:?} is not a class of reals"),
    }
}

fn apply(operation: Operation, from: Class, to: Class, inputs: &[u64]) -> u64 {
    let is_real = matches!(from, Class::F32 | Class::F64);
    let x = |n: usize| real_of(from, inputs[n]);
    let i = |n: usize| inputs[n];
    let whole = |value: u64| match to {
        Class::I1 => value & 1,
        Class::I32 => value & 0xffff_ffff,
        _ => value,
    };
    match operation {
        Operation::Add if is_real => write(to, x(0) + x(1)),
        Operation::Sub if is_real => write(to, x(0) - x(1)),
        Operation::Add => whole(i(0).wrapping_add(i(1))),
        Operation::Sub => whole(i(0).wrapping_sub(i(1))),
        Operation::Mul if is_real => write(to, x(0) * x(1)),
        Operation::Mul => whole(i(0).wrapping_mul(i(1))),
        Operation::Div => write(to, x(0) / x(1)),
        Operation::MultiplyAdd => match from {
            Class::F32 => {
                let [a, b, c] = [0, 1, 2].map(|n| x(n) as f32);
                write(to, f64::from(a.mul_add(b, c)))
            }
            _ => write(to, x(0).mul_add(x(1), x(2))),
        },
        Operation::Neg => write(to, -x(0)),
        Operation::Abs => write(to, x(0).abs()),
        Operation::CopySign => write(to, x(0).copysign(x(1))),
        Operation::Sqrt => write(to, x(0).sqrt()),
        Operation::Floor => write(to, x(0).floor()),
        Operation::ShiftLeft => whole(i(0) << i(1)),
        Operation::ShiftRight => i(0) >> i(1),
        Operation::ShiftRightSigned => {
            assert_eq!(from, Class::I32);
            u64::from((i(0) as u32).cast_signed().wrapping_shr(i(1) as u32) as u32)
        }
        Operation::And => i(0) & i(1),
        Operation::Or => i(0) | i(1),
        Operation::Xor => i(0) ^ i(1),
        Operation::Less => u64::from(x(0) < x(1)),
        Operation::Greater => u64::from(x(0) > x(1)),
        Operation::Equal if is_real => u64::from(x(0) == x(1)),
        Operation::Equal => u64::from(i(0) == i(1)),
        Operation::Unordered => u64::from(x(0).is_nan() || x(1).is_nan()),
        Operation::Select if i(0) == 1 => i(1),
        Operation::Select => i(2),
        Operation::Bits => i(0),
        Operation::Convert if is_real => write(to, x(0)),
        Operation::Convert => write(to, f64::from((i(0) as u32).cast_signed())),
        Operation::Scale => {
            let n = (i(1) as u32).cast_signed();
            write(to, x(0) * 2f64.powi(n))
        }
    }
}

fn call(expansion: &Expansion, arguments: &[f32]) -> f32 {
    let bits: Vec<u64> = arguments.iter().map(|x| u64::from(x.to_bits())).collect();
    f32::from_bits(run(expansion, &bits) as u32)
}

/// Units in the last place between a result and the true value; infinite if one is NaN or infinite, or has another sign.
fn distance(found: f32, wanted: f64) -> f64 {
    if found.is_nan() || wanted.is_nan() {
        let both = found.is_nan() && wanted.is_nan();
        return if both { 0.0 } else { f64::INFINITY };
    }
    if found.is_sign_negative() != wanted.is_sign_negative() {
        return f64::INFINITY;
    }
    // What rounds to infinity: from half a unit above the greatest number on.
    if found.is_infinite() {
        let beyond = wanted.abs() >= f64::from(f32::MAX) * (1.0 + 2f64.powi(-25));
        return if beyond { 0.0 } else { f64::INFINITY };
    }
    let exponent = (wanted.abs().to_bits() >> 52).cast_signed() - 1023;
    let unit = 2f64.powi(exponent.clamp(-126, 127) as i32 - 23);
    (f64::from(found) - wanted).abs() / unit
}

/// Numbers where functions change, and their neighbours.
fn corners() -> Vec<f32> {
    let mut corners = vec![0.0, f32::MIN_POSITIVE, 1e-45, f32::MAX, f32::INFINITY];
    for exponent in (-149..128).step_by(9) {
        corners.push(2f32.powi(exponent));
    }
    corners.extend([0.5, 0.625, 1.0, 2.0, 3.0, 4.0, 88.722_84, 89.0, 104.0, 149.0, 16_777_216.0]);
    // 2⁵⁰, 2⁷⁶ and 2¹⁰², where the arguments of sin are reduced another way; f32 numbers next to multiples of π/2.
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

fn measure(op: ScalarOp, bound: f64) {
    let expansion = op.expansion(RealType::F32).unwrap();
    let meaning = real::unary(op).unwrap();
    for x in samples() {
        let (found, wanted) = (call(&expansion, &[x]), meaning(f64::from(x)));
        let error = distance(found, wanted);
        assert!(error <= bound, "{op:?}({x:e}) is {found:e}, not {wanted:e}: {error}");
    }
}

#[test]
fn functions_are_as_exact_as_documented() {
    for (op, bound) in [
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
    ] {
        measure(op, bound);
    }
}

/// The portable functions that are compared with are off by up to a unit themselves.
#[test]
fn functions_of_f64_are_as_exact_as_documented() {
    for op in [
        ScalarOp::Exp,
        ScalarOp::Log,
        ScalarOp::Tanh,
        ScalarOp::Erf,
        ScalarOp::Sinh,
        ScalarOp::Cosh,
        ScalarOp::Asin,
        ScalarOp::Acos,
        ScalarOp::Atan,
        ScalarOp::Asinh,
        ScalarOp::Acosh,
        ScalarOp::Atanh,
        ScalarOp::Sin,
        ScalarOp::Cos,
        ScalarOp::Tan,
    ] {
        let expansion = op.expansion(RealType::F64).unwrap();
        let meaning = real::unary(op).unwrap();
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
        let corners = corners.into_iter().flat_map(|x| [x, -x]);
        let unit = (-4000..4000).map(|n| f64::from(n) / 3999.0);
        for x in corners.chain(near).chain(wide).chain(unit) {
            let found = f64::from_bits(run(&expansion, &[x.to_bits()]));
            let wanted = meaning(x);
            let (a, b) = (found.to_bits().cast_signed(), wanted.to_bits().cast_signed());
            let is_near = found.is_nan() && wanted.is_nan() || a.abs_diff(b) <= 2;
            assert!(is_near, "{op:?}({x:e}) is {found:e}, not {wanted:e}");
        }
    }
}

/// Each pair of numbers where powers are special, and pairs whose powers are neither 0 nor infinite.
#[test]
fn powers_are_as_exact_as_documented() {
    let expansion = ScalarOp::Pow.expansion(RealType::F32).unwrap();
    let check = |x: f32, y: f32| {
        let wanted = real::binary(ScalarOp::Pow).unwrap()(f64::from(x), f64::from(y));
        let found = call(&expansion, &[x, y]);
        let error = distance(found, wanted);
        assert!(error <= 0.54, "{x:e} ** {y:e} is {found:e}, not {wanted:e}: {error}");
    };
    let corners = corners();
    for x in corners.iter() {
        corners.iter().for_each(|y| check(*x, *y));
    }
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    for _ in 0..50_000 {
        let x = f32::from_bits(random() & 0x7fff_ffff);
        if x.is_finite() && x > 0.0 {
            let limit = 150.0 / x.log2().abs().max(1e-6);
            check(x, limit * (random() as f32 / 2f32.powi(30) - 1.0));
            // Next to 1, where the exponent is large.
            let x = 1.0 + (random() as f32 / 2f32.powi(31) - 0.5) / 64.0;
            check(x, (random() as f32 / 2f32.powi(30) - 1.0) * 12_000.0);
        }
    }
}

/// Each pair of numbers where powers are special, and pairs whose powers are neither 0 nor infinite; beside the error of what is
/// compared with.
#[test]
fn powers_of_f64_are_as_exact_as_documented() {
    let expansion = ScalarOp::Pow.expansion(RealType::F64).unwrap();
    let check = |x: f64, y: f64| {
        let wanted = real::binary(ScalarOp::Pow).unwrap()(x, y);
        let found = f64::from_bits(run(&expansion, &[x.to_bits(), y.to_bits()]));
        let [a, b] = [found, wanted].map(|value| value.to_bits().cast_signed());
        let is_near = found.is_nan() && wanted.is_nan() || a.abs_diff(b) <= 2;
        assert!(is_near, "{x:e} ** {y:e} is {found:e}, not {wanted:e}");
    };
    let corners: Vec<f64> = corners().into_iter().map(f64::from).collect();
    let corners: Vec<f64> = corners.into_iter().chain([f64::MAX, f64::MIN, 5e-324, 1e300]).collect();
    for x in corners.iter() {
        corners.iter().for_each(|y| check(*x, *y));
    }
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 11
    };
    let unit = 2f64.powi(-53);
    for _ in 0..50_000 {
        let x = f64::from_bits(random() << 10);
        if x.is_finite() && x > 0.0 {
            let limit = 1080.0 / x.log2().abs().max(1e-6);
            check(x, limit * (random() as f64 * unit * 2.0 - 1.0));
            // Next to 1, where the exponent is large.
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
        let meaning = real::binary(op).unwrap();
        for x in corners() {
            for y in corners() {
                let wanted = meaning(f64::from(x), f64::from(y)) as f32;
                if !x.is_nan() && !y.is_nan() {
                    let found = call(&of_numbers, &[x, y]);
                    assert_eq!(found.to_bits(), wanted.to_bits(), "{op:?} of {x:e} and {y:e}");
                }
                let found = call(&expansion, &[x, y]);
                let is_same = found.is_nan() && wanted.is_nan() || found.to_bits() == wanted.to_bits();
                assert!(is_same, "{op:?} of {x:e} and {y:e} is {found:e}");
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
            let (found, wanted) = (call(&expansion, &[x]), pow(f64::from(x), exponent));
            let error = distance(found, wanted);
            assert!(error <= 0.500_001, "{x:e} ** {exponent} is {found:e}, not {wanted:e}: {error}");
        }
    }
    for exponent in [-0.5, 1.5, 33.0, f64::INFINITY, f64::NAN] {
        assert_eq!(ScalarOp::power_expansion(exponent, RealType::F32), None);
    }
    assert_eq!(ScalarOp::power_expansion(3.0, RealType::F64), None);
}

#[test]
fn steps_read_earlier_ones() {
    for op in ScalarOp::ALL {
        let Some(expansion) = op.expansion(RealType::F32) else {
            continue;
        };
        for (number, step) in expansion.steps.iter().enumerate() {
            for (operand, class) in &step.operands {
                if let Operand::Step(other) = operand {
                    assert!(*other < number && expansion.steps[*other].class == *class, "{op:?} {number}");
                }
            }
        }
    }
}
