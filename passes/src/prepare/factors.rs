// SPDX-License-Identifier: Apache-2.0
//! Constant factors of sums that are rounded to integers.

use crate::ir::arith::Constant;
use crate::ir::linalg::Generic;
use crate::ir::{self, Builder, ValueKey, ops};
use melior::Context;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, OperationRef, Value, ValueLike};
use skript_dialect::{PassError, melior, op};
use std::collections::HashMap;

/// Sums and products around each other: as many are looked at.
const DEEPEST: usize = 4;

/// Whether each scalar of a payload is a constant, or is computed from such.
type Scalars = HashMap<ValueKey, bool>;

/// Makes constant factors of sums that are rounded part of their terms, where these are constants or products with constants.
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
        if !is_distributable(sum, scalars, DEEPEST) {
            continue;
        }
        let at = Builder::before(context, product)?;
        let new = distributed(sum, factor, scalars, &at)?;
        ir::replace_uses(product.result(0)?.into(), new);
    }
    // Users stand behind what they use.
    for own in ir::operations(body).into_iter().rev() {
        let is_term = [ops::arith::ADDF, ops::arith::MULF].contains(&ir::name(own).as_str());
        if is_term && own.results().all(|result| !op::is_used(result)) {
            ir::erase(own);
        }
    }
    Ok(())
}

/// A sum or a product and the constant that it is multiplied by before it is rounded to an integer.
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

/// The factor of a product that is a constant, and the other one.
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

/// Whether a factor of a value can be one of constants instead.
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

/// The product of a value and a factor, with the factor at the constants.
fn distributed<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    factor: Value<'c, 'a>,
    scalars: &Scalars,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let kind = value.r#type();
    if is_constant(value, scalars) {
        return Ok(at.value(ops::arith::MULF, &[value, factor], &[], kind)?);
    }
    let flags = Attribute::parse(at.context, "#arith.fastmath<contract>");
    let contract = [("fastmath", flags.ok_or("arith is not loaded")?)];
    let (op, _) = ir::definition(value).ok_or("a payload that changed")?;
    if ir::name(op) == ops::arith::MULF {
        let [other, own] = constant_factor(op, scalars).ok_or("a payload that changed")?;
        let own = at.value(ops::arith::MULF, &[own, factor], &[], kind)?;
        return Ok(at.value(ops::arith::MULF, &[other, own], &contract, kind)?);
    }
    let [first, second] = ir::both_operands(op)?;
    let first = distributed(first, factor, scalars, at)?;
    let second = distributed(second, factor, scalars, at)?;
    Ok(at.value(ops::arith::ADDF, &[first, second], &contract, kind)?)
}
