// SPDX-License-Identifier: Apache-2.0
//! `skript-open-arguments`: turns arrays of the entry into views of byte arrays.
//!
//! C callers pass pointers. MLIR's bare-pointer convention supports neither zero nor dynamic extents, but it supports byte
//! arrays. Each view is created before its first use.
//!
//! Requires: a bufferized entry of one block with contiguous arrays; an argument with dynamic extents has upper bounds in
//! `skript.bounds`, and another argument, marked `skript.extents` with its position, holds its i64 extents; an argument
//! marked `skript.result_extents` receives the extents of a result.
//! Guarantees: every array argument of the entry is bytes or extents.

use super::order::Order;
use crate::extents::size;
use crate::ir::{self, Builder, attribute_names, attributes, mutation, ops, types};
use melior::ir::operation::OperationRef;
use melior::ir::r#type::MemRefType;
use melior::ir::{Attribute, AttributeLike, ShapedTypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError};

/// The pass `skript-open-arguments`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-open-arguments",
    summary: "turn arrays of the entry into views of bytes",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::MemRef],
    run: |root, _, _| open_arguments(root),
    ..Pass::NONE
};

fn open_arguments(module: OperationRef) -> Result<(), PassError> {
    let entry = ir::uncalled_entry(module)?;
    let body = ir::body(entry)?;
    let order = Order::new(body);
    let arguments = ir::arguments(body);
    let attributes = ir::argument_attributes(entry);
    // Returns the argument that holds the extents of the argument at `position`.
    let holder = |position: usize| {
        let holds = |n: &usize| extents_owner(&attributes, *n) == Some(position);
        (0..arguments.len()).find(holds).and_then(|n| arguments.get(n).copied())
    };
    for (n, argument) in arguments.iter().enumerate() {
        let Ok(memref) = MemRefType::try_from(argument.r#type()) else {
            continue;
        };
        if is_extents(&attributes, n) || is_bytes(memref) {
            continue;
        }
        let refuse = |why: &str| PassError::at(entry, format!("argument {n} {why}"));
        if !memref.layout().is_affine_map() {
            return Err(refuse("is not a contiguous array: its layout has strides"));
        }
        let bounds = bounds(memref, named(&attributes, n, attribute_names::BOUNDS))
            .ok_or_else(|| refuse("has a dynamic extent without an upper bound"))?;
        let bytes = size::element_bytes(memref.element())
            .and_then(|element| bounds.iter().try_fold(element, |bytes, extent| bytes.checked_mul(*extent)))
            .and_then(|bytes| i64::try_from(bytes).ok())
            .ok_or_else(|| refuse("has no size"))?;
        let extents = holder(n);
        if extents.is_none() && !memref.has_static_shape() {
            return Err(refuse("has a dynamic extent, and no argument with `skript.extents` holds it"));
        }
        if let Some(first) = order.first_user(*argument) {
            replace_by_view(*argument, &dynamic_bounds(memref, &bounds), extents, first)?;
        }
        // The array has at least one byte: the pointer of an empty array may be invalid. The only user is the view, which accepts bytes.
        let byte = types::int(ir::context::of(entry), 8);
        mutation::retype(*argument, types::memref(&[bytes.max(1)], byte));
    }
    Ok(ir::set_signature(entry, None)?)
}

/// Whether an argument holds or receives extents.
fn is_extents(attributes: &[Attribute], argument: usize) -> bool {
    let marks = [attribute_names::EXTENTS, attribute_names::RESULT_EXTENTS];
    marks.iter().any(|mark| named(attributes, argument, mark).is_some())
}

/// Whether an array is already an array of bytes, such as the slot of an output.
fn is_bytes(memref: MemRefType) -> bool {
    let extents = types::shape(memref.into());
    memref.element().to_string() == "i8" && matches!(extents.as_slice(), [n] if *n > 0)
}

/// Replaces an array by a view of the array as bytes, before the first user of the array. `bounds` are the upper bounds of its dynamic
/// extents.
fn replace_by_view<'c: 'a, 'a>(
    array: Value<'c, 'a>,
    bounds: &[(usize, u64)],
    extents: Option<Value<'c, 'a>>,
    first: OperationRef<'c, 'a>,
) -> Result<(), PassError> {
    let at = Builder::at(first);
    let mut operands = vec![array, at.idx(0)];
    if let Some(extents) = extents {
        for (dimension, bound) in bounds {
            operands.push(load(extents, *dimension, *bound, &at)?);
        }
    }
    let view = at.create(ops::memref::VIEW, &operands, &[], &[array.r#type()], Vec::new())?;
    ir::replace_uses(array, view.result(0)?.into());
    mutation::set_operand(view, 0, array);
    Ok(())
}

/// Returns the static extents of an array and the upper bounds of its dynamic extents.
fn bounds(memref: MemRefType, attribute: Option<Attribute>) -> Option<Vec<u64>> {
    let declared = attribute.and_then(attributes::integers);
    let extents = types::shape(memref.into()).into_iter().enumerate();
    extents
        .map(|(n, extent)| match extent {
            types::DYNAMIC => u64::try_from(*declared.as_ref()?.get(n)?).ok(),
            extent => u64::try_from(extent).ok(),
        })
        .collect()
}

/// Returns the dimensions with dynamic extents, with their upper bounds.
fn dynamic_bounds(memref: MemRefType, bounds: &[u64]) -> Vec<(usize, u64)> {
    let extents = types::shape(memref.into()).into_iter().zip(bounds).enumerate();
    extents.filter(|(_, (extent, _))| *extent == types::DYNAMIC).map(|(n, (_, bound))| (n, *bound)).collect()
}

/// Loads an extent that the caller passes, clamped to its upper bound.
fn load<'c: 'a, 'a>(
    extents: Value<'c, 'a>,
    dimension: usize,
    bound: u64,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let position = at.idx(ir::signed(dimension));
    let extent = at.load(extents, &[position]);
    let extent = at.index_cast(extent, at.index_type());
    let bound = at.idx(i64::try_from(bound).map_err(|_| "an extent exceeds 64 bits")?);
    Ok(at.minui(extent, bound))
}

fn named<'c>(dictionaries: &[Attribute<'c>], argument: usize, name: &str) -> Option<Attribute<'c>> {
    attributes::entry(*dictionaries.get(argument)?, name)
}

/// Returns the position of the argument whose extents `argument` holds.
fn extents_owner(dictionaries: &[Attribute], argument: usize) -> Option<usize> {
    let position = named(dictionaries, argument, attribute_names::EXTENTS).and_then(attributes::number)?;
    usize::try_from(position).ok()
}

/// Returns the arguments of the entry whose extents are passed in another argument.
pub(crate) fn extents_from_caller(entry: OperationRef) -> Vec<usize> {
    let attributes = ir::argument_attributes(entry);
    (0..attributes.len()).filter_map(|n| extents_owner(&attributes, n)).collect()
}
