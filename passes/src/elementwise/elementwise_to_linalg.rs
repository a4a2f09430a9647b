// SPDX-License-Identifier: Apache-2.0
//! `convert-skript-elementwise-to-linalg`: converts every operation with the elementwise trait on ranked tensors to
//! `linalg.generic`.
//!
//! One pattern converts operations of all dialects: the operation itself, cloned on scalars, becomes the payload.
//! Scalars among the operands are captured.
//!
//! Requires: broadcasts are explicit. Guarantees: no elementwise operation on tensors is left.

use crate::ir::ops;
use crate::ir::{Builder, linalg, maps, types};
use crate::structure::Affine;
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::melior::ir::OperationRef;
use skript_dialect::melior::ir::block::BlockLike;
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::{Dialect, Pass, PassError, op};

/// The pass `convert-skript-elementwise-to-linalg`.
pub(crate) const PASS: Pass = Pass {
    flag: "convert-skript-elementwise-to-linalg",
    summary: "convert elementwise operations on tensors to linalg.generic",
    dependent_dialects: &[Dialect::Linalg, Dialect::Tensor, Dialect::Arith],
    run: |root, _, rewriter| {
        let context = rewriter.context();
        let otherwise = "is elementwise but its results are not all ranked tensors";
        super::replace_all(&root, rewriter, is_tensor, otherwise, |found| {
            convert(found, &Builder::before(context, found)?)
        })
    },
    ..Pass::NONE
};

pub(super) fn is_tensor(r#type: Type<'_>) -> bool {
    use melior::ir::TypeLike;
    r#type.is_tensor()
}

fn convert<'c: 'a, 'a>(
    found: OperationRef<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<Option<Vec<Value<'c, 'a>>>, PassError> {
    let result_types: Vec<Type<'c>> = found.results().map(|r| r.r#type()).collect();
    let elements: Option<Vec<Type<'c>>> = result_types.iter().map(|t| types::element_of(*t)).collect();
    let (Some(elements), Some(rank)) =
        (elements, result_types.first().and_then(|t| types::extents(*t)).map(|e| e.len()))
    else {
        return Ok(None);
    };
    let operands: Vec<Value<'c, 'a>> = found.operands().collect();
    let tensors: Vec<Value<'c, 'a>> = operands.iter().copied().filter(|v| is_tensor(v.r#type())).collect();
    let Some(model) = tensors.first().copied() else {
        return Ok(None);
    };
    let mut inits = Vec::new();
    for r#type in &result_types {
        inits.push(empty_like(model, *r#type, at)?);
    }
    let mut argument_types = Vec::new();
    for tensor in &tensors {
        let Some(element) = types::element_of(tensor.r#type()) else {
            return Ok(None);
        };
        argument_types.push(element);
    }
    argument_types.extend(&elements);
    let (region, body, arguments) = at.region(&argument_types);
    let mut next = arguments.iter();
    let scalars: Vec<Value<'c, 'a>> = operands
        .iter()
        .filter_map(|v| if is_tensor(v.r#type()) { next.next().copied() } else { Some(*v) })
        .collect();
    let payload = body.block.append_operation(op::clone_with(&found, &scalars, &elements));
    let yielded: Vec<Value<'c, 'a>> = payload.results().map(Into::into).collect();
    body.create(ops::linalg::YIELD, &yielded, &[], &[], Vec::new())?;

    let identity: Vec<Affine> = (0..rank).map(Affine::index).collect();
    let unparsable = "linalg is not loaded";
    let map = maps::map(at.context, rank, &identity).ok_or(unparsable)?;
    let indexing = vec![map; tensors.len() + inits.len()];
    let parallel = std::iter::repeat_n(false, rank);
    let counts = [tensors.len(), inits.len()];
    let attributes = linalg::generic_attributes(at.context, &indexing, parallel, counts);
    let all = [tensors, inits].concat();
    let generic =
        at.create(ops::linalg::GENERIC, &all, &attributes.ok_or(unparsable)?, &result_types, vec![region])?;
    Ok(Some(generic.results().map(Into::into).collect()))
}

/// An empty tensor; its dynamic extents are those of `model`.
fn empty_like<'c: 'a, 'a>(
    model: Value<'c, 'a>,
    r#type: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let extents = dynamic_extents(model, r#type, at)?;
    Ok(at.value(ops::tensor::EMPTY, &extents, &[], r#type)?)
}

/// The dynamic extents of `type`, queried from `model`, which has the same shape.
pub(super) fn dynamic_extents<'c: 'a, 'a>(
    model: Value<'c, 'a>,
    r#type: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, PassError> {
    let mut extents = Vec::new();
    for (dimension, extent) in types::extents(r#type).unwrap_or_default().iter().enumerate() {
        if *extent == types::DYNAMIC {
            let dimension = i64::try_from(dimension).map_err(|_| "too many dimensions")?;
            let dimension = at.index(dimension)?;
            extents.push(at.value(ops::tensor::DIM, &[model, dimension], &[], Type::index(at.context))?);
        }
    }
    Ok(extents)
}
