// SPDX-License-Identifier: Apache-2.0
//! The adjoint of an operator by one of its inputs: an operator whose formulas are the adjoints of its formulas, in reversed
//! order.

use crate::domain::is_injective;
use crate::expr::{add, all, real, substituted};
use crate::formula::{access, all_indices, assignment, prune, reads, rename};
use crate::gather::gathered;
use crate::partials::partials;
use crate::refusal::{Refusal, refused};
use crate::sequence::activate;
use skript_frontend::model::{
    Accumulation, Body, Expr, Formula, FormulaIndex, Function, Init, Node, Target, TensorType, Value, ValueId,
};
use skript_semantics::{Scalar, ScalarKind};
use std::collections::{HashMap, HashSet};

/// The tensor that an input of an adjoint operator receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A tensor of the operator: an input, a captured variable or an output.
    Forward(ValueId),
    /// The adjoint of an output.
    Adjoint(ValueId),
}

/// An operator that computes the adjoint of an input.
#[derive(Clone, Debug)]
pub struct Adjoint {
    /// The values, constants and formulas; the values of the differentiated operator come first, with their numbers.
    pub function: Function,
    /// The inputs, with the tensors that they receive.
    pub inputs: Vec<(ValueId, Source)>,
    /// The result.
    pub output: ValueId,
}

impl Adjoint {
    /// The tensor that the adjoint is a copy of.
    pub fn copied(&self) -> Option<Source> {
        let (Body::Formulas(formulas), [(input, source)]) = (&self.function.body, self.inputs.as_slice())
        else {
            return None;
        };
        let [formula] = formulas.as_slice() else { return None };
        let [target] = formula.targets.as_slice() else { return None };
        let type_of = |value: ValueId| self.function.values.get(value.0 as usize).map(|value| &value.tensor);
        let (tensor, other) = (type_of(target.output)?, type_of(*input)?);
        let indices = all_indices(&formula.indices);
        let is_whole = formula.indices.iter().map(|index| &index.extent).eq(&tensor.shape);
        let is_copy = target.value == access(*input, ScalarKind::Real, indices.clone());
        let is_plain = formula.kind == Accumulation::Assign && formula.predicate.is_none();
        (tensor == other && is_whole && is_copy && is_plain && target.subscripts == indices)
            .then_some(*source)
    }
}

/// The adjoint of a function of formulas by `wrt`, if the outputs `seeded` have adjoints; `None` if it is zero.
///
/// # Errors
/// A formula on the path from `wrt` to the outputs has no adjoint, or an unsupported one.
pub fn adjoint(function: &Function, wrt: ValueId, seeded: &[ValueId]) -> Result<Option<Adjoint>, Refusal> {
    let Body::Formulas(formulas) = &function.body else {
        return Err(refused(function, function.span, "an operator without formulas has no known derivative"));
    };
    let mut builder = Builder {
        function,
        formulas,
        values: function.values.clone(),
        active: active(formulas, wrt),
        backward: Vec::new(),
        position: 0,
        contributions: HashMap::new(),
        seeds: Vec::new(),
    };
    builder.check()?;
    for output in seeded {
        if !builder.active.contains(output) {
            continue;
        }
        let seed = builder.tensor(&format!("{}_grad", builder.name(*output)), builder.type_of(*output)?);
        builder.seeds.push((seed, Source::Adjoint(*output)));
        builder.contribute(*output, seed);
    }
    for (position, formula) in formulas.iter().enumerate().rev() {
        builder.position = position;
        builder.steps(formula)?;
    }
    let Some(output) = builder.total(wrt)? else { return Ok(None) };
    Ok(Some(builder.finish(wrt, output)))
}

/// The tensors that depend on `wrt` by real values.
fn active(formulas: &[Formula], wrt: ValueId) -> HashSet<ValueId> {
    let mut active = HashSet::from([wrt]);
    for formula in formulas {
        activate(formula, &mut active);
    }
    active
}

/// The formulas of an adjoint operator that is built.
pub struct Builder<'a> {
    pub function: &'a Function,
    formulas: &'a [Formula],
    values: Vec<Value>,
    active: HashSet<ValueId>,
    backward: Vec<Formula>,
    /// The position of the formula that is differentiated.
    position: usize,
    /// The tensors whose sum is the adjoint of a tensor.
    contributions: HashMap<ValueId, Vec<ValueId>>,
    seeds: Vec<(ValueId, Source)>,
}

impl Builder<'_> {
    pub fn refused(&self, formula: &Formula, reason: &str) -> Refusal {
        refused(self.function, formula.span, reason)
    }

    /// Refuses functions whose formulas read a tensor before it has its final value, and those with run-time checks.
    fn check(&self) -> Result<(), Refusal> {
        for (at, formula) in self.formulas.iter().enumerate() {
            if formula.is_search() {
                return Err(self.refused(formula, "an access may be out of bounds, which each run checks; a condition such as `| i + 1 < n`, or a guard `x[|i + 1|]`, excludes it"));
            }
            let written = |tensor: ValueId| {
                let later = self.formulas.iter().skip(at + 1);
                later.flat_map(|formula| &formula.targets).any(|target| target.output == tensor)
            };
            if reads(formula).into_iter().any(written) {
                return Err(self.refused(formula, "it reads a tensor that a later formula changes"));
            }
        }
        Ok(())
    }

    pub fn name(&self, value: ValueId) -> String {
        let value = self.values.get(value.0 as usize);
        value.and_then(|value| value.name.clone()).unwrap_or_else(|| "t".to_owned())
    }

    pub fn type_of(&self, value: ValueId) -> Result<TensorType, Refusal> {
        let value = self.values.get(value.0 as usize).map(|value| value.tensor.clone());
        value.ok_or_else(|| refused(self.function, self.function.span, "a tensor has no type"))
    }

    /// Adds a tensor.
    pub fn tensor(&mut self, name: &str, tensor: TensorType) -> ValueId {
        let span = self.function.span;
        self.values.push(Value { name: Some(name.to_owned()), tensor, wide: false, storage: None, span });
        ValueId(u32::try_from(self.values.len() - 1).unwrap_or(u32::MAX))
    }

    pub fn push(&mut self, formula: Formula) {
        self.backward.push(formula);
    }

    pub fn contribute(&mut self, tensor: ValueId, adjoint: ValueId) {
        self.contributions.entry(tensor).or_default().push(adjoint);
    }

    /// The adjoint of a tensor: the sum of its contributions, which are removed; `None` without contributions.
    fn total(&mut self, tensor: ValueId) -> Result<Option<ValueId>, Refusal> {
        let Some(parts) = self.contributions.remove(&tensor) else { return Ok(None) };
        if parts.len() < 2 {
            return Ok(parts.first().copied());
        }
        let tensor_type = self.type_of(tensor)?;
        let sum = self.tensor(&format!("{}_grad", self.name(tensor)), tensor_type.clone());
        let indices = FormulaIndex::over(&tensor_type.shape);
        let element = |tensor: ValueId| access(tensor, ScalarKind::Real, all_indices(&indices));
        let value = parts.iter().map(|part| element(*part)).fold(real(0.0), add);
        self.assign_all(sum, tensor_type, value);
        Ok(Some(sum))
    }

    /// `tensor[i…] = value` for all elements; `value` is over the same indices.
    pub fn assign_all(&mut self, tensor: ValueId, tensor_type: TensorType, value: Expr) {
        let indices = FormulaIndex::over(&tensor_type.shape);
        let subscripts = all_indices(&indices);
        let init = Init::Fill(value.kind.default_value());
        let target = Target { output: tensor, subscripts, value, init };
        self.push(assignment(indices, target, self.function.span));
    }

    /// The adjoint of a formula by all elements that its targets read.
    fn steps(&mut self, formula: &Formula) -> Result<(), Refusal> {
        let mut totals = HashMap::new();
        for target in &formula.targets {
            if let Some(total) = self.total(target.output)? {
                totals.insert(target.output, total);
            }
        }
        let read = reads(formula);
        let is_advancing = formula.targets.iter().any(|target| read.contains(&target.output));
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
        let parts = partials(&target.value, seed, &mut locals, &|tensor| active.contains(&tensor));
        let known = self.known_value(formula, target);
        let reused = |expr: &Expr| match &known {
            Some(element) => substituted(expr, &|part| (*part == target.value).then(|| element.clone())),
            None => expr.clone(),
        };
        for local in locals.iter_mut().skip(formula.locals.len()) {
            local.value = reused(&local.value);
        }
        for partial in parts {
            let Ok(tensor_type) = self.type_of(partial.tensor) else { continue };
            let name = format!("{}_grad", self.name(partial.tensor));
            let result = self.tensor(&name, tensor_type.clone());
            let conditions = [formula.predicate.clone(), condition.clone(), partial.guard];
            let target = Target {
                output: result,
                subscripts: partial.subscripts,
                value: reused(&partial.value),
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

    /// The element that has the value of a formula, so that the value needs not be computed again; `None` if other steps or
    /// formulas determine it too, or it would cost nothing.
    fn known_value(&self, formula: &Formula, target: &Target) -> Option<Expr> {
        let writers = self.formulas.iter().flat_map(|formula| &formula.targets);
        let is_only = writers.filter(|other| other.output == target.output).count() == 1;
        let is_value =
            formula.kind == Accumulation::Assign && is_injective(&target.subscripts, &formula.indices);
        let costs = matches!(target.value.node, Node::Apply { .. });
        (is_only && is_value && costs)
            .then(|| access(target.output, ScalarKind::Real, target.subscripts.clone()))
    }

    /// A copy of the start values of a tensor, before the formula that continues them.
    pub fn start(&mut self, target: &Target) -> Result<ValueId, Refusal> {
        let name = format!("{}_start", self.name(target.output));
        let start = self.tensor(&name, self.type_of(target.output)?);
        let names = HashMap::from([(target.output, start)]);
        for earlier in self.formulas.iter().take(self.position) {
            if let Some(target) = earlier.targets.iter().find(|other| other.output == target.output) {
                let mut copy = Formula { targets: vec![target.clone()], ..earlier.clone() };
                copy.targets.iter_mut().for_each(|target| target.output = start);
                rename(&mut copy, &names);
                self.backward.push(copy);
            }
        }
        Ok(start)
    }

    /// The operator: recomputed tensors, then the adjoints.
    fn finish(mut self, wrt: ValueId, output: ValueId) -> Adjoint {
        let output = if self.seeds.iter().any(|(seed, _)| *seed == output) {
            self.copied(wrt, output)
        } else {
            output
        };
        let mut formulas = self.recomputed();
        formulas.append(&mut self.backward);
        let mut formulas = needed(formulas, output);
        formulas.iter_mut().for_each(prune);
        let mut function = self.function.clone();
        let read: HashSet<ValueId> = formulas.iter().flat_map(reads).collect();
        function.constants.retain(|(value, _)| read.contains(value));
        let ports = function.inputs.iter().chain(&function.outputs).flat_map(|port| port.tensors.values());
        let tensors = ports.chain(&function.captures).map(|value| (*value, Source::Forward(*value)));
        let is_constant = |value: &ValueId| function.constants.iter().any(|(other, _)| other == value);
        let mut inputs: Vec<(ValueId, Source)> = Vec::new();
        for (value, source) in tensors.chain(self.seeds) {
            let is_new = !inputs.iter().any(|(other, _)| *other == value);
            if is_new && read.contains(&value) && !is_constant(&value) {
                inputs.push((value, source));
            }
        }
        function.values = self.values;
        function.body = Body::Formulas(formulas);
        Adjoint { function, inputs, output }
    }

    /// A copy of an adjoint that is an input.
    fn copied(&mut self, wrt: ValueId, seed: ValueId) -> ValueId {
        let Ok(tensor_type) = self.type_of(wrt) else { return seed };
        let copy = self.tensor(&format!("{}_grad", self.name(wrt)), tensor_type.clone());
        let value = access(seed, ScalarKind::Real, all_indices(&FormulaIndex::over(&tensor_type.shape)));
        self.assign_all(copy, tensor_type, value);
        copy
    }

    /// The formulas of local tensors that the adjoints read, in their order.
    fn recomputed(&self) -> Vec<Formula> {
        let outputs: HashSet<ValueId> =
            self.function.outputs.iter().flat_map(|port| port.tensors.values()).copied().collect();
        let mut needed: HashSet<ValueId> = self.backward.iter().flat_map(reads).collect();
        let mut kept = Vec::new();
        for formula in self.formulas.iter().rev() {
            let is_needed =
                |target: &Target| needed.contains(&target.output) && !outputs.contains(&target.output);
            if formula.targets.iter().any(is_needed) {
                needed.extend(reads(formula));
                kept.push(formula.clone());
            }
        }
        kept.reverse();
        kept
    }
}

/// The formulas that determine a tensor.
fn needed(formulas: Vec<Formula>, output: ValueId) -> Vec<Formula> {
    let mut needed = HashSet::from([output]);
    let mut kept = Vec::new();
    for formula in formulas.into_iter().rev() {
        if formula.targets.iter().any(|target| needed.contains(&target.output)) {
            needed.extend(reads(&formula));
            kept.push(formula);
        }
    }
    kept.reverse();
    kept
}
