// SPDX-License-Identifier: Apache-2.0
//! `convert-skript-formula-to-linalg`: converts formulas to `linalg.generic` on tensors, or to reshapes.
//!
//! A loop may run up to a dynamic extent that is not proven to be the extent of the tensor; the operand is then a
//! slice. Where skipped points may be outside of the slice, a reduction reads a copy with a border. Reads that such a
//! copy does not pay for, and reads at indices that no loop gives, are `tensor.extract` in the body; in tensors with
//! dynamic extents, and for operations that may not be speculated, they are in an `scf.if` of the points that count.
//!
//! With `leave-sequential`, formulas that run in order, or that write elements that form no block of the output, stay.
//! Their attribute `not_linalg` states the reason, and `convert-skript-formula-to-scf` converts them.
//!
//! Guarantees: no `skript.access` outside of formulas is left, and no formula but those that `leave-sequential` leaves.

use super::equal_extents::EqualExtents;
use super::{Refusal, linalg, structured};
use crate::ir;
use crate::ir::ops;
use crate::ir::skript::Check;
use crate::ir::{Builder, attributes, mutation};
use crate::structure::{ReadError, Reading, Structure};
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::melior::ir::{OperationRef, Value};
use skript_dialect::{Dialect, Pass, PassError, PassOption, op};
use skript_frontend::model::Accumulation;

/// Why linalg does not support a formula that was left.
pub(crate) const NOT_LINALG: &str = "not_linalg";

/// The pass `convert-skript-formula-to-linalg`.
pub(crate) const PASS: Pass = Pass {
    flag: "convert-skript-formula-to-linalg",
    summary: "convert formulas to linalg.generic",
    dependent_dialects: &[Dialect::Affine, Dialect::Arith, Dialect::Linalg, Dialect::Scf, Dialect::Tensor],
    options: &[
        PassOption {
            name: "leave-sequential",
            summary: "leave formulas that have no linalg.generic, with the reason, instead of failing",
            default: "false",
        },
        PassOption {
            name: "maps-only",
            summary: "convert maps and views only, so that maps fuse with maps alone",
            default: "false",
        },
        PassOption {
            name: "finite-factors",
            summary: "assume that real factors are finite: windows multiply by a border of zeros, without a guard",
            default: "false",
        },
    ],
    run: |root, options, rewriter| {
        let leave: bool = options.get("leave-sequential")?;
        let maps_only: bool = options.get("maps-only")?;
        let finite: bool = options.get("finite-factors")?;
        let context = rewriter.context();
        let mut failure = None;
        let mut same = EqualExtents::default();
        let found = op::collect(&root, |op| op::is(&op, ops::skript::FORMULA) || Check::cast(op).is_some());
        for formula in found {
            if let Some(check) = Check::cast(formula) {
                same.learn(check);
                continue;
            }
            let at = Builder::before(context, formula)?;
            match convert(formula, maps_only, finite, &same, &at) {
                Ok(None) => {}
                Ok(Some(values)) => rewriter.replace_op_with_values(formula, &values),
                Err(refusal) if maps_only && refusal.is_of_shape() => {}
                Err(refusal) if leave && refusal.is_of_shape() => {
                    let reason = match &refusal {
                        Refusal::Shape(reason) => (*reason).to_owned(),
                        other => other.to_string(),
                    };
                    mutation::set(formula, NOT_LINALG, attributes::string(context, &reason));
                }
                Err(refusal) => {
                    failure = Some(PassError::at(
                        formula,
                        format!("has no linalg.generic: {refusal}; lower it to scf"),
                    ));
                }
            }
        }
        if let Some(failure) = failure {
            return Err(failure);
        }
        if maps_only {
            return Ok(());
        }
        structured::extract_elements(&root, rewriter)?;
        for splat in op::collect(&root, |op| op::is(&op, ops::tensor::SPLAT)) {
            let at = Builder::before(context, splat)?;
            let extents: Vec<Value> = splat.operands().skip(1).collect();
            let r#type = structured::result_type(splat)?;
            let filled = at.fill_sized(ir::operand(splat)?, r#type, &extents)?;
            rewriter.replace_op_with_values(splat, &[filled]);
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Whether a step has side effects. An invoked operator computes values only.
fn has_effects(formula: OperationRef) -> bool {
    let mut steps = ir::nested(formula).into_iter();
    steps.any(|op| op.region_count() == 0 && !op::is(&op, ops::skript::INVOKE) && !op::is_pure(&op))
}

/// `None`: it is left for a later pass.
fn convert<'c: 'a, 'a>(
    formula: OperationRef<'c, 'a>,
    maps_only: bool,
    finite: bool,
    same: &EqualExtents,
    at: &Builder<'c, 'a>,
) -> Result<Option<Vec<Value<'c, 'a>>>, Refusal> {
    if has_effects(formula) {
        return Err(Refusal::Shape(
            "has an operation with side effects, such as a call, which happen once in each step",
        ));
    }
    let mut reading = Reading::of(formula)?;
    if !reading.has_distinct_destinations() {
        return Err(ReadError::SeveralElements.into());
    }
    // Where no step writes what another one writes, their order has no effect.
    if reading.nest.kind == Accumulation::Replace && reading.nest.writes_once() {
        reading.nest.kind = Accumulation::Assign;
    }
    if maps_only && !matches!(Structure::of(&reading.nest), Structure::Map | Structure::View) {
        return Ok(None);
    }
    linalg::lower(&reading, finite, same, at).map(Some)
}
