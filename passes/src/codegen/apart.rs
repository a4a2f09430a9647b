//! What loops carry and what branches choose, each in a buffer of its own.
//!
//! Bufferization decides for one operand after the other whether it is written in place, and else makes a copy. It has no
//! choice where a block ends: what an arm of a branch or a turn of a loop hands on stays where it is. Where buffers that
//! meet there are read in another state it refuses the module. Here nothing meets: an arm hands on copies, a loop
//! starts with copies, a turn ends with copies. Those are more than most modules need, so only what is refused without
//! them gets them.

use super::carried::{copied, write_carried};
use super::error::CodegenError;
use super::mlir;
use super::outputs::write_outputs;
use melior::ir::operation::{OperationLike, OperationMutLike, OperationRef, OperationRefMut};
use melior::ir::{Module, Operation, TypeLike, Value, ValueLike};

/// Upstream's bufferization; where a tensor's buffer is not known yet, as an arm of a branch may yield it, it is row-major: no kernel and
/// no outlined function accepts strides that are known only at run time.
pub const ONE_SHOT: &str = "one-shot-bufferize{bufferize-function-boundaries=true \
     function-boundary-type-conversion=identity-layout-map unknown-type-conversion=identity-layout-map}";

/// Its analysis alone, which decides whether it accepts a module.
const ANALYSIS: &str = "eliminate-empty-tensors,one-shot-bufferize{bufferize-function-boundaries=true \
     function-boundary-type-conversion=identity-layout-map test-analysis-only=true}";

/// Copies what loops begin with, what the blocks of loops and branches below the module hand on, and what is chosen from.
///
/// # Errors
/// [`CodegenError::Module`] if an op is malformed.
pub(super) fn part(module: OperationRef) -> Result<(), CodegenError> {
    for op in mlir::nested(module) {
        // What a loop starts with stands behind the bounds and the step of one that counts.
        match mlir::name(op).as_str() {
            "scf.for" => copy_operands(op, 3, &[])?,
            "scf.while" => copy_operands(op, 0, &[])?,
            "scf.if" => {}
            // What canonicalization makes of a branch whose arms only hand on.
            "arith.select" => {
                copy_operands(op, 1, &[])?;
                continue;
            }
            _ => continue,
        }
        for block in mlir::blocks(op) {
            let own = mlir::arguments(block);
            if let Some(end) = mlir::operations(block).last() {
                copy_operands(*end, 0, &own)?;
            }
        }
    }
    Ok(())
}

/// Whether bufferization refuses the module as it is, and takes it with these copies. Found by trying, on copies of the module; a
/// module without tensors that meet is not tried.
pub(super) fn is_needed(module: OperationRef) -> bool {
    let meets = |op: &OperationRef| {
        let name = mlir::name(*op);
        let joins = ["scf.for", "scf.while", "scf.if", "arith.select"].contains(&name.as_str());
        joins && op.results().any(|r| r.r#type().is_ranked_tensor())
    };
    let takes = |apart: bool| {
        let copy = Module::from_operation(Operation::clone(&module));
        copy.is_some_and(|copy| {
            let written = write_carried(copy.as_operation(), apart).and_then(|()| {
                // The entry's results are written to arguments before bufferization, which counts for its analysis.
                match has_entry(module) {
                    true => write_outputs(copy.as_operation()),
                    false => Ok(()),
                }
            });
            written.is_ok() && mlir::run_pipeline(&copy, "bufferization", ANALYSIS).is_ok()
        })
    };
    mlir::nested(module).iter().any(meets) && !takes(false) && takes(true)
}

/// Whether a function of the module is marked as its entry.
fn has_entry(module: OperationRef) -> bool {
    let functions = mlir::blocks(module).into_iter().flat_map(mlir::operations);
    functions
        .into_iter()
        .any(|op| op.has_attribute("skript.entry"))
}

/// Copies the tensors among an op's operands from `first`, but what the block got: that is in a place of its own.
fn copy_operands(op: OperationRef, first: usize, own: &[Value]) -> Result<(), CodegenError> {
    let mut operands: Vec<Value> = op.operands().collect();
    for operand in operands.iter_mut().skip(first) {
        if operand.r#type().is_ranked_tensor() && !own.contains(operand) {
            *operand = copied(*operand, op)?;
        }
    }
    // SAFETY: the op is alive and nobody else refers to its operands.
    unsafe { OperationRefMut::from_raw(op.to_raw()) }.set_operands(&operands);
    Ok(())
}
