// SPDX-License-Identifier: Apache-2.0
//! The activation functions that onnxruntime fuses into products and convolutions.

use std::cell::RefCell;

use crate::call::Call;
use crate::proto::AttributeProto;
use crate::refusal::{Reason, Ruled};
use crate::value::Value;

/// The ONNX operators that are activation functions, with the attributes that they require.
const FUNCTIONS: [(&str, &[&str]); 13] = [
    ("Celu", &["alpha"]),
    ("Clip", &["min", "max"]),
    ("Elu", &["alpha"]),
    ("HardSigmoid", &["alpha", "beta"]),
    ("HardSwish", &[]),
    ("LeakyRelu", &["alpha"]),
    ("Relu", &[]),
    ("Selu", &["alpha", "gamma"]),
    ("Sigmoid", &[]),
    ("Softplus", &[]),
    ("Softsign", &[]),
    ("Tanh", &[]),
    ("ThresholdedRelu", &["alpha"]),
];

/// An operator set in which the limits of `Clip` are attributes.
const OPSET: i64 = 10;

/// The attributes of the activation function of this node, in the order of onnxruntime's parameters.
pub(super) fn parameters(c: &Call) -> &'static [&'static str] {
    let name = c.string("activation", "");
    FUNCTIONS.iter().find(|(known, _)| *known == name).map_or(&[], |(_, parameters)| parameters)
}

/// Applies the activation function that the attribute `activation` names; the operand is unchanged without the attribute.
pub(super) fn activated(c: &mut Call, x: Value, floats: &[(&str, f32)]) -> Ruled<Value> {
    let name = c.string("activation", "");
    if name.is_empty() {
        return Ok(x);
    }
    let rule = super::find("", &name).filter(|_| FUNCTIONS.iter().any(|(known, _)| *known == name));
    let rule = rule.ok_or_else(|| Reason(format!("the activation {name:?} is not supported")))?;
    if let Some(missing) = parameters(c).iter().find(|p| floats.iter().all(|(given, _)| given != *p)) {
        return Err(Reason(format!("the parameter {missing:?} of the activation {name:?} is missing")));
    }
    let attribute = |(name, f): &(&str, f32)| AttributeProto {
        name: (*name).to_owned(),
        f: *f,
        ..AttributeProto::default()
    };
    let mut node = c.node.clone();
    node.op_type = name;
    node.attribute = floats.iter().map(attribute).collect();
    let (inputs, mistyped) = (vec![Some(x)], RefCell::default());
    let mut call = Call { importer: c.importer, node, inputs, results: Vec::new(), opset: OPSET, mistyped };
    rule(&mut call)?;
    let result = call.results.pop().flatten();
    result.ok_or_else(|| "internal compiler error: the activation has no result".into())
}
