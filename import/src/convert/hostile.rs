// SPDX-License-Identifier: Apache-2.0
//! Random models: every operator with arbitrary operands and attributes, and mutated bytes. Each import must return soon and must not
//! panic. `fuzz/` tests more models.

use std::time::{Duration, Instant};

use super::*;
use crate::operators::{GROUPS, full_name, signature};
use crate::proto::*;
use prost::Message as _;

/// A reproducible sequence of random numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(end).unwrap()).unwrap()
    }

    fn one_of<T: Clone>(&mut self, from: &[T]) -> T {
        from.get(self.below(from.len())).unwrap().clone()
    }
}

/// Plausible axes, extents and types, and ints that are out of range for each of them.
const INTS: &[i64] =
    &[0, 1, 2, 3, 4, 5, 7, 10, 11, 16, 22, 64, -1, -2, -3, 1 << 31, 1 << 40, i64::MAX, i64::MIN];

const FLOATS: &[f32] = &[0.0, 1.0, -1.0, 0.5, 1e30, f32::INFINITY, f32::NAN];

const TEXTS: &[&str] = &[
    "",
    "NOTSET",
    "SAME_UPPER",
    "VALID",
    "nearest",
    "linear",
    "cubic",
    "bilinear",
    "reflect",
    "edge",
    "wrap",
    "constant",
    "add",
    "mul",
    "max",
    "LEFT",
    "RIGHT",
    "DCR",
    "CRD",
    "sum",
    "none",
    "tanh",
    "bij,bjk->bik",
    "ii->i",
    "...i,i...",
    "->",
    ",",
    "bidirectional",
    "reverse",
    "asymmetric",
    "align_corners",
    "tf_crop_and_resize",
    "gated_delta",
    "linear",
    "silu",
    "\u{2}9\u{3}",
    "[",
    "é{",
];

/// The attribute names of all operators.
const ATTRIBUTES: &[&str] = &[
    "activation",
    "activations",
    "align_corners",
    "allowzero",
    "alpha",
    "antialias",
    "approximate",
    "auto_pad",
    "axes",
    "axis",
    "batch_axis",
    "batch_dims",
    "beta",
    "bias",
    "block_size",
    "blocksize",
    "body",
    "broadcast",
    "ceil_mode",
    "center_point_box",
    "channels_last",
    "clip",
    "coordinate_transformation_mode",
    "count_include_pad",
    "cubic_coeff_a",
    "detect_negative",
    "detect_positive",
    "dilations",
    "direction",
    "do_rotary",
    "dtype",
    "else_branch",
    "end",
    "ends",
    "epsilon",
    "equation",
    "exclude_outside",
    "extrapolation_value",
    "fmod",
    "gamma",
    "group",
    "ignore_index",
    "input_forget",
    "interleaved",
    "inverse",
    "is_causal",
    "is_packed_batching",
    "k",
    "keep_aspect_ratio_policy",
    "keepdims",
    "kernel_shape",
    "kv_num_heads",
    "lambd",
    "largest",
    "layout",
    "left_window_size",
    "linear_before_reset",
    "local_window_size",
    "mask_filter_value",
    "mode",
    "nearest_mode",
    "new_axis",
    "noop_with_empty_axes",
    "num_groups",
    "num_heads",
    "num_scan_inputs",
    "offset_group",
    "onesided",
    "output_datatype",
    "output_dtype",
    "output_height",
    "output_padding",
    "output_shape",
    "output_width",
    "p",
    "padding_mode",
    "paddings",
    "pads",
    "periodic",
    "perm",
    "q_num_heads",
    "qk_matmul_output_mode",
    "qkv_hidden_sizes",
    "reduction",
    "right_window_size",
    "rotary_embedding_dim",
    "rotary_interleaved",
    "sampling_ratio",
    "scale",
    "scales",
    "scan_input_axes",
    "scan_input_directions",
    "scan_output_axes",
    "scan_output_directions",
    "select_last_index",
    "shape",
    "size",
    "softcap",
    "softmax_precision",
    "sorted",
    "spatial",
    "spatial_scale",
    "split",
    "start",
    "starts",
    "storage_order",
    "strides",
    "then_branch",
    "time_axis",
    "to",
    "training_mode",
    "transA",
    "transB",
    "transBatchA",
    "transBatchB",
    "unidirectional",
    "update_rule",
    "upper",
    "value",
    "value_float",
    "value_floats",
    "value_int",
    "value_ints",
];

fn value(name: &str, element: i32, shape: &[i64]) -> ValueInfoProto {
    let dim = shape.iter().map(|extent| DimensionProto {
        value: (*extent >= 0).then_some(*extent),
        name: (*extent < 0).then(|| "n".to_owned()),
    });
    let shape = Some(ShapeProto { dim: dim.collect() });
    ValueInfoProto {
        name: name.into(),
        kind: Some(TypeProto { tensor: Some(TensorTypeProto { element, shape }), ..TypeProto::default() }),
    }
}

fn shape(numbers: &mut Numbers) -> Vec<i64> {
    let extents = [0, 1, 1, 2, 2, 3, 4, 8, -1];
    let rank = numbers.below(5);
    (0..rank).map(|_| numbers.one_of(&extents)).collect()
}

fn tensor(name: &str, numbers: &mut Numbers) -> TensorProto {
    let count = numbers.below(6);
    let dims = match numbers.below(3) {
        0 if count == 1 => Vec::new(),
        1 => vec![1, i64::try_from(count).unwrap()],
        _ => vec![i64::try_from(count).unwrap()],
    };
    let mut tensor = TensorProto {
        name: name.into(),
        dims,
        data_type: numbers.one_of(&[7, 7, 7, 7, 1, 1, 1, 6, 2, 3, 9, 10, 13]),
        ..TensorProto::default()
    };
    match tensor.data_type {
        7 => tensor.int64_data = (0..count).map(|_| numbers.one_of(INTS)).collect(),
        13 => tensor.uint64_data = (0..count).map(|_| numbers.one_of(INTS).cast_unsigned()).collect(),
        1 => tensor.float_data = (0..count).map(|_| numbers.one_of(FLOATS)).collect(),
        _ => tensor.int32_data = (0..count).map(|_| numbers.one_of(&[0, 1, 2, 3, 100])).collect(),
    }
    tensor
}

/// An output without a type.
fn undeclared(name: &str) -> ValueInfoProto {
    ValueInfoProto { name: name.into(), ..ValueInfoProto::default() }
}

fn body(numbers: &mut Numbers) -> GraphProto {
    let inputs = numbers.below(4);
    let names = ["i", "c", "s"];
    let input = names.iter().take(inputs).map(|name| value(name, 1, &[2, 3]));
    let node = NodeProto {
        op_type: numbers.one_of(&["Exp", "Not", "Identity", "Shape"]).into(),
        input: vec![numbers.one_of(&["i", "c", "s", "x", "k"]).into()],
        output: vec!["o".into()],
        ..NodeProto::default()
    };
    let outputs = numbers.below(4);
    let output = (0..outputs).map(|_| {
        let name = numbers.one_of(&["o", "c", "s", "x"]);
        match numbers.below(4) {
            0 => value(name, 1, &[2, 3]),
            _ => undeclared(name),
        }
    });
    GraphProto { input: input.collect(), output: output.collect(), node: vec![node], ..GraphProto::default() }
}

fn attribute(name: &str, numbers: &mut Numbers) -> AttributeProto {
    let list = numbers.below(7);
    AttributeProto {
        name: name.into(),
        i: numbers.one_of(INTS),
        f: numbers.one_of(FLOATS),
        s: numbers.one_of(TEXTS).as_bytes().to_vec(),
        ints: (0..list).map(|_| numbers.one_of(INTS)).collect(),
        floats: (0..list).map(|_| numbers.one_of(FLOATS)).collect(),
        strings: (0..list).map(|_| numbers.one_of(TEXTS).as_bytes().to_vec()).collect(),
        t: (numbers.below(2) == 0).then(|| tensor("t", numbers)),
        g: (numbers.below(2) == 0).then(|| body(numbers)),
        ..AttributeProto::default()
    }
}

/// A model of one node with this operator.
fn model(domain: &str, operator: &str, numbers: &mut Numbers) -> ModelProto {
    let elements = [1, 1, 1, 1, 10, 11, 16, 7, 7, 6, 2, 3, 9, 13];
    let common_element = numbers.one_of(&elements);
    let common = shape(numbers);
    let mut input = Vec::new();
    for name in ["x", "y", "z"] {
        // Equal shapes are frequent, so that the operands match.
        let shape = if numbers.below(2) == 0 { common.clone() } else { shape(numbers) };
        let element = match numbers.below(3) {
            0 => numbers.one_of(&elements),
            _ => common_element,
        };
        input.push(value(name, element, &shape));
    }
    let initializer = ["k", "l"].map(|name| tensor(name, numbers)).to_vec();
    let operands = 1 + numbers.below(5);
    let names = ["x", "x", "x", "y", "y", "z", "k", "k", "l", ""];
    let count = numbers.below(4);
    let version = numbers.one_of(&[7, 10, 12, 13, 17, 18, 21, 26]);
    let opset = if domain.is_empty() { version } else { 1 };
    let signature = signature(&full_name(domain, operator), opset).unwrap();
    // Most operators exist in the operator set of the model.
    let version =
        if domain.is_empty() && numbers.below(8) > 0 { version.max(signature.since) } else { version };
    let types = input.iter().map(|info| {
        let kind = info.kind.clone().unwrap().tensor.unwrap();
        (info.name.clone(), kind.element)
    });
    let types: Vec<(String, i32)> =
        types.chain(initializer.iter().map(|t| (t.name.clone(), t.data_type))).collect();
    // The types of most nodes match the signature.
    let is_checked = numbers.below(8) > 0;
    let mut operand_names: Vec<&str> = Vec::new();
    let fits = |operands: &[&str]| {
        let all = operands.iter().map(|name| {
            let (name, number) = types.iter().find(|(declared, _)| declared == name)?;
            Some((name.as_str(), element(*number).unwrap().name().to_owned()))
        });
        signature.problems(&all.collect::<Vec<_>>(), signature.required()).is_empty()
    };
    for _ in 0..operands {
        let mut tried = (0..12).map(|_| {
            let mut next = operand_names.clone();
            next.push(numbers.one_of(&names));
            next
        });
        operand_names = tried.find(|next| !is_checked || fits(next)).unwrap_or(operand_names);
    }
    let attribute_names = signature.attributes();
    let attributes = (0..count).map(|_| {
        if is_checked && !attribute_names.is_empty() {
            attribute(numbers.one_of(attribute_names), numbers)
        } else {
            attribute(numbers.one_of(ATTRIBUTES), numbers)
        }
    });
    let mut attributes: Vec<AttributeProto> = attributes.collect();
    if is_checked {
        attributes.extend(signature.required().iter().map(|name| attribute(name, numbers)));
        attributes.sort_by(|a, b| a.name.cmp(&b.name));
        attributes.dedup_by(|a, b| a.name == b.name);
    }
    let node = NodeProto {
        op_type: operator.into(),
        domain: domain.into(),
        input: operand_names.iter().map(|name| (*name).to_owned()).collect(),
        output: ["a", "b", "c"].map(str::to_owned)[..1 + numbers.below(2)].to_vec(),
        attribute: attributes,
        ..NodeProto::default()
    };
    let graph = GraphProto {
        node: vec![node],
        input,
        initializer,
        output: vec![undeclared("a")],
        ..GraphProto::default()
    };
    let opset = |domain: &str, version| OperatorSetIdProto { domain: domain.into(), version };
    ModelProto {
        ir_version: 10,
        graph: Some(graph),
        opset_import: vec![opset("", version), opset("com.microsoft", 1)],
        ..ModelProto::default()
    }
}

/// Whether a model is imported. The time limit is far above the expected time, because the machine may be busy, and far below the time
/// of unbounded work.
fn is_imported(folder: &Path, bytes: &[u8]) -> bool {
    let path = folder.join("net.onnx");
    std::fs::write(&path, bytes).unwrap();
    let start = Instant::now();
    let imported = convert(&path, Options::default());
    assert!(start.elapsed() < Duration::from_secs(20), "too slow");
    // Refusals have reasons.
    if let Err(ImportError::Refused { refusals, .. }) = &imported {
        assert!(!refusals.is_empty() && refusals.iter().all(|r| !r.reason.is_empty()));
    }
    imported.is_ok()
}

#[test]
fn arbitrary_operands_do_not_panic() {
    let folder = tempfile::tempdir().unwrap();
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    let (mut accepted, mut all) = (0, 0);
    for operator in GROUPS.iter().flat_map(|group| group.operators) {
        for _ in 0..ROUNDS {
            let model = model(operator.domain, operator.name, &mut numbers);
            accepted += usize::from(is_imported(folder.path(), &model.encode_to_vec()));
            all += 1;
        }
    }
    // More than a twentieth of the models pass all checks.
    assert!(accepted * 20 > all, "{accepted} of {all}");
}

/// The number of models for each operator.
const ROUNDS: usize = 25;

#[test]
fn mutated_bytes_do_not_panic() {
    let folder = tempfile::tempdir().unwrap();
    let mut numbers = Numbers(0x0123_4567_89ab_cdef);
    let operators: Vec<_> = GROUPS.iter().flat_map(|group| group.operators).collect();
    for _ in 0..2000 {
        let operator = numbers.one_of(&operators);
        let mut bytes = model(operator.domain, operator.name, &mut numbers).encode_to_vec();
        for _ in 0..=numbers.below(4) {
            let at = numbers.below(bytes.len().max(1));
            let byte = u8::try_from(numbers.below(256)).unwrap();
            match numbers.below(4) {
                _ if bytes.is_empty() => bytes.push(byte),
                0 => drop(bytes.remove(at)),
                1 => bytes.insert(at, byte),
                2 => bytes.truncate(at),
                _ => *bytes.get_mut(at).unwrap() = byte,
            }
        }
        is_imported(folder.path(), &bytes);
    }
}
