// SPDX-License-Identifier: Apache-2.0
//! `skript-compute-integers`: computes sums of products of quantized values in bytes.
//!
//! A quantized tensor holds reals `scale · (q − zero point)` with integers `q` of 8 bits. This pass recognizes such tensors by what
//! computes them: a product of a scale and an integer whose limits are constants. It stores the integers as bytes; what else
//! reads the tensor computes the reals again. A sum of products of two such tensors becomes a sum of products of bytes in 32
//! bits, which is exact, and one product with both scales. Zero points are folded: sums of bytes of weights, which depend on
//! variables alone, are what the sums start from, and borders are filled with the zero point.
//!
//! Quantizations round in 32 bits and multiply by the reciprocal of a constant scale, so that results may differ by one step of
//! the quantization where a value lies between two. NaN becomes the zero point.
//!
//! Requires tensors; scales that do not vary along reductions; sums that 32 bits hold.

mod contraction;
mod level;
mod limits;
mod map;
mod maps;
mod storage;
mod windows;

use crate::ir::linalg::Generic;
use crate::ir::walk::named;
use crate::ir::{self, ops};
use contraction::Contraction;
use melior::ir::operation::OperationLike;
use skript_dialect::melior;
use skript_dialect::{Dialect, Pass, PassError, op};
use storage::Storage;
use windows::Largest;

/// The pass `skript-compute-integers`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-compute-integers",
    summary: "compute sums of products of quantized values in bytes",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::Math, Dialect::Tensor],
    run: |root, _, rewriter| {
        for function in named(root, ops::func::FUNC) {
            let mut storage = Storage::of(function, rewriter.context());
            for op in named(function, ops::linalg::GENERIC) {
                convert(op, &mut storage)?;
            }
            erase_unused(function);
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Erases the operations that computed what was replaced, and bytes that nothing reads.
fn erase_unused(function: melior::ir::OperationRef) {
    let computes = [
        ops::arith::CONSTANT,
        ops::linalg::FILL,
        ops::linalg::GENERIC,
        ops::tensor::COLLAPSE_SHAPE,
        ops::tensor::DIM,
        ops::tensor::EMPTY,
        ops::tensor::EXPAND_SHAPE,
        ops::tensor::EXTRACT_SLICE,
        ops::tensor::INSERT_SLICE,
    ];
    for op in ir::nested(function).into_iter().rev() {
        let is_used = op.results().any(op::is_used);
        if !is_used && computes.contains(&ir::name(op).as_str()) {
            ir::erase(op);
        }
    }
}

/// Stores what an operation quantizes as bytes, or computes its sum of products in bytes.
fn convert<'c: 'a, 'a>(
    op: melior::ir::OperationRef<'c, 'a>,
    storage: &mut Storage<'c, 'a>,
) -> Result<(), PassError> {
    let Some(generic) = Generic::cast(op).filter(|_| op.result_count() == 1) else {
        return Ok(());
    };
    if generic.reductions().contains(&true) {
        if let Some(contraction) = Contraction::of(op) {
            contraction.convert(storage)?;
        } else if Largest::of(op).is_some() {
            storage.bytes(op.result(0)?.into(), false)?;
        }
        return Ok(());
    }
    // A single element, as a zero point is, takes no memory to save.
    if generic.reductions().is_empty() {
        return Ok(());
    }
    let tensor = op.result(0)?.into();
    if !storage.constants.contains(tensor) {
        storage.bytes(tensor, false)?;
    }
    Ok(())
}
