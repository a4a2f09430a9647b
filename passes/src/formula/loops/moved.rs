// SPDX-License-Identifier: Apache-2.0
//! Moves one dimension of a tensor to the end, and back.

use crate::formula::Refusal;
use crate::ir::generic::{Access, LoopNest, Operand, copy_of, rebuild};
use crate::ir::{self, Builder, Copier, linalg, maps, memref, ops, types};
use crate::structure::Affine;
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

/// Moves a dimension of a tensor to the end. The tensor must have static extents.
pub(super) fn moved<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    dimension: usize,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Refusal> {
    let extents = types::shape(tensor.r#type());
    let from: Vec<usize> = to_end(&(0..extents.len()).collect::<Vec<_>>(), dimension);
    match recomputed(tensor, &from, at)? {
        Some(computed) => Ok(computed),
        None => transposed(tensor, &from, at),
    }
}

/// Views a buffer with its last dimension moved back to `dimension`, as in a tensor of type `of`.
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
    let of = |items: &[i64]| -> Vec<i64> { from.iter().filter_map(|n| items.get(*n)).copied().collect() };
    let r#type = memref::strided(at.context, &of(&extents), element, (0, &of(&strides)), None);
    let forms: Vec<Affine> = from.iter().map(|n| Affine::index(*n)).collect();
    let map = maps::map(at.context, forms.len(), &forms).ok_or_else(unknown)?;
    let named = [("permutation", map)];
    Ok(at.value(ops::memref::TRANSPOSE, &[buffer], &named, r#type)?)
}

/// Rebuilds the elementwise operation that computes the tensor, so that it writes the new order of dimensions. `None` if the tensor is
/// computed otherwise, or has other users.
fn recomputed<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    from: &[usize],
    at: &Builder<'c, 'a>,
) -> Result<Option<Value<'c, 'a>>, Refusal> {
    let Some(nest) = ir::definition(tensor).and_then(|(op, _)| LoopNest::read(op)) else {
        return Ok(None);
    };
    let is_written = |output: &Operand<'c, 'a>| nest.is_in_order(output) && !output.is_read();
    let is_map = nest.reductions == vec![false; from.len()] && nest.output().is_some_and(is_written);
    if !is_map || nest.is_on_arrays() || ir::users(tensor).len() != 1 {
        return Ok(None);
    }
    let r#type = moved_type(tensor, from)?;
    let mut operands: Vec<Access> = nest.operands.iter().map(Operand::access).collect();
    operands.pop();
    let init = at.value(ops::tensor::EMPTY, &[], &[], r#type)?;
    operands.push(Access(init, from.iter().copied().map(Affine::index).collect()));
    let computed = rebuild(at, &nest, &operands, &nest.reductions, |body, elements| {
        nest.copy_payload(Copier::new(), elements, body, &mut |_, _, _| Ok(false))
    })?;
    let value = computed.result(0)?.into();
    linalg::reorder_loops(computed, from, at.context);
    Ok(Some(value))
}

/// The type of the result: its dimension n is dimension `from[n]` of `tensor`.
fn moved_type<'c>(tensor: Value<'c, '_>, from: &[usize]) -> Result<Type<'c>, Refusal> {
    let unknown = || Refusal::Shape("moves a dimension of a value that is not a tensor");
    let extents = types::extents(tensor.r#type()).ok_or_else(unknown)?;
    let new: Option<Vec<i64>> = from.iter().map(|n| extents.get(*n).copied()).collect();
    Ok(types::tensor(&new.ok_or_else(unknown)?, types::element_or_self(tensor.r#type())))
}

/// Transposes a tensor: dimension n of the copy is dimension `from[n]` of the tensor.
fn transposed<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    from: &[usize],
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Refusal> {
    let position = |old: usize| from.iter().position(|from| *from == old).map(Affine::index);
    let read: Option<Vec<Affine>> = (0..from.len()).map(position).collect();
    let read = read.ok_or(Refusal::Shape("moves a dimension twice"))?;
    Ok(copy_of(at, Access(tensor, read), moved_type(tensor, from)?, &[])?)
}
