// SPDX-License-Identifier: Apache-2.0
//! The adjoint of an operator by one of its inputs: an operator whose formulas are the adjoints of its formulas, in reversed
//! order.

use crate::builder::{Builder, Derived};
use crate::domain::is_injective;
use crate::expr::all;
use crate::formula::{access, all_indices, is_advancing};
use crate::gather::gathered;
use crate::partials::partials;
use crate::refusal::Refusal;
use skript_frontend::model::{Accumulation, Expr, Formula, FormulaIndex, Function, Init, Target, ValueId};
use skript_semantics::{Scalar, ScalarKind};
use std::collections::{HashMap, HashSet};

/// The adjoint of a function of formulas by `wrt`, if the outputs `seeded` have adjoints; `None` if it is zero.
///
/// # Errors
/// A formula on the path from `wrt` to the outputs has no adjoint, or an unsupported one.
pub fn adjoint(function: &Function, wrt: ValueId, seeded: &[ValueId]) -> Result<Option<Derived>, Refusal> {
    let mut builder = Builder::new(function, &[wrt], "grad")?;
    for output in seeded {
        if builder.active.contains(output) {
            let seed = builder.seed(*output)?;
            builder.contribute(*output, seed);
        }
    }
    for (position, formula) in builder.formulas.iter().enumerate().rev() {
        builder.position = position;
        builder.steps(formula)?;
    }
    let Some(mut output) = builder.total(wrt)? else { return Ok(None) };
    if builder.is_seed(output) {
        output = builder.copied(wrt, output)?;
    }
    Ok(Some(builder.finish(vec![(output, wrt)])))
}

impl Builder<'_> {
    /// The adjoint of a formula by all elements that its targets read.
    fn steps(&mut self, formula: &Formula) -> Result<(), Refusal> {
        let mut totals = HashMap::new();
        for target in &formula.targets {
            if let Some(total) = self.total(target.output)? {
                totals.insert(target.output, total);
            }
        }
        let is_advancing = is_advancing(formula);
        match formula.targets.as_slice() {
            _ if totals.is_empty() => Ok(()),
            [target] if is_advancing => match formula.kind {
                Accumulation::Assign | Accumulation::Replace => {
                    totals.into_values().try_for_each(|total| self.recurrence(formula, target, total))
                }
                _ => self.sequence(formula, &totals),
            },
            _ if is_advancing => self.sequence(formula, &totals),
            targets => targets.iter().try_for_each(|target| match totals.get(&target.output) {
                Some(total) => {
                    let single = Formula { targets: vec![target.clone()], ..formula.clone() };
                    self.formula(&single, target, *total)
                }
                None => Ok(()),
            }),
        }
    }

    /// The adjoint of a formula by all elements that it reads, without those of its target.
    fn formula(&mut self, formula: &Formula, target: &Target, total: ValueId) -> Result<(), Refusal> {
        match formula.kind {
            Accumulation::Sum => {
                if target.init == Init::Continue {
                    self.contribute(target.output, total);
                }
                let seed = access(total, ScalarKind::Real, target.subscripts.clone());
                self.direct(formula, target, seed, None);
            }
            Accumulation::Assign | Accumulation::Replace => self.assignment(formula, target, total)?,
            Accumulation::Min | Accumulation::Max => self.extremum(formula, target, total)?,
            Accumulation::Product => self.product(formula, target, total)?,
            Accumulation::All | Accumulation::Any => {}
        }
        Ok(())
    }

    /// Adds the contributions of all elements that the value reads, for the steps for which `condition` holds.
    pub fn direct(&mut self, formula: &Formula, target: &Target, seed: Expr, condition: Option<Expr>) {
        self.contributions_by(formula, target, (seed, condition), &self.active.clone());
    }

    /// Like [`Builder::direct`], without the elements of these tensors.
    pub fn direct_without(&mut self, formula: &Formula, target: &Target, seed: Expr, tensors: &[ValueId]) {
        let mut active = self.active.clone();
        active.retain(|tensor| !tensors.contains(tensor));
        self.contributions_by(formula, target, (seed, None), &active);
    }

    fn contributions_by(
        &mut self,
        formula: &Formula,
        target: &Target,
        (seed, condition): (Expr, Option<Expr>),
        active: &HashSet<ValueId>,
    ) {
        let mut locals = formula.locals.clone();
        let mut parts = partials(&target.value, seed, &mut locals, &|tensor| active.contains(&tensor));
        let mut values: Vec<&mut Expr> = parts.iter_mut().map(|partial| &mut partial.value).collect();
        self.reuse(formula, target, &mut locals, &mut values);
        for partial in parts {
            let Ok(tensor_type) = self.type_of(partial.tensor) else { continue };
            let Ok(result) = self.derivative_of(partial.tensor) else { continue };
            let conditions = [formula.predicate.clone(), condition.clone(), partial.guard];
            let target = Target {
                output: result,
                subscripts: partial.subscripts,
                value: partial.value,
                init: Init::Fill(Scalar::Real(0.0)),
            };
            let is_once = is_injective(&target.subscripts, &formula.indices);
            let adjoint = Formula {
                indices: formula.indices.clone(),
                locals: locals.clone(),
                predicate: all(conditions.into_iter().flatten()),
                kind: if is_once { Accumulation::Assign } else { Accumulation::Sum },
                targets: vec![target],
                findings: Vec::new(),
                span: formula.span,
            };
            self.push(if is_once { adjoint } else { gathered(adjoint, &tensor_type.shape) });
            self.contribute(partial.tensor, result);
        }
    }

    /// A copy of an adjoint that is an input.
    fn copied(&mut self, wrt: ValueId, seed: ValueId) -> Result<ValueId, Refusal> {
        let copy = self.derivative_of(wrt)?;
        let tensor_type = self.type_of(wrt)?;
        let value = access(seed, ScalarKind::Real, all_indices(&FormulaIndex::over(&tensor_type.shape)));
        self.assign_all(copy, tensor_type, value);
        Ok(copy)
    }
}
