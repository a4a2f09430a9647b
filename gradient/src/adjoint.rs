// SPDX-License-Identifier: Apache-2.0
//! The adjoint of an operator by one of its inputs: an operator whose formulas are the adjoints of its formulas, in reversed
//! order.

use crate::domain::is_injective;
use crate::expr::{add, all, real};
use crate::formula::{access, all_indices, assignment, prune, reads};
use crate::partials::{is_dependent, partials};
use crate::refusal::{Refusal, refused};
use skript_frontend::model::{
    Accumulation, Body, Expr, Formula, FormulaIndex, Function, Init, Target, TensorType, Value, ValueId,
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
    for formula in formulas.iter().rev() {
        for target in &formula.targets {
            if let Some(total) = builder.total(target.output)? {
                builder.formula(formula, target, total)?;
            }
        }
    }
    let Some(output) = builder.total(wrt)? else { return Ok(None) };
    Ok(Some(builder.finish(wrt, output)))
}

/// The tensors that depend on `wrt` by real values.
fn active(formulas: &[Formula], wrt: ValueId) -> HashSet<ValueId> {
    let mut active = HashSet::from([wrt]);
    for formula in formulas {
        for target in &formula.targets {
            if is_dependent(formula, &target.value, &|tensor| active.contains(&tensor)) {
                active.insert(target.output);
            }
        }
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
                return Err(self.refused(formula, "the bounds of an access are checked at run time"));
            }
            if formula.targets.len() > 1 {
                return Err(
                    self.refused(formula, "a formula that writes several tensors in a step is not supported")
                );
            }
            let written = |tensor: ValueId| {
                let later = self.formulas.get(at + 1..).unwrap_or_default();
                later.iter().flat_map(|formula| &formula.targets).any(|target| target.output == tensor)
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

    /// The adjoint of a tensor: the sum of its contributions, which are taken; `None` if there are none.
    fn total(&mut self, tensor: ValueId) -> Result<Option<ValueId>, Refusal> {
        let parts = self.contributions.remove(&tensor).unwrap_or_default();
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

    /// The adjoint of a formula by all elements that it reads.
    fn formula(&mut self, formula: &Formula, target: &Target, total: ValueId) -> Result<(), Refusal> {
        let active = |tensor: ValueId| self.active.contains(&tensor);
        let is_read = reads(formula).contains(&target.output);
        if is_read && (active(target.output) || formula.kind == Accumulation::Sum) {
            return Err(self
                .refused(formula, "a recurrence, which reads the tensor that it writes, is not supported"));
        }
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
        let mut locals = formula.locals.clone();
        let active = self.active.clone();
        for partial in partials(&target.value, seed, &mut locals, &|tensor| active.contains(&tensor)) {
            let Ok(tensor_type) = self.type_of(partial.tensor) else { continue };
            let name = format!("{}_grad", self.name(partial.tensor));
            let result = self.tensor(&name, tensor_type);
            let is_once = is_injective(&partial.subscripts, &formula.indices);
            let conditions = [formula.predicate.clone(), condition.clone(), partial.guard];
            self.push(Formula {
                indices: formula.indices.clone(),
                locals: locals.clone(),
                predicate: all(conditions.into_iter().flatten()),
                kind: if is_once { Accumulation::Assign } else { Accumulation::Sum },
                targets: vec![Target {
                    output: result,
                    subscripts: partial.subscripts,
                    value: partial.value,
                    init: Init::Fill(Scalar::Real(0.0)),
                }],
                findings: Vec::new(),
                span: formula.span,
            });
            self.contribute(partial.tensor, result);
        }
    }

    /// A copy of the start values of a tensor, before the formula that continues them.
    pub fn start(&mut self, target: &Target) -> Result<ValueId, Refusal> {
        let name = format!("{}_start", self.name(target.output));
        let start = self.tensor(&name, self.type_of(target.output)?);
        let first = self.formulas.iter().find(|f| f.targets.iter().any(|t| t.output == target.output));
        if let Some(first) = first {
            let mut copy = first.clone();
            copy.targets.iter_mut().for_each(|target| target.output = start);
            self.push(copy);
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
