// SPDX-License-Identifier: Apache-2.0
//! `convert-skript-formula-to-linalg`: converts formulas to `linalg.generic` on tensors, or to reshapes.
//!
//! If a loop runs up to a dynamic extent that is not proven to be the extent of the tensor, the operand is a slice. If
//! points that the predicate skips may be outside of the slice, a reduction reads a copy with a border. Reads for which
//! such a copy is too expensive, and reads at indices that are not loop indices, become `tensor.extract` in the body. If
//! the tensor has dynamic extents, or an operation cannot be speculated, the read is in an `scf.if` with the predicate as
//! its condition.
//!
//! With `leave-sequential`, the pass keeps formulas that run in order, and formulas whose written elements do not form a
//! block of the output. Their attribute `not_linalg` states the reason, and `convert-skript-formula-to-scf` converts them.
//!
//! Guarantees: no `skript.access` outside of formulas is left, and no formula except those that `leave-sequential` keeps.

use super::{Refusal, linalg, structured};
use crate::facts::SharedFacts;
use crate::ir;
use crate::ir::ops;
use crate::ir::skript::Check;
use crate::ir::{Builder, attributes, mutation};
use crate::structure::{ReadError, Reading, Structure};
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::melior::ir::{OperationRef, Value};
use skript_dialect::{Dialect, Pass, PassError, PassOption, op};
use skript_frontend::model::Accumulation;

/// The attribute with the reason why a kept formula cannot be a `linalg.generic`.
pub(crate) const NOT_LINALG: &str = "not_linalg";

pub(crate) const PASS: Pass = Pass {
    flag: "convert-skript-formula-to-linalg",
    summary: "convert formulas to linalg.generic",
    dependent_dialects: &[Dialect::Affine, Dialect::Arith, Dialect::Linalg, Dialect::Scf, Dialect::Tensor],
    options: &[
        PassOption {
            name: "leave-sequential",
            summary: "keep formulas that cannot be a linalg.generic, with the reason as an attribute, instead of failing",
            default: "false",
        },
        PassOption {
            name: "maps-only",
            summary: "convert only maps and views, so that maps fuse only with maps",
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
        let facts = SharedFacts::default();
        let formulas =
            op::collect(&root, |op| op::is(&op, ops::skript::FORMULA) || Check::cast(op).is_some());
        for formula in formulas {
            if let Some(check) = Check::cast(formula) {
                learn(check, &facts)?;
                continue;
            }
            let at = Builder::before(context, formula)?;
            match convert(formula, maps_only, finite, &facts, &at) {
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

/// Adds the condition of a check to the facts if the check is outside of branches and loops: all operations after it then depend on it.
fn learn(check: Check, facts: &SharedFacts) -> Result<(), PassError> {
    let parent = op::parent(check.op());
    if parent.is_some_and(|parent| op::is(&parent, ops::func::FUNC)) {
        facts.borrow_mut().learn(check.condition()?);
    }
    Ok(())
}

/// Converts a formula. Returns `None` if the formula is kept for a later pass.
fn convert<'c: 'a, 'a>(
    formula: OperationRef<'c, 'a>,
    maps_only: bool,
    finite: bool,
    facts: &SharedFacts,
    at: &Builder<'c, 'a>,
) -> Result<Option<Vec<Value<'c, 'a>>>, Refusal> {
    if structured::has_effects(formula) {
        return Err(Refusal::Shape(
            "has an operation with side effects, such as a call, which happen once in each step",
        ));
    }
    let mut reading = Reading::new(formula)?;
    if !reading.has_distinct_destinations() {
        return Err(ReadError::SeveralElements.into());
    }
    // If each element is written at most once, the order of the points has no effect.
    if reading.nest.kind == Accumulation::Replace && reading.nest.writes_once() {
        reading.nest.kind = Accumulation::Assign;
    }
    if maps_only && !matches!(Structure::new(&reading.nest), Structure::Map | Structure::View) {
        return Ok(None);
    }
    linalg::lower(&reading, finite, facts, at).map(Some)
}
