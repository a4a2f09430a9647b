// SPDX-License-Identifier: Apache-2.0
//! Formulas (2.12): loops in the order of the indices. Where the predicate holds, each target element is combined with its
//! value.
//!
//! A formula is first converted to a compact form ([`plan`]): affine subscripts become registers that the loops
//! increment, and conditions that depend on outer indices only are tested in the outer loops.

mod affine;
mod expr;
mod extents;
mod lower;
mod output;
mod plan;
mod row;

use crate::block::flattened;
use crate::check;
use crate::error::{EvalError, Failure, internal};
use crate::frame::Frame;
use output::Elements;
use plan::Plan;
use skript_frontend::model::{Finding, Formula, Init, Target, ValueId};
use skript_semantics::{Scalar, ScalarKind};
use skript_tensor::Tensor;
use std::collections::HashMap;

/// Executes a function's formulas in order; returns its outputs, rounded to the storage types. An output that no
/// formula writes holds `T()`.
pub(crate) fn run_all(frame: &Frame<'_>, formulas: &[Formula]) -> Result<Vec<(ValueId, Tensor)>, EvalError> {
    let mut outputs: HashMap<ValueId, (Vec<u64>, Elements)> = HashMap::new();
    let ids = flattened(&frame.function.outputs);
    for &id in &ids {
        let shape = frame.shape(id)?;
        let kind = frame.declared(id)?.tensor.kind;
        let elements = Elements::filled(kind, &shape, kind.default_value(), frame.numbers)?;
        outputs.insert(id, (shape, elements));
    }
    for formula in formulas {
        let position = |e: EvalError| e.in_function(&frame.function.name, formula.span);
        for target in &formula.targets {
            // The first formula of a local tensor creates it.
            if let (Init::Fill(value), false) = (target.init, outputs.contains_key(&target.output)) {
                let shape = frame.shape(target.output)?;
                let kind = frame.declared(target.output)?.tensor.kind;
                let elements = Elements::filled(kind, &shape, value, frame.numbers)?;
                outputs.insert(target.output, (shape, elements));
            }
        }
        for target in searches(formula) {
            let none = Scalar::Int(Finding::NONE);
            let elements = Elements::filled(ScalarKind::Int, &[], none, frame.numbers)?;
            outputs.insert(target.output, (Vec::new(), elements));
        }
        run(frame, formula, &mut outputs).map_err(position)?;
        for finding in &formula.findings {
            test(frame, formula, finding, &outputs).map_err(position)?;
        }
        for target in searches(formula) {
            outputs.remove(&target.output);
        }
    }
    ids.into_iter()
        .filter_map(|id| outputs.remove(&id).map(|o| (id, o)))
        .map(|(id, (shape, elements))| Ok((id, elements.into_tensor(frame.element(id)?, &shape)?)))
        .collect()
}

/// The targets of a formula that are step numbers.
fn searches(formula: &Formula) -> impl Iterator<Item = &Target> {
    formula.findings.iter().filter_map(|finding| formula.targets.get(finding.target))
}

/// # Errors
/// An access is out of bounds in some step.
fn test(
    frame: &Frame<'_>,
    formula: &Formula,
    finding: &Finding,
    outputs: &HashMap<ValueId, (Vec<u64>, Elements)>,
) -> Result<(), EvalError> {
    let target = formula.targets.get(finding.target);
    let position = match target.and_then(|target| outputs.get(&target.output)) {
        Some((_, Elements::Int(positions))) => positions.first().copied(),
        _ => None,
    };
    match position {
        Some(Finding::NONE) => Ok(()),
        Some(step) => Err(check::out_of_bounds(frame, formula, finding, step)),
        None => Err(internal("a formula finds nothing")),
    }
}

fn run(
    frame: &Frame<'_>,
    formula: &Formula,
    outputs: &mut HashMap<ValueId, (Vec<u64>, Elements)>,
) -> Result<(), EvalError> {
    for target in &formula.targets {
        if let (Init::Fill(value), Some((_, elements))) = (target.init, outputs.get_mut(&target.output)) {
            elements.fill(value, frame.numbers);
        }
    }
    let plan = Plan::new(frame, formula, outputs)?;
    // Targets are removed from the map while they are written; all other targets are read like inputs.
    let mut written = Vec::new();
    for id in &plan.written {
        if let Some((shape, elements)) = outputs.remove(id) {
            written.push((*id, shape, elements));
        }
    }
    let fault = plan.execute(frame, outputs, &mut written)?;
    for (id, shape, mut elements) in written {
        elements.round(frame.numbers);
        outputs.insert(id, (shape, elements));
    }
    match fault {
        Some(fault) => Err(Failure::OutOfBounds {
            tensor: frame.name(fault.tensor),
            value: fault.value,
            extent: fault.extent,
        }
        .into()),
        None => Ok(()),
    }
}
