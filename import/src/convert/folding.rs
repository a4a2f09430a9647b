// SPDX-License-Identifier: Apache-2.0
//! Tests of folding: rules evaluate values that depend only on static extents and constants.

use super::tests::*;
use crate::proto::*;

const I64: i32 = 7;

fn cast(from: &str, to: &str, element: i64) -> NodeProto {
    node("Cast", &[from], &[to], vec![int("to", element)])
}

/// The statements of a model that reshapes `x`, whose shape is [3, 4], to the shape `s`, which the nodes compute.
fn reshaped(constants: Vec<TensorProto>, mut nodes: Vec<NodeProto>) -> String {
    nodes.push(node("Reshape", &["x", "s"], &["y"], vec![]));
    statements(vec![value("x", F32, &["3", "4"])], constants, nodes)
}

fn assert_shape(wanted: &str, constants: Vec<TensorProto>, nodes: Vec<NodeProto>) {
    let operators: Vec<String> = nodes.iter().map(|n| n.op_type.clone()).collect();
    let text = reshaped(constants, nodes);
    let wanted = match wanted {
        "[3, 4]" => "y = x;".to_owned(),
        wanted => format!("y = layout.reshape{{shape={wanted}}}(x);"),
    };
    assert_eq!(text, wanted, "{operators:?}");
}

#[test]
fn operators_on_static_shapes_are_computed() {
    let shape = || node("Shape", &["x"], &["shape"], vec![]);
    let one = |operator: &str, inputs: &[&str], attributes: Vec<AttributeProto>| {
        vec![shape(), node(operator, inputs, &["s"], attributes)]
    };
    let numbers = || {
        let of = |name: &str, values: &[i64]| constant(name, &[values.len() as i64], values);
        vec![
            of("three", &[3]),
            of("six", &[6]),
            of("twos", &[2, 2]),
            of("all", &[2, 3, 1, 2]),
            of("zero", &[0]),
            constant("rank", &[], &[0]),
        ]
    };
    assert_shape("[12]", numbers(), one("ReduceProd", &["shape"], vec![]));
    let both = [shape(), node("Max", &["shape", "three", "twos"], &["m"], vec![])];
    let last = node("ReduceProd", &["m"], &["s"], vec![]);
    assert_shape("[12]", numbers(), [&both[..], &[last]].concat());
    let minimum = node("Min", &["shape", "six", "shape"], &["s"], vec![]);
    assert_shape("[3, 4]", numbers(), vec![shape(), minimum]);
    // The sums of [3, 4] are [3, 7]; the last one is clamped to 4.
    let four = constant("four", &[], &[4]);
    let sums = vec![
        shape(),
        node("CumSum", &["shape", "rank"], &["sums"], vec![]),
        node("Clip", &["sums", "", "four"], &["s"], vec![]),
    ];
    assert_shape("[3, 4]", [numbers(), vec![four]].concat(), sums);
    let largest = vec![shape(), node("TopK", &["shape", "two"], &["s", "at"], vec![])];
    let two = constant("two", &[1], &[2]);
    assert_shape("[4, 3]", [numbers(), vec![two]].concat(), largest);
    let tiled = vec![
        shape(),
        node("Pow", &["twos", "twos"], &["fours"], vec![]),
        node("Sub", &["fours", "shape"], &["rest"], vec![]),
        node("NonZero", &["rest"], &["found"], vec![]),
        node("ReduceSum", &["found"], &["none"], vec![int("keepdims", 0)]),
        node("Add", &["none", "shape"], &["s"], vec![]),
    ];
    assert_shape("[3, 4]", numbers(), tiled);
    let scattered = vec![
        node("ScatterElements", &["all", "zero", "six"], &["t"], vec![]),
        node("Unique", &["t"], &["u"], vec![int("sorted", 1)]),
        node("ReduceProd", &["u"], &["p"], vec![]),
        node("Div", &["p", "three"], &["s"], vec![]),
    ];
    // 6 · 3 · 1 · 2 / 3
    assert_shape("[12]", numbers(), scattered);
}

#[test]
fn reductions_and_bounds_of_dynamic_dimensions_are_extents() {
    let shape = |operators: Vec<NodeProto>| {
        let mut nodes = vec![node("Shape", &["x"], &["shape"], vec![])];
        nodes.extend(operators);
        nodes.push(node("Expand", &["one", "s"], &["y"], vec![]));
        let of = |name: &str, value: i64| constant(name, &[1], &[value]);
        let constants = vec![of("one", 1), of("nine", 9), of("two", 2)];
        statements(vec![value("x", F32, &["n", "4"])], constants, nodes)
    };
    for (operator, extent) in [
        ("ReduceProd", "4 * n"),
        ("ReduceSum", "n + 4"),
        ("ReduceMax", "(n >> 4)"),
        ("ReduceMin", "(n << 4)"),
    ] {
        let text = shape(vec![node(operator, &["shape"], &["s"], vec![])]);
        assert!(text.contains(&format!("[{extent}]")), "{operator}: {text}");
    }
    let sum = node("ReduceSum", &["shape"], &["t"], vec![]);
    let minimum = node("Min", &["t", "nine", "nine"], &["s"], vec![]);
    let text = shape(vec![sum.clone(), minimum]);
    assert!(text.contains("[((n + 4) << 9)]"), "{text}");
    let clip = node("Clip", &["t", "", "nine"], &["s"], vec![]);
    let text = shape(vec![sum, clip]);
    assert!(text.contains("<< 9)]"), "{text}");
}

#[test]
fn folded_values_have_their_types() {
    // 100 + 100 wraps around to -56 in i8; 2049 is 2048 in f16; 1/3 · 36 is 12 in f32.
    let ints = vec![
        cast("hundred", "a", 3),
        node("Add", &["a", "a"], &["sum"], vec![]),
        node("Neg", &["sum"], &["n"], vec![]),
        cast("n", "wide", I64.into()),
        node("Sub", &["wide", "rest"], &["s"], vec![]),
    ];
    let constants = vec![constant("hundred", &[1], &[100]), constant("rest", &[1], &[44])];
    assert_shape("[12]", constants, ints);
    let halves = vec![
        cast("n", "a", 10),
        node("Round", &["a"], &["whole"], vec![]),
        cast("whole", "wide", I64.into()),
        node("Sub", &["wide", "rest"], &["s"], vec![]),
    ];
    let constants = vec![constant("n", &[1], &[2049]), constant("rest", &[1], &[2036])];
    assert_shape("[12]", constants, halves);
}

#[test]
fn folding_is_bounded_and_failures_are_explained() {
    let large = || vec![weights("w", &[512, 512]), weights("v", &[512, 512])];
    let nodes = vec![
        node("MatMul", &["w", "v"], &["p"], vec![]),
        node("ReduceMax", &["p"], &["m"], vec![int("keepdims", 0)]),
        cast("m", "wide", I64.into()),
        node("Unsqueeze", &["wide", "zero"], &["s"], vec![]),
    ];
    let text = reshaped([large(), vec![constant("zero", &[1], &[0])]].concat(), nodes);
    let reason = "the shape cannot be computed at import: the evaluation takes too much work";
    assert!(text.contains(reason), "{text}");
    // The elements of inputs are unknown.
    let nodes = vec![cast("x", "wide", I64.into()), node("ReduceMax", &["wide"], &["s"], vec![])];
    let text = reshaped(vec![], nodes);
    assert!(text.contains("pass `--constant x=FILE.npy`"), "{text}");
    // Dynamic dimensions are unknown, too.
    let nodes = vec![
        node("Shape", &["x"], &["shape"], vec![]),
        node("CumSum", &["shape", "zero"], &["sums"], vec![]),
        node("ReduceMax", &["sums"], &["p"], vec![]),
        node("Reshape", &["x", "p"], &["y"], vec![]),
    ];
    let zero = vec![constant("zero", &[], &[0])];
    let text = statements(vec![value("x", F32, &["n", "4"])], zero, nodes);
    assert!(text.contains("the shape must be known at import"), "{text}");
}

#[test]
fn constants_that_decide_nothing_are_not_folded() {
    let nodes = vec![node("Exp", &["w"], &["e"], vec![]), node("Mul", &["x", "e"], &["y"], vec![])];
    let text = statements(vec![value("x", F32, &["3", "4"])], vec![weights("w", &[4])], nodes);
    assert!(text.contains("e = math.exp(w);"), "{text}");
}

/// A graph without inputs; its output is the output of the last node.
fn branch(name: &str, nodes: Vec<NodeProto>) -> AttributeProto {
    let name_of_last = nodes.last().unwrap().output[0].clone();
    let output = ValueInfoProto { name: name_of_last, kind: None };
    AttributeProto {
        name: name.into(),
        g: Some(GraphProto { node: nodes, output: vec![output], ..GraphProto::default() }),
        ..AttributeProto::default()
    }
}

#[test]
fn conditions_and_bodies_use_folded_values() {
    let product = vec![
        node("Shape", &["x"], &["shape"], vec![]),
        node("ReduceProd", &["shape"], &["p"], vec![int("keepdims", 0)]),
        node("Greater", &["p", "ten"], &["c"], vec![]),
    ];
    let taken = vec![node("Exp", &["x"], &["e"], vec![])];
    let other = vec![node("Reshape", &["x", "shape"], &["r"], vec![])];
    let branches = vec![branch("then_branch", taken), branch("else_branch", other)];
    let nodes = [product.clone(), vec![node("If", &["c"], &["y"], branches)]].concat();
    let x = || vec![value("x", F32, &["3", "4"])];
    let text = statements(x(), vec![constant("ten", &[], &[10])], nodes);
    assert_eq!(text, "y = math.exp(x);");
    // The branches of a data-dependent condition.
    let inside = |name: &str, operator: &str| {
        let shape = node("Unsqueeze", &["p", "zero"], &["s"], vec![]);
        let flat = node("Reshape", &["x", "s"], &["f"], vec![]);
        branch(name, vec![shape, flat, node(operator, &["f"], &["r"], vec![])])
    };
    let branches = vec![inside("then_branch", "Exp"), inside("else_branch", "Neg")];
    let nodes = [product, vec![node("If", &["b"], &["y"], branches)]].concat();
    let inputs = vec![value("x", F32, &["3", "4"]), value("b", 9, &[])];
    let constants = vec![constant("ten", &[], &[10]), constant("zero", &[1], &[0])];
    let text = statements(inputs, constants, nodes);
    assert!(text.contains("layout.reshape{shape=[12]}(x);"), "{text}");
}

#[test]
fn extents_of_a_cache_are_exact_quotients() {
    let cache = |name: &str, steps: &str| value(name, F32, &["1", "12", steps, "64"]);
    let length = |of: &str, to: &str| {
        let shape = format!("{of}_shape");
        [node("Shape", &[of], &[&shape], vec![]), node("Gather", &[&shape, "two"], &[to], vec![])]
    };
    let join = vec![
        node("Concat", &["kept", "new"], &["all"], vec![int("axis", 2)]),
        node("Add", &["m", "n"], &["t"], vec![]),
        node("Concat", &["rest", "t", "size"], &["s"], vec![int("axis", 0)]),
        node("Reshape", &["all", "s"], &["y"], vec![]),
    ];
    let nodes = [&length("kept", "m")[..], &length("new", "n"), &join].concat();
    let constants = [("two", 2), ("rest", -1), ("size", 64)];
    let initializers = constants.map(|(name, number)| constant(name, &[1], &[number]));
    let inputs = vec![cache("kept", "p"), cache("new", "q")];
    let text = statements(inputs, initializers.to_vec(), nodes);
    assert!(text.contains("layout.reshape{shape=[12, p + q, 64]}(all);"), "{text}");
}
