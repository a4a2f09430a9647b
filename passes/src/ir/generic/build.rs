// SPDX-License-Identifier: Apache-2.0
//! Creates `linalg.generic` operations.

use super::super::copy::{Copier, Special, with_attributes};
use super::super::linalg::generic_attributes;
use super::super::{Builder, maps, ops, types};
use super::LoopNest;
use melior::Error;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, OperationRef, Type, Value, ValueLike};
use skript_dialect::melior;
use skript_symbolic::Affine;

/// A tensor, a memref or a scalar, with its subscripts as affine forms of the loops.
#[derive(Clone, Debug)]
pub struct Access<'c, 'a>(pub Value<'c, 'a>, pub Vec<Affine>);

/// The subscripts of an identity map.
pub fn all_loops(rank: usize) -> Vec<Affine> {
    (0..rank).map(Affine::index).collect()
}

/// Creates a `linalg.generic`. `reductions` specifies for each loop whether it reduces. `payload` receives the elements of the
/// inputs and outputs, and returns the new elements of the outputs.
///
/// # Errors
/// The payload's error, or the builder's.
pub fn generic<'c: 'a, 'a, E: From<Error>>(
    at: &Builder<'c, 'a>,
    inputs: &[Access<'c, 'a>],
    outputs: &[Access<'c, 'a>],
    reductions: &[bool],
    payload: impl FnOnce(&Builder<'c, 'a>, &[Value<'c, 'a>]) -> Result<Vec<Value<'c, 'a>>, E>,
) -> Result<OperationRef<'c, 'a>, E> {
    build(at, None, inputs, outputs, reductions, payload)
}

/// Creates an elementwise operation on tensors. Its loops are the dimensions of `result`, whose dynamic extents are
/// `extents`.
///
/// # Errors
/// The payload's error, or the builder's.
pub fn map<'c: 'a, 'a, E: From<Error>>(
    at: &Builder<'c, 'a>,
    inputs: &[Access<'c, 'a>],
    result: Type<'c>,
    extents: &[Value<'c, 'a>],
    payload: impl FnOnce(&Builder<'c, 'a>, &[Value<'c, 'a>]) -> Result<Value<'c, 'a>, E>,
) -> Result<Value<'c, 'a>, E> {
    let rank = types::shape(result).len();
    let empty = at.value(ops::tensor::EMPTY, extents, &[], result)?;
    let output = Access(empty, all_loops(rank));
    let op = generic(at, inputs, &[output], &vec![false; rank], |body, elements| {
        payload(body, elements).map(|value| vec![value])
    })?;
    Ok(super::super::result(op)?)
}

/// Creates a tensor whose elements are those of `source` at its subscripts, such as a transposed or broadcast tensor.
///
/// # Errors
/// The builder's error.
pub fn copy_of<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    source: Access<'c, 'a>,
    result: Type<'c>,
    extents: &[Value<'c, 'a>],
) -> Result<Value<'c, 'a>, Error> {
    map(at, &[source], result, extents, |_, elements| elements.first().copied().ok_or(Error::OperationBuild))
}

/// Recreates a nest with other operands, loops and payload, but the same other attributes.
pub(crate) fn rebuild<'c: 'a, 'a, E: From<Error>>(
    at: &Builder<'c, 'a>,
    nest: &LoopNest<'c, 'a>,
    operands: &[Access<'c, 'a>],
    reductions: &[bool],
    payload: impl FnOnce(&Builder<'c, 'a>, &[Value<'c, 'a>]) -> Result<Vec<Value<'c, 'a>>, E>,
) -> Result<OperationRef<'c, 'a>, E> {
    let inputs = operands.len().saturating_sub(nest.yielded.len());
    let (inputs, outputs) = operands.split_at(inputs);
    build(at, Some(nest.op), inputs, outputs, reductions, payload)
}

/// Creates the operation, with the other attributes of `like`.
fn build<'c: 'a, 'a, E: From<Error>>(
    at: &Builder<'c, 'a>,
    like: Option<OperationRef<'c, 'a>>,
    inputs: &[Access<'c, 'a>],
    outputs: &[Access<'c, 'a>],
    reductions: &[bool],
    payload: impl FnOnce(&Builder<'c, 'a>, &[Value<'c, 'a>]) -> Result<Vec<Value<'c, 'a>>, E>,
) -> Result<OperationRef<'c, 'a>, E> {
    let all = || inputs.iter().chain(outputs);
    let values: Vec<Value> = all().map(|Access(value, _)| *value).collect();
    let elements: Vec<Type> = values.iter().map(|value| types::element_or_self(value.r#type())).collect();
    let (region, body, arguments) = at.region(&elements);
    let yielded = payload(&body, &arguments)?;
    body.create(ops::linalg::YIELD, &yielded, &[], &[], Vec::new())?;
    let indexing = all().map(|Access(_, forms)| maps::map(at.context, reductions.len(), forms));
    let indexing: Vec<Attribute> = indexing.collect::<Option<_>>().ok_or(Error::OperationBuild)?;
    let counts = [inputs.len(), outputs.len()];
    let attributes = generic_attributes(at.context, &indexing, reductions.iter().copied(), counts);
    let results = outputs.iter().map(|Access(output, _)| output.r#type());
    let results: Vec<Type> = results.filter(|kind| types::extents(*kind).is_some()).collect();
    Ok(match like {
        Some(op) => with_attributes(op, &values, &results, vec![region], &attributes, at)?,
        None => at.create(ops::linalg::GENERIC, &values, &attributes, &results, vec![region])?,
    })
}

impl<'c: 'a, 'a> LoopNest<'c, 'a> {
    /// Copies the payload with other elements, and returns the new elements of the outputs. `copier` has the replacements
    /// of other values; see [`Copier::copy`] for `special`.
    pub(crate) fn copy_payload(
        &self,
        mut copier: Copier<'c, 'a>,
        elements: &[Value<'c, 'a>],
        to: &Builder<'c, 'a>,
        special: &mut Special<'_, 'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, Error> {
        for (operand, element) in self.operands.iter().zip(elements) {
            copier.set(operand.element, *element);
        }
        for op in &self.payload {
            copier.copy(*op, &to.with_location(op.location()), special)?;
        }
        Ok(self.yielded.iter().map(|value| copier.get(*value)).collect())
    }
}
