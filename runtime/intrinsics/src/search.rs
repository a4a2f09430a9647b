// SPDX-License-Identifier: Apache-2.0
//! Selects the largest elements, and lists the positions of non-zero elements.

use crate::selection::{self, Ordered};
use crate::{Call, KernelError, axis, sharing};
use skript_semantics::{Scalar, ScalarKind};
use skript_tensor::Tensor;
use std::ops::Range;

/// The `k` largest or smallest elements along an axis, reals or ints, and their positions, in order of value; equal elements in order
/// of position. A NaN counts as larger than all numbers.
pub(super) fn largest(call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
    let shape = call.shape(0)?;
    let axis =
        axis(call.int("axis")?, shape.len()).ok_or_else(|| call.wrong("axis is out of range".to_string()))?;
    let down = call.bool("largest")?;
    let input = call.input(0)?;
    let result_shape = call.output(0)?;
    let (outer, [length, inner @ ..]) = shape.split_at(axis) else {
        unreachable!("the axis is less than the rank")
    };
    let kept = (call.int("k")?.max(0) as usize).min(*length);
    let (outer, inner) = (outer.iter().product(), inner.iter().product());
    let rows = Rows { outer, length: *length, inner, kept, down };
    let (tops, positions) = match (input.kind(), input.as_f32()) {
        (ScalarKind::Int, _) => {
            let values: Vec<i64> = input.scalars().map(Scalar::to_int).collect();
            rows.select(&values, Scalar::Int)
        }
        (_, Some(values)) => rows.select(values, |x| Scalar::Real(x.into())),
        (_, None) => rows.select(&call.reals(0)?, Scalar::Real),
    };
    Ok(vec![
        call.result(0, &result_shape, tops.into_iter())?,
        call.result(1, &result_shape, positions.into_iter().map(Scalar::Int))?,
    ])
}

/// Rows along an axis: element `n` of row (o, i) is at `(o · length + n) · inner + i`.
struct Rows {
    outer: usize,
    length: usize,
    inner: usize,
    kept: usize,
    down: bool,
}

impl Rows {
    /// The selected elements of each row and their positions.
    fn select<T: Ordered + Sync>(&self, values: &[T], scalar: fn(T) -> Scalar) -> (Vec<Scalar>, Vec<i64>) {
        let parts = sharing::in_ranges(self.outer, self.length * self.inner, |range| {
            self.select_of(range, values, scalar)
        });
        let (tops, positions): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        (tops.concat(), positions.concat())
    }

    /// Like [`Rows::select`], for a range of the outer rows.
    fn select_of<T: Ordered>(
        &self,
        outer: Range<usize>,
        values: &[T],
        scalar: fn(T) -> Scalar,
    ) -> (Vec<Scalar>, Vec<i64>) {
        let results = outer.len() * self.kept * self.inner;
        let mut tops = vec![Scalar::Int(0); results];
        let mut positions = vec![0i64; results];
        let mut column = Vec::new();
        for (part, o) in outer.enumerate() {
            for i in 0..self.inner {
                let start = (o * self.length * self.inner + i).min(values.len());
                let (_, all) = values.split_at(start);
                let row = if self.inner == 1 {
                    all.split_at(self.length).0
                } else {
                    column.clear();
                    column.extend(all.iter().step_by(self.inner).take(self.length));
                    &column
                };
                for (rank, n) in selection::first(row, self.kept, self.down).into_iter().enumerate() {
                    let target = (part * self.kept + rank) * self.inner + i;
                    let slots = (tops.get_mut(target), positions.get_mut(target), row.get(n));
                    if let (Some(top), Some(position), Some(value)) = slots {
                        *top = scalar(*value);
                        *position = n as i64;
                    }
                }
            }
        }
        (tops, positions)
    }
}

/// The subscripts of all elements that are not zero (or false), one in each column, in row-major order.
pub(super) fn positions(call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
    let tensor = call.input(0)?;
    let shape = call.shape(0)?;
    let hits: Vec<usize> =
        (0..tensor.volume()).filter(|&p| tensor.get(p).is_some_and(Scalar::to_bool)).collect();
    let mut columns = vec![0i64; shape.len() * hits.len()];
    for (column, &hit) in hits.iter().enumerate() {
        let mut rest = hit;
        for (dimension, &extent) in shape.iter().enumerate().rev() {
            if let Some(c) = columns.get_mut(dimension * hits.len() + column) {
                *c = (rest % extent.max(1)) as i64;
            }
            rest /= extent.max(1);
        }
    }
    let extents = [shape.len() as u64, hits.len() as u64];
    Ok(vec![call.result(0, &extents, columns.into_iter().map(Scalar::Int))?])
}
