// SPDX-License-Identifier: Apache-2.0
//! Operations of `tensor` and `memref` that change shapes; both dialects give them the same attributes and operands.

use super::arith::Constant;
use super::ops;
use super::typed::{self, typed};
use melior::ir::attribute::{ArrayAttribute, DenseI32ArrayAttribute, IntegerAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value};

typed! {
    /// `tensor.dim` or `memref.dim`: an extent.
    Dim = ops::memref::DIM | ops::tensor::DIM { source = 0, index = 1 };
    /// `tensor.insert_slice`: a tensor with a part replaced.
    InsertSlice = ops::tensor::INSERT_SLICE { source = 0, destination = 1 };
}

impl<'c: 'a, 'a> Dim<'c, 'a> {
    /// The number of the dimension, if it is a constant.
    pub(crate) fn dimension(self) -> Option<usize> {
        usize::try_from(Constant::of(self.index().ok()?)?.integer()?).ok()
    }
}

/// The dimensions of the source that each dimension of a `collapse_shape` merges.
pub(crate) fn reassociation(collapse: OperationRef) -> Option<Vec<Vec<usize>>> {
    let groups = typed::array(collapse, "reassociation").into_iter();
    let numbers = |group| {
        let group = ArrayAttribute::try_from(group).ok()?;
        let number = |n| IntegerAttribute::try_from(group.element(n).ok()?).ok();
        let numbers = (0..group.len()).map(|n| usize::try_from(number(n)?.value()).ok());
        numbers.collect()
    };
    groups.map(numbers).collect()
}

/// The size of a dynamic dimension of the result of an operation that lists sizes, by its position among the dynamic ones.
/// Dimensions that a slice drops have static sizes.
pub(crate) fn dynamic_size<'c: 'a, 'a>(op: OperationRef<'c, 'a>, position: usize) -> Option<Value<'c, 'a>> {
    let before = match super::name(op).as_str() {
        ops::tensor::EMPTY | ops::memref::ALLOC => 0,
        ops::tensor::SPLAT | ops::tensor::EXPAND_SHAPE | ops::memref::EXPAND_SHAPE => 1,
        // The source and the offset in bytes.
        ops::memref::VIEW => 2,
        ops::tensor::EXTRACT_SLICE | ops::memref::SUBVIEW => {
            let segments = op.attribute("operandSegmentSizes").ok()?;
            let segments = DenseI32ArrayAttribute::try_from(segments).ok()?;
            let segment = |n| usize::try_from(segments.element(n).ok()?).ok();
            let (source, offsets, sizes) = (segment(0)?, segment(1)?, segment(2)?);
            (position < sizes).then_some(source + offsets)?
        }
        _ => return None,
    };
    op.operand(before + position).ok()
}
