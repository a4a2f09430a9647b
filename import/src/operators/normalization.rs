// SPDX-License-Identifier: Apache-2.0
//! Normalization and softmax.

use super::elementwise::converted;
use super::movement::reshaped;
use super::reduction::over;
use super::{Operator, microsoft, operator};
use crate::call::{Call, axis, broadcast, equal, product};
use crate::literals::{axis_list, float_text};
use crate::refusal::{Reason, Ruled};
use crate::statement::Argument;
use crate::value::{Value, is_real};
use skript_tensor::ElementType;

pub const OPERATORS: &[Operator] = &[
    operator("BatchNormalization", "`nn.batch_norm`", batch_norm),
    operator("InstanceNormalization", "`nn.mean_variance_norm`", instance_norm),
    operator("LayerNormalization", "`onnx.layer_norm`", layer_norm),
    operator("RMSNormalization", "`onnx.rms_norm`", rms_norm),
    operator("GroupNormalization", "`onnx.group_norm`", group_norm),
    operator("LpNormalization", "`onnx.lp_normalize`", lp_norm),
    operator("LRN", "`nn.local_response_norm`", local_response_norm),
    operator("MeanVarianceNormalization", "`onnx.mean_variance_normalize`", mean_variance),
    operator("Softmax", "`nn.softmax`", |c| softmax(c, "nn.softmax")),
    operator("LogSoftmax", "`onnx.log_softmax`", |c| softmax(c, "onnx.log_softmax")),
    operator("Hardmax", "`onnx.hardmax`", hardmax),
    microsoft("SkipLayerNormalization", "`math.add`, `onnx.layer_norm`", skip_layer_norm),
    operator("SimplifiedLayerNormalization", "`onnx.rms_norm`", rms_norm),
    microsoft("SkipSimplifiedLayerNormalization", "`math.add`, `onnx.rms_norm`", skip_rms_norm),
];

fn epsilon(c: &Call) -> (&'static str, String) {
    ("epsilon", float_text(c.float("epsilon", 1e-5)))
}

fn batch_norm(c: &mut Call) -> Ruled<()> {
    let x = c.real(0)?;
    let (scale, bias, mut mean, mut variance) = (c.input(1)?, c.input(2)?, c.input(3)?, c.input(4)?);
    for parameter in [&scale, &bias, &mean, &variance] {
        let channels = x.extent(usize::from(x.rank() > 1));
        equal("the channels and the parameters", &channels, &parameter.extent(0))?;
    }
    let wants_more = (1..c.node.output.len()).any(|at| c.wants(at));
    // Before opset 14, a node with further outputs is in training mode.
    if c.flag("training_mode", c.opset < 14 && wants_more) {
        (mean, variance) = batch_statistics(c, &x, &mean, &variance)?;
    } else if wants_more {
        return Err("it has the outputs of training, but `training_mode` is not set".into());
    }
    if c.opset < 9 && !c.flag("spatial", true) {
        return Err("spatial=0 is not supported".into());
    }
    let arguments = [(&x).into(), (&mean).into(), (&variance).into(), (&bias).into(), (&scale).into()];
    let epsilon = [epsilon(c)];
    let y = c.call("nn.batch_norm", &epsilon, &arguments, (x.element, x.shape.clone()));
    c.set(0, y);
    Ok(())
}

/// Computes the mean and variance of the batch, and updates the running mean and variance of the model.
fn batch_statistics(c: &mut Call, x: &Value, mean: &Value, variance: &Value) -> Ruled<(Value, Value)> {
    if x.rank() < 2 {
        return Err("the input has no channels".into());
    }
    let axes: Vec<usize> = (0..x.rank()).filter(|axis| *axis != 1).collect();
    let of_batch = over(c, x, &axes, true, "math.mean_reduce");
    let centered = c.binary("math.sub", x, &of_batch)?;
    let squares = c.map("math.sqr", &[], &centered);
    let squares = over(c, &squares, &axes, false, "math.mean_reduce");
    let of_batch = over(c, x, &axes, false, "math.mean_reduce");
    let momentum = f64::from(c.float("momentum", 0.9));
    let so_far = [(mean, &of_batch), (variance, &squares)];
    for (at, (known, new)) in so_far.into_iter().enumerate() {
        if c.wants(at + 1) {
            let kept = c.with_number("math.mul", known, momentum);
            let added = c.with_number("math.mul", new, 1.0 - momentum);
            let running = c.binary("math.add", &kept, &added)?;
            c.set(at + 1, running);
        }
    }
    // Before opset 14, outputs 3 and 4 are the mean and the reciprocal deviation, for a gradient, as in onnxruntime.
    if c.wants(3) {
        c.set(3, of_batch.clone());
    }
    if c.wants(4) {
        let deviation = rms_reciprocal(c, &squares);
        c.set(4, deviation);
    }
    Ok((of_batch, squares))
}

/// 1 / √(mean of squares + epsilon).
fn rms_reciprocal(c: &mut Call, squares: &Value) -> Value {
    let raised = c.with_number("math.add", squares, c.float("epsilon", 1e-5).into());
    c.map("math.rsqrt", &[], &raised)
}

fn instance_norm(c: &mut Call) -> Ruled<()> {
    let (x, scale, bias) = (c.real(0)?, c.input(1)?, c.input(2)?);
    if x.rank() < 3 {
        return Err("the input has no spatial dimensions".into());
    }
    let epsilon = [epsilon(c)];
    let arguments = [(&x).into(), (&bias).into(), (&scale).into()];
    let y = c.call("nn.mean_variance_norm", &epsilon, &arguments, (x.element, x.shape.clone()));
    c.set(0, y);
    Ok(())
}

fn last_axes(c: &Call, rank: usize) -> Ruled<Vec<usize>> {
    let first = axis(c.int("axis", -1), rank)?;
    Ok((first..rank).collect())
}

/// The type of the statistics of a normalization.
fn stash(c: &Call) -> Ruled<ElementType> {
    let stash = c.element_type("stash_type", 1).ok().filter(|element| is_real(*element));
    stash.ok_or_else(|| "the attribute `stash_type` is not a real type".into())
}

/// The wider of the element types of an input and of its statistics.
fn precise(c: &Call, x: &Value) -> Ruled<ElementType> {
    let stash = stash(c)?;
    Ok(if stash.size() > x.element.size() { stash } else { x.element })
}

/// Adds a normalization that is computed in the type of the statistics.
fn normalized(
    c: &mut Call,
    operator: &str,
    attributes: &[(&str, String)],
    operands: &[Option<&Value>],
) -> Ruled<Value> {
    let x = operands.first().copied().flatten().ok_or("input 0 is missing")?;
    let precise = precise(c, x)?;
    let mut arguments: Vec<Argument> = Vec::new();
    if operator != "onnx.group_norm" {
        for parameter in operands.iter().flatten().skip(1) {
            broadcast(&x.shape, &parameter.shape)?;
        }
    }
    for operand in operands {
        arguments.push(operand.map(|operand| converted(c, operand, precise)).transpose()?.as_ref().into());
    }
    let y = c.call(operator, attributes, &arguments, (precise, x.shape.clone()));
    converted(c, &y, x.element)
}

fn layer_norm(c: &mut Call) -> Ruled<()> {
    let (x, scale, bias) = (c.real(0)?, c.input(1)?, c.optional(2));
    let axes = last_axes(c, x.rank())?;
    let attributes = [("axes", axis_list(&axes)), epsilon(c)];
    let operands = [Some(&x), Some(&scale), bias.as_ref()];
    let y = normalized(c, "onnx.layer_norm", &attributes, &operands)?;
    if c.wants(1) || c.wants(2) {
        let (stash, precise) = (stash(c)?, precise(c, &x)?);
        let x = converted(c, &x, precise)?;
        let shape = super::reduction::reduced_shape(&x.shape, &axes, true);
        let parts = c.calls(
            "onnx.layer_statistics",
            &attributes,
            &[(&x).into()],
            vec![(precise, shape.clone()), (precise, shape)],
        );
        for (at, part) in parts.into_iter().enumerate() {
            let part = converted(c, &part, stash)?;
            c.set(at + 1, part);
        }
    }
    c.set(0, y);
    Ok(())
}

fn rms_norm(c: &mut Call) -> Ruled<()> {
    let (x, scale) = (c.real(0)?, c.input(1)?);
    let axes = last_axes(c, x.rank())?;
    let attributes = [("axes", axis_list(&axes)), epsilon(c)];
    let y = normalized(c, "onnx.rms_norm", &attributes, &[Some(&x), Some(&scale)])?;
    if c.wants(1) {
        let (stash, precise) = (stash(c)?, precise(c, &x)?);
        let x = converted(c, &x, precise)?;
        let squares = c.map("math.sqr", &[], &x);
        let squares = over(c, &squares, &axes, true, "math.mean_reduce");
        let deviation = rms_reciprocal(c, &squares);
        let deviation = converted(c, &deviation, stash)?;
        c.set(1, deviation);
    }
    c.set(0, y);
    Ok(())
}

/// Adds the input, the skip connection and the bias.
fn skipped(c: &mut Call, bias_at: usize) -> Ruled<crate::value::Value> {
    let (x, skip) = (c.real(0)?, c.real(1)?);
    let mut sum = c.binary("math.add", &x, &skip)?;
    if let Some(bias) = c.optional(bias_at) {
        sum = c.binary("math.add", &sum, &bias)?;
    }
    if c.wants(1) || c.wants(2) {
        return Err("its outputs for training are not supported".into());
    }
    if c.wants(3) {
        c.set(3, sum.clone());
    }
    Ok(sum)
}

fn skip_layer_norm(c: &mut Call) -> Ruled<()> {
    let sum = skipped(c, 4)?;
    let (scale, bias) = (c.input(2)?, c.optional(3));
    let y = normalized_rows(c, &sum, &scale, bias.as_ref())?;
    c.set(0, y);
    Ok(())
}

/// Layer normalization over the last dimension, with the default `epsilon` of onnxruntime.
pub(super) fn normalized_rows(c: &mut Call, x: &Value, scale: &Value, bias: Option<&Value>) -> Ruled<Value> {
    let attributes = [
        ("axes", axis_list(&[x.rank().saturating_sub(1)])),
        ("epsilon", float_text(c.float("epsilon", 1e-12))),
    ];
    normalized(c, "onnx.layer_norm", &attributes, &[Some(x), Some(scale), bias])
}

fn skip_rms_norm(c: &mut Call) -> Ruled<()> {
    let sum = skipped(c, 3)?;
    let scale = c.input(2)?;
    let attributes = [
        ("axes", axis_list(&[sum.rank().saturating_sub(1)])),
        ("epsilon", float_text(c.float("epsilon", 1e-12))),
    ];
    let y = normalized(c, "onnx.rms_norm", &attributes, &[Some(&sum), Some(&scale)])?;
    c.set(0, y);
    Ok(())
}

fn group_norm(c: &mut Call) -> Ruled<()> {
    let (x, scale, bias) = (c.real(0)?, c.input(1)?, c.input(2)?);
    if x.rank() < 2 {
        return Err("the input has no channels".into());
    }
    let groups = c.int("num_groups", 1);
    let channels = x.extent(1).value().filter(|n| groups > 0 && n % groups == 0);
    let channels = channels.ok_or("the number of channels is not a multiple of the number of groups")?;
    // The parameters of opset 18 are per group.
    let by_group = scale.extent(0).is(groups) && groups != channels;
    let attributes = [("groups", groups.to_string()), ("by_group", by_group.to_string()), epsilon(c)];
    let operands = [Some(&x), Some(&scale), Some(&bias)];
    let y = normalized(c, "onnx.group_norm", &attributes, &operands)?;
    c.set(0, y);
    Ok(())
}

fn lp_norm(c: &mut Call) -> Ruled<()> {
    let x = c.real(0)?;
    let at = axis(c.int("axis", -1), x.rank())?;
    let p = c.int("p", 2);
    if p != 1 && p != 2 {
        return Err(Reason(format!("p={p} is not supported")));
    }
    let attributes = [("axis", at.to_string()), ("p", p.to_string())];
    let y = c.map("onnx.lp_normalize", &attributes, &x);
    c.set(0, y);
    Ok(())
}

fn local_response_norm(c: &mut Call) -> Ruled<()> {
    let x = c.real(0)?;
    let attributes = [
        ("size", format!("[{}]", c.int("size", 1))),
        ("alpha", float_text(c.float("alpha", 1e-4))),
        ("beta", float_text(c.float("beta", 0.75))),
        ("bias", float_text(c.float("bias", 1.0))),
    ];
    let y = c.map("nn.local_response_norm", &attributes, &x);
    c.set(0, y);
    Ok(())
}

fn mean_variance(c: &mut Call) -> Ruled<()> {
    let x = c.real(0)?;
    let given = c.ints("axes").unwrap_or_else(|| vec![0, 2, 3]);
    let axes = crate::call::axes(&given, x.rank())?;
    let y = c.map("onnx.mean_variance_normalize", &[("axes", axis_list(&axes))], &x);
    c.set(0, y);
    Ok(())
}

/// The axes of a softmax: one axis since opset 13; before, all axes from `axis` on.
fn softmax_axes(c: &Call, rank: usize) -> Ruled<Vec<usize>> {
    if c.opset >= 13 {
        return Ok(vec![axis(c.int("axis", -1), rank)?]);
    }
    let first = axis(c.int("axis", 1), rank)?;
    Ok((first..rank).collect())
}

fn softmax(c: &mut Call, operator: &str) -> Ruled<()> {
    let x = c.real(0)?;
    let axes = softmax_axes(c, x.rank())?;
    let y = c.map(operator, &[("axes", axis_list(&axes))], &x);
    c.set(0, y);
    Ok(())
}

fn hardmax(c: &mut Call) -> Ruled<()> {
    let x = c.real(0)?;
    let axes = softmax_axes(c, x.rank())?;
    let (first, is_one) = match axes.as_slice() {
        [at] => (*at, true),
        [first, ..] => (*first, false),
        [] => return Err("the axis is outside of the rank of the input".into()),
    };
    // Several dimensions are flattened to one.
    let flat = if is_one {
        x.clone()
    } else {
        let mut shape = x.shape.clone();
        let flattened = product(&shape.split_off(first))?;
        shape.push(flattened);
        reshaped(c, &x, shape)
    };
    let y = c.map("onnx.hardmax", &[("axis", first.to_string())], &flat);
    let y = reshaped(c, &y, x.shape.clone());
    c.set(0, y);
    Ok(())
}
