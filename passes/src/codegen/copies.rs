// SPDX-License-Identifier: Apache-2.0
//! `skript-lower-copies`: lowers copies between strided arrays to loops.
//!
//! Upstream lowers them to calls of a library function. Copies of contiguous arrays stay, as they become `memcpy`. Those
//! of `skript-stream-results` become non-temporal stores of whole cache lines.

use super::streams;
use crate::error::CodegenError;
use crate::ir;
use crate::ir::attribute_names::STREAM;
use crate::ir::ops;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{AttributeLike, ShapedTypeLike, ValueLike};
use skript_dialect::{Dialect, Pass};

/// The pass `skript-lower-copies`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-lower-copies",
    summary: "lower copies between strided arrays to loops",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::MemRef, Dialect::Scf, Dialect::Vector],
    run: |root, _, _| Ok(lower_copies(root)?),
    ..Pass::NONE
};

/// Lowers every strided `memref.copy` below the module.
///
/// # Errors
/// [`CodegenError::Module`] if a copy is malformed.
fn lower_copies(module: OperationRef) -> Result<(), CodegenError> {
    for op in ir::nested(module) {
        let Some(copy) = ir::memref::Copy::cast(op) else {
            continue;
        };
        // Bufferization leaves this of an insertion in place.
        if copy.source() == copy.target() {
            ir::erase(op);
        } else if op.has_attribute(STREAM) && streams::is_plain(copy) {
            streams::lower(copy).map_err(|e| CodegenError::Module(e.to_string()))?;
        } else if !(contiguous(op, 0)? && contiguous(op, 1)?) {
            lower(op)?;
        }
    }
    Ok(())
}

fn memref<'c>(op: OperationRef<'c, '_>, n: usize) -> Result<MemRefType<'c>, CodegenError> {
    let operand = op.operand(n).map_err(|e| CodegenError::Module(e.to_string()))?;
    MemRefType::try_from(operand.r#type()).map_err(|e| CodegenError::Module(e.to_string()))
}

/// Whether the layout is row-major without gaps.
fn contiguous(op: OperationRef, n: usize) -> Result<bool, CodegenError> {
    Ok(memref(op, n)?.layout().is_affine_map())
}

/// One linalg op; its loops come with those of all others.
fn lower(op: OperationRef) -> Result<(), CodegenError> {
    let (from, to) = (memref(op, 0)?, memref(op, 1)?);
    let dims: Vec<String> = (0..from.rank()).map(|n| format!("d{n}")).collect();
    let dims = dims.join(", ");
    let map = format!("affine_map<({dims}) -> ({dims})>");
    let iterators = vec!["\"parallel\""; from.rank()].join(", ");
    let element = from.element();
    let text = format!(
        "linalg.generic {{indexing_maps = [{map}, {map}], iterator_types = [{iterators}]}} \
         ins(%0 : {from}) outs(%1 : {to}) {{ ^bb0(%a: {element}, %b: {element}): linalg.yield %a : {element} }}"
    );
    let operands: Vec<_> = op.operands().collect();
    let context = ir::context::of(op);
    let copy = ir::template(context, &operands, &text, op.location())?;
    let block = op.block().ok_or_else(|| CodegenError::Module("a copy in no block".to_owned()))?;
    block.insert_operation_before(op, copy);
    ir::erase(op);
    Ok(())
}
