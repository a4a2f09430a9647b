// SPDX-License-Identifier: Apache-2.0
//! Operations of the dialect `memref`.

use super::typed::{self, typed};
use super::types::DYNAMIC;
use super::uses::{definition, users};
use super::{Builder, ValueKey, attributes, ops, shape};
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
    op.result_count() == 1 && VIEWS.iter().any(|view| skript_dialect::op::is(&op, view))
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
pub(crate) fn users_of_buffer<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<Vec<OperationRef<'c, 'a>>> {
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
    let offset = match offset {
        0.. => (offset + first.sum::<i64>()).to_string(),
        _ => "?".to_owned(),
    };
    let shape: Vec<String> = sizes.iter().map(|size| format!("{size}x")).collect();
    let strides: Vec<String> =
        strides.iter().zip(steps).map(|(s, step)| s * step).map(|s| s.to_string()).collect();
    let r#type = format!(
        "memref<{}{}, strided<[{}], offset: {offset}>>",
        shape.concat(),
        memref.element(),
        strides.join(", ")
    );
    let list = |values: &[i64]| attributes::i64s(at.context, values);
    let attributes = [
        ("operandSegmentSizes", attributes::i32s(at.context, &[1, 0, 0, 0])),
        ("static_offsets", list(offsets)),
        ("static_sizes", list(sizes)),
        ("static_strides", list(steps)),
    ];
    let r#type = Type::parse(at.context, &r#type).ok_or(Error::OperationBuild)?;
    at.value(ops::memref::SUBVIEW, &[array], &attributes, r#type)
}

/// An extent: known, or a value.
#[derive(Clone, Copy)]
pub(crate) enum Extent<'c, 'a> {
    Known(i64),
    Value(Value<'c, 'a>),
}

impl<'c, 'a> Extent<'c, 'a> {
    /// The value of an extent that is not known.
    pub(crate) fn value(self) -> Option<Value<'c, 'a>> {
        match self {
            Extent::Known(_) => None,
            Extent::Value(value) => Some(value),
        }
    }

    /// The extent as in lists of static extents.
    fn or_dynamic(self) -> i64 {
        match self {
            Extent::Known(extent) => extent,
            Extent::Value(_) => DYNAMIC,
        }
    }
}

/// A view of consecutive elements of an array: `sizes` of them from `firsts` on, which are 0 where they are `None`.
///
/// # Errors
/// The operand is no array with strides.
pub(crate) fn block<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    array: Value<'c, 'a>,
    firsts: &[Option<Value<'c, 'a>>],
    sizes: &[Extent<'c, 'a>],
) -> Result<Value<'c, 'a>, Error> {
    let text = |n: i64| match n {
        0.. => n.to_string(),
        _ => "?".to_owned(),
    };
    let memref = MemRefType::try_from(array.r#type())?;
    let (strides, offset) = memref.strides_and_offset();
    let shape: Vec<String> = sizes.iter().map(|size| text(size.or_dynamic()) + "x").collect();
    let strides: Vec<String> = strides.into_iter().map(text).collect();
    let dynamic: Vec<Value> = firsts.iter().flatten().copied().collect();
    let open: Vec<Value> = sizes.iter().filter_map(|size| size.value()).collect();
    let offset = if dynamic.is_empty() { text(offset) } else { "?".to_owned() };
    let r#type = format!(
        "memref<{}{}, strided<[{}], offset: {offset}>>",
        shape.concat(),
        memref.element(),
        strides.join(", ")
    );
    let list = |values: &[i64]| attributes::i64s(at.context, values);
    let count = |values: &[Value]| i32::try_from(values.len()).map_err(|_| Error::OperationBuild);
    let of_first = |first: &Option<Value>| first.map_or(0, |_| DYNAMIC);
    let offsets: Vec<i64> = firsts.iter().map(of_first).collect();
    let known: Vec<i64> = sizes.iter().map(|size| size.or_dynamic()).collect();
    let segments = [1, count(&dynamic)?, count(&open)?, 0];
    let attributes = [
        ("operandSegmentSizes", attributes::i32s(at.context, &segments)),
        ("static_offsets", list(&offsets)),
        ("static_sizes", list(&known)),
        ("static_strides", list(&vec![1; sizes.len()])),
    ];
    let r#type = Type::parse(at.context, &r#type).ok_or(Error::OperationBuild)?;
    let operands = [&[array][..], &dynamic, &open].concat();
    at.value(ops::memref::SUBVIEW, &operands, &attributes, r#type)
}

/// The array without gaps whose strides a value has: the value itself, or an array that it is a part of. Strides of the part's
/// dimensions with several elements then follow from the part's own extents: those dynamic extents of the array that they are
/// multiples of are whole in the part. `None` for others.
pub(crate) fn dense<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let is_dense = |value: Value| {
        let kind = MemRefType::try_from(value.r#type());
        kind.is_ok_and(|kind| kind.affine_map().is_identity())
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

/// Whether a part of an array has all of a dynamic extent.
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
    let maker = definition(source).map(|(maker, _)| maker);
    let all = maker.and_then(|maker| shape::dynamic_size(maker, number(&extents(source.r#type()))));
    let is_dim = || {
        let dim = definition(size).and_then(|(op, _)| shape::Dim::cast(op));
        dim.is_some_and(|dim| {
            dim.dimension() == Some(dimension) && dim.source().is_ok_and(|own| own == source)
        })
    };
    all == Some(size) || is_dim()
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
    let r#type =
        format!("memref<{}{element}, strided<[{}], offset: {offset}>>", shape.concat(), steps.join(", "));
    let list = |values: &[i64]| attributes::i64s(at.context, values);
    let attributes = [
        ("operandSegmentSizes", attributes::i32s(at.context, &[1, 0, 0, 0])),
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
        if range.is_empty() {
            range = offsets.into_iter().zip(sizes).collect()
        } else {
            let own = range.iter_mut().zip(offsets);
            own.for_each(|((first, _), offset)| *first += offset);
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

/// Whether elements are whole bytes, as those of vectors in memory are.
pub(crate) fn has_whole_bytes(array: Value) -> bool {
    let kind = MemRefType::try_from(array.r#type()).map(|memref| memref.element());
    let bits = kind.ok().and_then(|kind| {
        let text = kind.to_string();
        let is_number = kind.is_integer() || kind.is_float();
        let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit());
        digits.parse().ok().filter(|_: &i64| is_number)
    });
    bits.is_some_and(|bits| [8, 16, 32, 64].contains(&bits))
}

/// Whether the elements of an array follow each other without gaps, in the order of its subscripts.
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
