// SPDX-License-Identifier: Apache-2.0
//! Largest elements; positions of non-zero elements.

use crate::{Call, KernelError, at, axis};
use skript_semantics::Scalar;
use skript_tensor::Tensor;
use std::cmp::Ordering;

/// The `k` largest or smallest elements along an axis and their positions, in order of value; equal elements in order
/// of position. A NaN counts as larger than all numbers.
pub(super) fn largest(call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
    let shape = call.shape(0)?;
    let axis = axis(call.int("axis")?, shape.len())
        .ok_or_else(|| call.wrong("axis is out of range".to_string()))?;
    let down = call.bool("largest")?;
    let values = call.reals(0)?;
    let result_shape = call.output(0)?;
    let length = shape.get(axis).copied().unwrap_or(0);
    let kept = usize::try_from(call.int("k")?).unwrap_or(0).min(length);
    let inner: usize = shape.iter().skip(axis + 1).product();
    let outer: usize = shape.iter().take(axis).product();
    let mut tops = vec![0f64; outer * kept * inner];
    let mut positions = vec![0i64; outer * kept * inner];
    for o in 0..outer {
        for i in 0..inner {
            let value = |n: usize| at(&values, (o * length + n) * inner + i);
            let mut order: Vec<usize> = (0..length).collect();
            // A stable sort: equal values stay in order.
            order.sort_by(|&a, &b| {
                let ascending = ascending(value(a), value(b));
                if down { ascending.reverse() } else { ascending }
            });
            for (rank, &n) in order.iter().take(kept).enumerate() {
                let target = (o * kept + rank) * inner + i;
                if let (Some(v), Some(p)) = (tops.get_mut(target), positions.get_mut(target)) {
                    *v = value(n);
                    *p = i64::try_from(n).unwrap_or(0);
                }
            }
        }
    }
    Ok(vec![
        call.result(0, &result_shape, tops.into_iter().map(Scalar::Real))?,
        call.result(1, &result_shape, positions.into_iter().map(Scalar::Int))?,
    ])
}

fn ascending(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b)
        .unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// The subscripts of all elements that are not zero (or false), one in each column, in row-major order.
pub(super) fn positions(call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
    let tensor = call.input(0)?;
    let shape = call.shape(0)?;
    let hits: Vec<usize> = (0..tensor.volume())
        .filter(|&p| tensor.get(p).is_some_and(Scalar::to_bool))
        .collect();
    let mut columns = vec![0i64; shape.len() * hits.len()];
    for (column, &hit) in hits.iter().enumerate() {
        let mut rest = hit;
        for (dimension, &extent) in shape.iter().enumerate().rev() {
            if let Some(c) = columns.get_mut(dimension * hits.len() + column) {
                *c = i64::try_from(rest % extent.max(1)).unwrap_or(0);
            }
            rest /= extent.max(1);
        }
    }
    let extents = [shape.len() as u64, hits.len() as u64];
    let columns = columns.into_iter().map(Scalar::Int);
    Ok(vec![call.result(0, &extents, columns)?])
}
