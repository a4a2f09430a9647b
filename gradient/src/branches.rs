// SPDX-License-Identifier: Apache-2.0
//! Branches of graphs that data decide: all of them are computed, and an operator selects the results.

use crate::expr::select;
use crate::flatten::{Environment, Flattening, Step, TensorId};
use crate::formula::{access, all_indices, assignment};
use skript_frontend::model::{
    Arm, Block, Body, Expr, FormulaIndex, Function, FunctionId, FunctionRole, Init, Port, PortTensors,
    Target, TensorType, Value, ValueId,
};
use skript_frontend::source::Span;
use skript_semantics::{Numbers, ScalarKind};
use std::collections::HashMap;

/// The parts of a branching.
pub struct Branching<'a> {
    pub arms: &'a [Arm],
    pub otherwise: &'a Block,
    pub outputs: &'a [ValueId],
    pub span: Span,
}

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
        for arm in branching.arms {
            self.block(function, &arm.condition, environment, prefix);
            self.block(function, &arm.consequent, environment, prefix);
            arms.push((results(&arm.condition, environment), results(&arm.consequent, environment)));
        }
        self.block(function, branching.otherwise, environment, prefix);
        if !self.refusals.is_empty() {
            return;
        }
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

    /// A tensor that is one of two tensors, depending on a condition.
    fn choice(
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
        let types = tensors.map(|tensor| self.graph.tensors.get(tensor).map(|known| known.tensor.clone()));
        let [Some(condition), Some(then), Some(otherwise)] = types else { return None };
        if then != otherwise {
            self.refuse(function, span, "the branches have results of different shapes");
            return None;
        }
        let result = self.tensor(name, then.clone());
        let values = [0, 1, 2, 3].map(ValueId);
        let [inputs @ .., output] = values;
        let callee = self.selection(condition, then, function.numbers, span);
        let tensors = values.into_iter().zip(tensors.into_iter().chain([result])).collect();
        let inputs = inputs.to_vec();
        self.graph.steps.push(Step { function: callee, tensors, inputs, outputs: vec![output], span });
        Some(result)
    }

    /// The operator that selects tensors of a type, which is added if it is missing.
    fn selection(
        &mut self,
        condition: TensorType,
        tensor: TensorType,
        numbers: Numbers,
        span: Span,
    ) -> FunctionId {
        let first = self.model.functions.len();
        let of = |function: &Function, at: usize| function.values.get(at).map(|value| value.tensor.clone());
        let known = self.graph.selections.iter().position(|known| {
            known.numbers == numbers
                && of(known, 0).as_ref() == Some(&condition)
                && of(known, 1).as_ref() == Some(&tensor)
        });
        let position = known.unwrap_or_else(|| {
            self.graph.selections.push(selection(condition, tensor, numbers, span));
            self.graph.selections.len() - 1
        });
        FunctionId(u32::try_from(first + position).unwrap_or(u32::MAX))
    }
}

fn results(block: &Block, environment: &HashMap<ValueId, TensorId>) -> Vec<TensorId> {
    block.results.iter().filter_map(|value| environment.get(value)).copied().collect()
}

/// `chosen[i…] = condition[0…] ? then[i…] : otherwise[i…]`.
fn selection(condition: TensorType, tensor: TensorType, numbers: Numbers, span: Span) -> Function {
    let ports =
        [("condition", &condition), ("then_value", &tensor), ("else_value", &tensor), ("chosen", &tensor)];
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
    let indices = FormulaIndex::over(&tensor.shape);
    let element = |at: u32| access(ValueId(at), tensor.kind, all_indices(&indices));
    let zeros = condition.shape.iter().map(|_| Expr::int(0)).collect();
    let holds = access(ValueId(0), ScalarKind::Bool, zeros);
    let target = Target {
        output: ValueId(3),
        subscripts: all_indices(&indices),
        value: select(holds, element(1), element(2)),
        init: Init::Fill(tensor.kind.default_value()),
    };
    let all: Vec<Port> = (0..).zip(&ports).map(port).collect();
    let (inputs, outputs) = all.split_at(3);
    Function {
        name: "branch".to_owned(),
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
