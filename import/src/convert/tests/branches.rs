// SPDX-License-Identifier: Apache-2.0
//! Tests of branches whose results have different shapes.

use super::*;

fn branch(name: &str, node: NodeProto) -> AttributeProto {
    let output = vec![ValueInfoProto { name: node.output[0].clone(), kind: None }];
    let graph = GraphProto { node: vec![node], output, ..GraphProto::default() };
    AttributeProto { name: name.into(), g: Some(graph), ..AttributeProto::default() }
}

fn selection(condition: &str, then: NodeProto, otherwise: NodeProto) -> NodeProto {
    let branches = vec![branch("then_branch", then), branch("else_branch", otherwise)];
    node("If", &[condition], &["y"], branches)
}

fn inputs() -> Vec<ValueInfoProto> {
    vec![value("x", F32, &["2", "1"]), value("c", 9, &[])]
}

#[test]
fn data_decide_extents_that_are_static_in_each_branch() {
    let twice = node("Concat", &["x", "x"], &["t"], vec![int("axis", 0)]);
    let text = statements(inputs(), vec![], vec![selection("c", twice, node("Neg", &["x"], &["e"], vec![]))]);
    assert_eq!(text.matches("onnx.positions{extent=4, stride=1}(0, 4)").count(), 1, "{text}");
    assert!(text.contains("layout.gather{axis=0}(concat, positions)"), "{text}");
}

#[test]
fn a_dimension_that_is_removed_if_its_extent_is_1_stays() {
    let nodes = vec![
        node("NonZero", &["x"], &["z"], vec![]),
        node("Shape", &["z"], &["s"], vec![]),
        node("Gather", &["s", "one"], &["k"], vec![]),
        node("Equal", &["k", "one"], &["single"], vec![]),
        selection(
            "single",
            node("Squeeze", &["z", "one"], &["t"], vec![]),
            node("Identity", &["z"], &["e"], vec![]),
        ),
    ];
    let text = statements(inputs(), vec![constant("one", &[1], &[1])], nodes);
    let checks = ["math.not(", "onnx.kept{extent=1}(", "y = onnx.of_branch(z, "];
    assert!(checks.iter().all(|check| text.contains(check)), "{text}");
    // The rank is the first extent of the positions.
    let nodes = vec![
        node("NonZero", &["x"], &["z"], vec![]),
        node("Shape", &["z"], &["s"], vec![]),
        node("Gather", &["s", "zero"], &["k"], vec![]),
        node("Equal", &["k", "two"], &["c2"], vec![]),
        selection("c2", node("Neg", &["x"], &["t"], vec![]), node("Size", &["x"], &["e"], vec![])),
    ];
    let constants = vec![constant("zero", &[], &[0]), constant("two", &[], &[2])];
    assert_eq!(statements(inputs(), constants, nodes), "y = math.neg(x);");
}

#[test]
fn declared_ranks_select_a_branch_of_another_rank() {
    let flat = || {
        let (flat, same) =
            (node("Squeeze", &["x", "one"], &["t"], vec![]), node("Neg", &["x"], &["e"], vec![]));
        model(inputs(), vec![constant("one", &[1], &[1])], vec![selection("c", flat, same)])
    };
    let text = statements_of(&flat());
    assert!(text.contains("output 0 is f32[2] in one branch and f32[2, 1] in the other"), "{text}");
    for (shape, negates) in [(vec!["2"], false), (vec!["2", "k"], true)] {
        let mut declaring = flat();
        declaring.graph.as_mut().unwrap().output = vec![value("y", F32, &shape)];
        let text = statements_of(&declaring);
        assert!(text.contains("onnx.of_branch("), "{text}");
        assert_eq!(text.contains("math.not("), negates, "{text}");
    }
}
