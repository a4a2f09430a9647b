// SPDX-License-Identifier: Apache-2.0
//! Attention, and positions by rotation.

use super::movement::{joined, reshaped, transposed};
use super::{Operator, operator};
use crate::call::{Call, broadcast, product, real_text};
use crate::extent::Extent;
use crate::refusal::{Ruled, overflow};
use crate::value::Value;

pub const OPERATORS: &[Operator] = &[
    operator(
        "Attention",
        "`linalg.matmul`, `onnx.causal`, `onnx.softmax_of_some`",
        attention,
    ),
    operator("RotaryEmbedding", "`onnx.rotate`", rotary),
];

/// A tensor of three dimensions with its heads as a dimension of its own: batch, heads, time, features.
fn heads(c: &mut Call, x: &Value, count: i64) -> Ruled<Value> {
    if x.rank() != 3 {
        return Ok(x.clone());
    }
    if count < 1 {
        return Err("the number of heads is missing".into());
    }
    let size = x
        .extent(2)
        .over(&Extent::from(count))
        .ok_or_else(overflow)?;
    let split = reshaped(
        c,
        x,
        vec![x.extent(0), x.extent(1), Extent::from(count), size],
    );
    Ok(transposed(c, &split, &[0, 2, 1, 3]))
}

fn attention(c: &mut Call) -> Ruled<()> {
    let (q, k, v) = (c.real(0)?, c.real(1)?, c.real(2)?);
    if c.optional(6).is_some() {
        return Err("nonpad_kv_seqlen is not supported".into());
    }
    if c.int("left_window_size", -1) >= 0 || c.int("right_window_size", -1) >= 0 {
        return Err("a window is not supported".into());
    }
    if c.has("softmax_precision") && c.int("softmax_precision", 1) != 1 {
        return Err("another precision of softmax than float is not supported".into());
    }
    let flat = q.rank() == 3;
    let q = heads(c, &q, c.int("q_num_heads", 0))?;
    let mut k = heads(c, &k, c.int("kv_num_heads", 0))?;
    let mut v = heads(c, &v, c.int("kv_num_heads", 0))?;
    if [&q, &k, &v].iter().any(|t| t.rank() != 4) {
        return Err("the operands have neither three nor four dimensions".into());
    }
    let mut past = Extent::from(0);
    if let (Some(past_k), Some(past_v)) = (c.optional(4), c.optional(5)) {
        past = past_k.extent(2);
        k = joined(c, vec![past_k, k], 2)?;
        v = joined(c, vec![past_v, v], 2)?;
    }
    c.set(1, k.clone());
    c.set(2, v.clone());
    let groups = q.extent(1).over(&k.extent(1)).ok_or_else(overflow)?;
    if !groups.is(1) {
        let times = groups
            .value()
            .filter(|t| *t > 0)
            .ok_or("the heads of the keys do not divide those of the queries")?;
        for x in [&mut k, &mut v] {
            let shape = vec![x.extent(0), q.extent(1), x.extent(2), x.extent(3)];
            *x = c.call(
                "onnx.repeat_heads",
                &[("times", times.to_string())],
                &[(&*x).into()],
                (x.element, shape),
            );
        }
    }
    let size = q
        .extent(3)
        .value()
        .ok_or("the size of a head must be static")?;
    #[expect(clippy::cast_precision_loss, reason = "sizes are small")]
    let usual = 1.0 / (size as f64).sqrt();
    let scale = if c.has("scale") {
        f64::from(c.float("scale", 1.0))
    } else {
        usual
    };
    let shape = vec![q.extent(0), q.extent(1), q.extent(2), k.extent(2)];
    let raw = c.call(
        "linalg.matmul",
        &[("transB", "true".to_owned())],
        &[(&q).into(), (&k).into()],
        (q.element, shape),
    );
    let scaled = c.with_number("math.mul", &raw, scale);
    let cap = c.float("softcap", 0.0);
    let capped = match cap > 0.0 {
        true => c.map(
            "onnx.softcap",
            &[("cap", real_text(q.element, cap.into()))],
            &scaled,
        ),
        false => scaled.clone(),
    };
    let mut biased = capped.clone();
    if let Some(mask) = c.optional(3) {
        if mask.shape.last() != Some(&k.extent(2)) && !mask.shape.last().is_some_and(|e| e.is(1)) {
            return Err("a mask that is shorter than the keys is not supported".into());
        }
        let mask = match mask.is_bool() {
            true => c.call(
                "onnx.mask_bias",
                &[],
                &[(&mask).into()],
                (q.element, mask.shape.clone()),
            ),
            false => mask,
        };
        if broadcast(&biased.shape, &mask.shape)? != biased.shape {
            return Err("the mask does not fit".into());
        }
        biased = c.binary("math.add", &biased, &mask)?;
    }
    if c.flag("is_causal", false) {
        let offset = crate::statement::marked(&past);
        biased = c.map("onnx.causal", &[("offset", offset)], &biased);
    }
    let weights = c.map("onnx.softmax_of_some", &[], &biased);
    if c.wants(3) {
        let shown = match c.int("qk_matmul_output_mode", 0) {
            0 if cap <= 0.0 => scaled,
            1 => capped,
            2 => biased,
            3 => weights.clone(),
            _ => return Err("this qk_matmul_output_mode is not supported".into()),
        };
        c.set(3, shown);
    }
    let shape = vec![q.extent(0), q.extent(1), q.extent(2), v.extent(3)];
    let mut y = c.call(
        "linalg.matmul",
        &[],
        &[(&weights).into(), (&v).into()],
        (q.element, shape),
    );
    if flat {
        y = transposed(c, &y, &[0, 2, 1, 3]);
        let width = product(&[y.extent(2), y.extent(3)])?;
        y = reshaped(c, &y, vec![y.extent(0), y.extent(1), width]);
    }
    c.set(0, y);
    Ok(())
}

fn rotary(c: &mut Call) -> Ruled<()> {
    let (x, mut cos, mut sin) = (c.real(0)?, c.real(1)?, c.real(2)?);
    if let Some(positions) = c.optional(3) {
        for cache in [&mut cos, &mut sin] {
            let mut shape = positions.shape.clone();
            shape.push(cache.extent(1));
            *cache = c.call(
                "onnx.gather",
                &[("axis", "0".to_owned())],
                &[(&*cache).into(), (&positions).into()],
                (cache.element, shape),
            );
        }
    }
    if cos.rank() != 3 {
        return Err("the caches do not fit the positions".into());
    }
    let split = heads(c, &x, c.int("num_heads", 0))?;
    if split.rank() != 4 {
        return Err("the input has neither three nor four dimensions".into());
    }
    let rotated = c.int("rotary_embedding_dim", 0);
    let whole = split.extent(3);
    let twice = cos.extent(2).times(&Extent::from(2)).ok_or_else(overflow)?;
    if (rotated == 0 && twice != whole) || (rotated != 0 && !twice.is(rotated)) {
        return Err("the caches do not fit the size of the rotated part".into());
    }
    let attributes = [("interleaved", c.flag("interleaved", false).to_string())];
    let arguments = [(&split).into(), (&cos).into(), (&sin).into()];
    let mut y = c.call(
        "onnx.rotate",
        &attributes,
        &arguments,
        (x.element, split.shape.clone()),
    );
    if x.rank() == 3 {
        y = transposed(c, &y, &[0, 2, 1, 3]);
        y = reshaped(c, &y, x.shape.clone());
    }
    c.set(0, y);
    Ok(())
}
