// SPDX-License-Identifier: Apache-2.0
//! The attention operators of onnxruntime, which include projections, caches of keys and values, and rotary embedding.

use skript_tensor::ElementType;

use super::attention::{
    AttentionOptions, RotatedFeatures, VisibleKeys, at_positions, attended, flattened, heads, rotated,
};
use super::movement::{agreed, expanded, joined, parts, reshaped, stacked, unsqueezed};
use super::{Operator, microsoft};
use crate::call::{Call, equal, quotient};
use crate::extent::Extent;
use crate::literals::{float_text, list};
use crate::refusal::{Reason, Ruled, overflow};
use crate::statement::marked;
use crate::value::Value;

pub const OPERATORS: &[Operator] = &[
    microsoft("Attention", "`linalg.matmul`, `onnx.softmax_of_some`", attention),
    microsoft("MultiHeadAttention", "`linalg.matmul`, `onnx.softmax_of_some`", multi_head),
    microsoft(
        "GroupQueryAttention",
        "`onnx.cached`, `onnx.rotate`, `linalg.matmul`, `onnx.near_of_length`",
        group_query,
    ),
    microsoft("RotaryEmbedding", "`onnx.rotate`", rotary),
];

/// Refuses operands that would affect the result but are not supported.
fn without(c: &Call, operands: &[(usize, &str)]) -> Ruled<()> {
    match operands.iter().find(|(at, _)| c.optional(*at).is_some()) {
        Some((_, what)) => Err(Reason(format!("{what} is not supported"))),
        None => Ok(()),
    }
}

/// The masks of an attention.
struct Masks {
    /// A mask of the keys.
    keys: Option<Value>,
    /// A bias of the scores.
    scores: Option<Value>,
    /// Whether a mask of the keys with one int for each batch item, or with ends and begins, is allowed.
    has_short_forms: bool,
}

/// Converts a mask of keys to a bias of the scores, which have this shape. The mask has an int for each key of each batch item, also for
/// each query, or the positions at which the keys of each batch item end, and optionally those at which they begin.
fn key_bias(
    c: &mut Call,
    mask: &Value,
    element: ElementType,
    scores: [&Extent; 3],
    short: bool,
) -> Ruled<Value> {
    let [batch, steps, keys] = scores;
    match mask.rank() {
        1 => length_bias(c, mask, element, (batch, keys), short),
        rank @ (2 | 3) => {
            equal("the batch and the first extent of the mask", batch, &mask.extent(0))?;
            let mut mask = agreed(c, mask, 0, batch)?;
            if rank == 3 {
                equal("the number of queries and the second extent of the mask", steps, &mask.extent(1))?;
                mask = agreed(c, &mask, 1, steps)?;
            }
            let what = "the number of keys, including those of the past, and the last extent of the mask";
            equal(what, keys, &mask.extent(rank - 1))?;
            let mask = agreed(c, &mask, rank - 1, keys)?;
            let filter = [("filter", float_text(c.float("mask_filter_value", -10000.0)))];
            let kind = (element, mask.shape.clone());
            let added = c.call("onnx.key_bias", &filter, &[(&mask).into()], kind);
            Ok(unsqueezed(c, &added, if rank == 2 { &[1, 2] } else { &[1] }))
        }
        _ => Err("a mask of rank 4 is not supported".into()),
    }
}

/// A bias of the scores that masks keys beyond the ends, and optionally keys before the beginnings.
fn length_bias(
    c: &mut Call,
    positions: &Value,
    element: ElementType,
    (batch, keys): (&Extent, &Extent),
    may_begin: bool,
) -> Ruled<Value> {
    let twice = batch.times(&Extent::from(2)).ok_or_else(overflow)?;
    let (ends, begins) = if may_begin && positions.extent(0) == twice {
        let split = parts(c, positions, 0, &[batch.clone(), batch.clone()]);
        let [ends, begins] = split.as_slice() else {
            return Err("internal compiler error: the mask does not have two parts".into());
        };
        (ends.clone(), Some(begins.clone()))
    } else {
        equal("the batch and the number of lengths in the mask", batch, &positions.extent(0))?;
        (agreed(c, positions, 0, batch)?, None)
    };
    let filter = float_text(c.float("mask_filter_value", -10000.0));
    let attributes = [("count", marked(keys)), ("filter", filter)];
    let kind = (element, vec![batch.clone(), keys.clone()]);
    let bias = c.call("onnx.length_bias", &attributes, &[(&ends).into(), begins.as_ref().into()], kind);
    Ok(unsqueezed(c, &bias, &[1, 2]))
}

/// The sum of an optional mask of keys and an optional bias of scores, for these queries and keys.
fn mask(c: &mut Call, masks: Masks, q: &Value, k: &Value) -> Ruled<Option<Value>> {
    let (batch, steps, keys) = (q.extent(0), q.extent(2), k.extent(2));
    let mut sum = None;
    if let Some(mask) = masks.keys {
        if !mask.is_int() {
            return Err("the mask is not a tensor of ints".into());
        }
        // Attention ignores a mask with one element for each batch item.
        let is_ignored = masks.has_short_forms && mask.rank() == 2 && mask.extent(1).is(1);
        if !is_ignored {
            let shape = [&batch, &steps, &keys];
            sum = Some(key_bias(c, &mask, q.element, shape, masks.has_short_forms)?);
        } else if !mask.extent(0).is(1) {
            equal("the batch and the first extent of the mask", &batch, &mask.extent(0))?;
        }
    }
    if let Some(scores) = masks.scores {
        if scores.rank() != 4 {
            return Err("the bias of the scores does not have rank 4".into());
        }
        equal("the number of queries and the third extent of the bias", &steps, &scores.extent(2))?;
        equal(
            "the number of keys, including those of the past, and the last extent of the bias",
            &keys,
            &scores.extent(3),
        )?;
        let scores = agreed(c, &scores, 2, &steps)?;
        let scores = agreed(c, &scores, 3, &keys)?;
        sum = Some(match sum {
            Some(bias) => c.binary("math.add", &bias, &scores)?,
            None => scores,
        });
    }
    Ok(sum)
}

/// The scale of scores; 0 in the model means the default.
fn scale(c: &Call) -> Option<f64> {
    let scale = c.float("scale", 0.0);
    (scale != 0.0).then(|| scale.into())
}

fn visible(c: &Call, offset: Extent) -> VisibleKeys {
    if c.flag("unidirectional", false) {
        VisibleKeys::Near { offset, left: -1, right: 0 }
    } else {
        VisibleKeys::All
    }
}

fn attention(c: &mut Call) -> Ruled<()> {
    let (x, w) = (c.real(0)?, c.real(1)?);
    without(c, &[(6, "the length of the past state")])?;
    if x.rank() != 3 || w.rank() != 2 {
        return Err("the input must have rank 3, and the weights rank 2".into());
    }
    let shape = vec![x.extent(0), x.extent(1), w.extent(1)];
    let mut all = c.call("linalg.matmul", &[], &[(&x).into(), (&w).into()], (x.element, shape));
    if let Some(bias) = c.optional(2) {
        all = c.binary("math.add", &all, &bias)?;
    }
    let (keys, past, scores) = (c.optional(3), c.optional(4), c.optional(5));
    self_attention(c, &all, keys, past, scores)
}

/// The numbers of features of queries, keys and values in a packed projection.
fn projected_sizes(c: &Call, all: &Extent) -> Ruled<Vec<Extent>> {
    match c.ints("qkv_hidden_sizes").as_deref() {
        None | Some([]) => Ok(vec![quotient("the number of features of the projection", all, 3)?; 3]),
        Some(given @ [q, k, v]) => {
            if given.iter().any(|size| *size < 1) {
                return Err(Reason(format!(
                    "`qkv_hidden_sizes` is {}, but sizes must be positive",
                    list(given)
                )));
            }
            if q != k {
                return Err(Reason(format!(
                    "`qkv_hidden_sizes` is {}, but queries and keys must have the same size",
                    list(given)
                )));
            }
            let sum = q.checked_add(*k).and_then(|sum| sum.checked_add(*v)).ok_or_else(overflow)?;
            equal("the features of the projection and the sum of `qkv_hidden_sizes`", all, &sum.into())?;
            Ok(given.iter().map(|size| Extent::from(*size)).collect())
        }
        Some(_) => Err("`qkv_hidden_sizes` does not have three sizes".into()),
    }
}

/// Sets the results of an attention whose queries, keys and values are packed in `all`.
pub(super) fn self_attention(
    c: &mut Call,
    all: &Value,
    keys: Option<Value>,
    past: Option<Value>,
    scores: Option<Value>,
) -> Ruled<()> {
    for name in ["do_rotary", "past_present_share_buffer"] {
        if c.flag(name, false) {
            return Err(Reason(format!("`{name}` is not supported")));
        }
    }
    let sizes = projected_sizes(c, &all.extent(2))?;
    let projections = parts(c, all, 2, &sizes);
    let count = c.int("num_heads", 0);
    let split = projections.iter().map(|part| heads(c, part, count)).collect::<Ruled<Vec<_>>>()?;
    let [q, k, v] = split.as_slice() else {
        return Err("internal compiler error: the projection does not have three parts".into());
    };
    let (k, v, offset) = after_past(c, k, v, past)?;
    let options = AttentionOptions {
        scale: scale(c),
        cap: 0.0,
        mask: mask(c, Masks { keys, scores, has_short_forms: true }, q, &k)?,
        visible: visible(c, offset),
    };
    let all = attended(c, q, &k, &v, options)?;
    let y = flattened(c, &all.result)?;
    c.set(0, y);
    Ok(())
}

/// Appends keys and values to a past state, which stacks both, and sets the present state. Returns also the number of past steps.
fn after_past(c: &mut Call, k: &Value, v: &Value, past: Option<Value>) -> Ruled<(Value, Value, Extent)> {
    let (mut k, mut v, mut offset) = (k.clone(), v.clone(), Extent::from(0));
    if let Some(past) = past {
        if past.rank() != 5 || !past.extent(0).is(2) {
            return Err("the past state does not stack keys and values that are split into heads".into());
        }
        offset = past.extent(3);
        let halves = parts(c, &past, 0, &[Extent::from(1), Extent::from(1)]);
        for (now, half) in [&mut k, &mut v].into_iter().zip(&halves) {
            let half = reshaped(c, half, half.shape.iter().skip(1).cloned().collect());
            *now = joined(c, vec![half, now.clone()], 2)?;
        }
    }
    if c.wants(1) {
        if k.extent(3) != v.extent(3) {
            return Err("a present state of keys and values with different sizes is not supported".into());
        }
        let present = stacked(c, vec![k.clone(), v.clone()], 0)?;
        c.set(1, present);
    }
    Ok((k, v, offset))
}

fn multi_head(c: &mut Call) -> Ruled<()> {
    let (mut q, mut k, mut v) = (c.real(0)?, c.real(1)?, c.real(2)?);
    without(c, &[(8, "the length of the past state"), (9, "cache indirection")])?;
    if q.rank() != 3 || k.rank() != v.rank() {
        return Err("packed operands are not supported".into());
    }
    let count = c.int("num_heads", 0);
    if let Some(bias) = c.optional(3) {
        let sizes = [
            q.extent(2),
            q.extent(2),
            bias.extent(0).minus(&q.extent(2)).and_then(|e| e.minus(&q.extent(2))).ok_or_else(overflow)?,
        ];
        let thirds = parts(c, &bias, 0, &sizes);
        for (operand, part) in [&mut q, &mut k, &mut v].into_iter().zip(&thirds) {
            if operand.rank() != 3 {
                return Err("a bias is not supported for keys that are split into heads".into());
            }
            *operand = c.binary("math.add", operand, part)?;
        }
    }
    let q = heads(c, &q, count)?;
    let mut k = heads(c, &k, count)?;
    let mut v = heads(c, &v, count)?;
    let mut past = Extent::from(0);
    if let (Some(past_k), Some(past_v)) = (c.optional(6), c.optional(7)) {
        past = past_k.extent(2);
        k = joined(c, vec![past_k, k], 2)?;
        v = joined(c, vec![past_v, v], 2)?;
    }
    c.set(1, k.clone());
    c.set(2, v.clone());
    if c.wants(3) {
        return Err("the output of the scores is not supported".into());
    }
    let (keys, scores) = (c.optional(4), c.optional(5));
    let options = AttentionOptions {
        scale: scale(c),
        cap: 0.0,
        mask: mask(c, Masks { keys, scores, has_short_forms: false }, &q, &k)?,
        visible: visible(c, past),
    };
    let all = attended(c, &q, &k, &v, options)?;
    let y = flattened(c, &all.result)?;
    c.set(0, y);
    Ok(())
}

/// Queries, keys and values split into heads; they may be packed into one operand.
fn packed_heads(c: &mut Call) -> Ruled<[Value; 3]> {
    let x = c.real(0)?;
    let (count, kv_count) = (c.int("num_heads", 0), c.int("kv_num_heads", 0));
    if count < 1 || kv_count < 1 {
        return Err("the numbers of heads must be at least 1".into());
    }
    if let (Some(k), Some(v)) = (c.optional(1), c.optional(2)) {
        return Ok([heads(c, &x, count)?, heads(c, &k, kv_count)?, heads(c, &v, kv_count)?]);
    }
    let all = count.saturating_add(kv_count.saturating_mul(2));
    let size = quotient("the number of packed features", &x.extent(2), all)?;
    let wide = |n: i64| size.times(&Extent::from(n)).ok_or_else(overflow);
    let sizes = [wide(count)?, wide(kv_count)?, wide(kv_count)?];
    let split = parts(c, &x, 2, &sizes);
    let [q, k, v] = split.as_slice() else {
        return Err("internal compiler error: the packed operand does not have three parts".into());
    };
    Ok([heads(c, q, count)?, heads(c, k, kv_count)?, heads(c, v, kv_count)?])
}

fn group_query(c: &mut Call) -> Ruled<()> {
    let [mut q, mut k, v] = packed_heads(c)?;
    without(
        c,
        &[
            (11, "an attention sink"),
            (12, "the scale of the key cache"),
            (13, "the scale of the value cache"),
        ],
    )?;
    for name in ["smooth_softmax", "qk_output"] {
        if c.int(name, 0) > 0 {
            return Err(Reason(format!("`{name}` is not supported")));
        }
    }
    let total = c.extents(6, "the total length of the sequence")?;
    let total = total.first().cloned().ok_or("the total length of the sequence is missing")?;
    let steps = q.extent(2);
    let last = c.input(5)?;
    let last = reshaped(c, &last, vec![q.extent(0)]);
    let one = c.known(ElementType::I64, Vec::new(), vec![crate::value::Item::Int(Extent::from(1))]);
    let last = c.retyped(&last, ElementType::I64);
    // The first call (prefill) processes all steps; steps beyond the length of a batch item are padding.
    let first = steps == total;
    let lengths = if first {
        let all =
            c.known(ElementType::I64, vec![Extent::from(1)], vec![crate::value::Item::Int(total.clone())]);
        expanded(c, &all, vec![q.extent(0)])
    } else {
        c.binary("math.add", &last, &one)?
    };
    if c.flag("do_rotary", false) {
        let (cos, sin) = (c.real(7)?, c.real(8)?);
        let positions = match c.optional(9) {
            Some(given) => given,
            None => c.call(
                "onnx.last_positions",
                &[("count", marked(&steps))],
                &[(&lengths).into()],
                (ElementType::I64, vec![q.extent(0), steps.clone()]),
            ),
        };
        let (cos, sin) = (at_positions(c, &cos, &positions), at_positions(c, &sin, &positions));
        let how = (c.flag("rotary_interleaved", false), RotatedFeatures::OfCaches);
        q = rotated(c, &q, (&cos, &sin), how)?;
        k = rotated(c, &k, (&cos, &sin), how)?;
    }
    let (mut keys, mut values) = (k, v);
    if let (Some(past_k), Some(past_v)) = (c.optional(3), c.optional(4)) {
        let count = past_k.extent(2).larger(&total, &c.importer.bounds).ok_or_else(overflow)?;
        for (now, past) in [(&mut keys, past_k), (&mut values, past_v)] {
            let shape = vec![now.extent(0), now.extent(1), count.clone(), now.extent(3)];
            *now = if past.extent(2).is(0) {
                now.clone()
            } else {
                c.call(
                    "onnx.cached",
                    &[("count", marked(&count))],
                    &[(&past).into(), (&*now).into(), (&lengths).into()],
                    (now.element, shape),
                )
            };
        }
    }
    c.set(1, keys.clone());
    c.set(2, values.clone());
    if c.wants(3) {
        return Err("the output of the scores is not supported".into());
    }
    let window = c.int("local_window_size", -1);
    let options = AttentionOptions {
        scale: scale(c),
        cap: c.float("softcap", 0.0),
        mask: c.optional(10),
        visible: VisibleKeys::Length { lengths, left: if window > 0 { window - 1 } else { -1 }, right: 0 },
    };
    let all = attended(c, &q, &keys, &values, options)?;
    let y = flattened(c, &all.result)?;
    c.set(0, y);
    Ok(())
}

fn rotary(c: &mut Call) -> Ruled<()> {
    let (x, positions, cos, sin) = (c.real(0)?, c.input(1)?, c.real(2)?, c.real(3)?);
    if c.flag("is_packed_batching", false) || c.float("scale", 1.0) != 1.0 {
        return Err("`is_packed_batching` and `scale` are not supported".into());
    }
    let mut count = c.int("num_heads", 0);
    if x.rank() == 3 && count == 0 {
        let size = cos.extent(1).times(&Extent::from(2)).ok_or_else(overflow)?;
        let heads = x.extent(2).over(&size).and_then(|n| n.value());
        count = heads.ok_or("the number of heads is missing")?;
    }
    let split = heads(c, &x, count)?;
    let (batch, steps) = (split.extent(0), split.extent(2));
    let positions = match positions.rank() {
        2 => positions,
        _ => {
            let range = super::shape::indices(c, &steps);
            let offset = reshaped(c, &positions, Vec::new());
            let row = c.binary("math.add", &range, &offset)?;
            let row = unsqueezed(c, &row, &[0]);
            expanded(c, &row, vec![batch, steps])
        }
    };
    let (cos, sin) = (at_positions(c, &cos, &positions), at_positions(c, &sin, &positions));
    let features = RotatedFeatures::First(c.int("rotary_embedding_dim", 0));
    let how = (c.flag("interleaved", false), features);
    let rotated = rotated(c, &split, (&cos, &sin), how)?;
    let y = if x.rank() == 3 { flattened(c, &rotated)? } else { rotated };
    c.set(0, y);
    Ok(())
}
