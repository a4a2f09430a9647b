// SPDX-License-Identifier: Apache-2.0
//! Builds an operator of derivatives: its tensors, its formulas, and the inputs that they read.

use crate::domain::is_injective;
use crate::expr::{add, real, substituted};
use crate::extents::{symbol, symbols};
use crate::formula::{access, all_indices, assignment, extents, prune, reads, rename};
use crate::refusal::{Refusal, refused};
use crate::sequence::activate;
use skript_frontend::model::{
    Accumulation, Body, Expr, Formula, FormulaIndex, FormulaLocal, Function, Init, Node, Target, TensorType,
    Value, ValueId,
};
use skript_semantics::ScalarKind;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The tensor that an input of an operator of derivatives receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A tensor of the operator: an input, a captured variable or an output.
    Forward(ValueId),
    /// The derivative of one of them: the adjoint of an output, or the tangent of an input.
    Derivative(ValueId),
}

/// An operator that computes derivatives: the adjoint of an input, or the tangents of outputs.
#[derive(Clone, Debug)]
pub struct Derived {
    /// The values, constants and formulas; the values of the differentiated operator come first, with their numbers.
    pub function: Function,
    /// The inputs, with the tensors that they receive.
    pub inputs: Vec<(ValueId, Source)>,
    /// The results, each with the tensor whose derivative it is.
    pub outputs: Vec<(ValueId, ValueId)>,
}

impl Derived {
    /// The tensor that the only result is a copy of.
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

/// An operator of derivatives that is built.
pub struct Builder<'a> {
    pub function: &'a Function,
    /// The formulas of the function.
    pub formulas: &'a [Formula],
    values: Vec<Value>,
    /// The tensors that depend on those by which the function is differentiated.
    pub active: HashSet<ValueId>,
    /// The formulas of the derivatives.
    derivatives: Vec<Formula>,
    /// The position of the formula that is differentiated.
    pub position: usize,
    /// The tensors whose sum is the derivative of a tensor.
    contributions: HashMap<ValueId, Vec<ValueId>>,
    seeds: Vec<(ValueId, Source)>,
    /// The suffix of the names of derivatives: `grad`, `tangent`.
    suffix: &'static str,
}

impl<'a> Builder<'a> {
    /// A builder for the derivatives of a function of formulas by `wrt`.
    ///
    /// # Errors
    /// The function has no formulas, reads a tensor before it has its final value, or has run-time checks.
    pub fn new(function: &'a Function, wrt: &[ValueId], suffix: &'static str) -> Result<Self, Refusal> {
        let Body::Formulas(formulas) = &function.body else {
            return Err(refused(
                function,
                function.span,
                "an operator without formulas has no known derivative",
            ));
        };
        let mut active = wrt.iter().copied().collect();
        for formula in formulas {
            activate(formula, &mut active);
        }
        let builder = Builder {
            function,
            formulas,
            values: function.values.clone(),
            active,
            derivatives: Vec::new(),
            position: 0,
            contributions: HashMap::new(),
            seeds: Vec::new(),
            suffix,
        };
        builder.check()?;
        Ok(builder)
    }

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

    /// Adds a tensor for the derivative of another one.
    pub fn derivative_of(&mut self, tensor: ValueId) -> Result<ValueId, Refusal> {
        let tensor_type = self.type_of(tensor)?;
        Ok(self.tensor(&format!("{}_{}", self.name(tensor), self.suffix), tensor_type))
    }

    /// Adds an input with the derivative of a tensor.
    pub fn seed(&mut self, tensor: ValueId) -> Result<ValueId, Refusal> {
        let seed = self.derivative_of(tensor)?;
        self.seeds.push((seed, Source::Derivative(tensor)));
        Ok(seed)
    }

    pub fn is_seed(&self, tensor: ValueId) -> bool {
        self.seeds.iter().any(|(seed, _)| *seed == tensor)
    }

    pub fn push(&mut self, formula: Formula) {
        self.derivatives.push(formula);
    }

    pub fn contribute(&mut self, tensor: ValueId, derivative: ValueId) {
        self.contributions.entry(tensor).or_default().push(derivative);
    }

    /// The derivative of a tensor: the sum of its contributions, which are removed; `None` without contributions.
    pub fn total(&mut self, tensor: ValueId) -> Result<Option<ValueId>, Refusal> {
        let Some(parts) = self.contributions.remove(&tensor) else { return Ok(None) };
        if parts.len() < 2 {
            return Ok(parts.first().copied());
        }
        let tensor_type = self.type_of(tensor)?;
        let sum = self.derivative_of(tensor)?;
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

    /// Replaces the value of a formula in the locals and the values of its derivatives by the element that has it.
    pub fn reuse(
        &self,
        formula: &Formula,
        target: &Target,
        locals: &mut [FormulaLocal],
        values: &mut [&mut Expr],
    ) {
        let Some(element) = self.known_value(formula, target) else { return };
        let reused =
            |expr: &Expr| substituted(expr, &|part| (*part == target.value).then(|| element.clone()));
        let added = locals.iter_mut().skip(formula.locals.len());
        added.for_each(|local| local.value = reused(&local.value));
        values.iter_mut().for_each(|value| **value = reused(value));
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
                self.derivatives.push(copy);
            }
        }
        Ok(start)
    }

    /// The operator with these results: recomputed tensors, then the derivatives.
    pub fn finish(mut self, outputs: Vec<(ValueId, ValueId)>) -> Derived {
        let results: Vec<ValueId> = outputs.iter().map(|(result, _)| *result).collect();
        let mut formulas = self.recomputed();
        formulas.append(&mut self.derivatives);
        let mut formulas = needed(formulas, &results);
        formulas.iter_mut().for_each(prune);
        let mut function = self.function.clone();
        let read: HashSet<ValueId> = formulas.iter().flat_map(reads).collect();
        function.constants.retain(|(value, _)| read.contains(value));
        let ports = function.inputs.iter().chain(&function.outputs).flat_map(|port| port.tensors.values());
        let tensors = ports.chain(&function.captures).map(|value| (*value, Source::Forward(*value)));
        let available: Vec<(ValueId, Source)> = tensors.chain(self.seeds).collect();
        function.values = self.values;
        let inputs = inputs(&function, &available, &formulas, &results);
        function.body = Body::Formulas(formulas);
        Derived { function, inputs, outputs }
    }

    /// The formulas of local tensors that the derivatives read, in their order.
    fn recomputed(&self) -> Vec<Formula> {
        let outputs: HashSet<ValueId> =
            self.function.outputs.iter().flat_map(|port| port.tensors.values()).copied().collect();
        let mut needed: HashSet<ValueId> = self.derivatives.iter().flat_map(reads).collect();
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

/// The inputs of an operator with these formulas and results: the available tensors that they read, and others that have extents which
/// they need.
fn inputs(
    function: &Function,
    available: &[(ValueId, Source)],
    formulas: &[Formula],
    results: &[ValueId],
) -> Vec<(ValueId, Source)> {
    let read: HashSet<ValueId> = formulas.iter().flat_map(reads).collect();
    let is_constant = |value: ValueId| function.constants.iter().any(|(other, _)| *other == value);
    let mut inputs: Vec<(ValueId, Source)> = Vec::new();
    for (value, source) in available {
        let is_new = !inputs.iter().any(|(other, _)| other == value);
        if is_new && read.contains(value) && !is_constant(*value) {
            inputs.push((*value, *source));
        }
    }
    let named = |value: ValueId| -> Vec<&str> {
        let value = function.values.get(value.0 as usize);
        value.into_iter().flat_map(|value| &value.tensor.shape).filter_map(symbol).collect()
    };
    let known: Vec<&str> = inputs.iter().flat_map(|(value, _)| named(*value)).collect();
    let mut missing = needed_extents(&function.values, formulas, results);
    missing.retain(|symbol| !known.contains(&symbol.as_str()));
    for (value, source) in available {
        let before = missing.len();
        missing.retain(|symbol| !named(*value).contains(&symbol.as_str()));
        if missing.len() < before {
            inputs.push((*value, *source));
        }
    }
    inputs
}

/// The names in the extents of formulas and of the tensors that they write, and in the shapes of results.
fn needed_extents(values: &[Value], formulas: &[Formula], results: &[ValueId]) -> BTreeSet<String> {
    let written = formulas.iter().flat_map(|formula| &formula.targets).map(|target| target.output);
    let tensors = written.chain(results.iter().copied()).filter_map(|value| values.get(value.0 as usize));
    let shapes = tensors.flat_map(|value| &value.tensor.shape);
    let mut names: BTreeSet<String> = shapes.flat_map(symbols).collect();
    for formula in formulas {
        names.extend(formula.indices.iter().flat_map(|index| symbols(&index.extent)));
        names.extend(extents(formula).iter().flat_map(symbols));
    }
    names
}

/// The formulas that determine these tensors.
fn needed(formulas: Vec<Formula>, outputs: &[ValueId]) -> Vec<Formula> {
    let mut needed: HashSet<ValueId> = outputs.iter().copied().collect();
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
