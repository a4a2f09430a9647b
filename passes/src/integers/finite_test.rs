// SPDX-License-Identifier: Apache-2.0
//! Recognizes the test that all elements of a tensor are finite, which `are_finite` in `passes/src/formula/finite.rs` emits.

use crate::elementwise::hoist_invariants::tensor_nest;
use crate::ir::arith::predicate;
use crate::ir::builder::arith::Reals;
use crate::ir::linalg::Fill;
use crate::ir::real;
use crate::ir::{self, ops};
use melior::ir::Value;
use melior::ir::operation::OperationLike;
use skript_dialect::melior;

/// Whether a bool tests that all elements of some of these tensors are finite: `(Σ element · 0) == 0`, or a conjunction of such tests.
pub(super) fn tests_finite<'c: 'a, 'a>(value: Value<'c, 'a>, tensors: &[Value<'c, 'a>]) -> bool {
    let Some((op, _)) = ir::definition(value) else {
        return false;
    };
    let Ok([left, right]) = ir::both_operands(op) else {
        return false;
    };
    match ir::name(op).as_str() {
        ops::arith::ANDI => tests_finite(left, tensors) && tests_finite(right, tensors),
        ops::arith::CMPF => {
            let is_equality = predicate(op) == Some(Reals::Equal as i64) && real(right) == Some(0.0);
            is_equality && summed_zeros(left).is_some_and(|tensor| tensors.contains(&tensor))
        }
        _ => false,
    }
}

/// The tensor, if a scalar is the sum of all its elements times zero.
fn summed_zeros<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let sum = ir::defined_by(value, ops::tensor::EXTRACT)?.operand(0).ok()?;
    let nest = tensor_nest(ir::definition(sum)?.0)?;
    let [input, output] = nest.operands.as_slice() else {
        return None;
    };
    let init = Fill::of(output.value)?.value().ok()?;
    let addition = nest.accumulation().filter(|addition| ir::name(addition.op) == ops::arith::ADDF)?;
    let [left, right] = ir::both_operands(ir::defined_by(addition.value, ops::arith::MULF)?).ok()?;
    let is_zeros = left == input.element && real(right) == Some(0.0) && real(init) == Some(0.0);
    let is_complete = output.shape.is_empty() && nest.is_in_order(input) && !nest.reductions.contains(&false);
    (is_zeros && is_complete).then_some(input.value)
}
