// SPDX-License-Identifier: Apache-2.0
//! Copies of tensors with one dimension moved to the end, and back.

use crate::formula::Refusal;
use crate::ir::linalg::{self, Generic, generic_attributes};
use crate::ir::{self, Builder, Copier, copy, maps, ops, types};
use crate::structure::Affine;
use melior::ir::attribute::ArrayAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{Type, Value, ValueLike};

/// Moves item `dimension` to the end.
pub(super) fn to_end<T: Clone>(items: &[T], dimension: usize) -> Vec<T> {
    let mut items = items.to_vec();
    if dimension < items.len() {
        let item = items.remove(dimension);
        items.push(item);
    }
    items
}

/// The tensor with a dimension at the end. It has static extents.
pub(super) fn moved<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    dimension: usize,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Refusal> {
    let extents = types::extents(tensor.r#type()).unwrap_or_default();
    let from: Vec<usize> = to_end(&(0..extents.len()).collect::<Vec<_>>(), dimension);
    match recomputed(tensor, &from, at)? {
        Some(computed) => Ok(computed),
        None => transposed(tensor, &from, at),
    }
}

/// A view of a buffer, with its last dimension as this one: as a tensor of type `of` has it.
pub(super) fn restored<'c: 'a, 'a>(
    buffer: Value<'c, 'a>,
    of: Type<'c>,
    dimension: usize,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Refusal> {
    let unknown = || Refusal::Shape("moves a dimension of a value that is not a tensor");
    let element = types::element_of(of).ok_or_else(unknown)?;
    let extents = to_end(&types::extents(of).ok_or_else(unknown)?, dimension);
    let mut strides = Vec::new();
    let mut stride = 1i64;
    for extent in extents.iter().rev() {
        strides.insert(0, stride);
        stride = stride.checked_mul(*extent).ok_or_else(unknown)?;
    }
    let mut from: Vec<usize> = (0..extents.len().saturating_sub(1)).collect();
    from.insert(dimension.min(from.len()), from.len());
    let of = |items: &[i64]| -> Vec<String> {
        let items = from.iter().filter_map(|n| items.get(*n));
        items.map(i64::to_string).collect()
    };
    let r#type =
        format!("memref<{}x{}, strided<[{}]>>", of(&extents).join("x"), element, of(&strides).join(", "));
    let r#type = Type::parse(at.context, &r#type).ok_or_else(unknown)?;
    let forms: Vec<Affine> = from.iter().map(|n| Affine::index(*n)).collect();
    let map = maps::map(at.context, forms.len(), &forms).ok_or_else(unknown)?;
    let named = [("permutation", map)];
    Ok(at.value(ops::memref::TRANSPOSE, &[buffer], &named, r#type)?)
}

/// The tensor in the new order, if it is a map that nothing else uses: its loops write the new order.
fn recomputed<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    from: &[usize],
    at: &Builder<'c, 'a>,
) -> Result<Option<Value<'c, 'a>>, Refusal> {
    let Some((op, _)) = ir::definition(tensor) else {
        return Ok(None);
    };
    let Some(generic) = Generic::cast(op) else {
        return Ok(None);
    };
    let rank = from.len();
    let identity: Vec<Affine> = (0..rank).map(Affine::index).collect();
    let mut indexing = generic.indexing_maps();
    let written = indexing.pop();
    let is_map = op.result_count() == 1
        && generic.reductions() == vec![false; rank]
        && written.is_some()
        && written == maps::map(at.context, rank, &identity);
    let uses = ir::users(tensor);
    let Some(body) = generic.body().filter(|_| is_map && uses.len() == 1) else {
        return Ok(None);
    };
    let arguments = copy::arguments(body);
    let present = arguments.last().copied();
    if present.is_none_or(skript_dialect::op::is_used) {
        return Ok(None);
    }
    let unknown = || Refusal::Shape("moves a dimension of a value that is not a tensor");
    let element = types::element_of(tensor.r#type()).ok_or_else(unknown)?;
    let extents = types::extents(tensor.r#type()).ok_or_else(unknown)?;
    let new: Option<Vec<i64>> = from.iter().map(|n| extents.get(*n).copied()).collect();
    let r#type = types::tensor(&new.ok_or_else(unknown)?, element);
    let init = at.value(ops::tensor::EMPTY, &[], &[], r#type)?;
    let forms: Vec<Affine> = from.iter().map(|n| Affine::index(*n)).collect();
    indexing.push(maps::map(at.context, rank, &forms).ok_or_else(unknown)?);
    let mut operands: Vec<Value> = op.operands().collect();
    operands.pop();
    operands.push(init);
    let kinds: Vec<Type> = arguments.iter().map(|a| a.r#type()).collect();
    let (region, inside, own) = at.region(&kinds);
    let mut copier = Copier::new();
    for (old, new) in arguments.into_iter().zip(own) {
        copier.set(old, new);
    }
    for op in ir::operations(body) {
        copier.copy(op, &inside.with_location(op.location()), &mut |_, _, _| Ok(false))?;
    }
    let indexing = ArrayAttribute::new(at.context, &indexing).into();
    let others = [("indexing_maps", indexing)];
    let computed = copy::with_attributes(op, &operands, &[r#type], vec![region], &others, at)?;
    let value = computed.result(0)?.into();
    linalg::reorder_loops(computed, from, at.context);
    Ok(Some(value))
}

/// A copy: dimension n of it is dimension `from[n]` of the tensor.
fn transposed<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    from: &[usize],
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Refusal> {
    let unknown = || Refusal::Shape("moves a dimension of a value that is not a tensor");
    let extents = types::extents(tensor.r#type()).ok_or_else(unknown)?;
    let element = types::element_of(tensor.r#type()).ok_or_else(unknown)?;
    let new: Option<Vec<i64>> = from.iter().map(|n| extents.get(*n).copied()).collect();
    let r#type = types::tensor(&new.ok_or_else(unknown)?, element);
    let init = at.value(ops::tensor::EMPTY, &[], &[], r#type)?;
    let rank = from.len();
    let position = |old: usize| from.iter().position(|own| *own == old);
    let read: Option<Vec<Affine>> = (0..rank).map(|old| position(old).map(Affine::index)).collect();
    let written: Vec<Affine> = (0..rank).map(Affine::index).collect();
    let maps = [read.ok_or_else(unknown)?, written];
    let maps: Vec<_> = maps
        .iter()
        .map(|forms| maps::map(at.context, rank, forms))
        .collect::<Option<_>>()
        .ok_or_else(unknown)?;
    let attributes = generic_attributes(at.context, &maps, vec![false; rank], [1, 1]);
    let (region, body, arguments) = at.region(&[element, element]);
    let read = arguments.get(..1).unwrap_or_default();
    body.create(ops::linalg::YIELD, read, &[], &[], Vec::new())?;
    let op = at.create(
        ops::linalg::GENERIC,
        &[tensor, init],
        &attributes.ok_or_else(unknown)?,
        &[r#type],
        vec![region],
    )?;
    Ok(op.result(0)?.into())
}
