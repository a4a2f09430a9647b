// SPDX-License-Identifier: Apache-2.0
//! Recurrent networks.

use super::movement::{reshaped, transposed, unsqueezed};
use super::{Operator, microsoft, operator};
use crate::call::{Call, Type};
use crate::extent::Extent;
use crate::literals::extent_list;
use crate::refusal::{Reason, Ruled};
use crate::statement::Argument;
use crate::value::Value;

pub const OPERATORS: &[Operator] = &[
    operator("LSTM", "`onnx.lstm`", |c| recurrent(c, "onnx.lstm", 4, &["sigmoid", "tanh", "tanh"])),
    operator("GRU", "`onnx.gru`", |c| recurrent(c, "onnx.gru", 3, &["sigmoid", "tanh"])),
    operator("RNN", "`onnx.rnn`", |c| recurrent(c, "onnx.rnn", 1, &["tanh"])),
    microsoft("DynamicQuantizeLSTM", "`onnx.dequantize`, `onnx.lstm`", quantized_lstm),
];

/// The optional input `at`, or zeros.
fn or_zeros(c: &mut Call, at: usize, like: &Value, shape: Vec<Extent>) -> Value {
    match c.optional(at) {
        Some(given) => given,
        None => {
            let attributes = [("shape", extent_list(&shape)), ("value", "0.0".to_owned())];
            c.call("onnx.fill", &attributes, &[], (like.element, shape))
        }
    }
}

/// Dequantizes the weights of a recurrence and transposes them to have the gates before the features.
fn dequantized(c: &mut Call, at: usize, scale_at: usize) -> Ruled<Value> {
    let weights = c.input(at)?;
    let weights = super::quantize::limited(c, &weights);
    let parameter = |c: &mut Call, at: usize| {
        let given = c.optional(at)?;
        // One parameter for each direction, or for each gate and unit of a direction.
        let added: &[usize] = if given.rank() == 1 { &[1, 2] } else { &[1] };
        Some(unsqueezed(c, &given, added))
    };
    let scale = parameter(c, scale_at).ok_or("the scale of the weights is missing")?;
    let zero = parameter(c, scale_at + 1);
    let arguments: [Argument; 3] = [(&weights).into(), (&scale).into(), zero.as_ref().into()];
    let of_type = (scale.element, weights.shape.clone());
    let reals = c.call("onnx.dequantize", &[], &arguments, of_type);
    Ok(transposed(c, &reals, &[0, 2, 1]))
}

/// Multiplies dequantized weights by rounded inputs and states. As in onnxruntime, the inputs of all steps are quantized together, and
/// the states are quantized in each step.
fn quantized_lstm(c: &mut Call) -> Ruled<()> {
    for (weights, scale) in [(1, 8), (2, 10)] {
        let reals = dequantized(c, weights, scale)?;
        if let Some(input) = c.inputs.get_mut(weights) {
            *input = Some(reals);
        }
    }
    recurrent(c, "onnx.lstm", 4, &["sigmoid", "tanh", "tanh"])
}

/// Refuses attributes that are not supported or contradict the weights.
fn check(c: &Call, w: &Value, r: &Value, gates: i64, functions: &[&str]) -> Ruled<()> {
    let size = c.int("hidden_size", 0);
    let fits = |extent: Extent, times: i64| {
        let wanted = size.checked_mul(times);
        extent.value().is_none_or(|extent| Some(extent) == wanted)
    };
    let fits = fits(r.extent(2), 1) && fits(r.extent(1), gates) && fits(w.extent(1), gates);
    if c.has("hidden_size") && !(w.rank() == 3 && fits) {
        return Err(Reason(format!("the attribute `hidden_size` is {size}, which contradicts the weights")));
    }
    let given = c.strings("activations");
    let usual = given.is_none_or(|g| {
        let usual = functions.iter().cycle().take(g.len());
        g.iter().map(|f| f.to_ascii_lowercase()).eq(usual.map(|f| (*f).to_owned()))
    });
    if !usual {
        return Err("only the default activations are supported".into());
    }
    if c.has("clip") || c.flag("input_forget", false) {
        return Err("`clip` and `input_forget` are not supported".into());
    }
    Ok(())
}

/// Whether each direction is reversed.
fn directions(c: &Call, count: i64) -> Ruled<&'static [bool]> {
    match (c.string("direction", "forward").as_str(), count) {
        ("forward", 1) => Ok(&[false]),
        ("reverse", 1) => Ok(&[true]),
        ("bidirectional", 2) => Ok(&[false, true]),
        (other, _) => Err(Reason(format!("the direction {other:?} contradicts the weights"))),
    }
}

/// Stacks the results of all directions along a new dimension.
fn stacked(c: &mut Call, parts: Vec<Value>, axis: usize, shape: Vec<Extent>) -> Ruled<Value> {
    let first = parts.first().cloned().ok_or("internal compiler error: no direction")?;
    if parts.len() == 1 {
        return Ok(reshaped(c, &first, shape));
    }
    let attributes = [("axis", axis.to_string())];
    Ok(c.call("layout.stack", &attributes, &[Argument::Pack(parts)], (first.element, shape)))
}

fn recurrent(c: &mut Call, operator: &str, gates: i64, functions: &[&str]) -> Ruled<()> {
    let (mut x, w, r) = (c.real(0)?, c.real(1)?, c.real(2)?);
    if x.rank() != 3 || r.rank() != 3 {
        return Err("the operands must have rank 3".into());
    }
    check(c, &w, &r, gates, functions)?;
    let cells = operator == "onnx.lstm";
    // A dynamic number of directions must be 1: `directions` then refuses bidirectional networks.
    let count = r.extent(0).value().unwrap_or(1);
    let batch_first = c.flag("layout", false);
    if batch_first {
        x = transposed(c, &x, &[1, 0, 2]);
    }
    let (s, b, n) = (x.extent(0), x.extent(1), r.extent(2));
    // Lengths that cover all steps have no effect.
    let are_full = |v: &Value| v.numbers().is_some_and(|all| all.iter().all(|n| s.is(*n)));
    let lengths = c.optional(4).filter(|lengths| !are_full(lengths));
    let wide = n.times(&Extent::from(2 * gates)).ok_or_else(crate::refusal::overflow)?;
    let bias = or_zeros(c, 3, &x, vec![Extent::from(count), wide]);
    let state = vec![Extent::from(count), b.clone(), n.clone()];
    let turned = |c: &mut Call, v: Value| {
        if batch_first { transposed(c, &v, &[1, 0, 2]) } else { v }
    };
    let initial = |c: &mut Call, at: usize| {
        let given = c.optional(at).is_some();
        let value = or_zeros(c, at, &x, state.clone());
        if given { turned(c, value) } else { value }
    };
    let h0 = initial(c, 5);
    let c0 = cells.then(|| initial(c, 6));
    let peephole = c.optional(7).filter(|_| cells);
    let (mut ys, mut hs, mut cs) = (Vec::new(), Vec::new(), Vec::new());
    for (d, reverse) in directions(c, count)?.iter().enumerate() {
        let mut attributes = vec![("direction", d.to_string()), ("reverse", reverse.to_string())];
        if c.node.op_type == "DynamicQuantizeLSTM" {
            attributes.push(("rounds", "true".to_owned()));
        }
        if operator == "onnx.gru" {
            attributes.push(("reset_after", c.flag("linear_before_reset", false).to_string()));
        }
        let all: Type = (x.element, vec![s.clone(), b.clone(), n.clone()]);
        let last: Type = (x.element, vec![b.clone(), n.clone()]);
        let mut arguments: Vec<Argument> = vec![
            (&x).into(),
            (&w).into(),
            (&r).into(),
            (&bias).into(),
            (&h0).into(),
            lengths.as_ref().into(),
        ];
        let mut types = vec![all, last.clone()];
        if let Some(c0) = &c0 {
            arguments.push(c0.into());
            arguments.push(peephole.as_ref().into());
            types.push(last);
        }
        let mut results = c.calls(operator, &attributes, &arguments, types).into_iter();
        ys.extend(results.next());
        hs.extend(results.next());
        cs.extend(results.next());
    }
    let one = Extent::from(count);
    let mut y = stacked(c, ys, 1, vec![s, one.clone(), b.clone(), n.clone()])?;
    if batch_first {
        y = transposed(c, &y, &[2, 0, 1, 3]);
    }
    c.set(0, y);
    for (at, parts) in [(1, hs), (2, cs)] {
        if !parts.is_empty() {
            let last = stacked(c, parts, 0, vec![one.clone(), b.clone(), n.clone()])?;
            let last = turned(c, last);
            c.set(at, last);
        }
    }
    Ok(())
}
