// SPDX-License-Identifier: Apache-2.0
//! A scalar at every point of a formula's domain, as a tensor over the indices that it depends on.

use super::tensors::{Tensors, shape};
use melior::ir::Value;
use skript_dialect::melior;

/// A tensor whose dimensions are the indices `indices`, in ascending order.
#[derive(Clone, Debug)]
pub(crate) struct Field<'c, 'a> {
    pub value: Value<'c, 'a>,
    pub indices: Vec<usize>,
}

impl<'c: 'a, 'a> Field<'c, 'a> {
    /// A field with one value at all points.
    pub(crate) fn scalar(value: Value<'c, 'a>) -> Self {
        Field { value, indices: Vec::new() }
    }

    /// A tensor whose dimensions are `labels`, in any order.
    pub(crate) fn labelled(value: Value<'c, 'a>, labels: &[usize], at: &Tensors<'c, 'a>) -> Self {
        let mut order: Vec<usize> = (0..labels.len()).collect();
        order.sort_by_key(|d| labels.get(*d));
        let mut indices = labels.to_vec();
        indices.sort_unstable();
        Field { value: at.transpose(value, &order), indices }
    }

    /// An elementwise operation on fields of one type.
    pub(crate) fn combined(name: &str, fields: &[Self], extents: &[i64], at: &Tensors<'c, 'a>) -> Self {
        let (values, indices) = join(fields, extents, at);
        let value = at.same(name, &values);
        Field { value, indices }
    }

    /// The tensor over `indices`, in this order; `indices` includes all indices of the field.
    pub(crate) fn over(&self, indices: &[usize], extents: &[i64], at: &Tensors<'c, 'a>) -> Value<'c, 'a> {
        let mut sorted = indices.to_vec();
        sorted.sort_unstable();
        let position = |index: &usize| sorted.iter().position(|i| i == index);
        let dimensions: Vec<i64> =
            self.indices.iter().filter_map(|i| position(i).map(|p| p as i64)).collect();
        let shape = shape(&sorted, extents);
        let spread = at.broadcast(self.value, &dimensions, &shape);
        let order: Vec<usize> = indices.iter().filter_map(position).collect();
        at.transpose(spread, &order)
    }
}

/// All indices that the fields depend on, in ascending order.
pub(crate) fn union<'f, 'c: 'a + 'f, 'a: 'f>(
    fields: impl IntoIterator<Item = &'f Field<'c, 'a>>,
) -> Vec<usize> {
    let mut all: Vec<usize> = fields.into_iter().flat_map(|f| f.indices.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Broadcasts fields to the shape over all their indices; returns the tensors and the indices.
pub(crate) fn join<'c: 'a, 'a>(
    fields: &[Field<'c, 'a>],
    extents: &[i64],
    at: &Tensors<'c, 'a>,
) -> (Vec<Value<'c, 'a>>, Vec<usize>) {
    let indices = union(fields);
    let values = fields.iter().map(|f| f.over(&indices, extents, at)).collect();
    (values, indices)
}
