// SPDX-License-Identifier: Apache-2.0
//! Creates `linalg.generic` operations on tensors.

use crate::ir::{Builder, linalg, maps, ops, types};
use crate::structure::Affine;
use melior::ir::{Attribute, Type, Value, ValueLike};
use skript_dialect::PassError;
use skript_dialect::melior;

/// A tensor that is read, with its subscripts by loops.
#[derive(Clone, Debug)]
pub(super) struct Input<'c, 'a>(pub(super) Value<'c, 'a>, pub(super) Vec<Affine>);

/// The subscripts of a tensor whose dimensions are the loops.
pub(super) fn identity(rank: usize) -> Vec<Affine> {
    (0..rank).map(Affine::index).collect()
}

/// An elementwise operation whose loops are the dimensions of its result; `extents` are the dynamic ones.
pub(super) fn map_generic<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    inputs: &[Input<'c, 'a>],
    result: Type<'c>,
    extents: &[Value<'c, 'a>],
    body: impl FnOnce(&Builder<'c, 'a>, &[Value<'c, 'a>]) -> Result<Value<'c, 'a>, PassError>,
) -> Result<Value<'c, 'a>, PassError> {
    let rank = types::extents(result).map_or(0, |extents| extents.len());
    let empty = at.value(ops::tensor::EMPTY, extents, &[], result)?;
    let output = Input(empty, identity(rank));
    generic(at, inputs, &output, &vec![false; rank], body)
}

/// A `linalg.generic`; `reductions` has whether each loop is one. The payload gets the elements, that of the output last.
pub(super) fn generic<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    inputs: &[Input<'c, 'a>],
    output: &Input<'c, 'a>,
    reductions: &[bool],
    body: impl FnOnce(&Builder<'c, 'a>, &[Value<'c, 'a>]) -> Result<Value<'c, 'a>, PassError>,
) -> Result<Value<'c, 'a>, PassError> {
    let operands = || inputs.iter().chain([output]);
    let indexing = operands().map(|Input(_, forms)| maps::map(at.context, reductions.len(), forms));
    let indexing: Option<Vec<Attribute>> = indexing.collect();
    let indexing = indexing.ok_or("a map that MLIR does not parse")?;
    let elements = operands().map(|Input(tensor, _)| types::element_of(tensor.r#type()));
    let elements: Option<Vec<Type>> = elements.collect();
    let elements = elements.ok_or("an operand that is not a tensor")?;
    let (region, inner, arguments) = at.region(&elements);
    let value = body(&inner, &arguments)?;
    inner.create(ops::linalg::YIELD, &[value], &[], &[], Vec::new())?;
    let attributes =
        linalg::generic_attributes(at.context, &indexing, reductions.iter().copied(), [inputs.len(), 1]);
    let tensors: Vec<Value> = operands().map(|Input(tensor, _)| *tensor).collect();
    let op = at.create(
        ops::linalg::GENERIC,
        &tensors,
        &attributes.ok_or("linalg is not loaded")?,
        &[output.0.r#type()],
        vec![region],
    )?;
    Ok(op.result(0)?.into())
}
