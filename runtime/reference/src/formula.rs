//! Formulas (2.12): loops in index order, where the predicate holds each target is combined with its value.
//!
//! A formula is first put into a compact form ([`plan`]): subscripts that are affine in the indices become registers that
//! the loops step along, conditions that depend on outer indices alone are tested in the outer loops.

mod affine;
mod expr;
mod extents;
mod lower;
mod output;
mod plan;
mod row;

use crate::block::flattened;
use crate::error::{EvalError, Failure};
use crate::frame::Frame;
use output::Elements;
use plan::Plan;
use skript_frontend::model::{Formula, Init, ValueId};
use skript_tensor::Tensor;
use std::collections::HashMap;

/// Runs a function's formulas in order; yields its outputs, rounded to the machine types. An output that no formula writes
/// holds `T()`.
pub(crate) fn run_all(
    frame: &Frame<'_>,
    formulas: &[Formula],
) -> Result<Vec<(ValueId, Tensor)>, EvalError> {
    let mut outputs: HashMap<ValueId, (Vec<u64>, Elements)> = HashMap::new();
    let ids = flattened(&frame.function.outputs);
    for &id in &ids {
        let shape = frame.shape(id)?;
        let kind = frame.declared(id)?.tensor.kind;
        let elements = Elements::filled(kind, &shape, kind.default_value(), frame.numbers)?;
        outputs.insert(id, (shape, elements));
    }
    for formula in formulas {
        run(frame, formula, &mut outputs)
            .map_err(|e| e.within(&frame.function.name, formula.span))?;
    }
    ids.into_iter()
        .filter_map(|id| outputs.remove(&id).map(|o| (id, o)))
        .map(|(id, (shape, elements))| Ok((id, elements.into_tensor(frame.element(id)?, &shape)?)))
        .collect()
}

fn run(
    frame: &Frame<'_>,
    formula: &Formula,
    outputs: &mut HashMap<ValueId, (Vec<u64>, Elements)>,
) -> Result<(), EvalError> {
    for target in &formula.targets {
        if let (Init::Fill(value), Some((_, elements))) =
            (target.init, outputs.get_mut(&target.output))
        {
            elements.fill(value, frame.numbers);
        }
    }
    let plan = Plan::new(frame, formula, outputs)?;
    // Targets are taken out of the map while they are written; the others are read like inputs.
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
