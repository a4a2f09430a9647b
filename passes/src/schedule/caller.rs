// SPDX-License-Identifier: Apache-2.0
//! Values that the caller of a kernel computes before the call.

use crate::ir::memref::Subview;
use crate::ir::{self, Builder, attributes, context, ops, typed, types};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{Location, Type, Value, ValueLike};

fn before<'c, 'a>(anchor: OperationRef<'c, 'a>) -> Result<Builder<'c, 'a>, String> {
    Builder::before(context::of(anchor), anchor).map_err(|e| e.to_string())
}

/// A constant `index` before an operation.
///
/// # Errors
/// The builder's error.
pub(super) fn index_before<'c, 'a>(
    anchor: OperationRef<'c, 'a>,
    value: i64,
) -> Result<Value<'c, 'a>, String> {
    let builder = before(anchor)?;
    builder.index(value).map_err(|e| e.to_string())
}

/// A new array before an operation; `size` is its dynamic extent.
///
/// # Errors
/// The builder's error.
pub(super) fn array_before<'c, 'a>(
    anchor: OperationRef<'c, 'a>,
    r#type: &str,
    size: Option<Value<'c, 'a>>,
) -> Result<Value<'c, 'a>, String> {
    let builder = before(anchor)?;
    let kind = ir::parse_type(anchor.context(), r#type).map_err(|e| e.to_string())?;
    let sizes: Vec<Value> = size.into_iter().collect();
    let segments = [i32::from(size.is_some()), 0];
    let segments = attributes::i32s(builder.context, &segments);
    let segments = ("operandSegmentSizes", segments);
    let alignment = ("alignment", attributes::i64(builder.context, 64));
    let array = builder.value(ops::memref::ALLOC, &sizes, &[segments, alignment], kind);
    array.map_err(|e| e.to_string())
}

/// Elements that are enough for parts of this many elements, one for so many iterations of an extent. The sum and the product have
/// an upper bound where the extent has one.
///
/// # Errors
/// The builder's error.
pub(super) fn covered_before<'c, 'a>(
    anchor: OperationRef<'c, 'a>,
    extent: Value<'c, 'a>,
    iterations: i64,
    elements: i64,
) -> Result<Value<'c, 'a>, String> {
    // A part has the same number of elements for each of its iterations.
    let (more, each) = (index_before(anchor, iterations - 1)?, index_before(anchor, elements / iterations)?);
    let builder = before(anchor)?;
    let index = Type::index(builder.context);
    let covered = builder.value(ops::arith::ADDI, &[extent, more], &[], index);
    let covered = covered.map_err(|e| e.to_string())?;
    let size = builder.value(ops::arith::MULI, &[covered, each], &[], index);
    size.map_err(|e| e.to_string())
}

/// The array as a value of this type, before an operation: itself, or a pointer to its first element.
///
/// # Errors
/// The builder's error.
pub(super) fn static_before<'c, 'a>(
    anchor: OperationRef<'c, 'a>,
    array: Value<'c, 'a>,
    r#type: &str,
) -> Result<Value<'c, 'a>, String> {
    if array.r#type().to_string() == r#type {
        return Ok(array);
    }
    let builder = before(anchor)?;
    let kind = ir::parse_type(anchor.context(), r#type).map_err(|e| e.to_string())?;
    let memref = MemRefType::try_from(kind).map_err(|e| e.to_string())?;
    let (_, offset) = memref.strides_and_offset();
    let list = |values: &[i64]| attributes::i64s(builder.context, values);
    let none = attributes::i32s(builder.context, &[1, 0, 0, 0]);
    let attributes = [
        ("operandSegmentSizes", none),
        ("static_offsets", list(&[offset])),
        ("static_sizes", list(&[1])),
        ("static_strides", list(&[1])),
    ];
    let view = builder.value(ops::memref::REINTERPRET_CAST, &[array], &attributes, kind);
    view.map_err(|e| e.to_string())
}

/// Whether the offset of an array is static, or follows from those of the array that it is a part of.
pub(super) fn has_offset<'c: 'a, 'a>(array: Value<'c, 'a>) -> bool {
    let Ok(memref) = MemRefType::try_from(array.r#type()) else {
        return false;
    };
    let (_, offset) = memref.strides_and_offset();
    offset >= 0 || Subview::of(array).is_some_and(|part| part.source().is_ok_and(has_parts))
}

/// Whether the offsets of parts of an array can be computed.
fn has_parts<'c: 'a, 'a>(array: Value<'c, 'a>) -> bool {
    let Ok(memref) = MemRefType::try_from(array.r#type()) else {
        return false;
    };
    let strides = memref.strides_and_offset().0;
    let is_dense = memref.affine_map().is_identity();
    (is_dense || strides.iter().all(|s| *s >= 0)) && has_offset(array)
}

/// The offset of an array in its buffer, in elements, before an operation.
///
/// # Errors
/// The builder's error, or an array without [`has_offset`].
pub(super) fn offset_before<'c: 'a, 'a>(
    anchor: OperationRef<'c, 'a>,
    array: Value<'c, 'a>,
) -> Result<Value<'c, 'a>, String> {
    let text = |e: melior::Error| e.to_string();
    let memref = MemRefType::try_from(array.r#type()).map_err(text)?;
    let (_, offset) = memref.strides_and_offset();
    if offset >= 0 {
        return index_before(anchor, offset);
    }
    let part = Subview::of(array).ok_or("an array whose offset is not known")?;
    let source = part.source().map_err(text)?;
    let strides = strides_before(anchor, source)?;
    let mut sum = offset_before(anchor, source)?;
    let builder = before(anchor)?;
    let index = Type::index(builder.context);
    let binary = |name: &str, a, b| builder.value(name, &[a, b], &[], index).map_err(text);
    let dynamic: Vec<Value> = part.op().operands().skip(1).collect();
    let mut dynamic = dynamic.into_iter();
    let offsets = typed::i64s(part.op(), "static_offsets");
    for (offset, stride) in offsets.into_iter().zip(strides) {
        let first = match offset {
            types::DYNAMIC => dynamic.next().ok_or("a part without its offset")?,
            offset => builder.index(offset).map_err(text)?,
        };
        let far = binary(ops::arith::MULI, first, stride)?;
        sum = binary(ops::arith::ADDI, sum, far)?;
    }
    Ok(sum)
}

/// The strides of an array without gaps, or with static ones, before an operation.
fn strides_before<'c: 'a, 'a>(
    anchor: OperationRef<'c, 'a>,
    array: Value<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, String> {
    let text = |e: melior::Error| e.to_string();
    let memref = MemRefType::try_from(array.r#type()).map_err(text)?;
    let (strides, _) = memref.strides_and_offset();
    if strides.iter().all(|stride| *stride >= 0) {
        return strides.into_iter().map(|stride| index_before(anchor, stride)).collect();
    }
    let mut stride = index_before(anchor, 1)?;
    let mut all = vec![stride];
    for dimension in (1..strides.len()).rev() {
        let extent = extent_before(anchor, array, dimension)?;
        let builder = before(anchor)?;
        let index = Type::index(builder.context);
        let product = builder.value(ops::arith::MULI, &[stride, extent], &[], index);
        stride = product.map_err(text)?;
        all.push(stride);
    }
    all.reverse();
    Ok(all)
}

/// An extent of an array, before an operation.
///
/// # Errors
/// The builder's error.
pub(super) fn extent_before<'c, 'a>(
    anchor: OperationRef<'c, 'a>,
    array: Value<'c, 'a>,
    dimension: usize,
) -> Result<Value<'c, 'a>, String> {
    let dimension = index_before(anchor, i64::try_from(dimension).unwrap_or(i64::MAX))?;
    let builder = before(anchor)?;
    let index = Type::index(builder.context);
    let extent = builder.value(ops::memref::DIM, &[array, dimension], &[], index);
    extent.map_err(|e| e.to_string())
}

/// The number of tiles that cover an extent, before an operation.
///
/// # Errors
/// The builder's error.
pub(super) fn tiles_before<'c, 'a>(
    anchor: OperationRef<'c, 'a>,
    extent: Value<'c, 'a>,
    factor: i64,
) -> Result<Value<'c, 'a>, String> {
    let factor = index_before(anchor, factor)?;
    let builder = before(anchor)?;
    let index = Type::index(builder.context);
    let tiles = builder.value(ops::arith::CEILDIVUI, &[extent, factor], &[], index);
    tiles.map_err(|e| e.to_string())
}

/// A branch before an operation: the ends of its two cases.
///
/// # Errors
/// The builder's error.
pub(super) fn branch_before<'c: 'a, 'a>(
    anchor: OperationRef<'c, 'a>,
    condition: Value<'c, 'a>,
    location: Location<'c>,
) -> Result<[OperationRef<'c, 'a>; 2], String> {
    let builder = before(anchor)?.with_location(location);
    let text = |e: melior::Error| e.to_string();
    let case = || {
        let (region, inner, _) = builder.region(&[]);
        let end = inner.create(ops::scf::YIELD, &[], &[], &[], Vec::new());
        end.map(|end| (region, end)).map_err(text)
    };
    let ((then, first), (otherwise, second)) = (case()?, case()?);
    let regions = vec![then, otherwise];
    let branch = builder.create(ops::scf::IF, &[condition], &[], &[], regions);
    branch.map_err(text)?;
    Ok([first, second])
}
