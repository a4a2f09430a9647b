// SPDX-License-Identifier: Apache-2.0
//! `skript-hoist-constants`: computes scalars of a payload that only depend on variables before the loops.
//!
//! A scalar of an elementwise `linalg.generic` may be computed from tensors that are the same in every call, and vary along only some of
//! the loops, such as the product of two scales, or a bias that is stored as an integer with a scale. It becomes a separate tensor with
//! these loops, which is computed once. Values do not change, because each operation has the same operands. Reductions do not change,
//! because their kernels read the bytes of weights, not wider elements.
//!
//! First, a constant factor of a sum that is rounded to an integer becomes part of the terms (`factors.rs`). It has no cost if the terms
//! are products with constants. This changes the sum by a few units in the last place.
//!
//! Requires tensors, and static extents of the loops that the scalar varies along.

use super::constant_tensors::ConstantTensors;
use super::factors::distribute;
use crate::elementwise::hoist_invariants::{hoist, tensor_nest};
use crate::ir::generic::LoopNest;
use crate::ir::linalg::Generic;
use crate::ir::walk::named;
use crate::ir::{self, Builder, ValueKey, ops};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value};
use skript_dialect::melior;
use skript_dialect::{Dialect, Pass, op};
use std::collections::HashMap;

pub(crate) const PASS: Pass = Pass {
    flag: "skript-hoist-constants",
    summary: "compute scalars of a payload that only depend on variables before the loops",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Linalg, Dialect::Tensor],
    run: |root, _, rewriter| {
        for function in named(root, ops::func::FUNC) {
            let constants = ConstantTensors::new(function);
            if constants.is_empty() {
                continue;
            }
            for op in named(function, ops::linalg::GENERIC) {
                if let Some(scalars) = constant_scalars(op, &constants) {
                    distribute(op, &scalars, rewriter.context())?;
                }
                let hoisted = hoisted(op, &constants);
                if let Some((nest, hoisted)) = hoisted.filter(|(_, all)| !all.is_empty()) {
                    hoist(&nest, &hoisted, &Builder::before(rewriter.context(), op)?)?;
                }
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// The constant scalars that other scalars of the payload use.
fn hoisted<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    constants: &ConstantTensors,
) -> Option<(LoopNest<'c, 'a>, Vec<Value<'c, 'a>>)> {
    let is_constant = constant_scalars(op, constants)?;
    let nest = tensor_nest(op)?;
    let of = |value: Value<'c, 'a>| is_constant.get(&ValueKey::of(value)) == Some(&true);
    let others = nest.payload.iter().filter(|op| !op.results().any(|result| of(result.into())));
    let used = others.flat_map(|op| op.operands()).chain(nest.yielded.iter().copied());
    let mut hoisted: Vec<Value> = Vec::new();
    for value in used.filter(|value| ir::definition(*value).is_some() && of(*value)) {
        let loops = nest.loops_of(value);
        let is_shared = !loops.is_empty() && loops.len() < nest.extents.len();
        let is_static = loops.iter().all(|l| nest.extent(*l).is_some());
        if is_shared && is_static && !hoisted.contains(&value) {
            hoisted.push(value);
        }
    }
    Some((nest, hoisted))
}

/// Whether each scalar of the payload of an elementwise operation is computed only from variables and constants. `None` if this is true
/// for the entire operation.
fn constant_scalars<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    constants: &ConstantTensors,
) -> Option<HashMap<ValueKey, bool>> {
    let body = Generic::cast(op).filter(|generic| !generic.reduces())?.body()?;
    // The entire operation is computed once.
    if op.results().any(|result| constants.contains(result.into())) {
        return None;
    }
    let inputs = op.operand_count().checked_sub(op.result_count())?;
    let elements = ir::arguments(body).into_iter().zip(op.operands()).enumerate();
    let mut is_constant: HashMap<ValueKey, bool> = elements
        .map(|(n, (element, operand))| (ValueKey::of(element), n < inputs && constants.contains(operand)))
        .collect();
    for computation in ir::operations(body) {
        let known = |value: Value<'c, 'a>| match is_constant.get(&ValueKey::of(value)) {
            Some(known) => *known,
            // Scalars from outside that are constants.
            None => ir::definition(value).is_some_and(|(op, _)| ir::name(op) == ops::arith::CONSTANT),
        };
        let is_index = op::is(&computation, ops::linalg::INDEX);
        let is_result_constant = !is_index && computation.operands().all(known);
        for result in computation.results() {
            is_constant.insert(ValueKey::of(result), is_result_constant);
        }
    }
    Some(is_constant)
}
