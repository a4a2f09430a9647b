// SPDX-License-Identifier: Apache-2.0
//! Operations of the dialect `memref`.

use super::counts::segment;
use super::typed::{self, typed};
use super::types::DYNAMIC;
use super::uses::{defined_by, defining_op, users};
use super::{Builder, ValueKey, attributes, ops, shape, types};
use melior::ir::attribute::StridedLayoutAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{Attribute, Type};
use melior::ir::{ShapedTypeLike, TypeLike, Value, ValueLike};
use melior::{Context, Error};

typed! {
    /// `memref.copy`: copies all elements.
    Copy = ops::memref::COPY { source = 0, target = 1 };
    /// `memref.view`: a typed view of a byte buffer.
    ByteView = ops::memref::VIEW { buffer = 0, offset = 1 };
    /// `memref.subview`: a view of a part of a memref.
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
    op.result_count() == 1 && VIEWS.iter().any(|view| skript_dialect::op::is(&op, view))
}

/// The allocation or argument that a memref is a view of; otherwise, the memref.
pub(crate) fn root<'c: 'a, 'a>(value: Value<'c, 'a>) -> Value<'c, 'a> {
    let view = defining_op(value).filter(|op| is_view(*op));
    view.and_then(|view| super::operand_at(view, 0)).map_or(value, root)
}

/// Identifies the [`root`] of a memref.
pub(crate) fn root_of(value: Value) -> ValueKey {
    ValueKey::of(root(value))
}

/// The operations that use the buffer of a memref, through any view of it. `None` if the buffer escapes through a result
/// or a terminator.
pub(crate) fn users_of_buffer<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<Vec<OperationRef<'c, 'a>>> {
    let mut all = Vec::new();
    let mut pending = vec![root(value)];
    while let Some(view) = pending.pop() {
        for user in users(view) {
            if is_view(user) {
                pending.push(Value::from(user.result(0).ok()?));
            } else if returns_memref(user) || is_terminator(user) {
                return None;
            } else {
                all.push(user);
            }
        }
    }
    Some(all)
}

fn returns_memref(op: OperationRef) -> bool {
    op.results().any(|result| result.r#type().is_mem_ref())
}

/// Whether an operation is the last operation of its block.
fn is_terminator(op: OperationRef) -> bool {
    op.next_in_block().is_none()
}

/// A view of a part of a memref with static strides: `sizes` elements from `offsets` on, with the strides `steps`.
pub(crate) fn subview<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    array: Value<'c, 'a>,
    offsets: &[i64],
    sizes: &[i64],
    steps: &[i64],
) -> Result<Value<'c, 'a>, Error> {
    let memref = MemRefType::try_from(array.r#type())?;
    let (strides, offset) = memref.strides_and_offset();
    let first: i64 = offsets.iter().zip(&strides).map(|(o, s)| o * s).sum();
    let offset = if offset >= 0 { offset + first } else { DYNAMIC };
    let strides: Vec<i64> = strides.iter().zip(steps).map(|(s, step)| s * step).collect();
    let r#type = strided(at.context, sizes, memref.element(), (offset, &strides), None);
    at.value(ops::memref::SUBVIEW, &[array], &slice_attributes(at, [0; 3], offsets, sizes, steps), r#type)
}

/// The attributes of an operation with offsets, sizes and strides, and the numbers of dynamic values.
fn slice_attributes<'c>(
    at: &Builder<'c, '_>,
    [first, second, third]: [i32; 3],
    offsets: &[i64],
    sizes: &[i64],
    strides: &[i64],
) -> [(&'static str, Attribute<'c>); 4] {
    [
        at.segments(&[1, first, second, third]),
        ("static_offsets", attributes::i64s(at.context, offsets)),
        ("static_sizes", attributes::i64s(at.context, sizes)),
        ("static_strides", attributes::i64s(at.context, strides)),
    ]
}

/// A memref type in a memory space, with an offset and strides that may be [`DYNAMIC`].
pub(crate) fn strided<'c>(
    context: &'c Context,
    extents: &[i64],
    element: Type<'c>,
    (offset, strides): (i64, &[i64]),
    space: Option<Attribute<'c>>,
) -> Type<'c> {
    let layout = StridedLayoutAttribute::new(context, offset, strides);
    MemRefType::new(element, extents, Some(layout.into()), space).into()
}

/// A memref type in GPU workgroup memory.
pub(crate) fn shared<'c>(extents: &[i64], element: Type<'c>) -> Type<'c> {
    let space = attributes::workgroup(types::context_of(element));
    MemRefType::new(element, extents, None, Some(space)).into()
}

/// A static or dynamic extent.
#[derive(Clone, Copy)]
pub(crate) enum Extent<'c, 'a> {
    Known(i64),
    Value(Value<'c, 'a>),
}

impl<'c, 'a> Extent<'c, 'a> {
    /// The value of a dynamic extent.
    pub(crate) fn value(self) -> Option<Value<'c, 'a>> {
        match self {
            Extent::Known(_) => None,
            Extent::Value(value) => Some(value),
        }
    }

    /// The extent in a list of static extents.
    fn or_dynamic(self) -> i64 {
        match self {
            Extent::Known(extent) => extent,
            Extent::Value(_) => DYNAMIC,
        }
    }
}

/// A view of `sizes` consecutive elements of a memref, from `firsts` on; `None` stands for 0.
pub(crate) fn block<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    array: Value<'c, 'a>,
    firsts: &[Option<Value<'c, 'a>>],
    sizes: &[Extent<'c, 'a>],
) -> Result<Value<'c, 'a>, Error> {
    let memref = MemRefType::try_from(array.r#type())?;
    let (strides, offset) = memref.strides_and_offset();
    let dynamic: Vec<Value> = firsts.iter().flatten().copied().collect();
    let open: Vec<Value> = sizes.iter().filter_map(|size| size.value()).collect();
    let offset = if dynamic.is_empty() { offset } else { DYNAMIC };
    let offsets: Vec<i64> = firsts.iter().map(|first| first.map_or(0, |_| DYNAMIC)).collect();
    let sizes: Vec<i64> = sizes.iter().map(|size| size.or_dynamic()).collect();
    let counts = [segment(dynamic.len()), segment(open.len()), 0];
    let attributes = slice_attributes(at, counts, &offsets, &sizes, &vec![1; sizes.len()]);
    let r#type = strided(at.context, &sizes, memref.element(), (offset, &strides), None);
    let operands = [&[array][..], &dynamic, &open].concat();
    at.value(ops::memref::SUBVIEW, &operands, &attributes, r#type)
}

/// The contiguous memref that determines the strides of a memref: the memref, or the source of a subview. Strides of dimensions
/// with several elements then follow from its own extents, because the dynamic extents that they are multiples of are
/// full in the subview. `None` for other memrefs.
pub(crate) fn dense<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let is_dense = |value: Value| {
        let kind = types::as_memref(value.r#type());
        kind.is_some_and(|kind| kind.affine_map().is_identity())
    };
    if is_dense(value) {
        return Some(value);
    }
    let view = Subview::of(value)?;
    let source = view.source().ok().filter(|source| is_dense(*source))?;
    let sizes = typed::i64s(view.op(), "static_sizes");
    let steps = typed::i64s(view.op(), "static_strides");
    let all = extents(source.r#type());
    let is_full = extents(value.r#type()).len() == sizes.len() && sizes.len() == all.len();
    if !is_full || !steps.iter().all(|step| *step == 1) {
        return None;
    }
    let first = sizes.iter().position(|size| *size != 1);
    let inner = first.map_or(sizes.len(), |first| first + 1)..sizes.len();
    let mut open = inner.filter(|d| all.get(*d) == Some(&DYNAMIC));
    open.all(|d| is_whole(view.op(), source, d)).then_some(source)
}

/// Whether a subview has the full dynamic extent of a dimension.
fn is_whole<'c: 'a, 'a>(view: OperationRef<'c, 'a>, source: Value<'c, 'a>, dimension: usize) -> bool {
    let number = |sizes: &[i64]| {
        let before = sizes.iter().take(dimension);
        before.filter(|size| **size == DYNAMIC).count()
    };
    let sizes = typed::i64s(view, "static_sizes");
    let size = shape::dynamic_size(view, number(&sizes));
    let Some(size) = size.filter(|_| sizes.get(dimension) == Some(&DYNAMIC)) else {
        return false;
    };
    let allocation = defining_op(source);
    let all = allocation.and_then(|op| shape::dynamic_size(op, number(&extents(source.r#type()))));
    let is_dim = || {
        shape::Dim::of(size)
            .is_some_and(|dim| dim.dimension() == Some(dimension) && dim.source() == Ok(source))
    };
    all == Some(size) || is_dim()
}

/// A view of a buffer with an offset from its beginning, sizes, and strides, in elements.
pub(crate) fn reinterpret<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    array: Value<'c, 'a>,
    offset: i64,
    sizes: &[i64],
    strides: &[i64],
) -> Result<Value<'c, 'a>, Error> {
    let element = MemRefType::try_from(array.r#type())?.element();
    let r#type = strided(at.context, sizes, element, (offset, strides), None);
    let attributes = slice_attributes(at, [0; 3], &[offset], sizes, strides);
    at.value(ops::memref::REINTERPRET_CAST, &[array], &attributes, r#type)
}

/// The offsets and sizes of a subview with unit strides, if all of them are static.
pub(crate) fn part(view: Subview) -> Option<(Vec<i64>, Vec<i64>)> {
    let op = view.op();
    let list = |name: &str| typed::i64s(op, name);
    let (offsets, sizes) = (list("static_offsets"), list("static_sizes"));
    let is_static = op.operand_count() == 1 && offsets.iter().chain(&sizes).all(|n| *n >= 0);
    (is_static && list("static_strides").iter().all(|n| *n == 1)).then_some((offsets, sizes))
}

/// Whether two memrefs may have a common element, because they are views of the same buffer, but not of disjoint parts of it.
pub(crate) fn may_overlap<'c: 'a, 'a>(one: Value<'c, 'a>, other: Value<'c, 'a>) -> bool {
    if root_of(one) != root_of(other) {
        return false;
    }
    let ((array, first), (same, second)) = (range(one), range(other));
    ValueKey::of(array) != ValueKey::of(same) || !are_apart(&first, &second)
}

/// Whether two parts of a memref are disjoint. Each part has an offset and a size for each dimension.
pub(crate) fn are_apart(one: &[(i64, i64)], other: &[(i64, i64)]) -> bool {
    let disjoint = |(a, b): (&(i64, i64), &(i64, i64))| a.0 + a.1 <= b.0 || b.0 + b.1 <= a.0;
    one.iter().zip(other).any(disjoint)
}

/// The memref that a value is a [`part`] of, through any number of views, and for each dimension the part's offset and size;
/// none for the memref itself.
fn range<'c: 'a, 'a>(value: Value<'c, 'a>) -> (Value<'c, 'a>, Vec<(i64, i64)>) {
    let mut array = value;
    let mut range: Vec<(i64, i64)> = Vec::new();
    while let Some(view) = Subview::of(array)
        && let (Some((offsets, sizes)), Ok(source)) = (part(view), view.source())
        // A view that drops dimensions ends the search.
        && (range.is_empty() || range.len() == offsets.len())
    {
        if range.is_empty() {
            range = offsets.into_iter().zip(sizes).collect()
        } else {
            range.iter_mut().zip(offsets).for_each(|((first, _), offset)| *first += offset);
        }
        array = source;
    }
    (array, range)
}

/// The extents of a memref type; dynamic ones are [`DYNAMIC`]. Empty for other types.
pub(crate) fn extents(r#type: Type<'_>) -> Vec<i64> {
    if r#type.is_mem_ref() { types::shape(r#type) } else { Vec::new() }
}

/// An extent of a memref, as an index: a constant if it is static.
pub(crate) fn extent<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    array: Value<'c, 'a>,
    dimension: usize,
) -> Result<Value<'c, 'a>, Error> {
    match extents(array.r#type()).get(dimension) {
        Some(extent @ 0..) => at.index(*extent),
        _ => Ok(at.dim(array, dimension)),
    }
}

/// A dynamic extent of a memref. The extent of an allocation is its operand, so that the allocation gets no further use.
pub(crate) fn dynamic_extent<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    array: Value<'c, 'a>,
    dimension: usize,
) -> Result<Value<'c, 'a>, Error> {
    let before = extents(array.r#type()).into_iter().take(dimension);
    let number = before.filter(|extent| *extent == DYNAMIC).count();
    let size = defined_by(array, ops::memref::ALLOC).and_then(|op| shape::dynamic_size(op, number));
    size.map_or_else(|| extent(at, array, dimension), Ok)
}

/// Whether the elements have 8, 16, 32 or 64 bits, which is required for vectors in memory.
pub(crate) fn has_whole_bytes(array: Value) -> bool {
    let bits = types::bits(types::element_or_self(array.r#type()));
    bits.is_some_and(|bits| [8, 16, 32, 64].contains(&bits))
}

/// Whether the elements of a memref are contiguous, in row-major order.
pub(crate) fn is_contiguous(array: Value) -> bool {
    let Ok(memref) = MemRefType::try_from(array.r#type()) else {
        return false;
    };
    let (strides, _) = memref.strides_and_offset();
    let extents = extents(array.r#type());
    let mut next = 1;
    for (extent, stride) in extents.iter().zip(&strides).rev() {
        if *extent < 1 || *extent > 1 && *stride != next {
            return false;
        }
        next *= extent;
    }
    strides.len() == extents.len()
}
