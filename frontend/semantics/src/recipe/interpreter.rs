// SPDX-License-Identifier: Apache-2.0
//! Test only: runs recipes on scalars by the definitions of `arith` and `math`, and compares with the table's meaning.
//!
//! Undefined behaviour and poison of those dialects are a panic here. Reals are f32, ints 64 bits wide.

use super::{Input, Recipe, TypeClass};
use crate::{Scalar, ScalarKind, ScalarOp};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    B(bool),
    I(i64),
    R(f32),
}
use Value::{B, I, R};

fn run(recipe: &Recipe, args: &[Value]) -> Value {
    let mut results: Vec<Value> = Vec::new();
    for step in &recipe.steps {
        let inputs: Vec<Value> = step.inputs.iter().map(|i| read(i, args, &results)).collect();
        let predicate = step.predicate.map_or("", |p| p.name);
        let value = apply(step.op, predicate, &inputs);
        let fits = match step.result {
            TypeClass::Bool => matches!(value, B(_)),
            TypeClass::Real => matches!(value, R(_)),
            _ => matches!(value, I(_)),
        };
        assert!(fits, "{step:?} yields {value:?}");
        results.push(value);
    }
    read(&recipe.result, args, &results)
}

fn read(input: &Input, args: &[Value], results: &[Value]) -> Value {
    match *input {
        Input::Arg(n) => args[n],
        Input::Step(n) => results[n],
        Input::Bool(b) => B(b),
        Input::Int(_, i) => I(i),
        Input::Real(x) => R(x as f32),
        Input::Least(_) => I(i64::MIN),
        Input::Greatest(_) => I(i64::MAX),
        Input::LeastAsReal(_) => R(-9_223_372_036_854_775_808.0),
        Input::BeyondGreatestAsReal(_) => R(9_223_372_036_854_775_808.0),
    }
}

fn apply(op: &str, predicate: &str, inputs: &[Value]) -> Value {
    match (op, inputs) {
        ("arith.select", [B(c), a, b]) => *if *c { a } else { b },
        ("arith.andi", [B(a), B(b)]) => B(*a & *b),
        ("arith.ori", [B(a), B(b)]) => B(*a | *b),
        ("arith.xori", [B(a), B(b)]) => B(*a ^ *b),
        ("arith.andi", [I(a), I(b)]) => I(*a & *b),
        ("arith.cmpi", [B(a), B(b)]) => B(match predicate {
            "ult" => !*a & *b,
            "ule" => !*a | *b,
            "ugt" => *a & !*b,
            "uge" => *a | !*b,
            "eq" => a == b,
            "ne" => a != b,
            other => panic!("predicate {other} on i1"),
        }),
        ("arith.cmpi", [I(a), I(b)]) => B(match predicate {
            "eq" => a == b,
            "ne" => a != b,
            "slt" => a < b,
            "sle" => a <= b,
            "sgt" => a > b,
            "sge" => a >= b,
            other => panic!("predicate {other} on ints"),
        }),
        ("arith.cmpf", [R(a), R(b)]) => B(match predicate {
            "oeq" => a == b,
            "ogt" => a > b,
            "oge" => a >= b,
            "olt" => a < b,
            "ole" => a <= b,
            "une" => a != b,
            other => panic!("predicate {other} on floats"),
        }),
        ("arith.addi", [I(a), I(b)]) => I(a.wrapping_add(*b)),
        ("arith.subi", [I(a), I(b)]) => I(a.wrapping_sub(*b)),
        ("arith.muli", [I(a), I(b)]) => I(a.wrapping_mul(*b)),
        ("arith.floordivsi", [I(a), I(b)]) => {
            let (a, b) = (i128::from(*a), i128::from(*b));
            let floor = (a - a.rem_euclid(b)) / b;
            let floor = if b < 0 && a.rem_euclid(b) != 0 { floor - 1 } else { floor };
            I(i64::try_from(floor).expect("overflow is undefined"))
        }
        ("arith.ceildivsi", [I(a), I(b)]) => {
            let (a, b) = (i128::from(*a), i128::from(*b));
            let floor = (a - a.rem_euclid(b)) / b;
            let ceil = if b > 0 && a.rem_euclid(b) != 0 { floor + 1 } else { floor };
            I(i64::try_from(ceil).expect("overflow is undefined"))
        }
        ("arith.remsi", [I(a), I(b)]) => I(a.checked_rem(*b).expect("undefined")),
        ("arith.minsi", [I(a), I(b)]) => I(*a.min(b)),
        ("arith.maxsi", [I(a), I(b)]) => I(*a.max(b)),
        ("arith.index_cast", [I(a)]) => I(*a),
        ("arith.index_castui" | "arith.extui", [B(a)]) => I(i64::from(*a)),
        ("arith.uitofp", [B(a)]) => R(if *a { 1.0 } else { 0.0 }),
        ("arith.sitofp", [I(a)]) => R(*a as f32),
        ("arith.fptosi", [R(a)]) => {
            let wide = f64::from(*a).trunc();
            assert!((-9.3e18..9.223_372_036_854_775e18).contains(&wide), "poison: {a}");
            I(wide as i64)
        }
        ("math.ipowi", [I(a), I(b)]) => {
            assert!(*b >= 0, "negative exponent");
            // By repeated multiplication, two factors at a time: the tested exponents are small, or the bases are 0, 1,
            // -1.
            match (*a, *b) {
                (0, 0) | (1, _) => I(1),
                (0, _) => I(0),
                (-1, n) => I(if n % 2 == 0 { 1 } else { -1 }),
                (base, n) if n <= 100 => I((0..n).fold(1i64, |p, _| p.wrapping_mul(base))),
                (base, _) if base % 2 == 0 => I(0),
                _ => panic!("exponent too large for this test"),
            }
        }
        ("arith.addf", [R(a), R(b)]) => R(a + b),
        ("arith.subf", [R(a), R(b)]) => R(a - b),
        ("arith.mulf", [R(a), R(b)]) => R(a * b),
        ("arith.divf", [R(a), R(b)]) => R(a / b),
        ("arith.remf", [R(a), R(b)]) => R(a % b),
        ("arith.negf", [R(a)]) => R(-a),
        ("arith.minimumf", [R(a), R(b)]) => R(match (a, b) {
            _ if a.is_nan() || b.is_nan() => f32::NAN,
            _ if *a == 0.0 && *b == 0.0 => f32::from_bits(a.to_bits() | b.to_bits()),
            _ => a.min(*b),
        }),
        ("arith.maximumf", [R(a), R(b)]) => R(match (a, b) {
            _ if a.is_nan() || b.is_nan() => f32::NAN,
            _ if *a == 0.0 && *b == 0.0 => f32::from_bits(a.to_bits() & b.to_bits()),
            _ => a.max(*b),
        }),
        ("math.powf", [R(a), R(b)]) => R(a.powf(*b)),
        ("math.absf", [R(a)]) => R(a.abs()),
        ("math.ceil", [R(a)]) => R(a.ceil()),
        ("math.floor", [R(a)]) => R(a.floor()),
        ("math.round", [R(a)]) => R(a.round()),
        ("math.trunc", [R(a)]) => R(a.trunc()),
        ("math.sqrt", [R(a)]) => R(a.sqrt()),
        ("math.exp", [R(a)]) => R(a.exp()),
        ("math.log", [R(a)]) => R(a.ln()),
        ("math.sin", [R(a)]) => R(a.sin()),
        ("math.cos", [R(a)]) => R(a.cos()),
        ("math.tan", [R(a)]) => R(a.tan()),
        ("math.asin", [R(a)]) => R(a.asin()),
        ("math.acos", [R(a)]) => R(a.acos()),
        ("math.atan", [R(a)]) => R(a.atan()),
        ("math.sinh", [R(a)]) => R(a.sinh()),
        ("math.cosh", [R(a)]) => R(a.cosh()),
        ("math.tanh", [R(a)]) => R(a.tanh()),
        ("math.asinh", [R(a)]) => R(f64::from(*a).asinh() as f32),
        ("math.acosh", [R(a)]) => R(f64::from(*a).acosh() as f32),
        ("math.atanh", [R(a)]) => R(f64::from(*a).atanh() as f32),
        ("math.erf", [R(a)]) => R(libm::erff(*a)),
        _ => panic!("{op} on {inputs:?}"),
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

fn values(class: TypeClass) -> Vec<Value> {
    match class {
        TypeClass::Bool => vec![B(false), B(true)],
        TypeClass::Real => REALS.iter().map(|&x| R(x)).collect(),
        _ => INTS.iter().map(|&i| I(i)).collect(),
    }
}

fn scalar(value: Value) -> Scalar {
    match value {
        B(b) => Scalar::Bool(b),
        I(i) => Scalar::Int(i),
        R(x) => Scalar::Real(f64::from(x)),
    }
}

fn kind(class: TypeClass) -> ScalarKind {
    match class {
        TypeClass::Bool => ScalarKind::Bool,
        TypeClass::Real => ScalarKind::Real,
        _ => ScalarKind::Int,
    }
}

fn transcendental(op: ScalarOp) -> bool {
    op == ScalarOp::Pow || (ScalarOp::Exp..=ScalarOp::Erf).contains(&op)
}

fn same(op: ScalarOp, got: Value, want: Scalar) -> bool {
    match (got, want) {
        (R(a), Scalar::Real(b)) => {
            let b = b as f32;
            if a.is_nan() || b.is_nan() {
                return a.is_nan() && b.is_nan();
            }
            if transcendental(op) {
                return a == b || (a.to_bits() as i64 - b.to_bits() as i64).abs() <= 4;
            }
            a.to_bits() == b.to_bits()
        }
        (got, want) => scalar(got) == want,
    }
}

/// Every recipe against the table, at all pairs of corner values.
#[test]
fn recipes_mean_what_the_table_says() {
    let classes = [TypeClass::Bool, TypeClass::Int, TypeClass::Index, TypeClass::Real];
    let mut spelled = 0;
    for op in ScalarOp::ALL {
        for class in classes {
            for result in classes {
                let operands: &[ScalarKind] = &match op.row().arity {
                    1 => vec![kind(class)],
                    2 => vec![kind(class); 2],
                    _ => vec![ScalarKind::Bool, kind(class), kind(class)],
                };
                let Some(recipe) = op.recipe(class, result) else {
                    let wanted = op.result_kind(operands);
                    assert!(
                        wanted.is_none() || wanted != Some(kind(result)),
                        "{op:?} on {class:?} has no recipe"
                    );
                    continue;
                };
                assert!(op.result_kind(operands).is_some(), "{op:?} on {class:?}");
                spelled += 1;
                compare(op, &recipe, class);
            }
        }
    }
    assert!(spelled > 100);
}

fn compare(op: ScalarOp, recipe: &Recipe, class: TypeClass) {
    let all = values(class);
    for &a in &all {
        let seconds = if op.row().arity == 1 { &all[..1] } else { &all[..] };
        for &b in seconds {
            // An odd base to a power beyond 100 takes the interpreter too long.
            if op == ScalarOp::Pow && matches!((a, b), (I(x), I(y)) if y > 100 && x % 2 != 0 && x.abs() != 1)
            {
                continue;
            }
            for condition in [false, true] {
                let args: Vec<Value> = match op.row().arity {
                    1 => vec![a],
                    2 => vec![a, b],
                    _ => vec![B(condition), a, b],
                };
                let scalars: Vec<Scalar> = args.iter().map(|&v| scalar(v)).collect();
                let (got, want) = (run(recipe, &args), op.eval_f32(&scalars));
                assert!(same(op, got, want), "{op:?}{args:?}: recipe {got:?}, table {want:?}");
            }
        }
    }
}
