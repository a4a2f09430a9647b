//! Values that loops carry are written where they came from: what a turn yields goes into the tensor it started with.
//!
//! Bufferization wants a loop's carried buffer to be the same in every turn, and refuses a turn that yields another. It
//! still copies where a turn reads the old value after the new one is made.

use super::aligned::align;
use super::error::CodegenError;
use super::mlir;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationMutLike, OperationRef, OperationRefMut};
use melior::ir::{BlockRef, TypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Options, Pass, PassError, Rewriter};

/// The pass `skript-write-carried`.
#[derive(Default)]
pub struct WriteCarried;

impl Pass for WriteCarried {
    const FLAG: &'static str = "skript-write-carried";
    const SUMMARY: &'static str = "loops write what they carry where it came from";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const DEPENDENT_DIALECTS: &'static [Dialect] = &[Dialect::Bufferization];

    fn run<'c>(
        &self,
        root: OperationRef<'c, '_>,
        _options: &Options,
        _rewriter: &Rewriter<'c>,
    ) -> Result<(), PassError> {
        write_carried(root)
            .map(|_| ())
            .map_err(|e| PassError::from(e.to_string()))
    }
}

/// Rewrites the yields of all `scf.for` and `scf.while`.
///
/// # Errors
/// [`CodegenError::Module`] if a loop is malformed.
pub fn write_carried(module: OperationRef) -> Result<(), CodegenError> {
    // Inner loops first: an outer one that is rebuilt takes them along.
    for op in mlir::nested(module).into_iter().rev() {
        match mlir::name(op).as_str() {
            // The body's first argument is the counter.
            "scf.for" => blocks_of(op).try_for_each(|body| write(body, 1, 0))?,
            // `scf.condition` hands on all operands after the first to the second region.
            "scf.while" => {
                let op = align(op)?;
                for (n, block) in blocks_of(op).enumerate() {
                    write(block, 0, usize::from(n == 0))?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn blocks_of<'c, 'a>(op: OperationRef<'c, 'a>) -> impl Iterator<Item = BlockRef<'c, 'a>> {
    mlir::blocks(op).into_iter()
}

/// Pairs the terminator's operands from `first_operand` with the block's arguments from `first_argument`.
fn write(block: BlockRef, first_argument: usize, first_operand: usize) -> Result<(), CodegenError> {
    let wrong = |e: melior::Error| CodegenError::Module(e.to_string());
    let Some(terminator) = mlir::operations(block).last().copied() else {
        return Ok(());
    };
    // SAFETY: a context outlives its modules.
    let owner = terminator.context();
    let context = unsafe { owner.to_ref() };
    let mut operands: Vec<Value> = terminator.operands().collect();
    for (n, operand) in operands.iter_mut().enumerate().skip(first_operand) {
        let Ok(argument) = block.argument(n - first_operand + first_argument) else {
            break;
        };
        let argument = Value::from(argument);
        let r#type = operand.r#type();
        if !r#type.is_ranked_tensor() || argument.r#type() != r#type || argument == *operand {
            continue;
        }
        let write = mlir::template(
            context,
            &[*operand, argument],
            &format!(
                "%r = bufferization.materialize_in_destination %0 in %1 : ({type}, {type}) -> {type}"
            ),
            terminator.location(),
        )?;
        let write = block.insert_operation_before(terminator, write);
        *operand = write.result(0).map_err(wrong)?.into();
    }
    // SAFETY: the terminator is alive and nobody else refers to its operands.
    let mut terminator = unsafe { OperationRefMut::from_raw(terminator.to_raw()) };
    terminator.set_operands(&operands);
    Ok(())
}
