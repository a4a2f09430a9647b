// SPDX-License-Identifier: Apache-2.0
//! Values that the caller of a kernel computes before the call.

use crate::ir::memref::Subview;
use crate::ir::{Builder, ops, typed, types};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{Location, Type, Value, ValueLike};

/// Computes a number of elements that suffices for all parts of a loop with this extent: a part has `elements` elements and covers
/// `iterations` iterations. The result has an upper bound if the extent has one.
pub(super) fn covered<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    extent: Value<'c, 'a>,
    iterations: i64,
    elements: i64,
) -> Value<'c, 'a> {
    // Every iteration of a part has the same number of elements.
    let (more, each) = (at.idx(iterations - 1), at.idx(elements / iterations));
    at.muli(at.addi(extent, more), each)
}

/// Converts an array to the type of a parameter: the array itself, or a pointer to its first element.
pub(super) fn passed_as<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    array: Value<'c, 'a>,
    r#type: Type<'c>,
) -> Value<'c, 'a> {
    if array.r#type() == r#type {
        return array;
    }
    let offset = layout(r#type).1;
    at.reinterpret_cast(array, (offset, None), &[1], &[1], r#type)
}

/// Returns the strides and the offset of a memref; dynamic ones are negative.
fn layout(r#type: Type) -> (Vec<i64>, i64) {
    let memref = MemRefType::try_from(r#type);
    memref
        .unwrap_or_else(|_| unreachable!("internal compiler error: {type} is not an array"))
        .strides_and_offset()
}

/// Whether the offset of an array is static, or can be computed from the layout of the array that it is a subview of.
pub(super) fn has_offset<'c: 'a, 'a>(array: Value<'c, 'a>) -> bool {
    let Ok(memref) = MemRefType::try_from(array.r#type()) else {
        return false;
    };
    let (_, offset) = memref.strides_and_offset();
    offset >= 0 || Subview::of(array).is_some_and(|part| part.source().is_ok_and(has_parts))
}

/// Whether the offsets of subviews of an array can be computed.
fn has_parts<'c: 'a, 'a>(array: Value<'c, 'a>) -> bool {
    let Ok(memref) = MemRefType::try_from(array.r#type()) else {
        return false;
    };
    let strides = memref.strides_and_offset().0;
    let is_dense = memref.affine_map().is_identity();
    (is_dense || strides.iter().all(|s| *s >= 0)) && has_offset(array)
}

/// Computes the offset of an array in its buffer, in elements. Requires [`has_offset`].
pub(super) fn offset<'c: 'a, 'a>(at: &Builder<'c, 'a>, array: Value<'c, 'a>) -> Value<'c, 'a> {
    let offset = layout(array.r#type()).1;
    if offset >= 0 {
        return at.idx(offset);
    }
    let part = Subview::of(array).and_then(|part| Some((part, part.source().ok()?)));
    let (part, source) =
        part.unwrap_or_else(|| unreachable!("internal compiler error: an array whose offset is not known"));
    let strides = strides(at, source);
    let first = self::offset(at, source);
    let part = part.op();
    let mut dynamic = part.operands().skip(1);
    let offsets = typed::i64s(part, "static_offsets");
    offsets.into_iter().zip(strides).fold(first, |sum, (offset, stride)| {
        let first = match offset {
            types::DYNAMIC => dynamic.next(),
            offset => Some(at.idx(offset)),
        };
        let first =
            first.unwrap_or_else(|| unreachable!("internal compiler error: a part without its offset"));
        at.addi(sum, at.muli(first, stride))
    })
}

/// Computes the strides of an array that is dense or has static strides.
fn strides<'c: 'a, 'a>(at: &Builder<'c, 'a>, array: Value<'c, 'a>) -> Vec<Value<'c, 'a>> {
    let strides = layout(array.r#type()).0;
    if strides.iter().all(|stride| *stride >= 0) {
        return strides.into_iter().map(|stride| at.idx(stride)).collect();
    }
    let mut stride = at.idx(1);
    let mut all = vec![stride];
    for dimension in (1..strides.len()).rev() {
        stride = at.muli(stride, at.dim(array, dimension));
        all.push(stride);
    }
    all.reverse();
    all
}

/// Creates an `scf.if` before an operation. Returns the terminators of its two regions.
pub(super) fn branch_before<'c: 'a, 'a>(
    anchor: OperationRef<'c, 'a>,
    condition: Value<'c, 'a>,
    location: Location<'c>,
) -> [OperationRef<'c, 'a>; 2] {
    let at = Builder::at(anchor).with_location(location);
    let [first, second] = [0; 2].map(|_| {
        let (region, inner, _) = at.region(&[]);
        (region, inner.op(ops::scf::YIELD, &[], &[], &[], Vec::new()))
    });
    at.op(ops::scf::IF, &[condition], &[], &[], vec![first.0, second.0]);
    [first.1, second.1]
}
