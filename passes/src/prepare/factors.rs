// SPDX-License-Identifier: Apache-2.0
//! Distributes constant factors of sums that are rounded to integers.

use crate::ir::arith::Constant;
use crate::ir::linalg::Generic;
use crate::ir::{self, Builder, ValueKey, ops};
use melior::Context;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::{PassError, melior, op};
use std::collections::HashMap;

/// The maximum depth of sums in which a factor is distributed.
const MAX_DEPTH: usize = 4;

/// Whether each scalar of a payload is a constant, or is computed from constants.
type Scalars = HashMap<ValueKey, bool>;

/// Distributes constant factors of rounded sums to the terms, if these are constants or products with constants.
pub(super) fn distribute<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    scalars: &Scalars,
    context: &'c Context,
) -> Result<(), PassError> {
    let Some(body) = Generic::cast(op).and_then(Generic::body) else {
        return Ok(());
    };
    for product in ir::operations(body) {
        let Some((sum, factor)) = rounded_product(product) else {
            continue;
        };
        if !is_distributable(sum, scalars, MAX_DEPTH) {
            continue;
        }
        let at = Builder::before(context, product)?;
        let new = distributed(sum, factor, scalars, &at)?;
        ir::replace_uses(product.result(0)?.into(), new);
    }
    // In reverse, because users must be erased before definitions.
    for term in ir::operations(body).into_iter().rev() {
        let is_term = [ops::arith::ADDF, ops::arith::MULF].contains(&ir::name(term).as_str());
        if is_term && term.results().all(|result| !op::is_used(result)) {
            ir::erase(term);
        }
    }
    Ok(())
}

/// The factors of a product that is rounded to an integer: a sum or a product, and a constant.
fn rounded_product<'c: 'a, 'a>(product: OperationRef<'c, 'a>) -> Option<(Value<'c, 'a>, Value<'c, 'a>)> {
    if ir::name(product) != ops::arith::MULF {
        return None;
    }
    let users = ir::users(product.result(0).ok()?.into());
    let [rounding] = users.as_slice() else {
        return None;
    };
    if ir::name(*rounding) != ops::math::ROUNDEVEN {
        return None;
    }
    let [first, second] = ir::both_operands(product).ok()?;
    match (Constant::of(first), Constant::of(second)) {
        (None, Some(_)) => Some((first, second)),
        (Some(_), None) => Some((second, first)),
        _ => None,
    }
}

fn is_constant(value: Value, scalars: &Scalars) -> bool {
    match scalars.get(&ValueKey::of(value)) {
        Some(known) => *known,
        None => Constant::of(value).is_some(),
    }
}

/// The factors of a product: the other factor, and the constant.
fn constant_factor<'c: 'a, 'a>(
    product: OperationRef<'c, 'a>,
    scalars: &Scalars,
) -> Option<[Value<'c, 'a>; 2]> {
    let [first, second] = ir::both_operands(product).ok()?;
    match (is_constant(first, scalars), is_constant(second, scalars)) {
        (_, true) => Some([first, second]),
        (true, _) => Some([second, first]),
        _ => None,
    }
}

/// Whether a factor of a value can be distributed to constants.
fn is_distributable<'c: 'a, 'a>(value: Value<'c, 'a>, scalars: &Scalars, depth: usize) -> bool {
    if is_constant(value, scalars) {
        return true;
    }
    let Some((op, _)) = ir::definition(value).filter(|_| depth > 0) else {
        return false;
    };
    let is_used_once = ir::users(value).len() == 1;
    is_used_once
        && match ir::name(op).as_str() {
            ops::arith::MULF => constant_factor(op, scalars).is_some(),
            ops::arith::ADDF => op.operands().all(|term| is_distributable(term, scalars, depth - 1)),
            _ => false,
        }
}

/// The product of a value and a factor, where the factor is distributed to constants.
fn distributed<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    factor: Value<'c, 'a>,
    scalars: &Scalars,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let kind = value.r#type();
    if is_constant(value, scalars) {
        return Ok(at.mulf(value, factor));
    }
    let contract = [("fastmath", ir::attributes::fast(at.context, "contract"))];
    let (op, _) = ir::definition(value).ok_or("a payload that changed")?;
    if ir::name(op) == ops::arith::MULF {
        let [other, constant] = constant_factor(op, scalars).ok_or("a payload that changed")?;
        let product = at.mulf(constant, factor);
        return Ok(at.value(ops::arith::MULF, &[other, product], &contract, kind)?);
    }
    let [first, second] = ir::both_operands(op)?;
    let first = distributed(first, factor, scalars, at)?;
    let second = distributed(second, factor, scalars, at)?;
    Ok(at.value(ops::arith::ADDF, &[first, second], &contract, kind)?)
}
