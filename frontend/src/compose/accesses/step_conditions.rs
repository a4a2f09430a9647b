// SPDX-License-Identifier: Apache-2.0
//! Checks inside formulas whose steps read the writes of earlier steps: whether a step evaluates an access is known
//! only in the step, so the formula itself records the steps with out-of-bounds accesses.

use skript_semantics::{Scalar, ScalarKind, ScalarOp};

use super::search::number;
use crate::compose::invocations::builder::Builder;
use crate::eval::ranges::extent_expr;
use crate::eval::runtime;
use crate::eval::runtime::literal_bool;
use crate::model::{Accumulation, Expr, Finding, Formula, Init, MessagePart, Node, Target, Value, ValueId};
use crate::source::Span;

/// An access that a formula tests in its steps.
pub(crate) struct Inside {
    /// The condition that the step evaluates the access out of bounds, in terms of the formula as written.
    pub leaves: Expr,
    pub message: Vec<MessagePart>,
    pub span: Span,
}

/// Whether the formula reads a tensor that it writes.
pub(super) fn reads_own(formula: &Formula, expr: &Expr) -> bool {
    match &expr.node {
        Node::Access { tensor, .. } if formula.targets.iter().any(|t| t.output == *tensor) => true,
        Node::Local(position) => {
            let local = formula.locals.get(*position);
            local.is_some_and(|local| reads_own(formula, &local.value))
        }
        _ => expr.children().into_iter().any(|c| reads_own(formula, c)),
    }
}

/// Adds a target for each access. Every step is then executed; if the predicate does not hold, or a write is dropped,
/// an element keeps its value. The new targets have no tensors yet.
pub(crate) fn record(formula: &mut Formula, values: &[Value], accesses: Vec<Inside>) {
    let kind = std::mem::replace(&mut formula.kind, Accumulation::Replace);
    let mut writes = formula.predicate.take().unwrap_or(literal_bool(true));
    for target in &mut formula.targets {
        let shape = values.get(target.output.0 as usize);
        let shape = shape.map_or(&[][..], |v| &v.tensor.shape);
        for (subscript, extent) in target.subscripts.iter_mut().zip(shape) {
            let (index, size) = (subscript.clone(), extent_expr(extent));
            let below = runtime::compare(ScalarOp::Ge, index.clone(), Expr::int(0));
            let above = runtime::compare(ScalarOp::Lt, index.clone(), size.clone());
            writes = runtime::and(runtime::and(writes, below), above);
            let int = |op, a, b| Expr::apply(ScalarKind::Int, op, vec![a, b]);
            let last = runtime::plus(&size, -1);
            *subscript = int(ScalarOp::Max, int(ScalarOp::Min, index, last), Expr::int(0));
        }
    }
    for target in &mut formula.targets {
        let present = element(target.output, target.value.kind, &target.subscripts);
        let value = std::mem::replace(&mut target.value, Expr::int(0));
        let value = match kind.op() {
            Some(op) => Expr::apply(value.kind, op, vec![present.clone(), value]),
            None => value,
        };
        target.value = runtime::select(writes.clone(), value, present);
    }
    let number = number(&formula.indices);
    for (position, access) in (0u32..).zip(accesses) {
        let output = ValueId(u32::MAX - position);
        let recorded = element(output, ScalarKind::Int, &[]);
        let operands = vec![number.clone(), recorded.clone()];
        let smallest = Expr::apply(ScalarKind::Int, ScalarOp::Min, operands);
        formula.findings.push(Finding {
            target: formula.targets.len(),
            message: access.message,
            span: access.span,
        });
        formula.targets.push(Target {
            output,
            subscripts: Vec::new(),
            value: runtime::select(access.leaves, smallest, recorded),
            init: Init::Fill(Scalar::Int(Finding::NONE)),
        });
    }
}

fn element(tensor: ValueId, kind: ScalarKind, subscripts: &[Expr]) -> Expr {
    Expr { kind, node: Node::Access { tensor, subscripts: subscripts.to_vec() } }
}

/// Creates tensors for the targets that record steps.
pub(crate) fn with_recorded_steps(builder: &mut Builder, mut formulas: Vec<Formula>) -> Vec<Formula> {
    for formula in &mut formulas {
        let targets: Vec<usize> = formula.findings.iter().map(|f| f.target).collect();
        for position in targets {
            let tensor = builder.wide_int(None, formula.span);
            set_output(formula, position, tensor.id);
        }
    }
    formulas
}

/// Makes a target that has no tensor yet write `tensor`.
fn set_output(formula: &mut Formula, position: usize, tensor: ValueId) {
    let Some(target) = formula.targets.get_mut(position) else {
        return;
    };
    let old = std::mem::replace(&mut target.output, tensor);
    target.value.for_each_mut(&mut |node| match node {
        Node::Access { tensor: read, .. } if *read == old => *read = tensor,
        _ => {}
    });
}
