// SPDX-License-Identifier: Apache-2.0
//! Branches on run-time conditions (2.10.1).

use super::scalars::element;
use super::scope::Scope;
use super::{EmitError, block};
use crate::ir::Builder;
use crate::ir::ops;
use melior::ir::operation::OperationLike;
use melior::ir::{Type, Value, ValueLike};
use skript_frontend::model::{Arm, Block, ValueId};

/// Emits `if`, `elif`…, `else`: each `elif` becomes an `scf.if` in the `else` region of the previous condition.
pub(super) fn emit<'c: 'a, 'a>(
    scope: &mut Scope<'_, 'c, 'a, '_>,
    arms: &[Arm],
    otherwise: &Block,
    outputs: &[ValueId],
    at: &Builder<'c, 'a>,
) -> Result<(), EmitError> {
    let values = emit_arms(scope, arms, otherwise, outputs, at)?;
    for (id, value) in outputs.iter().zip(values) {
        scope.set(*id, value);
        scope.learn(*id, at)?;
    }
    Ok(())
}

fn emit_arms<'c: 'a, 'a>(
    scope: &mut Scope<'_, 'c, 'a, '_>,
    arms: &[Arm],
    otherwise: &Block,
    outputs: &[ValueId],
    at: &Builder<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, EmitError> {
    let Some((arm, rest)) = arms.split_first() else {
        block::emit(scope, otherwise, at)?;
        return scope.all(&otherwise.results);
    };
    let condition = condition(scope, &arm.condition, at)?;
    let results = scope.types(outputs)?;
    let (then_region, then, _) = at.region(&[]);
    // The extents that a branch defines are not defined outside of it.
    let known = scope.symbols.clone();
    block::emit(scope, &arm.consequent, &then)?;
    let values = cast_all(&scope.all(&arm.consequent.results)?, &results, &then)?;
    scope.symbols.clone_from(&known);
    then.create(ops::scf::YIELD, &values, &[], &[], Vec::new())?;
    let (else_region, other, _) = at.region(&[]);
    let values = emit_arms(scope, rest, otherwise, outputs, &other)?;
    let values = cast_all(&values, &results, &other)?;
    scope.symbols = known;
    other.create(ops::scf::YIELD, &values, &[], &[], Vec::new())?;
    let op = at.create(ops::scf::IF, &[condition], &[], &results, vec![then_region, else_region])?;
    Ok(op.results().map(Into::into).collect())
}

/// Casts values to types with fewer static extents.
pub(super) fn cast_all<'c: 'a, 'a>(
    values: &[Value<'c, 'a>],
    types: &[Type<'c>],
    at: &Builder<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, EmitError> {
    let casts = values.iter().zip(types).map(|(value, r#type)| {
        if value.r#type() == *r#type {
            return Ok(*value);
        }
        Ok(at.value(ops::tensor::CAST, &[*value], &[], *r#type)?)
    });
    casts.collect()
}

/// Emits a condition block and returns the bool that it yields.
pub(super) fn condition<'c: 'a, 'a>(
    scope: &mut Scope<'_, 'c, 'a, '_>,
    condition: &Block,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, EmitError> {
    block::emit(scope, condition, at)?;
    let tensor = condition.results.first().ok_or(EmitError::Malformed("a condition yields nothing"))?;
    element(scope.get(*tensor)?, at)
}
