// SPDX-License-Identifier: Apache-2.0
//! `skript-scalarize-elementwise`: converts every elementwise operation on tensors or vectors to the same operation on
//! scalars.
//!
//! The trait implies that the operation is also valid on elements, and has the same meaning for each element. A tensor with
//! static or dynamic extents becomes a `tensor.generate` that contains the scalar operation. A vector is split into elements and
//! rebuilt. Scalar operands apply to every element.
//!
//! Guarantees: no elementwise operations on tensors or vectors remain.

use super::elementwise_to_linalg::{dynamic_extents, is_tensor};
use crate::ir;
use crate::ir::ops;
use crate::ir::{Builder, attributes, types, vector};
use melior::ir::{Type, TypeLike, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::melior::ir::OperationRef;
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::{Dialect, Pass, PassError, op};

pub(crate) const PASS: Pass = Pass {
    flag: "skript-scalarize-elementwise",
    summary: "convert elementwise operations on tensors and vectors to operations on scalars",
    dependent_dialects: &[Dialect::Tensor, Dialect::Vector, Dialect::Arith],
    run: |root, _, rewriter| {
        let context = rewriter.context();
        let shaped = |r#type: Type| is_tensor(r#type) || r#type.is_vector();
        let otherwise =
            "is elementwise but its results are not all ranked tensors, or vectors of fixed length";
        super::replace_all(&root, rewriter, shaped, otherwise, |op| {
            let at = Builder::before(context, op)?;
            let types: Vec<Type> = op.results().map(|r| r.r#type()).collect();
            if types.iter().all(|t| types::extents(*t).is_some()) {
                over_tensors(op, &types, &at)
            } else if types.iter().all(|t| vector::extents(*t).is_some()) {
                over_vectors(op, &types, &at)
            } else {
                Ok(None)
            }
        })
    },
    ..Pass::NONE
};

/// Creates one `tensor.generate` for each result, whose body computes one element.
fn over_tensors<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    types: &[Type<'c>],
    at: &Builder<'c, 'a>,
) -> Result<Option<Vec<Value<'c, 'a>>>, PassError> {
    let model = op.operands().find(|v| is_tensor(v.r#type()));
    let Some(model) = model else { return Ok(None) };
    let mut values = Vec::new();
    for (position, r#type) in types.iter().enumerate() {
        let rank = types::extents(*r#type).map_or(0, |e| e.len());
        let extents = dynamic_extents(model, *r#type, at)?;
        let (region, body, indices) = at.region(&vec![Type::index(at.context); rank]);
        let scalar = on_scalars(op, types, &body, |v| {
            let Some(element) = types::element_of(v.r#type()) else {
                return Ok(v);
            };
            let mut operands = vec![v];
            operands.extend(&indices);
            Ok(body.value(ops::tensor::EXTRACT, &operands, &[], element)?)
        })?;
        let scalar: Value = scalar.result(position)?.into();
        body.create(ops::tensor::YIELD, &[scalar], &[], &[], Vec::new())?;
        let generate = at.create(ops::tensor::GENERATE, &extents, &[], &[*r#type], vec![region])?;
        values.push(ir::result(generate)?);
    }
    Ok(Some(values))
}

/// Creates one scalar operation for each element, and builds vectors from the results.
fn over_vectors<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    types: &[Type<'c>],
    at: &Builder<'c, 'a>,
) -> Result<Option<Vec<Value<'c, 'a>>>, PassError> {
    let extents = types.first().and_then(|t| vector::extents(*t));
    let Some(extents) = extents else {
        return Ok(None);
    };
    let mut elements = vec![Vec::new(); types.len()];
    for index in vector::all_indices(&extents) {
        let index = attributes::i64s(at.context, &index);
        let scalar = on_scalars(op, types, at, |v| {
            if !v.r#type().is_vector() {
                return Ok(v);
            }
            let element = vector::element_or_self(v.r#type());
            Ok(at.value(ops::vector::EXTRACT, &[v], &[("static_position", index)], element)?)
        })?;
        for (list, result) in elements.iter_mut().zip(scalar.results()) {
            list.push(Value::from(result));
        }
    }
    let results = types.iter().zip(&elements);
    Ok(Some(
        results
            .map(|(t, list)| at.value(ops::vector::FROM_ELEMENTS, list, &[], *t))
            .collect::<Result<_, _>>()?,
    ))
}

/// Inserts the operation on scalars at `at`. `element` returns the scalar for an operand.
pub(super) fn on_scalars<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    types: &[Type<'c>],
    at: &Builder<'c, 'a>,
    element: impl Fn(Value<'c, 'a>) -> Result<Value<'c, 'a>, PassError>,
) -> Result<OperationRef<'c, 'a>, PassError> {
    let operands = op.operands().map(element).collect::<Result<Vec<_>, _>>()?;
    let elements: Vec<Type> =
        types.iter().map(|t| types::element_of(*t).unwrap_or_else(|| vector::element_or_self(*t))).collect();
    Ok(at.insert(op::clone_with(&op, &operands, &elements)))
}
