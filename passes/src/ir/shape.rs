// SPDX-License-Identifier: Apache-2.0
//! Shape operations, which have the same attributes and operands in `tensor` and `memref`.

use super::arith::integer;
use super::counts::segment;
use super::typed::{self, typed};
use super::{Builder, attributes, ops, types};
use melior::Error;
use melior::ir::{Attribute, OperationRef, Value, ValueLike};

typed! {
    /// `tensor.dim` or `memref.dim`: an extent.
    Dim = ops::memref::DIM | ops::tensor::DIM { source = 0, index = 1 };
    /// `tensor.insert_slice`: a tensor with a replaced slice.
    InsertSlice = ops::tensor::INSERT_SLICE { source = 0, destination = 1 };
}

impl<'c: 'a, 'a> Dim<'c, 'a> {
    /// The number of the dimension, if it is a constant.
    pub(crate) fn dimension(self) -> Option<usize> {
        usize::try_from(integer(self.index().ok()?)?).ok()
    }
}

/// The groups of dimensions that a `collapse_shape` merges, or that an `expand_shape` splits a dimension into.
pub(crate) fn reassociation(collapse: OperationRef) -> Option<Vec<Vec<usize>>> {
    let groups = typed::array(collapse, "reassociation").into_iter();
    let numbers = |group| {
        let items = attributes::items(group).into_iter();
        items.map(|item| usize::try_from(attributes::number(item)?).ok()).collect()
    };
    groups.map(numbers).collect()
}

/// The dynamic size of a result dimension, by its position among the dynamic dimensions. `None` if the operation does not
/// list sizes. Dimensions that a slice drops have static sizes.
pub(crate) fn dynamic_size<'c: 'a, 'a>(op: OperationRef<'c, 'a>, position: usize) -> Option<Value<'c, 'a>> {
    let before = match super::name(op).as_str() {
        ops::tensor::EMPTY | ops::memref::ALLOC => 0,
        ops::tensor::SPLAT | ops::tensor::EXPAND_SHAPE | ops::memref::EXPAND_SHAPE => 1,
        // The source and the offset in bytes.
        ops::memref::VIEW => 2,
        ops::tensor::EXTRACT_SLICE | ops::memref::SUBVIEW => {
            let [source, offsets, sizes, ..] = *typed::segments(op).as_slice() else {
                return None;
            };
            (position < sizes).then_some(source + offsets)?
        }
        _ => return None,
    };
    super::operand_at(op, before + position)
}

/// A slice of a tensor with static extents: one index of some dimensions, which the slice drops, and the other
/// dimensions in full.
pub(crate) struct Slice<'c, 'a> {
    /// The index of each dimension that is dropped.
    pub(crate) indices: Vec<Option<Value<'c, 'a>>>,
}

impl<'c: 'a, 'a> Slice<'c, 'a> {
    /// Creates the `tensor.extract_slice`; returns `source` if no dimension is dropped.
    pub(crate) fn extract(
        &self,
        source: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        if self.values().is_empty() {
            return Ok(source);
        }
        let kind = source.r#type();
        let shape = types::shape(kind);
        let kept = shape.iter().zip(&self.indices).filter(|(_, index)| index.is_none());
        let result =
            types::tensor(&kept.map(|(extent, _)| *extent).collect::<Vec<_>>(), types::element_or_self(kind));
        let operands = [&[source][..], &self.values()].concat();
        at.value(ops::tensor::EXTRACT_SLICE, &operands, &self.attributes(&[1], &shape, at), result)
    }

    /// Creates the `tensor.insert_slice` of `source` into `destination`.
    pub(crate) fn insert(
        &self,
        source: Value<'c, 'a>,
        destination: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let kind = destination.r#type();
        let operands = [&[source, destination][..], &self.values()].concat();
        let attributes = self.attributes(&[1, 1], &types::shape(kind), at);
        at.value(ops::tensor::INSERT_SLICE, &operands, &attributes, kind)
    }

    fn values(&self) -> Vec<Value<'c, 'a>> {
        self.indices.iter().copied().flatten().collect()
    }

    fn attributes(
        &self,
        tensors: &[i32],
        shape: &[i64],
        at: &Builder<'c, 'a>,
    ) -> [(&'static str, Attribute<'c>); 4] {
        let offsets: Vec<i64> =
            self.indices.iter().map(|index| if index.is_some() { types::DYNAMIC } else { 0 }).collect();
        let sizes: Vec<i64> = self
            .indices
            .iter()
            .zip(shape)
            .map(|(index, extent)| if index.is_some() { 1 } else { *extent })
            .collect();
        [
            ("static_offsets", attributes::i64s(at.context, &offsets)),
            ("static_sizes", attributes::i64s(at.context, &sizes)),
            ("static_strides", attributes::i64s(at.context, &vec![1; shape.len()])),
            at.segments(&[tensors, &[segment(self.values().len()), 0, 0]].concat()),
        ]
    }
}
