// SPDX-License-Identifier: Apache-2.0
//! Tests of one node per operator group, shapes, names, and malformed files.

use super::*;
use crate::proto::*;
use prost::Message as _;

fn ints(name: &str, ints: &[i64]) -> AttributeProto {
    AttributeProto { name: name.into(), ints: ints.to_vec(), ..AttributeProto::default() }
}

pub(super) fn int(name: &str, i: i64) -> AttributeProto {
    AttributeProto { name: name.into(), i, ..AttributeProto::default() }
}

pub(super) fn node(
    operator: &str,
    inputs: &[&str],
    outputs: &[&str],
    attribute: Vec<AttributeProto>,
) -> NodeProto {
    let owned = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
    NodeProto {
        op_type: operator.into(),
        input: owned(inputs),
        output: owned(outputs),
        attribute,
        ..NodeProto::default()
    }
}

/// A value; extents are numbers or names.
pub(super) fn value(name: &str, element: i32, shape: &[&str]) -> ValueInfoProto {
    let dim = shape.iter().map(|text| match text.parse() {
        Ok(number) => DimensionProto { value: Some(number), name: None },
        Err(_) => DimensionProto { value: None, name: Some((*text).to_owned()) },
    });
    let shape = Some(ShapeProto { dim: dim.collect() });
    let kind = TypeProto { tensor: Some(TensorTypeProto { element, shape }), ..TypeProto::default() };
    ValueInfoProto { name: name.into(), kind: Some(kind) }
}

pub(super) fn constant(name: &str, dims: &[i64], values: &[i64]) -> TensorProto {
    TensorProto {
        name: name.into(),
        dims: dims.to_vec(),
        data_type: 7,
        int64_data: values.to_vec(),
        ..TensorProto::default()
    }
}

pub(super) fn weights(name: &str, dims: &[i64]) -> TensorProto {
    let count = usize::try_from(dims.iter().product::<i64>()).unwrap();
    let float_data = (0..count).map(|i| i as f32).collect();
    TensorProto { name: name.into(), dims: dims.to_vec(), data_type: 1, float_data, ..TensorProto::default() }
}

fn model(inputs: Vec<ValueInfoProto>, initializer: Vec<TensorProto>, node: Vec<NodeProto>) -> ModelProto {
    let last = node.last().and_then(|n| n.output.first()).cloned();
    let output = last.into_iter().map(|name| ValueInfoProto { name, kind: None }).collect();
    let graph = GraphProto { node, input: inputs, initializer, output, ..GraphProto::default() };
    let opset_import = vec![OperatorSetIdProto { domain: String::new(), version: 17 }];
    ModelProto { ir_version: 8, graph: Some(graph), opset_import, ..ModelProto::default() }
}

fn imported(bytes: &[u8]) -> Result<Imported, ImportError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.onnx");
    std::fs::write(&path, bytes).unwrap();
    convert(&path, Options::default())
}

/// The statements of a model with these parts, or its refusals.
pub(super) fn statements(
    inputs: Vec<ValueInfoProto>,
    initializer: Vec<TensorProto>,
    nodes: Vec<NodeProto>,
) -> String {
    statements_of(&model(inputs, initializer, nodes))
}

fn statements_of(model: &ModelProto) -> String {
    match imported(&model.encode_to_vec()) {
        Ok(imported) => {
            let (_, body) = imported.main.split_once("@compose {").unwrap();
            body.lines().map(str::trim).filter(|l| l.contains('=')).collect::<Vec<_>>().join("\n")
        }
        Err(ImportError::Refused { refusals, .. }) => {
            refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
        }
        Err(other) => other.to_string(),
    }
}

pub(super) const F32: i32 = 1;
const U8: i32 = 2;
const I32: i32 = 6;

#[test]
fn elementwise() {
    let x = || value("x", F32, &["2", "3"]);
    assert_eq!(statements(vec![x()], vec![], vec![node("Relu", &["x"], &["y"], vec![])]), "y = nn.relu(x);");
    let add = node("Add", &["x", "x"], &["y"], vec![]);
    assert_eq!(statements(vec![x()], vec![], vec![add.clone()]), "y = math.add(x, x);");
    let text = statements(vec![value("x", I32, &["2"])], vec![], vec![add]);
    assert_eq!(text, "add = math.add(x, x);\ny = onnx.wrap{bits=32, signed=true}(add);");
    let identity = node("Identity", &["x"], &["y"], vec![]);
    assert_eq!(statements(vec![x()], vec![], vec![identity]), "y = x;");
}

#[test]
fn attributes_of_other_types_are_refused() {
    let alpha = AttributeProto { kind: 2, ..int("alpha", 1) };
    let leaky = node("LeakyRelu", &["x"], &["y"], vec![alpha]);
    let text = statements(vec![value("x", F32, &["2"])], vec![], vec![leaky]);
    let reason = "the attribute `alpha` is an int, the operator takes a float";
    assert!(text.contains(reason), "{text}");
}

#[test]
fn operators_that_changed_in_opset_7_are_refused_before() {
    let x = || value("x", F32, &["2", "2"]);
    for (opset, is_refused) in [(6, true), (7, false)] {
        let power = node("Pow", &["x", "x"], &["y"], vec![]);
        let mut model = model(vec![x()], vec![], vec![power]);
        model.opset_import[0].version = opset;
        let refused = match imported(&model.encode_to_vec()) {
            Err(ImportError::Refused { refusals, .. }) => refusals[0].to_string(),
            _ => String::new(),
        };
        assert_eq!(refused.contains("the model has opset 6"), is_refused, "{refused}");
    }
}

#[test]
fn functions_accept_both_names_of_the_default_domain() {
    for domain in ["", "ai.onnx"] {
        let function = FunctionProto {
            name: "Square".into(),
            domain: "own".into(),
            input: vec!["a".into()],
            output: vec!["b".into()],
            node: vec![node("Pow", &["a", "a"], &["b"], vec![])],
            opset_import: vec![OperatorSetIdProto { domain: domain.into(), version: 17 }],
            ..FunctionProto::default()
        };
        let call = NodeProto { domain: "own".into(), ..node("Square", &["x"], &["y"], vec![]) };
        let mut model = model(vec![value("x", F32, &["2"])], vec![], vec![call]);
        model.functions.push(function);
        let imported = imported(&model.encode_to_vec()).unwrap();
        assert!(imported.main.contains("math.pow"), "{}", imported.main);
    }
}

#[test]
fn an_empty_shape_is_not_folded_as_an_operand() {
    let x = value("x", 7, &["1"]);
    let nodes = vec![
        node("Expand", &["c", "shape"], &["e"], vec![]),
        node("Reshape", &["e", "one"], &["r"], vec![]),
        node("Add", &["x", "r"], &["y"], vec![]),
    ];
    let initializer =
        vec![constant("c", &[], &[51]), constant("shape", &[0], &[]), constant("one", &[1], &[1])];
    let text = statements(vec![x], initializer, nodes);
    assert_eq!(text, "y = math.add(x, r);");
}

#[test]
fn convolution_and_pooling() {
    let x = || value("x", F32, &["1", "3", "8", "8"]);
    let conv = node("Conv", &["x", "w"], &["y"], vec![ints("pads", &[1, 1, 1, 1]), ints("strides", &[2, 2])]);
    let text = statements(vec![x()], vec![weights("w", &[4, 3, 3, 3])], vec![conv]);
    assert_eq!(text, "y = nn.conv{stride=[2, 2], padding=[1, 1, 1, 1]}(x, w);");
    let pool = node("MaxPool", &["x"], &["y"], vec![ints("kernel_shape", &[2, 2])]);
    let text = statements(vec![x()], vec![], vec![pool]);
    assert_eq!(text, "y = nn.max_pool{size=[2, 2], padding=[0, 0, 0, 0]}(x);");
}

#[test]
fn reductions_and_normalization() {
    let x = || value("x", F32, &["2", "3", "4"]);
    let mean = node("ReduceMean", &["x"], &["y"], vec![ints("axes", &[-1]), int("keepdims", 0)]);
    let text = statements(vec![x()], vec![], vec![mean]);
    assert_eq!(text, "y = math.mean_reduce{axes=[2], squeeze=true}(x);");
    let norm = node("LayerNormalization", &["x", "g"], &["y"], vec![]);
    let text = statements(vec![x()], vec![weights("g", &[4])], vec![norm]);
    assert_eq!(text, "y = onnx.layer_norm{axes=[2], epsilon=1e-5}(x, g);");
}

#[test]
fn products() {
    let gemm = node("Gemm", &["x", "w", "b"], &["y"], vec![int("transB", 1)]);
    let weights = vec![weights("w", &[4, 3]), weights("b", &[4])];
    assert_eq!(
        statements(vec![value("x", F32, &["2", "3"])], weights, vec![gemm]),
        "y = nn.linear(x, w, b);"
    );
}

#[test]
fn quantization() {
    let dequantize = node("DequantizeLinear", &["x", "s"], &["y"], vec![]);
    let scale =
        TensorProto { name: "s".into(), data_type: 1, float_data: vec![0.5], ..TensorProto::default() };
    let text = statements(vec![value("x", U8, &["2"])], vec![scale], vec![dequantize]);
    let limited = "max = math.max(x, 0);\nmin = math.min(max, 255);\n";
    assert_eq!(text, format!("{limited}y = onnx.dequantize(min, 0.5);"));
}

#[test]
fn shapes_are_computed_at_import() {
    let nodes = || {
        vec![
            node("Shape", &["x"], &["s"], vec![]),
            node("Gather", &["s", "zero"], &["n"], vec![]),
            node("Unsqueeze", &["n", "axes"], &["n1"], vec![]),
            node("Concat", &["n1", "rest"], &["target"], vec![int("axis", 0)]),
            node("Reshape", &["x", "target"], &["y"], vec![]),
        ]
    };
    let constants =
        || vec![constant("zero", &[], &[0]), constant("axes", &[1], &[0]), constant("rest", &[1], &[-1])];
    let text = statements(vec![value("x", F32, &["2", "3", "4"])], constants(), nodes());
    assert_eq!(text, "y = layout.reshape{shape=[2, 12]}(x);");
    let text = statements(vec![value("x", F32, &["batch", "3", "4"])], constants(), nodes());
    assert_eq!(text, "y = layout.reshape{shape=[batch, 12]}(x);");
}

#[test]
fn slices_of_dynamic_dimensions_clamp_their_ends() {
    let slice = |begin: i64, end: i64| {
        let constants =
            vec![constant("b", &[1], &[begin]), constant("e", &[1], &[end]), constant("a", &[1], &[0])];
        let node = node("Slice", &["x", "b", "e", "a"], &["y"], vec![]);
        statements(vec![value("x", F32, &["n", "3"])], constants, vec![node])
    };
    assert_eq!(slice(0, i64::MAX), "y = x;");
    assert_eq!(slice(0, 1024), "y = x;");
    let text = "y = onnx.slice{axes=[0], begin=[1], end=[-1]}(x);";
    assert_eq!(slice(1, -1), text);
    let text = "y = onnx.slice{axes=[0], begin=[0], end=[7]}(x);";
    assert_eq!(slice(0, 7), text);
}

#[test]
fn windows_that_contradict_themselves_are_refused() {
    let x = || value("x", F32, &["1", "3", "8", "8"]);
    let conv = node("Conv", &["x", "w"], &["y"], vec![ints("kernel_shape", &[2, 2])]);
    let text = statements(vec![x()], vec![weights("w", &[4, 3, 3, 3])], vec![conv]);
    assert_eq!(text, "Conv `y`: `kernel_shape` is [2, 2], but the filter has the size [3, 3]");
    let attributes = vec![ints("kernel_shape", &[2, 2]), ints("pads", &[2, 2, 2, 2])];
    let pool = node("MaxPool", &["x"], &["y"], attributes);
    let text = statements(vec![x()], vec![], vec![pool]);
    assert_eq!(text, "MaxPool `y`: windows that lie entirely in the padding are not supported");
}

/// A body that doubles its carried value.
fn doubling(yields: &[&str]) -> AttributeProto {
    let output = yields.iter().map(|name| ValueInfoProto { name: (*name).into(), kind: None });
    let body = GraphProto {
        node: vec![node("Add", &["s", "s"], &["d"], vec![])],
        input: vec![value("i", 7, &[]), value("c", 9, &[]), value("s", F32, &["2"])],
        output: output.collect(),
        ..GraphProto::default()
    };
    AttributeProto { name: "body".into(), g: Some(body), ..AttributeProto::default() }
}

#[test]
fn loops_are_loops() {
    let x = || vec![value("x", F32, &["2"])];
    let count = || vec![constant("m", &[], &[5])];
    let repeat = |yields: &[&str]| node("Loop", &["m", "", "x"], &["y"], vec![doubling(yields)]);
    let text = statements(x(), count(), vec![repeat(&["c", "d"])]);
    assert_eq!(text, "y = with s: real[2] = x do..(i -> 5) {\nadd = math.add(s, s);");
    let text =
        statements(x(), vec![], vec![node("Loop", &["", "", "x"], &["y"], vec![doubling(&["c", "d"])])]);
    assert_eq!(text, "Loop `y`: the loop has neither a number of steps nor a condition");
    let text = statements(x(), count(), vec![repeat(&["d"])]);
    assert_eq!(text, "Loop `y`: the body does not match the operands");
}

#[test]
fn reals_of_narrower_types_are_stored_in_them() {
    let cast = node("Cast", &["x"], &["h"], vec![int("to", 10)]);
    let x = || vec![value("x", F32, &["2"])];
    assert_eq!(statements(x(), vec![], vec![cast.clone()]), "h = layout.cast<real>(x);");
    let back = node("Cast", &["h"], &["y"], vec![int("to", 1)]);
    assert_eq!(statements(x(), vec![], vec![cast.clone(), back]), "h = layout.cast<real>(x);\ny = h;");
    let add = node("Add", &["h", "h"], &["a"], vec![]);
    let sine = node("Sin", &["a"], &["b"], vec![]);
    let back = node("Cast", &["b"], &["y"], vec![int("to", 1)]);
    let nodes = vec![cast, add, sine, back];
    let imported = imported(&model(x(), vec![], nodes).encode_to_vec()).unwrap();
    assert!(!imported.main.contains("round_reals"), "{}", imported.main);
    let origin = crate::Origin::from_json(imported.json.as_bytes()).unwrap();
    let half = skript_tensor::ElementType::F16;
    let names = ["a", "b", "h"];
    let stored = names.map(|name| (name.to_owned(), half));
    assert_eq!(origin.storage, stored);
}

#[test]
fn data_movement_does_not_round() {
    let inputs = vec![value("x", F32, &["2", "3"]), value("h", 10, &["2", "3"])];
    let nodes = vec![
        node("Transpose", &["h"], &["t"], vec![]),
        node("Relu", &["t"], &["r"], vec![]),
        node("Cast", &["r"], &["f"], vec![int("to", 1)]),
        node("MatMul", &["x", "f"], &["y"], vec![]),
    ];
    let text = statements(inputs, vec![], nodes);
    assert!(!text.contains("round_reals"), "{text}");
}

#[test]
fn models_with_both_16_bit_float_types_use_f32() {
    let inputs = vec![value("h", 10, &["2"])];
    let cast = node("Cast", &["h"], &["y"], vec![int("to", 16)]);
    let imported = imported(&model(inputs, vec![], vec![cast]).encode_to_vec()).unwrap();
    assert!(imported.json.contains("\"real\": \"f32\""), "{}", imported.json);
}

#[test]
fn bytes_hold_two_4_bit_ints() {
    let mut nibbles = constant("q", &[3], &[]);
    nibbles.data_type = 22;
    nibbles.raw_data = vec![0x9f, 0x07].into();
    let scale = TensorProto { float_data: vec![0.5], ..weights("s", &[]) };
    let nodes = vec![node("DequantizeLinear", &["q", "s"], &["y"], vec![])];
    let mut quantized = model(vec![], vec![nibbles.clone(), scale], nodes);
    quantized.opset_import[0].version = 21;
    let text = statements_of(&quantized);
    assert!(text.contains("onnx.dequantize"), "{text}");
    let main = imported(
        &model(
            vec![value("i", 7, &["1"])],
            vec![nibbles.clone()],
            vec![node("Gather", &["q", "i"], &["y"], vec![])],
        )
        .encode_to_vec(),
    );
    assert!(main.is_err());
    nibbles.raw_data = vec![0x9f].into();
    let text = statements(vec![], vec![nibbles], vec![node("Identity", &["q"], &["y"], vec![])]);
    assert!(text.contains("has 1 bytes"), "{text}");
}

#[test]
fn nodes_have_the_signatures_of_their_operators() {
    let inputs = || vec![value("x", F32, &["2"]), value("d", 11, &["2"])];
    let nodes = vec![
        node("Add", &["x", "d"], &["a"], vec![]),
        node("Exp", &["x"], &["b"], vec![int("depth", 3)]),
        node("Mul", &["x", "x"], &["y"], vec![]),
        // Not reported again.
        node("Mul", &["a", "x"], &["z"], vec![]),
    ];
    let text = statements(inputs(), vec![], nodes);
    for reason in [
        "Add `a`: its inputs `x` and `d` must have one type, but are f32 and f64",
        "Exp `b`: the operator has no attribute `depth` in its version of opset 13",
    ] {
        assert!(text.contains(reason), "{text}");
    }
    assert!(!text.contains("`z`"), "{text}");
    let named = vec![node("Exp", &["x"], &["y"], vec![int("__own", 3)])];
    assert!(statements(inputs(), vec![], named).contains("y = math.exp(x);"));
}

#[test]
fn contradictions_to_declared_types_are_reported() {
    let graph = |infos: Vec<ValueInfoProto>, output: ValueInfoProto| {
        let nodes = vec![
            node("Exp", &["x"], &["a"], vec![]),
            node("Concat", &["a", "a"], &["y"], vec![int("axis", 0)]),
        ];
        let mut parsed = model(vec![value("x", F32, &["n", "3"])], vec![], nodes);
        let graph = parsed.graph.as_mut().unwrap();
        (graph.value_info, graph.output) = (infos, vec![output]);
        let imported = imported(&parsed.encode_to_vec()).unwrap();
        assert!(imported.main.contains("layout.concat"), "{}", imported.main);
        let warnings = imported.warnings.iter().map(ToString::to_string);
        warnings.collect::<Vec<_>>()
    };
    let fits = |warned: Vec<String>| assert!(warned.is_empty(), "{warned:?}");
    fits(graph(vec![value("a", F32, &["n", "3"])], value("y", F32, &["m", "3"])));
    // Dynamic extents may match at run time.
    fits(graph(vec![value("a", F32, &["7", "k"])], value("y", 0, &["m", "3"])));
    let warned = graph(vec![value("a", 11, &["n", "3"])], value("y", F32, &["m", "4"]));
    for reason in [
        "Exp `a`: its output `a` is declared as f64[n,3], but the graph computes f32[n,3], which is used",
        "Concat `y`: its output `y` is declared as f32[m,4], but the graph computes f32[2 * n,3], which is used",
    ] {
        assert!(warned.contains(&reason.to_owned()), "{warned:?}");
    }
    let warned = graph(vec![], value("y", F32, &["6"]));
    assert_eq!(warned.len(), 1);
    assert!(warned[0].contains("as f32[6], but"), "{warned:?}");

    // Inputs and initializers that are outputs.
    let mut parsed = model(vec![value("x", F32, &["3"])], vec![], vec![]);
    parsed.graph.as_mut().unwrap().output = vec![value("x", 7, &["3"])];
    let warned = imported(&parsed.encode_to_vec()).unwrap().warnings;
    let reason = "the output `x` is declared as i64[3], but the graph computes f32[3], which is used";
    assert_eq!(warned[0].reason, reason);
    let graph = parsed.graph.as_mut().unwrap();
    graph.initializer = vec![weights("w", &[2])];
    graph.input.push(value("w", F32, &["3"]));
    let text = statements_of(&parsed);
    let reason = "`w`: the input is declared as f32[3], but its value is f32[2]";
    assert!(text.contains(reason), "{text}");
}

#[test]
fn casts_before_opset_6_name_their_types() {
    let to = |name: &str| AttributeProto {
        name: "to".into(),
        kind: 3,
        s: name.as_bytes().to_vec(),
        ..AttributeProto::default()
    };
    let text = |name: &str, opset| {
        let cast = node("Cast", &["x"], &["y"], vec![to(name)]);
        let mut parsed = model(vec![value("x", F32, &["2"])], vec![], vec![cast]);
        parsed.opset_import[0].version = opset;
        statements_of(&parsed)
    };
    assert!(text("INT64", 5).contains("layout.cast<int>(x)"), "{}", text("INT64", 5));
    assert!(text("STRING", 5).contains("element type \"STRING\" is not supported"));
    assert!(text("INT64", 6).contains("`to` is a string, the operator takes an int"));
}

#[test]
fn functions_may_be_nested() {
    let function = |depth: usize| FunctionProto {
        name: format!("F{depth}"),
        domain: "own".into(),
        input: vec!["a".into()],
        output: vec!["b".into()],
        node: vec![match depth {
            0 => node("Exp", &["a"], &["b"], vec![]),
            _ => {
                NodeProto { domain: "own".into(), ..node(&format!("F{}", depth - 1), &["a"], &["b"], vec![]) }
            }
        }],
        opset_import: vec![OperatorSetIdProto { domain: String::new(), version: 17 }],
        ..FunctionProto::default()
    };
    let text = |depth: usize| {
        let call =
            NodeProto { domain: "own".into(), ..node(&format!("F{}", depth - 1), &["x"], &["y"], vec![]) };
        let mut parsed = model(vec![value("x", F32, &["2"])], vec![], vec![call]);
        parsed.functions = (0..depth).map(function).collect();
        statements_of(&parsed)
    };
    assert!(text(64).contains("math.exp(x)"), "{}", text(64));
    assert!(text(65).contains("nested deeper than 64"), "{}", text(65));
}

#[test]
fn unknown_operator_sets_are_refused() {
    let exp = || vec![node("Exp", &["x"], &["y"], vec![])];
    let mut parsed = model(vec![value("x", F32, &["2"])], vec![], exp());
    parsed.opset_import[0].version = 1000;
    let text = statements_of(&parsed);
    let newest = crate::operators::newest();
    let reason = format!(
        "the model uses opset 1000, but only opsets up to {newest} are supported; convert it with `onnx.version_converter`"
    );
    assert!(text.contains(&reason), "{text}");
    parsed.opset_import[0].version = newest;
    assert!(statements_of(&parsed).contains("math.exp"));
    parsed.opset_import.push(OperatorSetIdProto { domain: "com.microsoft".into(), version: 2 });
    let text = statements_of(&parsed);
    assert!(text.contains("opset 2 of com.microsoft, but only opsets up to 1"), "{text}");
}

#[test]
fn dynamic_dimensions_have_bounds() {
    let bytes =
        model(vec![value("x", F32, &["batch", "3"])], vec![], vec![node("Exp", &["x"], &["y"], vec![])]);
    let imported = imported(&bytes.encode_to_vec()).unwrap();
    assert!(imported.main.contains("x: real[batch|1024,3];"), "{}", imported.main);
    assert!(imported.notes.concat().contains("--bound batch=N"), "{:?}", imported.notes);
}

#[test]
fn all_reasons_are_reported() {
    let nodes = vec![
        node("Frobnicate", &["x"], &["a"], vec![]),
        node("Relu", &["a"], &["b"], vec![]),
        node("Blur", &["x"], &["c"], vec![]),
        node("Add", &["b", "c"], &["y"], vec![]),
    ];
    let text = statements(vec![value("x", F32, &["2"])], vec![], nodes);
    assert_eq!(
        text,
        "Frobnicate `a`: the operator is not supported\nBlur `c`: the operator is not supported"
    );
}

#[test]
fn inputs_that_decide_shapes_become_constants() {
    let nodes = vec![node("Reshape", &["x", "shape"], &["y"], vec![])];
    let text = statements(vec![value("x", F32, &["4"]), value("shape", 7, &["2"])], vec![], nodes);
    assert!(text.contains("pass `--constant shape=FILE.npy`"), "{text}");
}

#[test]
fn malformed_files_are_refused() {
    let good = model(vec![value("x", F32, &["2"])], vec![], vec![node("Exp", &["x"], &["y"], vec![])])
        .encode_to_vec();
    assert!(imported(&good).is_ok());
    // Truncated anywhere, or with any byte changed, the file must not cause a panic.
    for at in 0..good.len() {
        let _ = imported(good.get(..at).unwrap());
        let mut changed = good.clone();
        *changed.get_mut(at).unwrap() ^= 0x41;
        let _ = imported(&changed);
    }
    assert!(imported(b"\x08\x08").is_err());
}

#[test]
fn excessive_sizes_are_refused() {
    let huge = TensorProto {
        name: "w".into(),
        dims: vec![1 << 40, 1 << 40],
        data_type: 1,
        ..TensorProto::default()
    };
    let text =
        statements(vec![value("x", F32, &["2"])], vec![huge], vec![node("Exp", &["x"], &["y"], vec![])]);
    assert!(text.contains("too large"), "{text}");
    let cycle = vec![node("Exp", &["b"], &["a"], vec![]), node("Exp", &["a"], &["b"], vec![])];
    let text = statements(vec![], vec![], cycle);
    assert_eq!(text, "Exp `a`: no node before it computes its input `b`");
    let many = i64::MAX.to_string();
    let x = value("x", F32, &[&many, &many]);
    let text = statements(vec![x], vec![], vec![node("Size", &["x"], &["y"], vec![])]);
    assert!(text.contains("64 bits"), "{text}");
}

mod branches;
mod calls;
mod extents;
mod external;
mod options;
mod quantized;
