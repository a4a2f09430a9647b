// SPDX-License-Identifier: Apache-2.0
//! The activation functions that onnxruntime fuses into products and convolutions.

use std::cell::RefCell;

use crate::call::Call;
use crate::proto::AttributeProto;
use crate::refusal::{Reason, Ruled};
use crate::value::Value;

/// An activation function: the name of its ONNX operator, and the attributes that are its parameters.
pub(super) type Function = (&'static str, &'static [&'static str]);

/// The functions of convolutions in onnxruntime.
pub(super) const OF_CONVOLUTIONS: &[Function] = &[
    ("Clip", &["min", "max"]),
    ("HardSigmoid", &["alpha", "beta"]),
    ("HardSwish", &[]),
    ("LeakyRelu", &["alpha"]),
    ("Relu", &[]),
    ("Sigmoid", &[]),
    ("Tanh", &[]),
];

/// The functions of matrix products in onnxruntime.
pub(super) const OF_PRODUCTS: &[Function] = &[
    ("Celu", &["alpha"]),
    ("Elu", &["alpha"]),
    ("HardSigmoid", &["alpha", "beta"]),
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

/// The activation function that the attribute `activation` names; `None` without the attribute.
pub(super) fn function(c: &Call, functions: &[Function]) -> Ruled<Option<Function>> {
    let name = c.string("activation", "");
    if name.is_empty() {
        return Ok(None);
    }
    let function = functions.iter().find(|(known, _)| *known == name);
    let function = function.ok_or_else(|| Reason(format!("the activation {name:?} is not supported")))?;
    Ok(Some(*function))
}

/// Applies an activation function with these values of its parameters.
pub(super) fn activated(
    c: &mut Call,
    x: Value,
    (name, parameters): Function,
    values: &[f32],
) -> Ruled<Value> {
    if values.len() != parameters.len() {
        let (count, given) = (parameters.len(), values.len());
        return Err(Reason(format!(
            "the number of parameters of the activation {name:?} must be {count}, but is {given}"
        )));
    }
    let rule = super::find("", name).ok_or("internal compiler error: the activation is unknown")?;
    let attribute = |(name, value): (&&str, &f32)| AttributeProto {
        name: (*name).to_owned(),
        f: *value,
        ..AttributeProto::default()
    };
    let mut node = c.node.clone();
    name.clone_into(&mut node.op_type);
    node.attribute = parameters.iter().zip(values).map(attribute).collect();
    let (inputs, mistyped) = (vec![Some(x)], RefCell::default());
    let mut call = Call { importer: c.importer, node, inputs, results: Vec::new(), opset: OPSET, mistyped };
    rule(&mut call)?;
    let result = call.results.pop().flatten();
    result.ok_or_else(|| "internal compiler error: the activation has no result".into())
}
