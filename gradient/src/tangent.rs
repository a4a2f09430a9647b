// SPDX-License-Identifier: Apache-2.0
//! The tangents of the outputs of an operator, for tangents of its inputs: an operator whose formulas are the differentials of its
//! formulas, in their order.
//!
//! The tangent of `y[t(i)] += f(x[a(i)], …)` is `y_tangent[t(i)] += df/dx * x_tangent[a(i)]` over the same indices, under the same condition.
//! Steps that change what earlier steps wrote advance together with their tangents.

use crate::builder::{Builder, Derived};
use crate::differential::Differential;
use crate::domain::{Steps, is_injective};
use crate::expr::{all, number};
use crate::formula::{access, is_advancing, prune, reads, rename};
use crate::refusal::Refusal;
use crate::rules::compared;
use skript_frontend::model::{
    Accumulation, Expr, Formula, FormulaLocal, Function, Init, Node, Target, ValueId,
};
use skript_semantics::{Scalar, ScalarKind, ScalarOp};
use std::collections::HashMap;

/// The tangents of the outputs of a function of formulas, if the inputs `seeded` have tangents; `None` if they are zero.
///
/// # Errors
/// A formula on the path to the outputs has no derivative, or an unsupported one.
pub fn tangent(function: &Function, seeded: &[ValueId]) -> Result<Option<Derived>, Refusal> {
    let builder = Builder::new(function, seeded, "tangent")?;
    let mut forward = Forward { builder, tangents: HashMap::new() };
    for input in seeded {
        let seed = forward.builder.seed(*input)?;
        forward.tangents.insert(*input, seed);
    }
    for (position, formula) in forward.builder.formulas.iter().enumerate() {
        forward.builder.position = position;
        forward.formula(formula)?;
    }
    let tangent_of = |output: &ValueId| Some((*forward.tangents.get(output)?, *output));
    let outputs = function.outputs.iter().flat_map(|port| port.tensors.values());
    let tangents: Vec<(ValueId, ValueId)> = outputs.filter_map(tangent_of).collect();
    Ok((!tangents.is_empty()).then(|| forward.builder.finish(tangents)))
}

struct Forward<'a> {
    builder: Builder<'a>,
    /// The tangents of tensors; those without one are zero.
    tangents: HashMap<ValueId, ValueId>,
}

impl Forward<'_> {
    fn is_active(&self, target: &Target) -> bool {
        self.builder.active.contains(&target.output)
    }

    fn formula(&mut self, formula: &Formula) -> Result<(), Refusal> {
        let active: Vec<&Target> = formula.targets.iter().filter(|target| self.is_active(target)).collect();
        if active.is_empty() {
            return Ok(());
        }
        if is_advancing(formula) || formula.kind == Accumulation::Product {
            return self.advance(formula);
        }
        for target in active {
            let (locals, value) = self.differential(formula, target);
            // The tangent was zero before, and remains.
            if self.previous(target).is_none() && number(&value) == Some(0.0) {
                continue;
            }
            let single = Formula { targets: vec![target.clone()], locals, ..formula.clone() };
            match formula.kind {
                Accumulation::Sum => self.sum(single, target, value)?,
                Accumulation::Min | Accumulation::Max => self.extremum(formula, single, target, value)?,
                _ => self.write(single, target, value)?,
            }
        }
        Ok(())
    }

    /// The tangent of the elements that a formula continues.
    fn previous(&self, target: &Target) -> Option<ValueId> {
        self.tangents.get(&target.output).copied().filter(|_| target.init == Init::Continue)
    }

    /// The tensor for the tangent of a target: that of the elements that the formula continues, or a new one.
    fn result(&mut self, target: &Target) -> Result<(ValueId, Init), Refusal> {
        if let Some(previous) = self.previous(target) {
            return Ok((previous, Init::Continue));
        }
        let tangent = self.builder.derivative_of(target.output)?;
        self.tangents.insert(target.output, tangent);
        Ok((tangent, Init::Fill(Scalar::Real(0.0))))
    }

    /// The differential of the value of a formula, with the locals.
    fn differential(&self, formula: &Formula, target: &Target) -> (Vec<FormulaLocal>, Expr) {
        let mut locals = formula.locals.clone();
        let is_active = |tensor| self.tangents.contains_key(&tensor);
        let mut value =
            Differential::new(&mut locals, &self.tangents, &is_active).differentiate(&target.value);
        self.builder.reuse(formula, target, &mut locals, &mut [&mut value]);
        (locals, value)
    }

    /// Adds a formula like `single` that writes a tangent.
    fn write(&mut self, single: Formula, target: &Target, value: Expr) -> Result<(), Refusal> {
        let (output, init) = self.result(target)?;
        let subscripts = target.subscripts.clone();
        self.builder.push(Formula { targets: vec![Target { output, subscripts, value, init }], ..single });
        Ok(())
    }

    /// `+=`: each term of a reduction has its own formula, so that the tangent of a contraction is a sum of contractions.
    fn sum(&mut self, single: Formula, target: &Target, value: Expr) -> Result<(), Refusal> {
        let terms = terms(&value);
        if terms.len() < 2 || is_injective(&target.subscripts, &single.indices) {
            return self.write(single, target, value);
        }
        if let Some(previous) = self.previous(target) {
            self.builder.contribute(target.output, previous);
        }
        for value in terms {
            let output = self.builder.derivative_of(target.output)?;
            let init = Init::Fill(Scalar::Real(0.0));
            let part = Target { output, subscripts: target.subscripts.clone(), value, init };
            self.builder.push(Formula { targets: vec![part], ..single.clone() });
            self.builder.contribute(target.output, output);
        }
        let total = self.builder.total(target.output)?;
        self.tangents.extend(total.map(|total| (target.output, total)));
        Ok(())
    }

    /// `<=` and `>=`: the tangent is that of the step that determines the element.
    fn extremum(
        &mut self,
        formula: &Formula,
        single: Formula,
        target: &Target,
        value: Expr,
    ) -> Result<(), Refusal> {
        let steps = Steps::new(formula, target);
        let first = self.builder.best(formula, target, &steps)?;
        if let Some(previous) = self.previous(target) {
            let kept = self.builder.kept(target, previous, first)?;
            self.tangents.insert(target.output, kept);
        }
        let at = access(first, ScalarKind::Int, target.subscripts.clone());
        let is_first = compared(ScalarOp::Eq, at, steps.number(&Expr::index));
        let predicate = all(single.predicate.clone().into_iter().chain([is_first]));
        self.write(Formula { predicate, kind: Accumulation::Sum, ..single }, target, value)
    }

    /// Steps that change what earlier steps wrote: they are repeated on copies of the targets, unless the tangents do not read these, or the
    /// results have all elements that the steps read.
    fn advance(&mut self, formula: &Formula) -> Result<(), Refusal> {
        let are_states_results = self.builder.has_shifts(formula);
        let mut steps = self.builder.replacing(formula)?;
        let (mut results, mut states) = (HashMap::new(), HashMap::new());
        for target in &steps.targets {
            if self.is_active(target) {
                results.insert(target.output, self.result(target)?);
            }
            if !are_states_results {
                states.insert(target.output, self.builder.start(target)?);
            }
        }
        let is_active = |tensor| self.tangents.contains_key(&tensor);
        let is_single = steps.targets.len() == 1;
        let mut locals = steps.locals.clone();
        let mut differential = Differential::new(&mut locals, &self.tangents, &is_active);
        let (mut tangents, mut targets) = (Vec::new(), Vec::new());
        for target in std::mem::take(&mut steps.targets) {
            if let Some((output, init)) = results.get(&target.output).copied() {
                // Later targets read the local in place of the element that was written.
                let value = if is_single {
                    differential.differentiate(&target.value)
                } else {
                    differential.named(&target.value)
                };
                let tangent = Target { output, value, init, subscripts: target.subscripts.clone() };
                tangents.push(tangent.clone());
                targets.push(tangent);
            }
            let output = states.get(&target.output).copied().unwrap_or(target.output);
            targets.push(Target { output, ..target });
        }
        let with = |targets: Vec<Target>| Formula { targets, locals: locals.clone(), ..steps.clone() };
        let mut alone = with(tangents);
        prune(&mut alone);
        let are_states_read = reads(&alone).iter().any(|read| states.contains_key(read));
        let mut steps = if are_states_read { with(targets) } else { alone };
        rename(&mut steps, &states);
        self.builder.push(steps);
        Ok(())
    }
}

/// The terms of a sum.
fn terms(expr: &Expr) -> Vec<Expr> {
    match &expr.node {
        Node::Apply { op: ScalarOp::Add, operands } => operands.iter().flat_map(terms).collect(),
        _ => vec![expr.clone()],
    }
}
