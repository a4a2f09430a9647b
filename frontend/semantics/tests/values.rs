// SPDX-License-Identifier: Apache-2.0
//! Values of all scalar operations: known values, and the mathematical definitions of the integer operations.

use skript_semantics::StableHlo::{self, Compare, Composed, Named};
use skript_semantics::{Scalar, ScalarKind, ScalarOp};
use std::f64::consts::{E, FRAC_PI_2, FRAC_PI_3, FRAC_PI_4, LN_2, PI, SQRT_2};

use Scalar::{Bool, Int, Real};

/// Whether two numbers are equal, or nearly: functions of the libraries differ in the last bits.
fn is_near(x: f64, expected: f64) -> bool {
    x == expected || (x - expected).abs() <= 1e-15 * expected.abs() || x.is_nan() && expected.is_nan()
}

#[test]
fn functions_have_their_known_values() {
    use ScalarOp::*;
    // Values from tables of the functions.
    let cases = [
        (Neg, 2.5, -2.5),
        (Abs, -2.5, 2.5),
        (Sign, -2.5, -1.0),
        (Sign, 2.5, 1.0),
        (Sign, 0.0, 0.0),
        (Sqrt, 2.0, SQRT_2),
        (Sqrt, -1.0, f64::NAN),
        (Exp, 1.0, E),
        (Log, 2.0, LN_2),
        (Sin, PI / 6.0, 0.5),
        (Cos, FRAC_PI_3, 0.5),
        (Tan, FRAC_PI_4, 1.0),
        (Asin, 1.0, FRAC_PI_2),
        (Acos, -1.0, PI),
        (Atan, 1.0, FRAC_PI_4),
        (Sinh, LN_2, 0.75),
        (Cosh, LN_2, 1.25),
        (Tanh, LN_2, 0.6),
        (Asinh, 0.75, LN_2),
        (Acosh, 1.25, LN_2),
        (Acosh, 0.5, f64::NAN),
        (Acosh, 1.0, 0.0),
        (Atanh, 0.6, LN_2),
        (Round, -2.5, -3.0),
        (Floor, -2.5, -3.0),
        (Ceil, -2.5, -2.0),
        (Frac, -2.25, -0.25),
    ];
    for (op, x, expected) in cases {
        let Real(value) = op.eval(&[Real(x)]) else { panic!("{op:?} of a real") };
        assert!(is_near(value, expected), "{op:?}({x}) = {value}, not {expected}");
        let Real(value) = op.eval_f32(&[Real(x)]) else { panic!("{op:?} of a real") };
        // One rounding of the argument and one of the result.
        let error = (value - expected).abs();
        let is_close = error <= 2e-7 || value.is_nan() && expected.is_nan();
        assert!(is_close && (value.is_nan() || f64::from(value as f32) == value), "{op:?}({x}) = {value}");
    }
}

#[test]
fn binary_operations_on_reals() {
    use ScalarOp::*;
    let cases = [
        (Add, 3.5, 2.0, 5.5),
        (Sub, 3.5, 2.0, 1.5),
        (Mul, 3.5, 2.0, 7.0),
        (Div, 3.5, 2.0, 1.75),
        (CeilDiv, 3.5, 2.0, 2.0),
        (CeilDiv, -3.5, 2.0, -1.0),
        (Mod, 3.5, 2.0, 1.5),
        (Mod, -3.5, 2.0, 0.5),
        (Mod, 3.5, -2.0, -0.5),
        (Mod, -4.0, 2.0, 0.0),
        (Pow, 3.5, 2.0, 12.25),
        (Min, 3.5, 2.0, 2.0),
        (Max, 3.5, 2.0, 3.5),
    ];
    for (op, x, y, expected) in cases {
        assert_eq!(op.eval(&[Real(x), Real(y)]), Real(expected), "{op:?}");
        assert_eq!(op.eval_f32(&[Real(x), Real(y)]), Real(expected), "{op:?} in f32");
    }
    // 1 + 2⁻³⁰ and 1 - 2⁻³⁰ are 1 in f32.
    let small = 2f64.powi(-30);
    for (op, x, y) in [(Add, 1.0, small), (Sub, 1.0, small), (Mul, 1.0 + small, 1.0), (Div, 1.0, 1.0 + small)]
    {
        assert_eq!(op.eval_f32(&[Real(x), Real(y)]), Real(1.0), "{op:?}");
        assert_ne!(op.eval(&[Real(x), Real(y)]), Real(1.0), "{op:?}");
    }
}

#[test]
fn integers_follow_their_definitions() {
    use ScalarOp::*;
    let samples = [i64::MIN, i64::MIN + 1, -1 << 40, -7, -3, -2, -1, 0, 1, 2, 3, 7, 10, 1 << 40, i64::MAX];
    for a in samples {
        for b in samples {
            let value = |op: ScalarOp| match op.eval(&[Int(a), Int(b)]) {
                Int(value) => value,
                other => panic!("{op:?} gives {other:?}"),
            };
            let (x, y) = (i128::from(a), i128::from(b));
            // Modulo 2⁶⁴.
            assert_eq!(value(Add), (x + y) as i64);
            assert_eq!(value(Sub), (x - y) as i64);
            assert_eq!(value(Mul), x.wrapping_mul(y) as i64);
            assert_eq!((value(Min), value(Max)), (if a < b { a } else { b }, if a < b { b } else { a }));
            if b == 0 {
                assert_eq!([Div, CeilDiv, Mod].map(value), [0; 3]);
                continue;
            }
            // The divisor as a positive number.
            let (x, y) = if y < 0 { (-x, -y) } else { (x, y) };
            let (floor, ceil) = (x.div_euclid(y), -(-x).div_euclid(y));
            assert_eq!((value(Div), value(CeilDiv)), (floor as i64, ceil as i64), "{a}, {b}");
            assert_eq!(value(Mod), a.wrapping_sub(b.wrapping_mul(value(Div))), "{a} % {b}");
        }
        let value = |op: ScalarOp| op.eval(&[Int(a)]);
        assert_eq!(value(Neg), Int((-i128::from(a)) as i64));
        assert_eq!(value(Abs), Int(i128::from(a).abs() as i64));
        assert_eq!(value(Sign), Int(i64::from(a > 0) - i64::from(a < 0)));
        assert_eq!((value(ToInt), value(ToReal), value(ToBool)), (Int(a), Real(a as f64), Bool(a != 0)));
        for n in 0..70 {
            let power = (0..n).fold(1i64, |power, _| power.wrapping_mul(a));
            assert_eq!(Pow.eval(&[Int(a), Int(n)]), Int(power), "{a} ** {n}");
        }
        let inverse = |n: i64| match (a, n % 2) {
            (1, _) | (-1, 0) => 1,
            (-1, _) => -1,
            _ => 0,
        };
        for n in [-1, -2, -3, i64::MIN] {
            assert_eq!(Pow.eval(&[Int(a), Int(n)]), Int(inverse(n)), "{a} ** {n}");
        }
    }
}

#[test]
fn logic_and_comparisons_have_their_truth_tables() {
    use ScalarOp::*;
    let tables = [
        (And, [false, false, false, true]),
        (Or, [false, true, true, true]),
        (Xor, [false, true, true, false]),
        (Implies, [true, true, false, true]),
        (Lt, [false, true, false, false]),
        (Le, [true, true, false, true]),
        (Gt, [false, false, true, false]),
        (Ge, [true, false, true, true]),
        (Eq, [true, false, false, true]),
        (Ne, [false, true, true, false]),
    ];
    for (op, table) in tables {
        for (at, expected) in table.into_iter().enumerate() {
            let (a, b) = (at / 2 == 1, at % 2 == 1);
            assert_eq!(op.eval(&[Bool(a), Bool(b)]), Bool(expected), "{op:?} of {a} and {b}");
            if op >= Lt && op <= Ne {
                let number = |x: bool| f64::from(u8::from(x)) - 0.5;
                assert_eq!(op.eval(&[Real(number(a)), Real(number(b))]), Bool(expected), "{op:?} of reals");
            }
        }
    }
    assert_eq!((Not.eval(&[Bool(true)]), Not.eval(&[Bool(false)])), (Bool(false), Bool(true)));
    let select = |condition: bool| Select.eval(&[Bool(condition), Int(1), Int(2)]);
    assert_eq!((select(true), select(false)), (Int(1), Int(2)));
}

#[test]
fn values_are_converted_and_printed() {
    assert_eq!(
        [Int(0), Int(-2), Real(0.0), Real(0.5), Real(f64::NAN)].map(Scalar::to_bool),
        [false, true, false, true, true]
    );
    assert_eq!([Bool(true), Int(3), Real(-2.7)].map(Scalar::to_int), [1, 3, -2]);
    assert_eq!([Bool(true), Int(3), Real(-2.7)].map(Scalar::to_real), [1.0, 3.0, -2.7]);
    assert_eq!(Int(3).cast(ScalarKind::Real), Real(3.0));
    assert_eq!(Real(3.5).cast(ScalarKind::Int), Int(3));
    assert_eq!(Real(3.5).cast(ScalarKind::Bool), Bool(true));
    let text = [Bool(true), Int(-3), Real(2.0), Real(1e300), Real(f64::NAN), Real(f64::INFINITY)];
    assert_eq!(text.map(|value| value.to_string()), ["true", "-3", "2.0", "1e300", "nan", "inf"]);
    let kinds = [ScalarKind::Bool, ScalarKind::Int, ScalarKind::Real];
    assert_eq!(kinds.map(ScalarKind::name), ["bool", "int", "real"]);
    assert_eq!(kinds.map(ScalarKind::default_value), [Bool(false), Int(0), Real(0.0)]);
    assert_eq!(kinds.map(|kind| kind.default_value().kind()), kinds);
}

#[test]
fn names_are_those_of_the_dialect() {
    use ScalarKind as Kind;
    assert_eq!(ScalarOp::from_name("skript.add", Kind::Int), Some(ScalarOp::Add));
    assert_eq!(ScalarOp::from_name("skript.lt", Kind::Int), None);
    let casts =
        [Kind::Bool, Kind::Int, Kind::Real].map(|kind| ScalarOp::from_name("skript.cast", kind).unwrap());
    assert_eq!(casts, [ScalarOp::ToBool, ScalarOp::ToInt, ScalarOp::ToReal]);
    assert_eq!(ScalarOp::CeilDiv.mnemonic(), "ceildiv");
    let transcendental = ScalarOp::ALL.iter().filter(|op| op.is_transcendental()).map(|op| op.mnemonic());
    let names: Vec<&str> = transcendental.collect();
    let functions = "pow exp log sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf";
    assert_eq!(names, functions.split(' ').collect::<Vec<_>>());
}

#[test]
fn kinds_of_operands_are_checked() {
    use ScalarKind as Kind;
    let (b, i, r) = (Kind::Bool, Kind::Int, Kind::Real);
    for (op, operands, result) in [
        (ScalarOp::And, &[b, b][..], Some(b)),
        (ScalarOp::And, &[i, i], None),
        (ScalarOp::Sqrt, &[r], Some(r)),
        (ScalarOp::Sqrt, &[b], None),
        (ScalarOp::Mul, &[r, r], Some(r)),
        (ScalarOp::Mul, &[r], None),
        (ScalarOp::Mul, &[r, r, r], None),
        (ScalarOp::Eq, &[b, b], Some(b)),
        (ScalarOp::ToReal, &[b], Some(r)),
        (ScalarOp::Select, &[b, i, i], Some(i)),
        (ScalarOp::Select, &[b, i, r], None),
    ] {
        assert_eq!(op.result_kind(operands), result, "{op:?} {operands:?}");
    }
}

/// The names of StableHLO's specification.
#[test]
fn stablehlo_has_operations_of_the_same_meaning() {
    use ScalarKind as Kind;
    let real: Vec<StableHlo> = ScalarOp::ALL.iter().map(|op| op.stablehlo(Kind::Real)).collect();
    let names = "add subtract multiply divide - - power minimum maximum negate abs sign LT LE GT GE EQ NE and or xor - not \
                 sqrt exponential log sine cosine - - - - - - tanh - - - - round_nearest_afz floor ceil - - - convert select";
    let expected = names.split(' ').map(|name| match name {
        "-" => Composed,
        name if name.len() == 2 && name != "or" => Compare(name),
        name => Named(name),
    });
    assert_eq!(real, expected.collect::<Vec<_>>());
    // Integer division and powers have other corner cases.
    let others: Vec<ScalarOp> =
        ScalarOp::ALL.into_iter().filter(|op| op.stablehlo(Kind::Int) != op.stablehlo(Kind::Real)).collect();
    assert_eq!(others, [ScalarOp::Div, ScalarOp::Pow, ScalarOp::ToBool, ScalarOp::ToInt]);
    assert_eq!(ScalarOp::Div.stablehlo(Kind::Int), Composed);
    assert_eq!(ScalarOp::ToInt.stablehlo(Kind::Int), Named("convert"));
}
