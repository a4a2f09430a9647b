//! Loops of long functions stay loops.
//!
//! LLVM unrolls loops of a few turns, and the code of a long chain of small tensors becomes one block, over which several of
//! LLVM's passes take time that grows with its square. Where a function has many loops, none of them is worth that, nor in
//! the parts that a long entry was cut into.

use super::error::CodegenError;
use super::mlir;
use super::parts::PART;
use melior::ir::OperationRef;
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use std::collections::HashMap;

/// With more loops than this LLVM shall unroll none of a function's.
const MOST_UNROLLED: usize = 64;

/// Forbids unrolling in the functions of a module in the LLVM dialect that have many loops.
///
/// # Errors
/// [`CodegenError::Module`] if LLVM's dialect does not know the attribute.
pub fn bound_unrolling(module: OperationRef) -> Result<(), CodegenError> {
    for block in mlir::blocks(module) {
        for function in mlir::operations(block) {
            let latches = latches(function);
            if latches.len() <= MOST_UNROLLED && !function.has_attribute(PART) {
                continue;
            }
            let never = mlir::parse_attribute(
                function.context(),
                "#llvm.loop_annotation<unroll = <disable = true>>",
            )?;
            for latch in latches {
                mlir::set_attribute(latch, "loop_annotation", never);
            }
        }
    }
    Ok(())
}

/// The branches of a function that go back.
fn latches<'c, 'a>(function: OperationRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let blocks = mlir::blocks(function);
    let position: HashMap<usize, usize> = blocks
        .iter()
        .enumerate()
        .map(|(n, block)| (block.to_raw().ptr as usize, n))
        .collect();
    let mut found = Vec::new();
    for (n, block) in blocks.iter().enumerate() {
        let Some(last) = block.terminator().filter(|op| mlir::name(*op) == "llvm.br") else {
            continue;
        };
        let target = last.successor(0).ok();
        let target = target.and_then(|b| position.get(&(b.to_raw().ptr as usize)));
        if target.is_some_and(|target| *target <= n) {
            found.push(last);
        }
    }
    found
}
