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
mod nest;
mod operation;
mod payload;
mod reduce;
mod selection;
mod shape;
mod sort;

use super::factorization;
pub(crate) use contraction::{Labels, labels};
use melior::ir::OperationRef;
use melior::ir::operation::OperationLike;
pub(crate) use operation::SourceOp;
pub use operation::Tensor;
use operation::Values;
use skript_dialect::melior;
use skript_dialect::{Dialect, Pass, PassError, op};
use skript_passes::ir::ops;
use skript_passes::ir::replace_each;

/// The pass `convert-stablehlo-to-linalg`.
pub(crate) const PASS: Pass = Pass {
    flag: "convert-stablehlo-to-linalg",
    summary: "StableHLO that is not elementwise becomes linalg, tensor and scf",
    anchor: Some(ops::builtin::MODULE),
    // Includes the dialects of the passes that lower library operators.
    dependent_dialects: &[
        Dialect::Affine,
        Dialect::Arith,
        Dialect::Bufferization,
        Dialect::Complex,
        Dialect::Func,
        Dialect::Linalg,
        Dialect::Math,
        Dialect::MemRef,
        Dialect::Scf,
        Dialect::Skript,
        // A program in CHLO does not load it.
        Dialect::Stablehlo,
        Dialect::Tensor,
        Dialect::Vector,
    ],
    run: |root, _, rewriter| {
        // Converted first, because the conversion adds StableHLO operations on tensors for operands and results.
        let invocations =
            op::collect(&root, |op| factorization::is_operation(op) || fourier::is_operation(op));
        replace_each(invocations, rewriter, |source| {
            if fourier::is_operation(source) {
                fourier::transform(&SourceOp::with_static_extents(source)?)
            } else {
                factorization::in_place(source)
            }
        })?;
        replace_each(op::collect(&root, is_converted), rewriter, convert)
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

fn is_converted(op: OperationRef<'_, '_>) -> bool {
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

/// The conversions of StableHLO operations, by name.
pub(crate) const CONVERSIONS: &[(&str, Conversion)] = &[
    ("bitcast_convert", bits::bitcast),
    ("broadcast_in_dim", shape::broadcast),
    ("case", control::select_branch),
    ("clamp", choice::clamp),
    ("concatenate", shape::concatenate),
    ("constant", constant::constant),
    ("convolution", contraction::convolution),
    ("dot_general", contraction::dot_general),
    ("dynamic_slice", shape::dynamic_slice),
    ("dynamic_update_slice", shape::dynamic_update_slice),
    ("gather", gather_scatter::gather),
    ("if", control::choose),
    ("iota", shape::iota),
    ("optimization_barrier", shape::same),
    ("pad", shape::pad),
    ("reduce", reduce::reduce),
    ("reduce_window", reduce::reduce_window),
    ("reshape", shape::reshape),
    ("reverse", shape::reverse),
    ("rng_bit_generator", generator::generate),
    ("scatter", gather_scatter::scatter),
    ("select", choice::select),
    ("select_and_scatter", selection::select_and_scatter),
    ("slice", shape::slice),
    ("sort", sort::sort),
    ("transpose", shape::transpose),
    ("while", control::repeat),
];

/// The conversion of an operation to the values that replace its results.
pub(crate) type Conversion = for<'s, 'c, 'a> fn(&'s SourceOp<'c, 'a>) -> Values<'c, 'a>;

fn unsupported() -> PassError {
    "has no form in linalg".into()
}

/// The values that replace the operation's results.
fn convert<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Values<'c, 'a> {
    let source = SourceOp::with_static_extents(op)?;
    // Payloads have no side effects, so operations without result elements can be erased; loops and branches may have
    // side effects.
    let is_pure = op.region_count() == 0 || WITH_PAYLOAD.contains(&op::name(&op).as_str());
    if is_pure && source.results.iter().all(|t| t.volume() == 0) {
        return shape::empty(&source);
    }
    if WITH_PAYLOAD.contains(&op::name(&op).as_str()) {
        for (n, result) in source.results.iter().enumerate() {
            let (from, to) = (source.operand(n)?.element, result.element);
            if from != to {
                return Err(PassError::from(format!(
                    "has a body on elements of {} for an input of {}: convert the input before it",
                    to.text(),
                    from.text()
                )));
            }
        }
    }
    if let Some((_, convert)) = CONVERSIONS.iter().find(|(name, _)| *name == source.name) {
        return convert(&source);
    }
    if op::name(&op).starts_with("chlo.") { chlo::convert(&source) } else { Err(unsupported()) }
}
