// SPDX-License-Identifier: Apache-2.0
//! `skript-hoist-constants`: computes scalars of a payload that depend on variables alone before the loops.
//!
//! A scalar of an elementwise `linalg.generic` may be computed from tensors that are the same in every call, and vary along some of the loops only:
//! the product of two scales, or a bias that is stored as an integer with a scale. It becomes a tensor of its own over those
//! loops, which is computed once. Values do not change: each operation has the same operands. Reductions stay: their kernels read the
//! bytes of weights, not wider elements.
//!
//! A constant factor of a sum that is rounded to an integer becomes part of the terms before (`factors.rs`), so that it costs nothing
//! where these are products with constants. That changes the sum by a few units in the last place.
//!
//! Requires tensors, and static extents of the loops that the scalar varies along.

use super::constant_tensors::ConstantTensors;
use super::factors::distribute;
use crate::elementwise::hoist_invariants::{Payload, hoist};
use crate::ir::linalg::Generic;
use crate::ir::walk::named;
use crate::ir::{self, Builder, ValueKey, ops};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value};
use skript_dialect::melior;
use skript_dialect::{Dialect, Pass};
use std::collections::HashMap;

/// The pass `skript-hoist-constants`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-hoist-constants",
    summary: "compute scalars of a payload that depend on variables alone before the loops",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Linalg, Dialect::Tensor],
    run: |root, _, rewriter| {
        for function in named(root, ops::func::FUNC) {
            let constants = ConstantTensors::of(function);
            if constants.is_empty() {
                continue;
            }
            for op in named(function, ops::linalg::GENERIC) {
                if let Some(scalars) = constant_scalars(op, &constants) {
                    distribute(op, &scalars, rewriter.context())?;
                }
                let hoisted = hoisted(op, &constants);
                if let Some((payload, hoisted)) = hoisted.filter(|(_, all)| !all.is_empty()) {
                    let at = Builder::before(rewriter.context(), op)?;
                    hoist(&payload, &hoisted, &at)?;
                }
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// The scalars that others of the payload are computed from.
fn hoisted<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    constants: &ConstantTensors,
) -> Option<(Payload<'c, 'a>, Vec<Value<'c, 'a>>)> {
    let is_constant = constant_scalars(op, constants)?;
    let payload = Payload::of(op)?;
    let of = |value: Value<'c, 'a>| is_constant.get(&ValueKey::of(value)).copied();
    let mut found: Vec<Value> = Vec::new();
    for own in &ir::operations(Generic::cast(op)?.body()?) {
        let is_itself = own.results().any(|result| of(result.into()) == Some(true));
        if is_itself {
            continue;
        }
        for operand in own.operands() {
            let is_computed = ir::definition(operand).is_some() && of(operand) == Some(true);
            let loops = payload.loops_of(operand);
            let is_shared = !loops.is_empty() && loops.len() < payload.loops();
            if is_computed && is_shared && payload.is_static(&loops) && !found.contains(&operand) {
                found.push(operand);
            }
        }
    }
    Some((payload, found))
}

/// Whether each scalar of the payload of an elementwise operation is computed from variables and constants alone; `None` if all of the
/// operation is.
fn constant_scalars<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    constants: &ConstantTensors,
) -> Option<HashMap<ValueKey, bool>> {
    let generic = Generic::cast(op)?;
    if generic.reductions().contains(&true) {
        return None;
    }
    let results = op.results().map(Value::from);
    // All of it is computed once.
    if results.into_iter().any(|result| constants.contains(result)) {
        return None;
    }
    let elements = ir::arguments(generic.body()?);
    let inputs = elements.len().checked_sub(op.result_count())?;
    let mut is_constant: HashMap<ValueKey, bool> = HashMap::new();
    for (n, (element, operand)) in elements.iter().zip(op.operands()).enumerate() {
        let own = n < inputs && constants.contains(operand);
        is_constant.insert(ValueKey::of(*element), own);
    }
    let operations = ir::operations(generic.body()?);
    for own in &operations {
        let known = |value: Value<'c, 'a>| match is_constant.get(&ValueKey::of(value)) {
            Some(known) => *known,
            // Scalars from outside that are constants.
            None => ir::definition(value).is_some_and(|(op, _)| ir::name(op) == ops::arith::CONSTANT),
        };
        let is_index = ir::name(*own) == ops::linalg::INDEX;
        let is_own = !is_index && own.operands().all(known);
        for result in own.results() {
            is_constant.insert(ValueKey::of(result), is_own);
        }
    }
    Some(is_constant)
}
