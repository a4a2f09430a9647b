// SPDX-License-Identifier: Apache-2.0
//! Tests of nodes that combine dynamic dimensions, and of slices with data-dependent ends.

use super::*;

/// The statements of `Expand(a, Shape(b))`.
fn repeated(a: &[&str], b: &[&str]) -> String {
    let inputs = vec![value("a", F32, a), value("b", F32, b)];
    let nodes = vec![node("Shape", &["b"], &["s"], vec![]), node("Expand", &["a", "s"], &["y"], vec![])];
    statements(inputs, vec![], nodes)
}

#[test]
fn dynamic_extents_are_repeated_if_they_are_1() {
    let text = repeated(&["m"], &["n"]);
    let statement = "onnx.expand{shape=[((m >> n) << (m * n))], target=[n]}(a)";
    assert!(text.contains(statement), "{text}");
    let text = repeated(&["4"], &["n"]);
    assert!(text.contains("shape=[4], target=[n]"), "{text}");
    let text = repeated(&["m", "3"], &["2", "1", "3"]);
    assert!(text.contains("onnx.expand{shape=[2, m, 3]}(a)"), "{text}");
    let text = repeated(&["3"], &["4"]);
    assert!(text.contains("the extent 3 of a dimension cannot be broadcast to 4"), "{text}");
    let text = repeated(&["n"], &["n"]);
    assert!(!text.contains("expand"), "{text}");
}

#[test]
fn the_first_row_is_repeated_to_all_rows() {
    let initializer = vec![constant("z", &[1], &[0]), constant("one", &[1], &[1])];
    let nodes = vec![
        node("Slice", &["x", "z", "one", "z"], &["row"], vec![]),
        node("Shape", &["x"], &["s"], vec![]),
        node("Expand", &["row", "s"], &["e"], vec![]),
        node("Add", &["e", "x"], &["y"], vec![]),
    ];
    let text = statements(vec![value("x", F32, &["n", "3"])], initializer, nodes);
    assert!(text.contains("onnx.expand{shape=[n, 3], target=[n, 3]}"), "{text}");
}

#[test]
fn data_dependent_slices_have_the_distance_of_their_ends() {
    let initializer = vec![constant("z", &[1], &[0]), constant("two", &[1], &[2])];
    let nodes = vec![
        node("Add", &["b", "two"], &["e"], vec![]),
        node("Slice", &["x", "b", "e", "z"], &["y"], vec![]),
    ];
    let inputs = vec![value("x", F32, &["n", "3"]), value("b", 7, &["1"])];
    let text = statements(inputs, initializer, nodes);
    assert!(text.contains("onnx.positions{extent=n, stride=1}"), "{text}");
    assert!(text.contains("onnx.agreed{axis=0, extent=2}"), "{text}");
}

#[test]
fn parts_of_many_dynamic_extents_are_joined() {
    let names: Vec<String> = (0..90).map(|at| format!("x{at}")).collect();
    let parts: Vec<&str> = names.iter().map(String::as_str).collect();
    let inputs = names.iter().map(|name| value(name, F32, &[&format!("n_{name}"), "4"])).collect();
    let nodes =
        vec![node("Concat", &parts, &["all"], vec![int("axis", 0)]), node("Exp", &["all"], &["y"], vec![])];
    let text = statements(inputs, vec![], nodes);
    assert!(text.ends_with("y = math.exp(all);"), "{text}");
}

#[cfg(unix)]
#[test]
fn linked_models_have_linked_data() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let [files, links] = ["blobs", "snapshots"].map(|name| folder.path().join(name));
    for directory in [&files, &links] {
        std::fs::create_dir(directory).unwrap();
    }
    let entry = StringStringEntryProto { key: "location".into(), value: "w.bin".into() };
    let tensor = TensorProto {
        name: "w".into(),
        dims: vec![2],
        data_type: 1,
        data_location: 1,
        external_data: vec![entry],
        ..TensorProto::default()
    };
    let nodes = vec![node("Add", &["x", "w"], &["y"], vec![])];
    let bytes = model(vec![value("x", F32, &["2"])], vec![tensor], nodes).encode_to_vec();
    std::fs::write(files.join("1234"), &bytes).unwrap();
    std::fs::write(files.join("5678"), [0; 8]).unwrap();
    symlink("../blobs/1234", links.join("net.onnx")).unwrap();
    symlink("../blobs/5678", links.join("w.bin")).unwrap();
    let imported = convert(&links.join("net.onnx"), Options::default());
    assert!(imported.is_ok(), "{:?}", imported.err());
    // Data elsewhere, and data of a model that is not a link, are refused.
    std::fs::write(folder.path().join("secret"), [0; 8]).unwrap();
    std::fs::remove_file(links.join("w.bin")).unwrap();
    symlink("../secret", links.join("w.bin")).unwrap();
    let refused = convert(&links.join("net.onnx"), Options::default());
    assert!(matches!(refused, Err(ImportError::Refused { .. })));
    std::fs::write(links.join("own.onnx"), &bytes).unwrap();
    std::fs::remove_file(links.join("w.bin")).unwrap();
    symlink("../blobs/5678", links.join("w.bin")).unwrap();
    let refused = convert(&links.join("own.onnx"), Options::default());
    assert!(matches!(refused, Err(ImportError::Refused { .. })));
}

#[test]
fn a_tensor_without_elements_needs_no_file() {
    let entries = [("location", "none.bin"), ("length", "0")];
    let entry = |(key, value): (&str, &str)| StringStringEntryProto { key: key.into(), value: value.into() };
    let tensor = TensorProto {
        name: "w".into(),
        dims: vec![0],
        data_type: 1,
        data_location: 1,
        external_data: entries.map(entry).to_vec(),
        ..TensorProto::default()
    };
    let nodes = vec![node("Concat", &["x", "w"], &["y"], vec![int("axis", 0)])];
    let text = statements(vec![value("x", F32, &["2"])], vec![tensor], nodes);
    assert!(text.contains("layout.concat"), "{text}");
}

#[test]
fn reductions_of_shapes_are_known() {
    for (operator, expected) in
        [("ReduceProd", "shape=[3 * n]"), ("ReduceSum", "shape=[n + 3]"), ("ReduceMax", "shape=[(n >> 3)]")]
    {
        let nodes = vec![
            node("Shape", &["x"], &["s"], vec![]),
            node(operator, &["s"], &["count"], vec![]),
            node("ConstantOfShape", &["count"], &["y"], vec![]),
        ];
        let text = statements(vec![value("x", F32, &["n", "3"])], vec![], nodes);
        assert!(text.contains(expected), "{operator}: {text}");
    }
}
