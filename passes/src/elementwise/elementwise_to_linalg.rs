// SPDX-License-Identifier: Apache-2.0
//! `convert-skript-elementwise-to-linalg`: converts every operation with the elementwise trait on ranked tensors to
//! `linalg.generic`.
//!
//! The same pattern converts operations of all dialects. The operation, cloned on scalars, becomes the payload.
//! Scalar operands are captured.
//!
//! Requires: broadcasts are explicit. Guarantees: no elementwise operations on tensors remain.

use crate::ir::generic::{Access, all_loops, generic};
use crate::ir::ops;
use crate::ir::{Builder, types};
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::melior::ir::OperationRef;
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::{Dialect, Pass, PassError, op};

pub(crate) const PASS: Pass = Pass {
    flag: "convert-skript-elementwise-to-linalg",
    summary: "convert elementwise operations on tensors to linalg.generic",
    dependent_dialects: &[Dialect::Linalg, Dialect::Tensor, Dialect::Arith],
    run: |root, _, rewriter| {
        let context = rewriter.context();
        let otherwise = "is elementwise but its results are not all ranked tensors";
        super::replace_all(&root, rewriter, is_tensor, otherwise, |op| {
            convert(op, &Builder::before(context, op)?)
        })
    },
    ..Pass::NONE
};

pub(super) fn is_tensor(r#type: Type<'_>) -> bool {
    use melior::ir::TypeLike;
    r#type.is_tensor()
}

fn convert<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<Option<Vec<Value<'c, 'a>>>, PassError> {
    let result_types: Vec<Type<'c>> = op.results().map(|r| r.r#type()).collect();
    let elements: Option<Vec<Type<'c>>> = result_types.iter().map(|t| types::element_of(*t)).collect();
    let operands: Vec<Value<'c, 'a>> = op.operands().collect();
    let tensors: Vec<Value<'c, 'a>> = operands.iter().copied().filter(|v| is_tensor(v.r#type())).collect();
    let (Some(elements), Some(first), Some(model)) = (elements, result_types.first(), tensors.first()) else {
        return Ok(None);
    };
    let rank = types::shape(*first).len();
    let outputs =
        result_types.iter().map(|r#type| Ok(Access(empty_like(*model, *r#type, at)?, all_loops(rank))));
    let outputs: Vec<Access> = outputs.collect::<Result<_, PassError>>()?;
    let inputs: Vec<Access> = tensors.iter().map(|tensor| Access(*tensor, all_loops(rank))).collect();
    let generic = generic(at, &inputs, &outputs, &vec![false; rank], |body, arguments| {
        let mut next = arguments.iter().copied();
        let scalar = |v: &Value<'c, 'a>| if is_tensor(v.r#type()) { next.next() } else { Some(*v) };
        let scalars: Vec<Value<'c, 'a>> = operands.iter().filter_map(scalar).collect();
        let payload = body.insert(op::clone_with(&op, &scalars, &elements));
        Ok::<_, PassError>(payload.results().map(Into::into).collect())
    })?;
    Ok(Some(generic.results().map(Into::into).collect()))
}

/// An empty tensor with the dynamic extents of `model`.
fn empty_like<'c: 'a, 'a>(
    model: Value<'c, 'a>,
    r#type: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let extents = dynamic_extents(model, r#type, at)?;
    Ok(at.value(ops::tensor::EMPTY, &extents, &[], r#type)?)
}

/// The dynamic extents of `type`, taken from `model`, which has the same shape.
pub(super) fn dynamic_extents<'c: 'a, 'a>(
    model: Value<'c, 'a>,
    r#type: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, PassError> {
    let mut extents = Vec::new();
    for (dimension, extent) in types::shape(r#type).iter().enumerate() {
        if *extent == types::DYNAMIC {
            let dimension = i64::try_from(dimension).map_err(|_| "too many dimensions")?;
            let dimension = at.idx(dimension);
            extents.push(at.value(ops::tensor::DIM, &[model, dimension], &[], Type::index(at.context))?);
        }
    }
    Ok(extents)
}
