// SPDX-License-Identifier: Apache-2.0
//! `convert-skript-elementwise-to-formula`: converts every operation with the elementwise trait on ranked tensors to a
//! formula.
//!
//! The operation, cloned on scalars, becomes the value of the formula. Formulas can be lowered directly to loops, without
//! linalg.
//!
//! Requires: broadcasts are explicit. Guarantees: no elementwise operations on tensors remain.

use super::elementwise_to_linalg::{dynamic_extents, is_tensor};
use super::scalarize_elementwise::on_scalars;
use crate::ir::ops;
use crate::ir::{Builder, attributes, types};
use melior::ir::r#type::IntegerType;
use melior::ir::{Region, Type, TypeLike, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::melior::ir::OperationRef;
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::{Dialect, Pass, PassError};

pub(crate) const PASS: Pass = Pass {
    flag: "convert-skript-elementwise-to-formula",
    summary: "convert elementwise operations on tensors to formulas on scalars",
    dependent_dialects: &[Dialect::Skript, Dialect::Tensor, Dialect::Arith],
    run: |root, _, rewriter| {
        let context = rewriter.context();
        let otherwise = "is elementwise but its results are not all ranked tensors";
        super::replace_all(&root, rewriter, is_tensor, otherwise, |op| {
            formula(op, &Builder::before(context, op)?)
        })
    },
    ..Pass::NONE
};

/// Whether tensors of formulas may have such elements.
fn is_element(element: Type) -> bool {
    if let Ok(integer) = IntegerType::try_from(element) {
        return integer.is_signless() && integer.width() <= 64;
    }
    element.is_index() || types::reals(element).is_some()
}

fn formula<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<Option<Vec<Value<'c, 'a>>>, PassError> {
    let results: Vec<Type<'c>> = op.results().map(|r| r.r#type()).collect();
    let extents = results.iter().map(|t| types::extents(*t));
    let Some(extents) = extents.collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let model = op.operands().find(|v| is_tensor(v.r#type()));
    let (Some(extents), Some(model), Some(first)) = (extents.first(), model, results.first()) else {
        return Ok(None);
    };
    let operands = op.operands().map(|v| v.r#type());
    let mut tensors = operands.filter(|t| is_tensor(*t)).chain(results.iter().copied());
    if let Some(other) = tensors.find(|t| !types::element_of(*t).is_some_and(is_element)) {
        return Err(PassError::from(format!(
            "has no formula, as one of its tensors is {other}: elements of formulas are signless integers of at most 64 \
             bits, index, f16, bf16, f32 or f64; convert-skript-elementwise-to-linalg supports others"
        )));
    }
    let bounds = dynamic_extents(model, *first, at)?;
    let mut inits = Vec::new();
    for r#type in &results {
        inits.push(at.value(ops::tensor::EMPTY, &bounds, &[], *r#type)?);
    }
    let rank = extents.len();
    let mut arguments = vec![Type::index(at.context); rank];
    arguments.extend(&results);
    let (body, inner, arguments) = at.region(&arguments);
    let indices = arguments.get(..rank).unwrap_or_default();
    let scalar = on_scalars(op, &results, &inner, |operand| {
        let Some(element) = types::element_of(operand.r#type()) else {
            return Ok(operand);
        };
        let mut operands = vec![operand];
        operands.extend(indices);
        Ok(inner.value(ops::skript::ACCESS, &operands, &[], element)?)
    })?;
    let mut yielded: Vec<Value<'c, 'a>> = scalar.results().map(Into::into).collect();
    for _ in &results {
        yielded.extend(indices);
    }
    let count = |n: usize| i32::try_from(n).map_err(|_| "too many operands");
    let ranks = vec![count(rank)?; results.len()];
    let segments = [count(results.len())?, count(results.len() * rank)?];
    inner.create(
        ops::skript::YIELD,
        &yielded,
        &[
            ("ranks", attributes::i32s(at.context, &ranks)),
            ("operandSegmentSizes", attributes::i32s(at.context, &segments)),
        ],
        &[],
        Vec::new(),
    )?;
    let kind = attributes::accumulation(at.context, "assign");
    let segments = [count(bounds.len())?, count(inits.len())?];
    let formula = at.create(
        ops::skript::FORMULA,
        &[bounds, inits].concat(),
        &[
            ("kind", kind),
            ("static_bounds", attributes::i64s(at.context, extents)),
            ("operandSegmentSizes", attributes::i32s(at.context, &segments)),
        ],
        &results,
        vec![Region::new(), body],
    )?;
    Ok(Some(formula.results().map(Into::into).collect()))
}
