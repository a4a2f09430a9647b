// SPDX-License-Identifier: Apache-2.0
//! Attention and rotary position embedding.

use super::elementwise::converted;
use super::movement::{joined, reshaped, transposed};
use super::{Operator, operator};
use crate::call::{Call, broadcast, fixed, product, quotient, supported_type};
use crate::extent::Extent;
use crate::literals::{extent_list, real_text};
use crate::refusal::{Ruled, overflow};
use crate::statement::{Argument, marked};
use crate::value::{Value, is_real};

pub const OPERATORS: &[Operator] = &[
    operator("Attention", "`linalg.matmul`, `onnx.near`, `onnx.softmax_of_some`", attention),
    operator("RotaryEmbedding", "`onnx.rotate`", rotary),
    operator("LinearAttention", "`onnx.linear_attention`", linear),
];

/// Linear attention: a recurrence over the second dimension with one state for each head of the keys.
fn linear(c: &mut Call) -> Ruled<()> {
    let (q, k, v) = (c.real(0)?, c.real(1)?, c.real(2)?);
    let (past, decay, rate) = (c.optional(3), c.optional(4), c.optional(5));
    let (query_heads, key_heads) = (c.int("q_num_heads", 0), c.int("kv_num_heads", 0));
    if query_heads < 1 || key_heads < 1 || query_heads % key_heads != 0 {
        return Err(
            "the number of query heads must be a multiple of the number of key and value heads".into()
        );
    }
    let (decays, corrects) = match c.string("update_rule", "gated_delta").as_str() {
        "linear" => (false, false),
        "gated" => (true, false),
        "delta" => (false, true),
        "gated_delta" => (true, true),
        other => {
            return Err(crate::refusal::Reason(format!("the update rule {other:?} is unknown")));
        }
    };
    if decays != decay.is_some() || corrects != rate.is_some() {
        return Err("the update rule and the operands contradict each other".into());
    }
    if [&q, &k, &v].iter().any(|x| x.rank() != 3) {
        return Err("the operands must have rank 3".into());
    }
    // The order of dimensions is steps, batch, heads, features.
    let (batch, steps) = (q.extent(0), q.extent(1));
    let by_steps = |c: &mut Call, x: &Value, heads: i64| -> Ruled<Value> {
        let size = quotient("the number of features of all heads", &x.extent(2), heads)?;
        let shape = vec![x.extent(0), x.extent(1), Extent::from(heads), size];
        let split = reshaped(c, x, shape);
        Ok(transposed(c, &split, &[1, 0, 2, 3]))
    };
    let query = by_steps(c, &q, query_heads)?;
    let key = by_steps(c, &k, key_heads)?;
    let value = by_steps(c, &v, key_heads)?;
    let filled = |c: &mut Call, text: &str, shape: Vec<Extent>| {
        let attributes = [("shape", extent_list(&shape)), ("value", text.to_owned())];
        c.call("onnx.fill", &attributes, &[], (q.element, shape))
    };
    let one = Extent::from(1);
    let heads = Extent::from(key_heads);
    let decay = match decay {
        Some(decay) => by_steps(c, &decay, key_heads)?,
        None => filled(c, "0.0", vec![steps.clone(), batch.clone(), heads.clone(), one.clone()]),
    };
    let rate = match rate {
        Some(rate) => transposed(c, &rate, &[1, 0, 2]),
        None => filled(c, "1.0", vec![steps, batch.clone(), one]),
    };
    let kept = vec![batch, heads, key.extent(3), value.extent(3)];
    let state = match past {
        Some(past) => past,
        None => filled(c, "0.0", kept.clone()),
    };
    let scale = match c.float("scale", 0.0) {
        0.0 => {
            let size = fixed("the size of a head", &key.extent(3))?;
            #[expect(clippy::cast_precision_loss, reason = "a size of a head")]
            let size = size as f64;
            1.0 / size.sqrt()
        }
        scale => f64::from(scale),
    };
    let attributes =
        [("scale", real_text(skript_tensor::ElementType::F64, scale)), ("corrects", corrects.to_string())];
    let arguments = [&query, &key, &value, &decay, &rate, &state].map(Argument::from);
    let mut shape = query.shape.clone();
    if let Some(extent) = shape.last_mut() {
        *extent = value.extent(3);
    }
    let types = vec![(q.element, shape), (state.element, kept)];
    let results = c.calls("onnx.linear_attention", &attributes, &arguments, types);
    let [y, last] = results.as_slice() else {
        return Err("internal compiler error: the update does not have two results".into());
    };
    let y = transposed(c, y, &[1, 0, 2, 3]);
    let packed = product(&[y.extent(2), y.extent(3)])?;
    let y = reshaped(c, &y, vec![y.extent(0), y.extent(1), packed]);
    c.set(0, y);
    c.set(1, last.clone());
    Ok(())
}

/// Splits the heads of a rank-3 tensor into a dimension: batch, heads, time, features.
pub(super) fn heads(c: &mut Call, x: &Value, count: i64) -> Ruled<Value> {
    if x.rank() != 3 {
        return Ok(x.clone());
    }
    if count < 1 {
        return Err("the number of heads must be at least 1".into());
    }
    let size = quotient("the number of features of all heads", &x.extent(2), count)?;
    let split = reshaped(c, x, vec![x.extent(0), x.extent(1), Extent::from(count), size]);
    Ok(transposed(c, &split, &[0, 2, 1, 3]))
}

/// The keys that a query attends to.
pub(super) enum VisibleKeys {
    All,
    /// Keys at most `left` before and at most `right` after the query (−1: unlimited); the first query is at key `offset`.
    Near {
        offset: Extent,
        left: i64,
        right: i64,
    },
    /// As `Near`, with a number of keys for each item of the batch; the last query is at the last key of the item.
    Length {
        lengths: Value,
        left: i64,
        right: i64,
    },
}

/// The parameters of an attention.
pub(super) struct AttentionOptions {
    /// `None` for 1 / √(head size).
    pub scale: Option<f64>,
    /// The soft cap of scores; 0 for none.
    pub cap: f32,
    /// A boolean mask, or a bias that is added to the scores.
    pub mask: Option<Value>,
    pub visible: VisibleKeys,
}

/// The results of an attention.
pub(super) struct Attended {
    pub scaled: Value,
    pub capped: Value,
    pub biased: Value,
    pub weights: Value,
    pub result: Value,
}

/// Converts a mask to a bias of the scores, padded to the number of keys.
fn bias(c: &mut Call, mask: Value, q: &Value, keys: &Extent) -> Ruled<Value> {
    let mask = if mask.is_bool() {
        c.call("onnx.mask_bias", &[], &[(&mask).into()], (q.element, mask.shape.clone()))
    } else {
        // Int masks are biases, too.
        converted(c, &mask, q.element)?
    };
    let last = mask.rank().checked_sub(1).ok_or("the mask is a scalar")?;
    let length = mask.extent(last);
    // Before opset 24, masks broadcast but are not padded.
    let broadcasts = length.is(1) && c.opset < 24;
    if length == *keys || broadcasts {
        return Ok(mask);
    }
    let more = keys.minus(&length).ok_or_else(overflow)?;
    if !more.is_natural(&c.importer.bounds) {
        return Err("a mask that may be longer than the keys is not supported".into());
    }
    let attributes = [("axes", format!("[{last}]")), ("padding", extent_list(&[Extent::from(0), more]))];
    let mut shape = mask.shape.clone();
    if let Some(extent) = shape.last_mut() {
        extent.clone_from(keys);
    }
    let lowest = Argument::Number("-inf".to_owned());
    Ok(c.call("layout.pad", &attributes, &[(&mask).into(), lowest], (q.element, shape)))
}

/// Repeats keys or values for the heads of the queries.
fn for_heads(c: &mut Call, x: &Value, heads: &Extent) -> Ruled<Value> {
    let groups = heads.over(&x.extent(1)).ok_or_else(overflow)?;
    if groups.is(1) {
        return Ok(x.clone());
    }
    let times = groups.value().filter(|t| *t > 0);
    if times.is_none() {
        fixed("the number of heads", heads)?;
        fixed("the number of key heads", &x.extent(1))?;
    }
    let times = times.ok_or("the number of query heads is not a multiple of the number of key heads")?;
    let shape = vec![x.extent(0), heads.clone(), x.extent(2), x.extent(3)];
    Ok(c.call("onnx.repeat_heads", &[("times", times.to_string())], &[x.into()], (x.element, shape)))
}

/// Adds the attention of queries, keys and values that are split into heads.
pub(super) fn attended(
    c: &mut Call,
    q: &Value,
    k: &Value,
    v: &Value,
    options: AttentionOptions,
) -> Ruled<Attended> {
    if [q, k, v].iter().any(|t| t.rank() != 4) {
        return Err("the operands must have rank 3 or 4".into());
    }
    let (k, v) = (for_heads(c, k, &q.extent(1))?, for_heads(c, v, &q.extent(1))?);
    let size = fixed("the size of a head", &q.extent(3))?;
    #[expect(clippy::cast_precision_loss, reason = "sizes are small")]
    let usual = 1.0 / (size as f64).sqrt();
    let shape = vec![q.extent(0), q.extent(1), q.extent(2), k.extent(2)];
    let raw = c.call(
        "linalg.matmul",
        &[("transB", "true".to_owned())],
        &[q.into(), (&k).into()],
        (q.element, shape),
    );
    let scaled = c.with_number("math.mul", &raw, options.scale.unwrap_or(usual));
    let capped = if options.cap > 0.0 {
        c.map("onnx.softcap", &[("cap", real_text(q.element, options.cap.into()))], &scaled)
    } else {
        scaled.clone()
    };
    let mut biased = capped.clone();
    if let Some(mask) = options.mask {
        let mask = bias(c, mask, q, &k.extent(2))?;
        if broadcast(&biased.shape, &mask.shape)? != biased.shape {
            return Err("the mask does not broadcast to the scores".into());
        }
        biased = c.binary("math.add", &biased, &mask)?;
    }
    biased = match options.visible {
        VisibleKeys::All => biased,
        VisibleKeys::Near { offset, left, right } => {
            let attributes =
                [("offset", marked(&offset)), ("left", left.to_string()), ("right", right.to_string())];
            c.map("onnx.near", &attributes, &biased)
        }
        VisibleKeys::Length { lengths, left, right } => {
            let attributes = [("left", left.to_string()), ("right", right.to_string())];
            let kind = (biased.element, biased.shape.clone());
            let arguments = [(&biased).into(), (&lengths).into()];
            c.call("onnx.near_of_length", &attributes, &arguments, kind)
        }
    };
    // The operator computes 16-bit floats in f32.
    let precision = match c.int("softmax_precision", 0) {
        0 => q.element,
        1 if q.element.size() < 4 => q.element,
        number => supported_type(number)
            .ok()
            .filter(|element| is_real(*element))
            .ok_or("`softmax_precision` is not a real type")?,
    };
    let precise = converted(c, &biased, precision)?;
    let weights = c.map("onnx.softmax_of_some", &[], &precise);
    let weights = converted(c, &weights, q.element)?;
    let shape = vec![q.extent(0), q.extent(1), q.extent(2), v.extent(3)];
    let result = c.call("linalg.matmul", &[], &[(&weights).into(), (&v).into()], (q.element, shape));
    Ok(Attended { scaled, capped, biased, weights, result })
}

/// Merges the heads into the last dimension.
pub(super) fn flattened(c: &mut Call, x: &Value) -> Ruled<Value> {
    let x = transposed(c, x, &[0, 2, 1, 3]);
    let width = product(&[x.extent(2), x.extent(3)])?;
    Ok(reshaped(c, &x, vec![x.extent(0), x.extent(1), width]))
}

fn attention(c: &mut Call) -> Ruled<()> {
    let (q, k, v) = (c.real(0)?, c.real(1)?, c.real(2)?);
    let flat = q.rank() == 3;
    let q = heads(c, &q, c.int("q_num_heads", 0))?;
    let mut k = heads(c, &k, c.int("kv_num_heads", 0))?;
    let mut v = heads(c, &v, c.int("kv_num_heads", 0))?;
    let mut past = Extent::from(0);
    if let (Some(past_k), Some(past_v)) = (c.optional(4), c.optional(5)) {
        past = past_k.extent(2);
        k = joined(c, vec![past_k, k], 2)?;
        v = joined(c, vec![past_v, v], 2)?;
    }
    c.set(1, k.clone());
    c.set(2, v.clone());
    let left = c.int("left_window_size", -1);
    let mut right = c.int("right_window_size", -1);
    if c.flag("is_causal", false) {
        right = 0;
    }
    let visible = match c.optional(6) {
        Some(lengths) => VisibleKeys::Length { lengths, left, right },
        None if left < 0 && right < 0 => VisibleKeys::All,
        None => VisibleKeys::Near { offset: past, left, right },
    };
    let cap = c.float("softcap", 0.0);
    let options = AttentionOptions {
        scale: c.has("scale").then(|| c.float("scale", 1.0).into()),
        cap,
        mask: c.optional(3),
        visible,
    };
    let all = attended(c, &q, &k, &v, options)?;
    if c.wants(3) {
        let shown = match c.int("qk_matmul_output_mode", 0) {
            0 => all.scaled,
            1 => all.capped,
            2 => all.biased,
            3 => all.weights,
            _ => return Err("this qk_matmul_output_mode is not supported".into()),
        };
        c.set(3, shown);
    }
    let y = if flat { flattened(c, &all.result)? } else { all.result };
    c.set(0, y);
    Ok(())
}

fn rotary(c: &mut Call) -> Ruled<()> {
    let (x, cos, sin) = (c.real(0)?, c.real(1)?, c.real(2)?);
    let (cos, sin) = match c.optional(3) {
        Some(positions) => (at_positions(c, &cos, &positions), at_positions(c, &sin, &positions)),
        None => (cos, sin),
    };
    let split = heads(c, &x, c.int("num_heads", 0))?;
    let features = RotatedFeatures::First(c.int("rotary_embedding_dim", 0));
    let how = (c.flag("interleaved", false), features);
    let rotated = rotated(c, &split, (&cos, &sin), how)?;
    let y = if x.rank() == 3 { flattened(c, &rotated)? } else { rotated };
    c.set(0, y);
    Ok(())
}

/// Gathers the rows of a cache of angles at these positions.
pub(super) fn at_positions(c: &mut Call, cache: &Value, positions: &Value) -> Value {
    let mut shape = positions.shape.clone();
    shape.push(cache.extent(1));
    c.call(
        "onnx.gather",
        &[("axis", "0".to_owned())],
        &[cache.into(), positions.into()],
        (cache.element, shape),
    )
}

/// The rotated features of a head.
#[derive(Clone, Copy)]
pub(super) enum RotatedFeatures {
    /// This number of features at the beginning; 0 for all features.
    First(i64),
    /// The features for which the caches contain angles.
    OfCaches,
}

/// Rotates heads by the angles with these cosines and sines.
pub(super) fn rotated(
    c: &mut Call,
    x: &Value,
    (cos, sin): (&Value, &Value),
    (interleaved, features): (bool, RotatedFeatures),
) -> Ruled<Value> {
    if cos.rank() != 3 {
        return Err("the caches of angles do not match the positions".into());
    }
    if x.rank() != 4 {
        return Err("the input must have rank 3 or 4".into());
    }
    let twice = cos.extent(2).times(&Extent::from(2)).ok_or_else(overflow)?;
    let unrotated = x.extent(3).minus(&twice).ok_or_else(overflow)?;
    let fits = match features {
        RotatedFeatures::First(0) => unrotated.is(0),
        RotatedFeatures::First(n) => twice.is(n),
        RotatedFeatures::OfCaches => unrotated.is_natural(&c.importer.bounds),
    };
    if !fits {
        return Err("the caches of angles do not match the number of rotated features".into());
    }
    Ok(c.call(
        "onnx.rotate",
        &[("interleaved", interleaved.to_string())],
        &[x.into(), cos.into(), sin.into()],
        (x.element, x.shape.clone()),
    ))
}
