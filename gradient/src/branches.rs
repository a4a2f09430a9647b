// SPDX-License-Identifier: Apache-2.0
//! Branches of graphs that data decide: all of them are computed, and an operator selects the results.
//!
//! A derivative in a branch that is not taken may be infinite or NaN, and zero times it is not zero. So each branch reads the reals of
//! its surroundings through an operator whose result, and so whose adjoint, is zero if the branch is not taken.

use crate::expr::{real, select};
use crate::flatten::{Environment, Flattening, Step, TensorId};
use crate::formula::{access, all_indices, assignment};
use skript_frontend::model::{
    Arm, Block, Body, Expr, FormulaIndex, Function, FunctionId, FunctionRole, Init, Port, PortTensors,
    Target, TensorType, Value, ValueId,
};
use skript_frontend::source::Span;
use skript_semantics::{Numbers, ScalarKind, ScalarOp};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The parts of a branching.
pub struct Branching<'a> {
    pub arms: &'a [Arm],
    pub otherwise: &'a Block,
    pub outputs: &'a [ValueId],
    pub span: Span,
}

/// The condition and the results of an arm.
type Results = (Vec<TensorId>, Vec<TensorId>);

impl Flattening<'_> {
    /// Computes all branches, and selects the results of the first one whose condition holds.
    pub fn branch(
        &mut self,
        function: &Function,
        branching: &Branching,
        environment: &mut Environment,
        prefix: &str,
    ) {
        let mut arms = Vec::new();
        let mut ranges = Vec::new();
        for arm in branching.arms {
            self.block(function, &arm.condition, environment, prefix);
            let first = self.graph.steps.len();
            self.block(function, &arm.consequent, environment, prefix);
            ranges.push(first..self.graph.steps.len());
            arms.push((results(&arm.condition, environment), results(&arm.consequent, environment)));
        }
        self.block(function, branching.otherwise, environment, prefix);
        if !self.refusals.is_empty() {
            return;
        }
        self.restrict_arms(&arms, ranges, function, branching.span);
        let mut selected = results(branching.otherwise, environment);
        for (conditions, values) in arms.iter().rev() {
            let Some(condition) = conditions.first() else { return };
            let pairs = values.iter().zip(selected).zip(branching.outputs);
            let chosen: Option<Vec<TensorId>> = pairs
                .map(|((then, otherwise), output)| {
                    let name = function.values.get(output.0 as usize).and_then(|value| value.name.clone());
                    let name = name.map_or_else(|| "choice".to_owned(), |name| format!("{prefix}{name}"));
                    self.choice([*condition, *then, otherwise], &name, function, branching.span)
                })
                .collect();
            let Some(chosen) = chosen else { return };
            selected = chosen;
        }
        environment.extend(branching.outputs.iter().copied().zip(selected));
    }

    /// Restricts the steps of each arm to its condition, and those of the arms after it to the opposite.
    fn restrict_arms(
        &mut self,
        arms: &[Results],
        ranges: Vec<Range<usize>>,
        function: &Function,
        span: Span,
    ) {
        // From the last arm on, because inserted steps move later ones.
        for ((conditions, _), range) in arms.iter().zip(ranges).rev() {
            let Some(condition) = conditions.first() else { return };
            let rest = range.end..self.graph.steps.len();
            self.restrict(rest, *condition, Selected::Otherwise, function, span);
            self.restrict(range, *condition, Selected::Then, function, span);
        }
    }

    /// Replaces the reals that steps read and do not compute by tensors that are zero unless the steps are selected.
    pub fn restrict(
        &mut self,
        range: Range<usize>,
        condition: TensorId,
        selected: Selected,
        function: &Function,
        span: Span,
    ) {
        let mut steps = self.graph.steps.split_off(range.start);
        let later = steps.split_off(range.len());
        let computed =
            |step: &Step| step.outputs.iter().filter_map(|id| step.tensors.get(id)).copied().collect();
        let computed: HashSet<TensorId> =
            steps.iter().flat_map(|step| -> Vec<TensorId> { computed(step) }).collect();
        let mut restricted: HashMap<TensorId, TensorId> = HashMap::new();
        for step in &mut steps {
            for input in &step.inputs {
                let Some(tensor) = step.tensors.get_mut(input) else { continue };
                let is_real = self
                    .graph
                    .tensors
                    .get(*tensor)
                    .is_some_and(|known| known.tensor.kind == ScalarKind::Real);
                if !is_real || computed.contains(tensor) {
                    continue;
                }
                let known = restricted.get(tensor).copied();
                let new = known
                    .or_else(|| self.selected(selected, &[condition, *tensor], "selected", function, span));
                if let Some(new) = new {
                    restricted.insert(*tensor, new);
                    *tensor = new;
                }
            }
        }
        self.graph.steps.extend(steps);
        self.graph.steps.extend(later);
    }

    /// A tensor that is one of two tensors, depending on a condition.
    pub fn choice(
        &mut self,
        tensors: [TensorId; 3],
        name: &str,
        function: &Function,
        span: Span,
    ) -> Option<TensorId> {
        let [_, then, otherwise] = tensors;
        if then == otherwise {
            return Some(then);
        }
        let kind = |tensor: TensorId| self.graph.tensors.get(tensor).map(|known| &known.tensor);
        if kind(then) != kind(otherwise) {
            self.refuse(function, span, "the branches have results of different shapes");
            return None;
        }
        self.selected(Selected::Both, &tensors, name, function, span)
    }

    /// Adds a step that selects; `tensors` are the condition, then the operands.
    pub fn selected(
        &mut self,
        selected: Selected,
        tensors: &[TensorId],
        name: &str,
        function: &Function,
        span: Span,
    ) -> Option<TensorId> {
        let kind = |tensor: &TensorId| self.graph.tensors.get(*tensor).map(|known| known.tensor.clone());
        let (condition, operand) = (tensors.first().and_then(kind)?, tensors.get(1).and_then(kind)?);
        let chosen = match selected {
            Selected::Below => TensorType { kind: ScalarKind::Bool, shape: Vec::new() },
            _ => operand.clone(),
        };
        let result = self.tensor(name, chosen);
        let callee = self.selection(selected, condition, operand, function.numbers, span);
        let values: Vec<ValueId> = (0..).map(ValueId).take(tensors.len() + 1).collect();
        let (output, inputs) = values.split_last()?;
        let (inputs, outputs) = (inputs.to_vec(), vec![*output]);
        let tensors = values.into_iter().zip(tensors.iter().copied().chain([result])).collect();
        self.graph.steps.push(Step { function: callee, tensors, inputs, outputs, span });
        Some(result)
    }

    /// The operator that selects tensors of a type, which is added if it is missing.
    fn selection(
        &mut self,
        selected: Selected,
        condition: TensorType,
        tensor: TensorType,
        numbers: Numbers,
        span: Span,
    ) -> FunctionId {
        let first = self.model.functions.len();
        let of = |function: &Function, at: usize| function.values.get(at).map(|value| value.tensor.clone());
        let known = self.graph.selections.iter().position(|known| {
            known.name == selected.name()
                && known.numbers == numbers
                && of(known, 0).as_ref() == Some(&condition)
                && of(known, 1).as_ref() == Some(&tensor)
        });
        let position = known.unwrap_or_else(|| {
            self.graph.selections.push(selection(selected, &condition, &tensor, numbers, span));
            self.graph.selections.len() - 1
        });
        FunctionId(u32::try_from(first + position).unwrap_or(u32::MAX))
    }
}

fn results(block: &Block, environment: &HashMap<ValueId, TensorId>) -> Vec<TensorId> {
    block.results.iter().filter_map(|value| environment.get(value)).copied().collect()
}

/// The operands that an operator selects from; a missing one is zero.
#[derive(Clone, Copy, PartialEq)]
pub enum Selected {
    Both,
    Then,
    Otherwise,
    /// Whether the condition, an int, is less than the operand.
    Below,
}

impl Selected {
    /// The name of the operator.
    fn name(self) -> &'static str {
        match self {
            Selected::Both => "branch",
            Selected::Then => "zero_unless",
            Selected::Otherwise => "zero_if",
            Selected::Below => "is_below",
        }
    }
}

/// `chosen[i…] = condition[0…] ? then[i…] : otherwise[i…]`, or `chosen[] = step[] < count[0…]`.
fn selection(
    selected: Selected,
    condition: &TensorType,
    tensor: &TensorType,
    numbers: Numbers,
    span: Span,
) -> Function {
    let operands: &[&str] = match selected {
        Selected::Both => &["then_value", "else_value"],
        Selected::Then | Selected::Otherwise => &["x"],
        Selected::Below => &["count"],
    };
    let first = if selected == Selected::Below { "step" } else { "condition" };
    let names = [first].into_iter().chain(operands.iter().copied()).chain(["chosen"]);
    let chosen = match selected {
        Selected::Below => &TensorType { kind: ScalarKind::Bool, shape: Vec::new() },
        _ => tensor,
    };
    let types = [condition].into_iter().chain(operands.iter().map(|_| tensor)).chain([chosen]);
    let ports: Vec<(&str, &TensorType)> = names.zip(types).collect();
    let value = |(name, tensor): (&str, &TensorType)| Value {
        name: Some(name.to_owned()),
        tensor: tensor.clone(),
        wide: false,
        storage: None,
        span,
    };
    let port = |(at, (name, _)): (u32, &(&str, &TensorType))| Port {
        name: (*name).to_owned(),
        tensors: PortTensors::Single(ValueId(at)),
        span,
    };
    let indices = FormulaIndex::over(&chosen.shape);
    let element = |at: u32| access(ValueId(at), tensor.kind, all_indices(&indices));
    let first = |value: u32, tensor: &TensorType| {
        access(ValueId(value), tensor.kind, tensor.shape.iter().map(|_| Expr::int(0)).collect())
    };
    let holds = first(0, condition);
    let element = match selected {
        Selected::Both => select(holds, element(1), element(2)),
        Selected::Then => select(holds, element(1), real(0.0)),
        Selected::Otherwise => select(holds, real(0.0), element(1)),
        Selected::Below => Expr::apply(ScalarKind::Bool, ScalarOp::Lt, vec![holds, first(1, tensor)]),
    };
    let output = operands.len() + 1;
    let target = Target {
        output: ValueId(output as u32),
        subscripts: all_indices(&indices),
        value: element,
        init: Init::Fill(chosen.kind.default_value()),
    };
    let all: Vec<Port> = (0..).zip(&ports).map(port).collect();
    let (inputs, outputs) = all.split_at(output);
    Function {
        name: selected.name().to_owned(),
        role: FunctionRole::Operator,
        attributes: Vec::new(),
        types: Vec::new(),
        values: ports.into_iter().map(value).collect(),
        inputs: inputs.to_vec(),
        outputs: outputs.to_vec(),
        items_of_none: Vec::new(),
        captures: Vec::new(),
        updates: Vec::new(),
        capture_variables: Vec::new(),
        extents: Vec::new(),
        checks: Vec::new(),
        result_checks: Vec::new(),
        constants: Vec::new(),
        body: Body::Formulas(vec![assignment(indices.clone(), target, span)]),
        numbers,
        span,
    }
}
