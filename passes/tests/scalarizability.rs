// SPDX-License-Identifier: Apache-2.0
//! Systematic scalarizability (the Elementwise RFC, 10 to 14): for every valid combination of tensors, vectors and scalars,
//! the scalarized form of an operation is valid and contains only scalars.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use melior::Context;
use melior::ir::Module;
use melior::ir::operation::OperationLike;
use skript_dialect::pipeline;
use skript_passes::ir;
use skript_semantics::ScalarOp;
use std::collections::BTreeMap;

const ELEMENTS: [&str; 9] = ["i1", "i8", "i32", "i64", "index", "bf16", "f16", "f32", "f64"];
const SHAPES: [(&str, &str); 4] =
    [("tensor<2x?x", ">"), ("tensor<", ">"), ("vector<3x", ">"), ("vector<2x2x", ">")];

/// A function with only this operation, in generic form, and whether it verifies.
fn function(number: usize, op: &str, operands: &[String], result: &str) -> String {
    let types = operands.join(", ");
    let arguments: Vec<String> = operands.iter().enumerate().map(|(n, t)| format!("%a{n}: {t}")).collect();
    let names: Vec<String> = (0..operands.len()).map(|n| format!("%a{n}")).collect();
    format!(
        "func.func @f{number}({}) -> {result} {{ %r = \"{op}\"({}) : ({types}) -> {result}  return %r : {result} }}\n",
        arguments.join(", "),
        names.join(", "),
    )
}

fn verifies(context: &Context, text: &str) -> bool {
    Module::parse(context, text).is_some_and(|module| module.as_operation().verify())
}

/// The combinations of element types of operands and result that an operation's verifier accepts.
fn signatures(context: &Context, op: &str, arity: usize) -> Vec<(Vec<&'static str>, &'static str)> {
    let mut signatures = Vec::new();
    for element in ELEMENTS {
        let mut operands = vec![element; arity];
        if arity == 3 {
            operands[0] = "i1";
        }
        for result in ELEMENTS {
            let types: Vec<String> = operands.iter().map(|t| (*t).to_owned()).collect();
            if verifies(context, &function(0, op, &types, result)) {
                signatures.push((operands.clone(), result));
            }
        }
    }
    signatures
}

#[test]
fn every_op_scalarizes_on_every_mix_of_types() {
    skript_passes::register();
    let context = ir::new_context();
    let (text, count) = ir::collecting(&context, || every_mix(&context)).0;
    assert!(count.values().all(|n| *n > 0), "an op without a mix: {count:?}");
    let select = count["skript.select"];
    assert!(select >= 7 * SHAPES.len(), "scalar predicates count too: {select}");
    let module = Module::parse(&context, &text).expect("each part verified");
    pipeline::run(&module, "builtin.module(skript-scalarize-elementwise)").expect("all of them scalarize");
    assert!(module.as_operation().verify());
    let left = module.as_operation().to_string();
    let shaped = left.lines().filter(|line| line.contains("= skript.") && line.contains('<'));
    assert_eq!(shaped.collect::<Vec<_>>(), Vec::<&str>::new());
    assert!(left.matches("= skript.").count() >= count.values().sum());
}

/// All combinations that verify as one module, and their number per operation.
fn every_mix(context: &Context) -> (String, BTreeMap<&'static str, usize>) {
    let (mut text, mut count) = (String::new(), BTreeMap::new());
    let mut number = 0;
    for op in ScalarOp::ALL {
        let name = op.row().name;
        let arity = op.row().arity;
        for (operands, result) in signatures(context, name, arity) {
            for (open, close) in SHAPES {
                for mask in 1..1_u32 << arity {
                    let types: Vec<String> =
                        operands
                            .iter()
                            .enumerate()
                            .map(|(n, t)| {
                                if mask >> n & 1 == 1 { format!("{open}{t}{close}") } else { (*t).to_owned() }
                            })
                            .collect();
                    let candidate = function(number, name, &types, &format!("{open}{result}{close}"));
                    if verifies(context, &candidate) {
                        text.push_str(&candidate);
                        number += 1;
                        *count.entry(name).or_insert(0) += 1;
                    }
                }
            }
        }
        count.entry(name).or_insert(0);
    }
    (text, count)
}
