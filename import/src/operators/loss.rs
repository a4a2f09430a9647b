// SPDX-License-Identifier: Apache-2.0
//! Losses.

use super::{Operator, operator};
use crate::call::Call;
use crate::extent::Extent;
use crate::literals::axis_list;
use crate::refusal::{Reason, Ruled};
use crate::statement::Argument;
use crate::value::Value;

pub const OPERATORS: &[Operator] = &[
    operator("NegativeLogLikelihoodLoss", "`onnx.likelihood_losses`, `math.sum_reduce`", likelihood),
    operator("SoftmaxCrossEntropyLoss", "`onnx.log_softmax`, `onnx.likelihood_losses`", cross_entropy),
];

fn likelihood(c: &mut Call) -> Ruled<()> {
    let x = c.real(0)?;
    let y = loss(c, &x)?;
    c.set(0, y);
    Ok(())
}

fn cross_entropy(c: &mut Call) -> Ruled<()> {
    let x = c.real(0)?;
    let logs = c.map("onnx.log_softmax", &[("axes", axis_list(&[1]))], &x);
    let y = loss(c, &logs)?;
    c.set(0, y);
    c.set(1, logs);
    Ok(())
}

fn loss(c: &mut Call, x: &Value) -> Ruled<Value> {
    let (target, weight) = (c.input(1)?, c.optional(2));
    let mut attributes = Vec::new();
    if c.has("ignore_index") {
        attributes.push(("ignore", c.int("ignore_index", 0).to_string()));
    }
    let kind = (x.element, target.shape.clone());
    let arguments: [Argument; 3] = [x.into(), (&target).into(), weight.as_ref().into()];
    let parts = c.calls("onnx.likelihood_losses", &attributes, &arguments, vec![kind.clone(), kind]);
    let [losses, weights] = parts.as_slice() else {
        return Err("no loss".into());
    };
    let scalar = |c: &mut Call, v: &Value| {
        let shape: Vec<Extent> = Vec::new();
        c.call("math.sum_reduce", &[("squeeze", "true".to_owned())], &[v.into()], (v.element, shape))
    };
    match c.string("reduction", "mean").as_str() {
        "none" => Ok(losses.clone()),
        "sum" => Ok(scalar(c, losses)),
        "mean" => {
            let (sum, count) = (scalar(c, losses), scalar(c, weights));
            c.binary("math.div", &sum, &count)
        }
        other => Err(Reason(format!("the reduction {other:?} is unknown"))),
    }
}
