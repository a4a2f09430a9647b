// SPDX-License-Identifier: Apache-2.0
//! Tests of `is_quantized` in `import.json`.

use super::*;
use crate::origin::Origin;

const I8: i32 = 3;
const I64: i32 = 7;

/// Whether the imported model is quantized.
fn is_quantized(inputs: Vec<ValueInfoProto>, initializer: Vec<TensorProto>, nodes: Vec<NodeProto>) -> bool {
    let imported = imported(&model(inputs, initializer, nodes).encode_to_vec()).unwrap();
    Origin::from_json(imported.json.as_bytes()).unwrap().is_quantized
}

fn scalar(name: &str, value: f32) -> TensorProto {
    TensorProto { name: name.into(), data_type: F32, float_data: vec![value], ..TensorProto::default() }
}

#[test]
fn recurrence_in_reals_is_not_quantized() {
    let hidden = int("hidden_size", 2);
    let lstm = node("LSTM", &["x", "w", "r"], &["y"], vec![hidden]);
    let initializer = vec![weights("w", &[1, 8, 3]), weights("r", &[1, 8, 2])];
    assert!(!is_quantized(vec![value("x", F32, &["5", "1", "3"])], initializer, vec![lstm]));
}

#[test]
fn products_of_ints_are_not_quantized() {
    let inputs = || vec![value("x", I64, &["2", "3"]), value("w", I64, &["3", "4"])];
    assert!(!is_quantized(inputs(), vec![], vec![node("MatMul", &["x", "w"], &["y"], vec![])]));
    let equation = AttributeProto { name: "equation".into(), s: b"ij,jk->ik".to_vec(), ..int("", 0) };
    assert!(!is_quantized(inputs(), vec![], vec![node("Einsum", &["x", "w"], &["y"], vec![equation])]));
}

#[test]
fn nodes_on_quantized_values_are_found() {
    let quantize = node("QuantizeLinear", &["x", "s"], &["q"], vec![]);
    let dequantize = node("DequantizeLinear", &["q", "s"], &["y"], vec![]);
    let nodes = vec![quantize, dequantize];
    assert!(is_quantized(vec![value("x", F32, &["2"])], vec![scalar("s", 0.5)], nodes));
    let inputs = vec![value("x", U8, &["2", "3"]), value("w", I8, &["3", "4"])];
    assert!(is_quantized(inputs, vec![], vec![node("MatMulInteger", &["x", "w"], &["y"], vec![])]));
}

#[test]
fn quantized_operators_have_rules() {
    for (domain, names) in crate::operators::QUANTIZED {
        for name in names {
            assert!(crate::operators::find(domain, name).is_some(), "{domain} {name}");
        }
    }
}

#[test]
fn folders_without_the_statement_compute_in_reals() {
    let origin = Origin::from_json(br#"{"version": 1, "real": "f32"}"#).unwrap();
    assert!(!origin.is_quantized);
}
