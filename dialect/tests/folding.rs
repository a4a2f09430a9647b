// SPDX-License-Identifier: Apache-2.0
//! Tests that folders compute the values of the scalar table, and that the dialect has every operation of the table.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use skript_dialect::melior::ir::Module;
use skript_dialect::{context, pipeline};
use skript_semantics::{Scalar, ScalarKind, ScalarOp};
use std::fmt::Write as _;

const REALS: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.5,
    -7.25,
    0.1,
    3.0e38,
    1.0e-40,
    1.0e19,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];
const INTS: &[i64] = &[0, 1, -1, 2, -2, 7, -7, 63, i64::MAX, i64::MIN];

fn samples(kind: ScalarKind) -> Vec<Scalar> {
    match kind {
        ScalarKind::Bool => vec![Scalar::Bool(false), Scalar::Bool(true)],
        ScalarKind::Int => INTS.iter().map(|&i| Scalar::Int(i)).collect(),
        ScalarKind::Real => REALS.iter().map(|&x| Scalar::Real(x).narrow()).collect(),
    }
}

fn mlir_type(kind: ScalarKind) -> &'static str {
    match kind {
        ScalarKind::Bool => "i1",
        ScalarKind::Int => "i64",
        ScalarKind::Real => "f32",
    }
}

fn literal(value: Scalar) -> String {
    match value {
        Scalar::Bool(b) => b.to_string(),
        Scalar::Int(i) => format!("{i} : i64"),
        Scalar::Real(x) => format!("0x{:08X} : f32", (x as f32).to_bits()),
    }
}

/// The value after `arith.constant`, as it was printed.
fn parse(text: &str) -> Scalar {
    match text.split_once(" : ") {
        None => Scalar::Bool(text == "true"),
        Some((value, "i64")) => Scalar::Int(value.parse().unwrap()),
        Some((value, "f32")) => Scalar::Real(f64::from(match value.strip_prefix("0x") {
            Some(bits) => f32::from_bits(u32::from_str_radix(bits, 16).unwrap()),
            None => value.parse::<f32>().unwrap(),
        })),
        Some(_) => panic!("{text}"),
    }
}

fn same(a: Scalar, b: Scalar) -> bool {
    match (a, b) {
        (Scalar::Real(x), Scalar::Real(y)) => (x.is_nan() && y.is_nan()) || x.to_bits() == y.to_bits(),
        _ => a == b,
    }
}

/// All operand lists that the operation accepts, with the samples as operands.
fn operand_lists(op: ScalarOp) -> Vec<Vec<Scalar>> {
    let all = [ScalarKind::Bool, ScalarKind::Int, ScalarKind::Real];
    let mut lists = Vec::new();
    for kind in all {
        let values = samples(kind);
        match op.row().arity {
            1 => lists.extend(values.iter().map(|&a| vec![a])),
            2 => {
                for &a in &values {
                    lists.extend(values.iter().map(|&b| vec![a, b]));
                }
            }
            _ => {
                for condition in [false, true] {
                    lists.push(vec![Scalar::Bool(condition), values[0], values[1]]);
                }
            }
        }
    }
    lists.retain(|list| {
        let kinds: Vec<_> = list.iter().map(|s| s.kind()).collect();
        op.result_kind(&kinds).is_some()
    });
    lists
}

/// Whether the operation may have no folder: its result on floats depends on the target's math library.
fn may_stay(op: ScalarOp, operands: &[Scalar]) -> bool {
    use ScalarOp::*;
    let real = matches!(operands[0], Scalar::Real(_));
    matches!(
        op,
        Exp | Log | Sin | Cos | Tan | Asin | Acos | Atan | Sinh | Cosh | Tanh | Asinh | Acosh | Atanh | Erf
    ) || (op == Pow && real)
}

#[test]
fn every_operation_of_the_table_is_in_the_dialect() {
    let context = context();
    for op in ScalarOp::ALL {
        let name = op.row().name;
        assert!(context.is_registered_operation(name), "{name}");
    }
}

#[test]
fn folders_agree_with_the_scalar_table() {
    let context = context();
    let mut cases = Vec::new();
    let mut text = String::new();
    for op in ScalarOp::ALL {
        for operands in operand_lists(op) {
            let kinds: Vec<_> = operands.iter().map(|s| s.kind()).collect();
            let kind = op.result_kind(&kinds).unwrap();
            let number = cases.len();
            writeln!(text, "func.func @case{number}() -> {} {{", mlir_type(kind)).unwrap();
            for (position, &operand) in operands.iter().enumerate() {
                writeln!(text, "%{position} = arith.constant {}", literal(operand)).unwrap();
            }
            let names: Vec<_> = (0..operands.len()).map(|i| format!("%{i}")).collect();
            let types = match op {
                ScalarOp::ToBool | ScalarOp::ToInt | ScalarOp::ToReal => {
                    format!("{} to {}", mlir_type(kinds[0]), mlir_type(kind))
                }
                _ => mlir_type(*kinds.last().unwrap()).to_string(),
            };
            let (name, names) = (op.row().name, names.join(", "));
            writeln!(text, "%r = {name} {names} : {types}\nreturn %r : {}\n}}", mlir_type(kind)).unwrap();
            cases.push((op, operands));
        }
    }
    let module = Module::parse(&context, &text).expect("the text is right");
    pipeline::run(&module, "builtin.module(func.func(canonicalize))").unwrap();
    let printed = module.as_operation().to_string();
    let mut functions = printed.split("func.func @case").skip(1);
    for (number, (op, operands)) in cases.iter().enumerate() {
        let body = functions.next().unwrap();
        assert!(body.starts_with(&format!("{number}()")), "{body}");
        if body.contains("skript.") {
            assert!(may_stay(*op, operands), "{op:?} {operands:?} was not folded");
            continue;
        }
        let line = body.lines().find(|l| l.contains("arith.constant")).unwrap();
        let folded = parse(line.split_once("arith.constant ").unwrap().1.trim());
        let expected = op.eval_f32(operands);
        assert!(
            same(folded, expected),
            "{op:?} {operands:?}: folded to {folded:?}, the table says {expected:?}"
        );
    }
    assert_eq!(functions.next(), None);
}
