// SPDX-License-Identifier: Apache-2.0
//! The normalized sums of embeddings, which are operators of onnxruntime.

use skript_tensor::ElementType;

use super::attention::at_positions;
use super::elementwise::converted;
use super::movement::zeros;
use super::normalization::normalized_rows;
use super::quantized::real_of_ints;
use super::reduction::over;
use super::shape::indices;
use super::{Operator, microsoft};
use crate::call::{Call, equal};
use crate::extent::Extent;
use crate::refusal::{Reason, Ruled};
use crate::statement::Argument;
use crate::value::Value;

pub const OPERATORS: &[Operator] = &[
    microsoft("EmbedLayerNormalization", "`onnx.gather`, `math.add`, `onnx.layer_norm`", |c| {
        embed_layer_norm(c, false)
    }),
    microsoft(
        "QEmbedLayerNormalization",
        "`onnx.gather`, `onnx.dequantize`, `math.add`, `onnx.layer_norm`",
        |c| embed_layer_norm(c, true),
    ),
];

/// Normalizes the sum of the embeddings of words, positions and segments.
fn embed_layer_norm(c: &mut Call, is_quantized: bool) -> Ruled<()> {
    let ids = c.input(0)?;
    if ids.rank() != 2 {
        return Err("the word ids must have rank 2".into());
    }
    let words = rows(c, 2, &ids, is_quantized)?;
    check_parameters(c)?;
    let position_ids = position_ids(c, &ids, is_quantized)?;
    let positions = rows(c, 3, &position_ids, is_quantized)?;
    let mut sum = c.binary("math.add", &words, &positions)?;
    let segment_ids = c.optional(1);
    if segment_ids.is_some() || c.optional(4).is_some() {
        if let Some(segment_ids) = &segment_ids {
            check_same_shape("the segment ids and the word ids", segment_ids, &ids)?;
        }
        // Without segment ids, all words are in the first segment.
        let segment_ids = segment_ids.unwrap_or_else(|| indices(c, &Extent::from(1)));
        let segments = rows(c, 4, &segment_ids, is_quantized)?;
        sum = c.binary("math.add", &sum, &segments)?;
    }
    let scale = parameter(c, 5, None, is_quantized)?;
    let bias = parameter(c, 6, None, is_quantized)?;
    let y = normalized_rows(c, &sum, &scale, Some(&bias))?;
    c.set(0, y);
    let counts = key_counts(c, &ids)?;
    c.set(1, counts);
    c.set(2, sum);
    Ok(())
}

/// Checks that the tables, the scale and the bias have as many columns as the table of words.
fn check_parameters(c: &Call) -> Ruled<()> {
    let columns = c.input(2)?.extent(1);
    for (what, at) in [("positions", 3), ("segments", 4)] {
        if let Some(table) = c.optional(at).filter(|table| table.rank() == 2) {
            equal(&format!("the columns of the embeddings of words and {what}"), &columns, &table.extent(1))?;
        }
    }
    for (what, at) in [("scale", 5), ("bias", 6)] {
        let parameter = c.input(at)?;
        if parameter.rank() != 1 {
            return Err(Reason(format!("the {what} must have rank 1")));
        }
        equal(
            &format!("the columns of the embeddings and the extent of the {what}"),
            &columns,
            &parameter.extent(0),
        )?;
    }
    Ok(())
}

/// The positions of words: an input with a row for all items of the batch or for each one, or the numbers of the words.
fn position_ids(c: &mut Call, ids: &Value, is_quantized: bool) -> Ruled<Value> {
    let Some(position_ids) = c.optional(8).filter(|_| !is_quantized) else {
        if let (Some(steps), Some(rows)) = (ids.extent(1).value(), c.input(3)?.extent(0).value())
            && steps > rows
        {
            return Err(Reason(format!("there are {steps} words, but embeddings of {rows} positions")));
        }
        return Ok(indices(c, &ids.extent(1)));
    };
    if position_ids.rank() != 2 || position_ids.extent(0).value() != Some(1) {
        check_same_shape("the position ids and the word ids", &position_ids, ids)?;
    } else {
        equal("the number of position ids and of words", &position_ids.extent(1), &ids.extent(1))?;
    }
    Ok(position_ids)
}

/// Checks the ranks, and the extents that are known at import.
fn check_same_shape(what: &str, a: &Value, b: &Value) -> Ruled<()> {
    if a.rank() != b.rank() {
        return Err(Reason(format!(
            "the ranks of {what} must be equal, but are {} and {}",
            a.rank(),
            b.rank()
        )));
    }
    (0..a.rank()).try_for_each(|d| equal(&format!("dimension {d} of {what}"), &a.extent(d), &b.extent(d)))
}

/// The rows of the table in input `at` at these indices.
fn rows(c: &mut Call, at: usize, ids: &Value, is_quantized: bool) -> Ruled<Value> {
    if c.input(at)?.rank() != 2 {
        return Err("the embeddings must have rank 2".into());
    }
    parameter(c, at, Some(ids), is_quantized)
}

/// Input `at`, or its rows at these indices. The scales of quantized parameters are 6 inputs later, and the zero points 11.
fn parameter(c: &mut Call, at: usize, ids: Option<&Value>, is_quantized: bool) -> Ruled<Value> {
    let table = c.input(at)?;
    let x = ids.map_or(table.clone(), |ids| at_positions(c, &table, ids));
    if is_quantized { real_of_ints(c, &x, at + 6, at + 11) } else { Ok(x) }
}

/// The number of ones in each row of the mask; 0 without a mask.
fn key_counts(c: &mut Call, ids: &Value) -> Ruled<Value> {
    let Some(mask) = c.optional(7) else {
        return Ok(zeros(c, ElementType::I32, vec![ids.extent(0)]));
    };
    check_same_shape("the mask and the word ids", &mask, ids)?;
    let one = Argument::Number("1".to_owned());
    let is_one = c.call("math.eq", &[], &[(&mask).into(), one], (ElementType::Bool, mask.shape.clone()));
    let ones = converted(c, &is_one, ElementType::I32)?;
    Ok(over(c, &ones, &[1], false, "math.sum_reduce"))
}
