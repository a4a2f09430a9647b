// SPDX-License-Identifier: Apache-2.0
//! `convert-stablehlo-to-linalg`: converts StableHLO operations on tensors that are not elementwise to `linalg`,
//! `tensor` and `scf`.
//!
//! Requires: static extents and inlined calls. Bodies of reductions, windows, sorts and scatters become payloads on
//! scalars; they may contain elementwise operations and constants. Guarantees: all remaining StableHLO operations are
//! elementwise, on tensors or scalars.

mod bits;
mod chlo;
mod choice;
mod constant;
mod contraction;
mod control;
mod fourier;
mod gather_scatter;
mod generator;
mod generic;
mod nest;
mod operation;
mod payload;
mod reduce;
mod selection;
mod shape;
mod sort;

use super::factorization;
pub(crate) use contraction::{Labels, labels};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value};
pub(crate) use operation::Found;
pub use operation::Tensor;
use skript_dialect::melior;
use skript_dialect::{Dialect, Pass, PassError, op};
use skript_passes::ir::ops;
use skript_passes::ir::replace_each;

/// The pass `convert-stablehlo-to-linalg`.
pub(crate) const PASS: Pass = Pass {
    flag: "convert-stablehlo-to-linalg",
    summary: "StableHLO that is not elementwise becomes linalg, tensor and scf",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[
        Dialect::Arith,
        Dialect::Bufferization,
        Dialect::Complex,
        Dialect::Func,
        Dialect::Linalg,
        Dialect::Math,
        Dialect::Scf,
        Dialect::Tensor,
    ],
    run: |root, _, rewriter| {
        let factorizations = op::collect(&root, |op| factorization::is_operation(op));
        replace_each(factorizations, rewriter, factorization::in_place)?;
        replace_each(op::collect(&root, is_wanted), rewriter, |found| {
            convert(found)?.ok_or_else(|| "has no form in linalg".into())
        })
    },
    ..Pass::NONE
};

/// Operations whose regions are payloads: nested operations are converted together with them.
const WITH_PAYLOAD: [&str; 5] = [
    ops::stablehlo::REDUCE,
    ops::stablehlo::REDUCE_WINDOW,
    ops::stablehlo::SORT,
    ops::stablehlo::SCATTER,
    ops::stablehlo::SELECT_AND_SCATTER,
];

fn is_wanted(op: OperationRef<'_, '_>) -> bool {
    let name = op::name(&op);
    let ours = name.starts_with("stablehlo.") || name.starts_with("chlo.");
    if !ours || name == ops::stablehlo::RETURN || op::has_elementwise_trait(&op) {
        return false;
    }
    let mut outer = op.parent_operation();
    while let Some(parent) = outer {
        if WITH_PAYLOAD.contains(&op::name(&parent).as_str()) {
            return false;
        }
        outer = parent.parent_operation();
    }
    true
}

/// The values that replace the operation's results; `None` if it is not supported.
fn convert<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<Option<Vec<Value<'c, 'a>>>, PassError> {
    let found = Found::of(op)?;
    let name = found.name.clone();
    // A payload has no side effects, so it may be dropped if its results are unused; loops and branches may have some.
    let is_pure = op.region_count() == 0 || WITH_PAYLOAD.contains(&op::name(&op).as_str());
    if is_pure && found.results.iter().all(|t| t.volume() == 0) {
        return shape::empty(&found).map(Some);
    }
    if WITH_PAYLOAD.contains(&op::name(&op).as_str()) {
        for (n, result) in found.results.iter().enumerate() {
            let (from, to) = (found.operand(n)?.element, result.element);
            if from != to {
                return Err(PassError::from(format!(
                    "has a body on elements of {} for an input of {}: convert the input in front of it",
                    to.text(),
                    from.text()
                )));
            }
        }
    }
    let values = match name.as_str() {
        "constant" => constant::constant(&found)?,
        "select" => choice::select(&found)?,
        "clamp" => choice::clamp(&found)?,
        "iota" => shape::iota(&found)?,
        "broadcast_in_dim" => shape::broadcast(&found)?,
        "reshape" => shape::reshape(&found)?,
        "transpose" => shape::transpose(&found)?,
        "reverse" => shape::reverse(&found)?,
        "slice" => shape::slice(&found)?,
        "pad" => shape::pad(&found)?,
        "concatenate" => shape::concatenate(&found)?,
        "dynamic_slice" => shape::dynamic_slice(&found)?,
        "dynamic_update_slice" => shape::dynamic_update_slice(&found)?,
        "bitcast_convert" => bits::bitcast(&found)?,
        "dot_general" => contraction::dot_general(&found)?,
        "convolution" => contraction::convolution(&found)?,
        "reduce" => reduce::reduce(&found)?,
        "reduce_window" => reduce::reduce_window(&found)?,
        "fft" => fourier::transform(&found)?,
        "gather" => gather_scatter::gather(&found)?,
        "scatter" => gather_scatter::scatter(&found)?,
        "select_and_scatter" => selection::select_and_scatter(&found)?,
        "sort" => sort::sort(&found)?,
        "top_k" => sort::top_k(&found)?,
        "rng_bit_generator" => generator::generate(&found)?,
        "optimization_barrier" => found.values,
        "while" => control::repeat(&found)?,
        "if" => control::choose(&found)?,
        "case" => control::select_branch(&found)?,
        _ if op::name(&op).starts_with("chlo.") => return chlo::map(&found),
        _ => return Ok(None),
    };
    Ok(Some(values))
}
