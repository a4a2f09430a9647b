// SPDX-License-Identifier: Apache-2.0
//! The adjoints of assignments, minima, maxima and products: steps that share an element of the target.

use crate::builder::Builder;
use crate::domain::{Moved, Steps, is_injective};
use crate::expr::{all, apply, mul, real, select};
use crate::formula::{access, all_indices};
use crate::refusal::Refusal;
use skript_frontend::model::{
    Accumulation, Expr, Formula, FormulaIndex, Init, Node, Target, TensorType, ValueId,
};
use skript_semantics::{Scalar, ScalarKind, ScalarOp};

/// The number of no step.
const NONE: i64 = -1;

/// A comparison.
pub fn compared(op: ScalarOp, a: Expr, b: Expr) -> Expr {
    Expr::apply(ScalarKind::Bool, op, vec![a, b])
}

impl Builder<'_> {
    /// `=` and `:=`: the last step that writes an element determines it.
    pub fn assignment(&mut self, formula: &Formula, target: &Target, total: ValueId) -> Result<(), Refusal> {
        let seed = access(total, ScalarKind::Real, target.subscripts.clone());
        let is_once = is_injective(&target.subscripts, &formula.indices);
        if is_once && target.init != Init::Continue {
            self.direct(formula, target, seed, None);
            return Ok(());
        }
        let steps = Steps::new(formula, target);
        let last = self.selected(formula, target, &steps, None)?;
        self.chosen(formula, target, &steps, last, seed);
        self.continued(target, total, last)
    }

    /// `<=` and `>=`: the first of the steps with the least or greatest value determines the element.
    pub fn extremum(&mut self, formula: &Formula, target: &Target, total: ValueId) -> Result<(), Refusal> {
        let seed = access(total, ScalarKind::Real, target.subscripts.clone());
        let steps = Steps::new(formula, target);
        let first = self.best(formula, target, &steps)?;
        self.chosen(formula, target, &steps, first, seed);
        self.continued(target, total, first)
    }

    /// For each element of a minimum or maximum, the number of the first step with its value; -1 without such a step.
    pub fn best(&mut self, formula: &Formula, target: &Target, steps: &Steps) -> Result<ValueId, Refusal> {
        let better = if formula.kind == Accumulation::Max { ScalarOp::Gt } else { ScalarOp::Lt };
        self.selected(formula, target, steps, Some(better))
    }

    /// The contributions of the steps that were selected.
    fn chosen(&mut self, formula: &Formula, target: &Target, steps: &Steps, selected: ValueId, seed: Expr) {
        let number = steps.number(&Expr::index);
        let at = access(selected, ScalarKind::Int, target.subscripts.clone());
        self.direct(formula, target, seed, Some(compared(ScalarOp::Eq, at, number)));
    }

    /// The adjoint of the elements that the formula continues: where no step was selected.
    fn continued(&mut self, target: &Target, total: ValueId, selected: ValueId) -> Result<(), Refusal> {
        if target.init == Init::Continue {
            let kept = self.kept(target, total, selected)?;
            self.contribute(target.output, kept);
        }
        Ok(())
    }

    /// The derivative of a target where no step was selected, else 0.
    pub fn kept(&mut self, target: &Target, total: ValueId, selected: ValueId) -> Result<ValueId, Refusal> {
        let tensor_type = self.type_of(target.output)?;
        let kept = self.derivative_of(target.output)?;
        let subscripts = all_indices(&FormulaIndex::over(&tensor_type.shape));
        let at = access(selected, ScalarKind::Int, subscripts.clone());
        let value = access(total, ScalarKind::Real, subscripts);
        let value = select(compared(ScalarOp::Lt, at, Expr::int(0)), value, real(0.0));
        self.assign_all(kept, tensor_type, value);
        Ok(kept)
    }

    /// For each element, the number of the step that determines it: the last one, or the first with the best value; -1 without such a step.
    fn selected(
        &mut self,
        formula: &Formula,
        target: &Target,
        steps: &Steps,
        better: Option<ScalarOp>,
    ) -> Result<ValueId, Refusal> {
        let shape = self.type_of(target.output)?.shape;
        let tensor_type = TensorType { kind: ScalarKind::Int, shape };
        let selected = self.tensor(&format!("{}_at", self.name(target.output)), tensor_type.clone());
        self.assign_all(selected, tensor_type, Expr::int(NONE));
        let at = access(selected, ScalarKind::Int, target.subscripts.clone());
        let mut locals = formula.locals.clone();
        let is_better = match better {
            None => None,
            Some(op) => {
                let values = steps.indices_of(&at);
                let index = |wanted: usize| {
                    values.iter().find(|(position, _)| *position == wanted).map(|(_, value)| value.clone())
                };
                let moved = Moved::new(formula, target, locals.len(), &index);
                locals.extend(moved.locals);
                let best = moved.value;
                let none = compared(ScalarOp::Lt, at, Expr::int(0));
                let start = match target.init {
                    Init::Fill(value) => Expr::literal(value),
                    Init::Continue => {
                        let start = self.start(target)?;
                        access(start, ScalarKind::Real, target.subscripts.clone())
                    }
                };
                Some(match start.node {
                    Node::Literal(Scalar::Real(value)) if value.is_infinite() => {
                        let is_better = compared(op, target.value.clone(), best);
                        select(none, Expr::literal(Scalar::Bool(true)), is_better)
                    }
                    _ => {
                        let best = select(none, start, best);
                        compared(op, target.value.clone(), best)
                    }
                })
            }
        };
        self.push(Formula {
            indices: formula.indices.clone(),
            locals,
            predicate: all(formula.predicate.clone().into_iter().chain(is_better)),
            kind: Accumulation::Replace,
            targets: vec![Target {
                output: selected,
                subscripts: target.subscripts.clone(),
                value: steps.number(&Expr::index),
                init: Init::Continue,
            }],
            findings: Vec::new(),
            span: formula.span,
        });
        Ok(selected)
    }

    /// `*=`: the derivative by one factor is the product of the others, also where factors are zero.
    pub fn product(&mut self, formula: &Formula, target: &Target, total: ValueId) -> Result<(), Refusal> {
        let mut seed = access(total, ScalarKind::Real, target.subscripts.clone());
        let start = match target.init {
            Init::Fill(value) => Expr::literal(value),
            Init::Continue => {
                let start = self.start(target)?;
                access(start, ScalarKind::Real, target.subscripts.clone())
            }
        };
        seed = mul(seed, start);
        let steps = Steps::new(formula, target);
        let has_locals =
            |expr: &Expr| expr.children().into_iter().chain([expr]).any(|e| matches!(e.node, Node::Local(_)));
        if !steps.is_reduction && target.subscripts.iter().any(has_locals) {
            return Err(self.refused(formula, "local values select the element of a product"));
        }
        if !steps.positions.is_empty() {
            let others = self.others(formula, target, &steps);
            seed = mul(seed, access(others, ScalarKind::Real, all_indices(&formula.indices)));
        }
        self.direct(formula, target, seed, None);
        if target.init == Init::Continue {
            let tensor_type = self.type_of(target.output)?;
            let product = self.tensor(&format!("{}_factor", self.name(target.output)), tensor_type.clone());
            let mut copy = formula.clone();
            for target in &mut copy.targets {
                target.output = product;
                target.init = Init::Fill(Scalar::Real(1.0));
            }
            self.push(copy);
            let kept = self.derivative_of(target.output)?;
            let subscripts = all_indices(&FormulaIndex::over(&tensor_type.shape));
            let value = mul(
                access(total, ScalarKind::Real, subscripts.clone()),
                access(product, ScalarKind::Real, subscripts),
            );
            self.assign_all(kept, tensor_type, value);
            self.contribute(target.output, kept);
        }
        Ok(())
    }

    /// For each step, the product of the values of the other steps of its element.
    fn others(&mut self, formula: &Formula, target: &Target, steps: &Steps) -> ValueId {
        let count = formula.indices.len();
        let mut indices = formula.indices.clone();
        for at in &steps.positions {
            indices.extend(formula.indices.get(*at).cloned());
        }
        let index = |wanted: usize| {
            let rank = steps.positions.iter().position(|at| *at == wanted)?;
            Some(Expr::index(count + rank))
        };
        let other = |at: usize| index(at).unwrap_or_else(|| Expr::index(at));
        let moved = Moved::new(formula, target, 0, &index);
        let is_other = compared(ScalarOp::Ne, steps.number(&Expr::index), steps.number(&other));
        let same = target.subscripts.iter().filter(|_| !steps.is_reduction).map(|subscript| {
            let place = crate::expr::substituted(subscript, &|part| match part.node {
                Node::Index(at) => index(at),
                _ => None,
            });
            apply(ScalarOp::Eq, vec![subscript.clone(), place])
        });
        let predicate = all(moved.predicate.into_iter().chain([is_other]).chain(same));
        let shape = formula.indices.iter().map(|index| index.extent.clone()).collect();
        let tensor_type = TensorType { kind: ScalarKind::Real, shape };
        let others = self.tensor(&format!("{}_others", self.name(target.output)), tensor_type);
        self.push(Formula {
            indices,
            locals: moved.locals,
            predicate,
            kind: Accumulation::Product,
            targets: vec![Target {
                output: others,
                subscripts: all_indices(&formula.indices),
                value: moved.value,
                init: Init::Fill(Scalar::Real(1.0)),
            }],
            findings: Vec::new(),
            span: formula.span,
        });
        others
    }
}
