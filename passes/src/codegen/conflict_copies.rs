// SPDX-License-Identifier: Apache-2.0
//! Copies of loop-carried and selected tensors, for modules that bufferization refuses without them.
//!
//! Bufferization decides for each operand whether to write it in place or to copy it. It cannot copy at the end of a
//! block: the tensor that a branch or a loop iteration yields keeps its buffer. If buffers that join there are read in
//! another state, it refuses the module. With these copies no buffers join: a branch yields copies, a loop starts with
//! copies, and an iteration yields copies. Most modules need none of them, so only modules that are refused otherwise
//! get them.

use super::loop_carried::{copied, write_carried};
use super::outputs::write_outputs;
use crate::error::CodegenError;
use crate::ir;
use crate::ir::attribute_names;
use crate::ir::ops;
use crate::ir::step::{self, Step};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Module, Operation, TypeLike, Value, ValueLike};

/// Upstream's bufferization. Where the buffer of a tensor is not known yet, as an arm of a branch may yield it, the option
/// `unknown-type-conversion` decides: it must be row-major, because no kernel and no outlined function accepts dynamic strides.
pub(crate) fn one_shot_bufferize() -> Step {
    Step::upstream("one-shot-bufferize")
        .with("bufferize-function-boundaries", true)
        .with("function-boundary-type-conversion", "identity-layout-map")
}

/// The analysis of [`one_shot_bufferize`] alone, which decides whether it accepts a module.
fn analysis() -> [Step; 2] {
    [Step::upstream("eliminate-empty-tensors"), one_shot_bufferize().with("test-analysis-only", true)]
}

/// Copies the initial tensors of loops, the tensors that blocks of loops and branches yield, and the operands of
/// selections.
///
/// # Errors
/// [`CodegenError::Module`] if an op is malformed.
pub(super) fn part(module: OperationRef) -> Result<(), CodegenError> {
    for op in ir::nested(module) {
        // The initial values of `scf.for` come after the bounds and the step.
        match ir::name(op).as_str() {
            ops::scf::FOR => copy_operands(op, 3, &[])?,
            ops::scf::WHILE => copy_operands(op, 0, &[])?,
            ops::scf::IF => {}
            // Canonicalization makes a selection of a branch that only yields.
            ops::arith::SELECT => {
                copy_operands(op, 1, &[])?;
                continue;
            }
            _ => continue,
        }
        for block in ir::blocks(op) {
            let own = ir::arguments(block);
            if let Some(end) = ir::operations(block).last() {
                copy_operands(*end, 0, &own)?;
            }
        }
    }
    Ok(())
}

/// Whether bufferization refuses the module, but accepts it with these copies. It is tried on copies of the module,
/// unless no tensors join in it.
pub(super) fn is_needed(module: OperationRef) -> bool {
    let meets = |op: &OperationRef| {
        let name = ir::name(*op);
        let joins =
            [ops::scf::FOR, ops::scf::WHILE, ops::scf::IF, ops::arith::SELECT].contains(&name.as_str());
        joins && op.results().any(|r| r.r#type().is_ranked_tensor())
    };
    let takes = |apart: bool| {
        let copy = Module::from_operation(Operation::clone(&module));
        copy.is_some_and(|copy| {
            let written = write_carried(copy.as_operation(), apart).and_then(|()| {
                // The entry's results are written to arguments before bufferization, which counts for its analysis.
                if has_entry(module) { write_outputs(copy.as_operation()) } else { Ok(()) }
            });
            written.is_ok() && ir::run_pipeline(&copy, "bufferization", &step::text(&analysis())).is_ok()
        })
    };
    ir::nested(module).iter().any(meets) && !takes(false) && takes(true)
}

/// Whether a function of the module is marked as its entry.
fn has_entry(module: OperationRef) -> bool {
    let functions = ir::blocks(module).into_iter().flat_map(ir::operations);
    functions.into_iter().any(|op| op.has_attribute(attribute_names::ENTRY))
}

/// Copies the tensors among an op's operands from `first`, except the block's arguments, which have distinct buffers.
fn copy_operands(op: OperationRef, first: usize, own: &[Value]) -> Result<(), CodegenError> {
    let mut operands: Vec<Value> = op.operands().collect();
    for operand in operands.iter_mut().skip(first) {
        if operand.r#type().is_ranked_tensor() && !own.contains(operand) {
            *operand = copied(*operand, op)?;
        }
    }
    ir::set_operands(op, &operands);
    Ok(())
}
