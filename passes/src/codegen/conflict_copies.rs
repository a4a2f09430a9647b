// SPDX-License-Identifier: Apache-2.0
//! Copies loop-carried and selected tensors, for modules that bufferization rejects without these copies.
//!
//! Bufferization decides for each operand whether to write it in place or to copy it. It cannot copy at a terminator:
//! the tensor that a branch or a loop iteration yields keeps its buffer. If buffers merge there and an earlier state of one
//! of them is read later, bufferization rejects the module. With these copies buffers do not merge: branches and iterations
//! yield copies, and loops start with copies. Most modules do not need the copies, so they are added only to modules that
//! bufferization rejects.

use super::loop_carried::{copied, write_carried};
use super::outputs::write_outputs;
use crate::ir;
use crate::ir::attribute_names;
use crate::ir::ops;
use crate::ir::step::{self, Step};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Module, Operation, TypeLike, Value, ValueLike};

/// The bufferization pass. The option `function-boundary-type-conversion` makes buffers at function boundaries row-major,
/// because kernels and outlined functions do not accept dynamic strides.
pub(crate) fn one_shot_bufferize() -> Step {
    Step::upstream("one-shot-bufferize")
        .with("bufferize-function-boundaries", true)
        .with("function-boundary-type-conversion", "identity-layout-map")
}

/// The analysis of [`one_shot_bufferize`] alone, which determines whether bufferization accepts a module.
fn analysis() -> [Step; 2] {
    [Step::upstream("eliminate-empty-tensors"), one_shot_bufferize().with("test-analysis-only", true)]
}

/// Copies the initial tensors of loops, the tensors that loops and branches yield, and the operands of selects.
pub(super) fn copy_joined(module: OperationRef) {
    for op in ir::nested(module) {
        // The initial values of `scf.for` come after the bounds and the step.
        match ir::name(op).as_str() {
            ops::scf::FOR => copy_operands(op, 3, &[]),
            ops::scf::WHILE => copy_operands(op, 0, &[]),
            ops::scf::IF => {}
            // Canonicalization converts a branch that only yields to a select.
            ops::arith::SELECT => {
                copy_operands(op, 1, &[]);
                continue;
            }
            _ => continue,
        }
        for block in ir::blocks(op) {
            if let Some(terminator) = ir::operations(block).last() {
                copy_operands(*terminator, 0, &ir::arguments(block));
            }
        }
    }
}

/// Whether bufferization rejects the module, but accepts it with these copies. The analysis runs on clones of the module,
/// and only if the module has operations that merge tensors.
pub(super) fn is_needed(module: OperationRef) -> bool {
    let merges = |op: &OperationRef| {
        let name = ir::name(*op);
        let joins =
            [ops::scf::FOR, ops::scf::WHILE, ops::scf::IF, ops::arith::SELECT].contains(&name.as_str());
        joins && op.results().any(|r| r.r#type().is_ranked_tensor())
    };
    let is_accepted = |with_copies: bool| {
        let copy = Module::from_operation(Operation::clone(&module));
        copy.is_some_and(|copy| {
            let written = write_carried(copy.as_operation(), with_copies).and_then(|()| {
                // `skript-write-outputs` runs before bufferization, and affects its analysis.
                if has_entry(module) { write_outputs(copy.as_operation()) } else { Ok(()) }
            });
            written.is_ok() && ir::run_pipeline(&copy, "bufferization", &step::text(&analysis())).is_ok()
        })
    };
    ir::nested(module).iter().any(merges) && !is_accepted(false) && is_accepted(true)
}

/// Whether a function of the module is marked as its entry.
fn has_entry(module: OperationRef) -> bool {
    ir::children(module).into_iter().any(|op| op.has_attribute(attribute_names::ENTRY))
}

/// Copies the tensors among an operation's operands from `first` on, except block arguments, which have distinct buffers.
fn copy_operands(op: OperationRef, first: usize, arguments: &[Value]) {
    let mut operands: Vec<Value> = op.operands().collect();
    for operand in operands.iter_mut().skip(first) {
        if operand.r#type().is_ranked_tensor() && !arguments.contains(operand) {
            *operand = copied(*operand, op);
        }
    }
    ir::set_operands(op, &operands);
}
