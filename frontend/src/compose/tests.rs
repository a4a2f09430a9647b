//! Whole documents, composed.

use super::testing::composed;
use crate::model::{Body, Model, Node};
use skript_semantics::ScalarOp;

fn model(text: &str) -> Result<Model, Vec<String>> {
    composed(text).map_err(|found| found.into_iter().map(|d| d.message).collect())
}

const SCALE: &str =
    "operator scale { @attrib { by: real; } @input { x: real[n]; } @output { y: real[n]; }
    @assert { by > 0.0: \"'by' must be positive\", by; }
    @lower { y[i,] = x[i,] * by, i < n; } }\n";

#[test]
fn equal_invocations_share_one_function() {
    let text = format!(
        "{SCALE} graph G {{ @input {{ x: real[4]; }} @output {{ z: real[4]; }} @compose {{
            a = scale{{by=2.0}}(x); b = scale{{by=3.0}}(a); z = scale{{by=2.0}}(b); }} }}"
    );
    assert_eq!(model(&text).unwrap().functions.len(), 3);
}

#[test]
fn s2_8_violated_assertions_print_their_values() {
    let text = format!(
        "{SCALE} graph G {{ @input {{ x: real[4]; }} @output {{ z: real[4]; }} @compose {{
            z = scale{{by=-1.0}}(x); }} }}"
    );
    assert_eq!(
        model(&text).unwrap_err(),
        ["'by' must be positive; by = -1.0"]
    );
}

#[test]
fn one_failing_invocation_does_not_hide_another() {
    let text = format!(
        "{SCALE} graph G {{ @input {{ x: real[4]; }} @output {{ z: real[4]; }} @compose {{
            a = scale{{by=-1.0}}(x); b = scale{{by=-2.0}}(x); z = scale{{by=1.0}}(a); }} }}"
    );
    assert_eq!(model(&text).unwrap_err().len(), 2);
}

/// The only access in the value of the only formula of an operator that reads `x: real[3,2]`.
fn reads(lower: &str) -> usize {
    let text = format!(
        "operator f {{ @input {{ x: real[3,2]; }} @output {{ y: real[3]; }} @lower {{ {lower} }} }}
        graph G {{ @input {{ x: real[3,2]; }} @output {{ y: real[3]; }} @compose {{ y = f(x); }} }}"
    );
    let model = model(&text).unwrap();
    let lowered = model.functions.iter().find_map(|f| match &f.body {
        Body::Formulas(formulas) => Some(formulas),
        _ => None,
    });
    let Some(formulas) = lowered else {
        panic!("formulas are expected");
    };
    let mut open = vec![&formulas[0].targets[0].value];
    let mut accesses = 0;
    while let Some(expr) = open.pop() {
        accesses += usize::from(matches!(expr.node, Node::Access { .. }));
        open.extend(expr.children());
    }
    accesses
}

#[test]
fn a_pack_as_an_index_reads_a_pack() {
    assert_eq!(reads("y[i,] = x[i,[1,0]] + .., i < 3;"), 2);
    assert_eq!(reads("y[i,] = x[i,:] + .., i < 3;"), 2);
    assert_eq!(reads("y[i,] = x[i,[0]..], i < 3;"), 1);
}

#[test]
fn a_guard_that_reads_data_is_tested_on_both_sides() {
    let model = model(
        "operator f { @input { x: real[4]; g: real[n]; } @output { y: real[n]; }
            @lower { q = int(g[i,]), y[i,] += x[|q + j|,], i < n, j < 2; } }
        graph G { @input { x: real[4]; g: real[3]; } @output { y: real[3]; } @compose { y = f(x, g); } }",
    )
    .unwrap();
    let predicates = model.functions.iter().filter_map(|f| match &f.body {
        Body::Formulas(formulas) => formulas[0].predicate.as_ref(),
        _ => None,
    });
    let mut open: Vec<_> = predicates.collect();
    let mut operations = Vec::new();
    while let Some(expr) = open.pop() {
        if let Node::Apply { op, .. } = expr.node {
            operations.push(op);
        }
        open.extend(expr.children());
    }
    assert!(operations.contains(&ScalarOp::Ge) && operations.contains(&ScalarOp::Lt));
}
