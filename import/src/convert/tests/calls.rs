// SPDX-License-Identifier: Apache-2.0
//! Tests of models that are converted for the arrays of a call.

use skript_tensor::Tensor;

use super::*;
use crate::model_file::ForCall;

fn file(inputs: Vec<ValueInfoProto>, nodes: Vec<NodeProto>) -> ModelFile {
    let bytes = model(inputs, vec![], nodes).encode_to_vec();
    ModelFile::from_bytes(Path::new("net.onnx"), bytes).unwrap()
}

fn reals(shape: &[u64]) -> Tensor {
    Tensor::zeros(skript_tensor::ElementType::F32, shape).unwrap()
}

fn ints(values: &[i64]) -> Tensor {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    let shape = [values.len() as u64];
    Tensor::from_bytes(skript_tensor::ElementType::I64, &shape, &bytes).unwrap()
}

/// The document for a call with these arrays, and the inputs that became constants.
fn called(file: &ModelFile, arrays: &[(&str, Tensor)]) -> Result<(String, Vec<String>), String> {
    let arrays: Vec<(String, Tensor)> =
        arrays.iter().map(|(name, array)| ((*name).to_owned(), array.clone())).collect();
    let options = file.fixed(&Options::default(), &arrays);
    match file.convert_for(options, &arrays) {
        Ok(ForCall { imported, constants }) => {
            Ok((imported.main, constants.into_iter().map(|c| c.onnx).collect()))
        }
        Err(ImportError::Refused { refusals, .. }) => Err(refusals[0].to_string()),
        Err(other) => Err(other.to_string()),
    }
}

#[test]
fn dimensions_are_those_of_the_arrays() {
    let nodes = vec![node("Exp", &["x"], &["y"], vec![])];
    let file = file(vec![value("x", F32, &["batch", "3"])], nodes);
    let (main, constants) = called(&file, &[("x", reals(&[7, 3]))]).unwrap();
    assert!(main.contains("x: real[7,3]"), "{main}");
    assert!(constants.is_empty());
    let wrong = called(&file, &[("x", reals(&[7, 4]))]).unwrap_err();
    assert!(wrong.contains("the extent 3 in the model, not 4"), "{wrong}");
}

#[test]
fn inputs_without_arrays_have_the_dimensions_of_the_same_names() {
    let nodes = vec![node("Add", &["x", "mask"], &["y"], vec![])];
    let inputs = vec![value("x", F32, &["batch", "n"]), value("mask", F32, &["batch", "n"])];
    let file = file(inputs, nodes);
    let arrays = [("x".to_owned(), reals(&[2, 5]))];
    let options = file.fixed(&Options::default(), &arrays);
    assert!(file.undetermined(&options).is_empty());
    let none = file.fixed(&Options::default(), &[]);
    let open: Vec<String> = file.undetermined(&none).into_iter().map(|i| i.onnx).collect();
    assert_eq!(open, ["x", "mask"]);
}

#[test]
fn values_that_decide_shapes_become_constants() {
    let nodes = vec![node("Reshape", &["x", "shape"], &["y"], vec![])];
    let inputs = vec![value("x", F32, &["n"]), value("shape", 7, &["rank"]), value("unread", 7, &["1"])];
    let file = file(inputs, nodes);
    let arrays = [("x", reals(&[6])), ("shape", ints(&[2, 3])), ("unread", ints(&[1]))];
    let (main, constants) = called(&file, &arrays).unwrap();
    assert_eq!(constants, ["shape"]);
    assert!(main.contains("y: real[2,3]"), "{main}");
}

/// A model that applies `operators[0]` or `operators[1]` to `x`, depending on the sum of `x` or on `flag`.
fn selected(condition: &str, operators: [&str; 2]) -> ModelFile {
    let branch = |name: &str, operator: &str| AttributeProto {
        name: name.into(),
        g: Some(GraphProto {
            node: vec![node(operator, &["x"], &["r"], vec![])],
            output: vec![value("r", F32, &["n"])],
            ..GraphProto::default()
        }),
        ..AttributeProto::default()
    };
    let [then, otherwise] = operators;
    let branches = vec![branch("then_branch", then), branch("else_branch", otherwise)];
    let nodes = vec![
        node("ReduceSum", &["x"], &["sum"], vec![int("keepdims", 0)]),
        node("Cast", &["sum"], &["positive"], vec![int("to", 9)]),
        node("Cast", &["flag"], &["is_set"], vec![int("to", 9)]),
        node("If", &[condition], &["y"], branches),
    ];
    file(vec![value("x", F32, &["n"]), value("flag", 7, &["1"])], nodes)
}

#[test]
fn a_flag_that_selects_a_branch_becomes_a_constant() {
    let file = selected("is_set", ["Exp", "Neg"]);
    let (main, constants) = called(&file, &[("x", reals(&[2])), ("flag", ints(&[0]))]).unwrap();
    assert_eq!(constants, ["flag"]);
    assert!(!main.contains("math.exp") && main.contains("math.neg"), "{main}");
    let (main, _) = called(&file, &[("x", reals(&[2])), ("flag", ints(&[1]))]).unwrap();
    assert!(main.contains("math.exp") && !main.contains("math.neg"), "{main}");
    // Reals select a branch at run time.
    let file = selected("positive", ["Exp", "Neg"]);
    let (main, constants) = called(&file, &[("x", reals(&[2])), ("flag", ints(&[0]))]).unwrap();
    assert!(constants.is_empty());
    assert!(main.contains("math.exp") && main.contains("math.neg"), "{main}");
}

#[test]
fn bounds_follow_from_shapes() {
    let nodes = vec![node("Exp", &["x"], &["y"], vec![])];
    let file = file(vec![value("x", F32, &["batch", ""])], nodes);
    let bounds = [("x".to_owned(), vec![16, 32])];
    let imported = file.convert_within(&Options::default(), &bounds).unwrap();
    assert!(imported.main.contains("|16"), "{}", imported.main);
    assert!(imported.main.contains("|32"), "{}", imported.main);
}

#[test]
fn question_marks_are_not_names() {
    let nodes = vec![node("Relu", &["x"], &["y"], vec![])];
    let file = file(vec![value("x", F32, &["?", "?"])], nodes);
    let (main, _) = called(&file, &[("x", reals(&[6, 7]))]).unwrap();
    assert!(main.contains("x: real[6,7]"), "{main}");
    let bounds = [("x".to_owned(), vec![8, 16])];
    let imported = file.convert_within(&Options::default(), &bounds).unwrap();
    assert!(imported.main.contains("x: real[x_0|8,x_1|16]"), "{}", imported.main);
}
