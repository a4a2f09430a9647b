//! The entry's tensor results become memref arguments that it writes: the calling convention on tensors.
//!
//! Requires: an entry of one block with static shapes. Guarantees: the entry returns nothing but an `i32` status, if it
//! returned one; the argument for result n is a row-major `memref` that shares memory with no other argument.

use super::error::CodegenError;
use super::mlir;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationMutLike, OperationRef, OperationRefMut};
use melior::ir::{TypeLike, ValueLike};
use skript_dialect::{Dialect, Options, Pass, PassError, Rewriter};

/// The pass `skript-write-outputs`.
#[derive(Default)]
pub struct WriteOutputs;

impl Pass for WriteOutputs {
    const FLAG: &'static str = "skript-write-outputs";
    const SUMMARY: &'static str = "results of the entry become arguments that it writes";
    const ANCHOR: Option<&'static str> = Some("builtin.module");
    const DEPENDENT_DIALECTS: &'static [Dialect] = &[Dialect::Bufferization];

    fn run<'c>(
        &self,
        root: OperationRef<'c, '_>,
        _options: &Options,
        _rewriter: &Rewriter<'c>,
    ) -> Result<(), PassError> {
        write_outputs(root)
            .map(|_| ())
            .map_err(|e| PassError::from(e.to_string()))
    }
}

/// Rewrites the entry's results.
///
/// # Errors
/// [`CodegenError::Module`] if there is no entry, or it has a result that is neither a static tensor nor the status.
pub fn write_outputs(module: OperationRef) -> Result<(), CodegenError> {
    let entry = mlir::entry(module)?;
    let body = mlir::body(entry)?;
    let wrong = |e: melior::Error| CodegenError::Module(e.to_string());
    let terminator = mlir::operations(body)
        .last()
        .copied()
        .filter(|op| mlir::name(*op) == "func.return")
        .ok_or_else(|| CodegenError::Module("the entry does not end with a return".to_owned()))?;
    let context = entry.context();
    // SAFETY: a context outlives its modules.
    let context = unsafe { context.to_ref() };
    let mut kept = Vec::new();
    let mut kept_types = Vec::new();
    for value in terminator.operands().collect::<Vec<_>>() {
        let r#type = value.r#type();
        let text = r#type.to_string();
        if !r#type.is_ranked_tensor() {
            kept.push(value);
            kept_types.push(r#type);
            continue;
        }
        if text.contains('?') {
            return Err(CodegenError::Module(format!(
                "result of type {text}: extents known only at run time are not compiled yet"
            )));
        }
        let memref = mlir::parse_type(entry.context(), &text.replacen("tensor<", "memref<", 1))?;
        let argument = mlir::append_argument(entry, memref, "{llvm.noalias}")?;
        let write = mlir::template(
            context,
            &[value, argument],
            &format!(
                "bufferization.materialize_in_destination %0 in restrict writable %1 : ({text}, {memref}) -> ()"
            ),
            terminator.location(),
        )?;
        body.insert_operation_before(terminator, write);
    }
    // SAFETY: the terminator is alive and nobody else refers to its operands.
    let mut terminator = unsafe { OperationRefMut::from_raw(terminator.to_raw()) };
    terminator.set_operands(&kept);
    let _ = wrong;
    mlir::set_signature(entry, Some(&kept_types))?;
    // Results of the new type have no attributes.
    // SAFETY: the entry is alive.
    let mut entry = unsafe { OperationRefMut::from_raw(entry.to_raw()) };
    if entry.has_attribute("res_attrs") {
        entry.remove_attribute("res_attrs").map_err(wrong)?;
    }
    Ok(())
}
