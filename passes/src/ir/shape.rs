// SPDX-License-Identifier: Apache-2.0
//! Operations of `tensor` and `memref` that change shapes; both dialects give them the same attributes and operands.

use super::typed;
use melior::ir::attribute::{ArrayAttribute, DenseI32ArrayAttribute, IntegerAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value};

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

/// The dynamic size at a position among those of an `extract_slice` or a `subview`. Dropped dimensions have static ones.
pub(crate) fn dynamic_size<'c, 'a>(
    slice: OperationRef<'c, 'a>,
    position: usize,
) -> Option<Value<'c, 'a>> {
    let segments = slice.attribute("operandSegmentSizes").ok()?;
    let segments = DenseI32ArrayAttribute::try_from(segments).ok()?;
    let segment = |n| usize::try_from(segments.element(n).ok()?).ok();
    let (source, offsets, sizes) = (segment(0)?, segment(1)?, segment(2)?);
    (position < sizes).then(|| slice.operand(source + offsets + position).ok())?
}
