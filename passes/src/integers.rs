// SPDX-License-Identifier: Apache-2.0
//! `skript-compute-integers`: computes sums of products of quantized values with bytes.
//!
//! A quantized tensor consists of reals `scale · (q − zero point)` with 8-bit integers `q`. This pass recognizes such tensors by the
//! operations that compute them: a product of a scale and an integer between constant limits. It stores the integers as bytes; other users
//! compute the reals from them. A sum of products of two such tensors becomes a 32-bit sum of products of bytes, which is exact, and is
//! multiplied by both scales. Zero points are multiplied by sums of the bytes of the other factor, which are computed once for weights,
//! before the first call. The products are added to each sum. A border of zeros is filled with the byte of the zero point.
//!
//! A quantization computes the rounded quotient as a product with the reciprocal of a constant scale. Therefore, results may differ by one
//! step if a value is near a midpoint. NaN becomes the zero point.
//!
//! Requires tensors of f32, f64, i32 or i64, scales that do not vary along reductions, and sums that fit 32 bits.

mod contraction;
mod dequantize;
mod finite_test;
mod inputs;
mod limited_integer;
mod limits;
mod map;
mod maximum;
mod quantize;
mod quantized;
mod rounding;
mod scalars;
mod storage;
mod sums;
mod windows;

use crate::ir::linalg::Generic;
use crate::ir::walk::named;
use crate::ir::{self, ops, types};
use contraction::Contraction;
use melior::ir::operation::OperationLike;
use melior::ir::{TypeLike, ValueLike};
use scalars::is_byte;
use skript_dialect::melior;
use skript_dialect::{Dialect, Pass, PassError, op};
use storage::Storage;
use windows::Largest;

/// The pass `skript-compute-integers`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-compute-integers",
    summary: "compute sums of products of quantized values with bytes",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::Math, Dialect::Tensor],
    run: |root, _, rewriter| {
        for function in named(root, ops::func::FUNC) {
            let mut storage = Storage::new(function, rewriter.context());
            for op in named(function, ops::linalg::GENERIC) {
                convert(op, &mut storage)?;
            }
            erase_unused(function);
        }
        Ok(())
    },
    ..Pass::NONE
};

/// The sums of products of two tensors in a module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SumsOfProducts {
    /// The number of sums of products of bytes.
    pub bytes: usize,
    /// The number of sums of products of reals.
    pub reals: usize,
}

impl SumsOfProducts {
    /// Counts the sums of a module, after this pass.
    pub(crate) fn new(module: melior::ir::OperationRef) -> Self {
        let mut sums = SumsOfProducts::default();
        for op in named(module, ops::linalg::GENERIC) {
            if sums_products_of_bytes(op) {
                sums.bytes += 1;
            } else if let Some(kind) = Contraction::new(op).and_then(|contraction| contraction.element()) {
                sums.reals += usize::from(kind.is_float());
            }
        }
        sums
    }
}

/// Whether an operation reduces two tensors of bytes to wider integers, as only sums of their products do.
fn sums_products_of_bytes(op: melior::ir::OperationRef) -> bool {
    let has_bytes = |value: Option<melior::ir::Value>| {
        value.and_then(|value| types::element_of(value.r#type())).is_some_and(is_byte)
    };
    Generic::cast(op).is_some_and(Generic::reduces)
        && (0..2).all(|position| has_bytes(ir::operand_at(op, position)))
        && !has_bytes(op.result(0).ok().map(Into::into))
}

/// Erases the replaced operations, and bytes without users.
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

/// Stores the result of an operation as bytes, or computes its sum of products with bytes.
fn convert<'c: 'a, 'a>(
    op: melior::ir::OperationRef<'c, 'a>,
    storage: &mut Storage<'c, 'a>,
) -> Result<(), PassError> {
    let Some(reductions) = Generic::cast(op).map(Generic::reductions) else {
        return Ok(());
    };
    // Bytes would save no memory for a single element, such as a zero point.
    if op.result_count() != 1 || reductions.is_empty() {
        return Ok(());
    }
    let tensor = op.result(0)?.into();
    if !reductions.contains(&true) {
        if !storage.constants.contains(tensor) {
            storage.store(tensor, false)?;
        }
    } else if let Some(contraction) = Contraction::new(op) {
        contraction.convert(storage)?;
    } else if Largest::new(op).is_some() {
        storage.store(tensor, false)?;
    }
    Ok(())
}
