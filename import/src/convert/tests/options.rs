// SPDX-License-Identifier: Apache-2.0
//! Tests of names, shapes and bounds of inputs, and of reasons after a refused node.

use skript_tensor::Tensor;

use super::*;

/// The document of `image[batch,3] → Exp` with these options, or the message of its refusal.
fn with(options: Options) -> String {
    let nodes = vec![node("Exp", &["image"], &["y"], vec![])];
    let bytes = model(vec![value("image", F32, &["batch", "3"])], vec![], nodes);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.onnx");
    std::fs::write(&path, bytes.encode_to_vec()).unwrap();
    match convert(&path, options) {
        Ok(imported) => imported.main,
        Err(error) => error.to_string(),
    }
}

fn shaped(name: &str, shape: &[Option<u64>]) -> String {
    with(Options { shapes: vec![(name.to_owned(), shape.to_vec())], ..Options::default() })
}

#[test]
fn inputs_have_the_names_of_both_languages() {
    // `image` is a module of the library.
    for name in ["image", "x_image"] {
        let main = shaped(name, &[Some(2), Some(3)]);
        assert!(main.contains("x_image: real[2,3];"), "{main}");
    }
    assert_eq!(shaped("x", &[Some(2), Some(3)]), "the model has no input `x`; its inputs are `image`");
}

#[test]
fn shapes_may_leave_dimensions_dynamic() {
    let main = shaped("image", &[None, Some(3)]);
    assert!(main.contains("x_image: real[batch|1024,3];"), "{main}");
}

#[test]
fn options_do_not_contradict_each_other() {
    let shape = |name: &str, last| (name.to_owned(), vec![Some(2), Some(last)]);
    let twice = with(Options { shapes: vec![shape("image", 3), shape("x_image", 4)], ..Options::default() });
    assert_eq!(twice, "the shape of the input `image` is passed twice: pass it once, by either of its names");
    let other = with(Options {
        shapes: vec![("image".to_owned(), vec![None, Some(3)])],
        constants: vec![("image".to_owned(), Tensor::from_f32(&[2, 4], &[0.0; 8]).unwrap())],
        ..Options::default()
    });
    assert_eq!(
        other,
        "the constant `image` has the shape [2, 4], but the shape [?, 3] is passed for it: pass one that fits, or none"
    );
}

#[test]
fn bounds_are_at_least_1() {
    let bounded = |bound| with(Options { bounds: vec![("batch".to_owned(), bound)], ..Options::default() });
    assert!(bounded(1).contains("x_image: real[batch|1,3];"));
    assert_eq!(bounded(0), "the upper bound of the dynamic dimension `batch` is 0: it must be at least 1");
}

#[test]
fn nodes_after_a_refused_one_have_separate_reasons() {
    let body = GraphProto { node: vec![node("Smear", &["b"], &["i"], vec![])], ..GraphProto::default() };
    let branch = |name: &str, body: GraphProto| AttributeProto {
        name: name.into(),
        g: Some(body),
        ..AttributeProto::default()
    };
    let branches = vec![branch("then_branch", body), branch("else_branch", GraphProto::default())];
    let nodes = vec![
        node("Frobnicate", &["x"], &["a"], vec![]),
        node("Blur", &["a"], &["b"], vec![]),
        node("Relu", &["b"], &["c"], vec![]),
        node("Exp", &["c"], &["d"], vec![int("depth", 1)]),
        node("Gelu", &["d"], &["e"], vec![]),
        node("If", &["e"], &["f"], branches),
        node("And", &["f", "x"], &["y"], vec![]),
    ];
    let text = statements(vec![value("x", F32, &["2"])], vec![], nodes);
    let reasons: Vec<&str> = text.lines().collect();
    assert_eq!(
        reasons,
        [
            "Frobnicate `a`: the operator is not supported",
            "Blur `b`: the operator is not supported",
            "Exp `d`: the operator has no attribute `depth` in its version of opset 13",
            "Gelu `e`: the operator exists from opset 20 on, the model has opset 17; convert the model with `onnx.version_converter`",
            "Smear `f`: the operator is not supported",
            "And `y`: its input `x` is f32, the operator takes bool",
        ]
    );
}

#[test]
fn masks_are_padded_from_opset_24_on() {
    let attention = |version: i64| {
        let nodes = vec![node("Attention", &["q", "k", "k", "m"], &["y"], vec![])];
        let inputs = vec![
            value("q", F32, &["1", "2", "4", "8"]),
            value("k", F32, &["1", "2", "6", "8"]),
            value("m", F32, &["4", "1"]),
        ];
        let mut model = model(inputs, vec![], nodes);
        for set in &mut model.opset_import {
            set.version = version;
        }
        statements_of(&model)
    };
    assert!(attention(24).contains("layout.pad{axes=[1], padding=[0, 5]}(m, -inf)"));
    // Before, masks broadcast.
    assert!(attention(23).contains("math.add(mul, m)"), "{}", attention(23));
}
