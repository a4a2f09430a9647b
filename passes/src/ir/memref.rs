// SPDX-License-Identifier: Apache-2.0
//! Operations of the dialect `memref`.

use super::typed::{self, typed};
use super::types::DYNAMIC;
use super::uses::{definition, users};
use super::{Builder, ValueKey, attributes, ops};
use melior::Error;
use melior::ir::Type;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::{DimSize, MemRefType};
use melior::ir::{ShapedTypeLike, TypeLike, Value, ValueLike};

typed! {
    /// `memref.copy`: copies all elements.
    Copy = ops::memref::COPY { source = 0, target = 1 };
    /// `memref.view`: an array in a buffer of bytes.
    ByteView = ops::memref::VIEW { buffer = 0, offset = 1 };
    /// `memref.subview`: a part of an array.
    Subview = ops::memref::SUBVIEW { source = 0 };
}

/// Operations that view their first operand.
const VIEWS: &[&str] = &[
    ops::memref::SUBVIEW,
    ops::memref::CAST,
    ops::memref::COLLAPSE_SHAPE,
    ops::memref::EXPAND_SHAPE,
    ops::memref::REINTERPRET_CAST,
    ops::memref::VIEW,
    ops::memref::TRANSPOSE,
    ops::memref::MEMORY_SPACE_CAST,
];

/// Whether an operation is a view of its first operand.
pub(crate) fn is_view(op: OperationRef) -> bool {
    VIEWS.iter().any(|view| skript_dialect::op::is(&op, view))
}

/// The allocation or argument that a memref is a view of.
pub(crate) fn root<'c: 'a, 'a>(value: Value<'c, 'a>) -> Value<'c, 'a> {
    let op = definition(value).map(|(op, _)| op);
    let view = op.filter(|op| is_view(*op));
    let viewed = view.and_then(|view| view.operand(0).ok());
    viewed.map_or(value, root)
}

/// Identifies the allocation or argument that a memref is a view of.
pub(crate) fn root_of(value: Value) -> ValueKey {
    ValueKey::of(root(value))
}

/// The operations that use the buffer of a memref, through any view of it; `None` if one of them passes it on.
pub(crate) fn users_of_buffer<'c: 'a, 'a>(
    value: Value<'c, 'a>,
) -> Option<Vec<OperationRef<'c, 'a>>> {
    let mut found = Vec::new();
    let mut pending = vec![root(value)];
    while let Some(view) = pending.pop() {
        for user in users(view) {
            let is_passed_on = user.result_count() > 0 && !returns_no_memref(user);
            match is_view(user) {
                true => pending.push(Value::from(user.result(0).ok()?)),
                false if is_passed_on || is_terminator(user) => return None,
                false => found.push(user),
            }
        }
    }
    Some(found)
}

fn returns_no_memref(op: OperationRef) -> bool {
    op.results().all(|result| !result.r#type().is_mem_ref())
}

/// Whether an operation with operands ends its block.
fn is_terminator(op: OperationRef) -> bool {
    op.next_in_block().is_none()
}

/// A view of a part of an array: `sizes` elements from `offsets` on in steps.
///
/// # Errors
/// The operand is no array with static strides.
pub(crate) fn subview<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    array: Value<'c, 'a>,
    offsets: &[i64],
    sizes: &[i64],
    steps: &[i64],
) -> Result<Value<'c, 'a>, Error> {
    let memref = MemRefType::try_from(array.r#type())?;
    let (strides, offset) = memref.strides_and_offset();
    let first = offsets.iter().zip(&strides).map(|(o, s)| o * s);
    let offset = offset + first.sum::<i64>();
    let shape: Vec<String> = sizes.iter().map(|size| format!("{size}x")).collect();
    let strides = strides.iter().zip(steps).map(|(s, step)| s * step);
    let strides: Vec<String> = strides.map(|s| s.to_string()).collect();
    let r#type = format!(
        "memref<{}{}, strided<[{}], offset: {offset}>>",
        shape.concat(),
        memref.element(),
        strides.join(", ")
    );
    let list = |values: &[i64]| attributes::i64s(at.context, values);
    let attributes = [
        (
            "operandSegmentSizes",
            attributes::i32s(at.context, &[1, 0, 0, 0]),
        ),
        ("static_offsets", list(offsets)),
        ("static_sizes", list(sizes)),
        ("static_strides", list(steps)),
    ];
    let r#type = Type::parse(at.context, &r#type).ok_or(Error::OperationBuild)?;
    at.value(ops::memref::SUBVIEW, &[array], &attributes, r#type)
}

/// A view of consecutive elements of an array: `sizes` of them from `firsts` on, which are 0 where they are `None`.
///
/// # Errors
/// The operand is no array with static strides.
pub(crate) fn block<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    array: Value<'c, 'a>,
    firsts: &[Option<Value<'c, 'a>>],
    sizes: &[i64],
) -> Result<Value<'c, 'a>, Error> {
    let memref = MemRefType::try_from(array.r#type())?;
    let (strides, offset) = memref.strides_and_offset();
    let shape: Vec<String> = sizes.iter().map(|size| format!("{size}x")).collect();
    let strides: Vec<String> = strides.iter().map(ToString::to_string).collect();
    let dynamic: Vec<Value> = firsts.iter().flatten().copied().collect();
    let offset = match dynamic.is_empty() && offset >= 0 {
        true => offset.to_string(),
        false => "?".to_owned(),
    };
    let r#type = format!(
        "memref<{}{}, strided<[{}], offset: {offset}>>",
        shape.concat(),
        memref.element(),
        strides.join(", ")
    );
    let list = |values: &[i64]| attributes::i64s(at.context, values);
    let count = i32::try_from(dynamic.len()).map_err(|_| Error::OperationBuild)?;
    let of_first = |first: &Option<Value>| first.map_or(0, |_| DYNAMIC);
    let offsets: Vec<i64> = firsts.iter().map(of_first).collect();
    let attributes = [
        (
            "operandSegmentSizes",
            attributes::i32s(at.context, &[1, count, 0, 0]),
        ),
        ("static_offsets", list(&offsets)),
        ("static_sizes", list(sizes)),
        ("static_strides", list(&vec![1; sizes.len()])),
    ];
    let r#type = Type::parse(at.context, &r#type).ok_or(Error::OperationBuild)?;
    let operands = [&[array][..], &dynamic].concat();
    at.value(ops::memref::SUBVIEW, &operands, &attributes, r#type)
}

/// A view of an array with its own offset from the beginning of the buffer, sizes and strides, in elements.
///
/// # Errors
/// The operand is no array.
pub(crate) fn reinterpret<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    array: Value<'c, 'a>,
    offset: i64,
    sizes: &[i64],
    strides: &[i64],
) -> Result<Value<'c, 'a>, Error> {
    let element = MemRefType::try_from(array.r#type())?.element();
    let shape: Vec<String> = sizes.iter().map(|size| format!("{size}x")).collect();
    let steps: Vec<String> = strides.iter().map(ToString::to_string).collect();
    let r#type = format!(
        "memref<{}{element}, strided<[{}], offset: {offset}>>",
        shape.concat(),
        steps.join(", ")
    );
    let list = |values: &[i64]| attributes::i64s(at.context, values);
    let attributes = [
        (
            "operandSegmentSizes",
            attributes::i32s(at.context, &[1, 0, 0, 0]),
        ),
        ("static_offsets", list(&[offset])),
        ("static_sizes", list(sizes)),
        ("static_strides", list(strides)),
    ];
    let r#type = Type::parse(at.context, &r#type).ok_or(Error::OperationBuild)?;
    at.value(ops::memref::REINTERPRET_CAST, &[array], &attributes, r#type)
}

/// The offsets and sizes of a view that is a part of its operand without gaps, and with constant extents; `None` for others.
pub(crate) fn part(view: Subview) -> Option<(Vec<i64>, Vec<i64>)> {
    let op = view.op();
    let list = |name: &str| typed::i64s(op, name);
    let (offsets, sizes) = (list("static_offsets"), list("static_sizes"));
    let is_static = op.operand_count() == 1 && offsets.iter().chain(&sizes).all(|n| *n >= 0);
    (is_static && list("static_strides").iter().all(|n| *n == 1)).then_some((offsets, sizes))
}

/// Whether two arrays may have an element in common: they are views of one buffer, and not of different parts of it.
pub(crate) fn may_overlap<'c: 'a, 'a>(one: Value<'c, 'a>, other: Value<'c, 'a>) -> bool {
    if root_of(one) != root_of(other) {
        return false;
    }
    let ((array, first), (same, second)) = (range(one), range(other));
    ValueKey::of(array) != ValueKey::of(same) || !are_apart(&first, &second)
}

/// Whether two parts of an array, by the offset and size of each dimension, have no element in common.
pub(crate) fn are_apart(one: &[(i64, i64)], other: &[(i64, i64)]) -> bool {
    let apart = |(a, b): (&(i64, i64), &(i64, i64))| a.0 + a.1 <= b.0 || b.0 + b.1 <= a.0;
    one.iter().zip(other).any(apart)
}

/// The array that a value is a part of ([`part`]) through any number of views: for each dimension the part's offset and size.
/// Empty if it is the array itself.
fn range<'c: 'a, 'a>(value: Value<'c, 'a>) -> (Value<'c, 'a>, Vec<(i64, i64)>) {
    let mut array = value;
    let mut range: Vec<(i64, i64)> = Vec::new();
    while let Some(view) = Subview::of(array)
        && let (Some((offsets, sizes)), Ok(source)) = (part(view), view.source())
        // A view in between that drops dimensions ends the search.
        && (range.is_empty() || range.len() == offsets.len())
    {
        match range.is_empty() {
            true => range = offsets.into_iter().zip(sizes).collect(),
            false => {
                let own = range.iter_mut().zip(offsets);
                own.for_each(|((first, _), offset)| *first += offset);
            }
        }
        array = source;
    }
    (array, range)
}

/// The extents of a memref type; dynamic ones are [`DYNAMIC`]. None for other types.
pub(crate) fn extents(r#type: Type<'_>) -> Vec<i64> {
    let Ok(memref) = MemRefType::try_from(r#type) else {
        return Vec::new();
    };
    let extent = |d: usize| match memref.dim_size(d) {
        Ok(DimSize::Static(size)) => i64::try_from(size).unwrap_or(DYNAMIC),
        _ => DYNAMIC,
    };
    (0..memref.rank()).map(extent).collect()
}
