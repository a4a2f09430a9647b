// SPDX-License-Identifier: Apache-2.0
//! Formulas that search for a step in which an access is out of bounds, if no condition on extents decides that exactly.

use rustc_hash::FxHashMap;
use skript_semantics::{ScalarKind, ScalarOp};
use std::ops::Add as _;

use super::walk::Condition;
use crate::compose::shapes::dynamic_extent::extent_of;
use crate::eval::ranges::extent_expr;
use crate::eval::runtime;
use crate::eval::sum::Sum;
use crate::model::{
    Accumulation, Expr, Extent, Finding, Formula, FormulaIndex, Init, MessagePart, Node, Target, ValueId,
};
use crate::source::Span;
use skript_semantics::Scalar;

pub(super) struct Search<'a> {
    pub formula: &'a Formula,
    /// The subscript, over indices and extents.
    pub subscript: &'a Expr,
    pub size: &'a Expr,
    pub path: &'a [Condition<'a>],
    /// The indices that subscript and conditions depend on.
    pub indices: &'a [usize],
    /// A condition over extents: if it does not hold, the search is skipped.
    pub open: Expr,
    pub name: &'a str,
    pub span: Span,
}

/// The maximum number of indices whose values the message shows.
const MAX_INDICES: usize = 8;

impl Search<'_> {
    /// The search formula; its target has no tensor yet.
    pub(super) fn formula(&self) -> Option<Formula> {
        let mut rebuilt = Rebuilt {
            source: self.formula,
            indices: FxHashMap::default(),
            locals: FxHashMap::default(),
            result: Formula {
                indices: Vec::new(),
                locals: Vec::new(),
                predicate: None,
                kind: Accumulation::Min,
                targets: Vec::new(),
                findings: Vec::new(),
                span: self.span,
            },
        };
        for index in self.indices {
            rebuilt.index(*index)?;
        }
        let leaves = rebuilt.expr(&self.leaves())?;
        let mut message = self.message()?;
        for part in &mut message {
            if let MessagePart::Value(value) = part {
                *value = rebuilt.expr(value)?;
            }
        }
        let mut formula = rebuilt.result;
        only_where(&mut formula, &self.open)?;
        formula.targets.push(Target {
            output: ValueId(u32::MAX),
            subscripts: Vec::new(),
            value: number(&formula.indices),
            init: Init::Fill(Scalar::Int(Finding::NONE)),
        });
        formula.predicate = Some(leaves);
        formula.findings.push(Finding { target: 0, message, span: self.span });
        Some(formula)
    }
}

impl Search<'_> {
    /// The condition that a step evaluates the access out of bounds.
    pub(super) fn leaves(&self) -> Expr {
        let index = self.subscript;
        let below = runtime::compare(ScalarOp::Lt, index.clone(), Expr::int(0));
        let beyond = runtime::compare(ScalarOp::Ge, index.clone(), self.size.clone());
        let outside = runtime::simplified(ScalarOp::Or, ScalarKind::Bool, vec![below, beyond]);
        self.path.iter().fold(outside, |all, condition| {
            let expr = condition.expr.clone();
            let expr =
                if condition.holds { expr } else { Expr::apply(ScalarKind::Bool, ScalarOp::Not, vec![expr]) };
            runtime::and(all, expr)
        })
    }

    /// The message about a step.
    pub(super) fn message(&self) -> Option<Vec<MessagePart>> {
        let mut message = vec![
            MessagePart::Text(format!("an index of {} is ", self.name)),
            MessagePart::Value(self.subscript.clone()),
        ];
        let named = self.indices.iter().take(MAX_INDICES);
        for (position, index) in named.enumerate() {
            let word = if position == 0 { " where " } else { ", " };
            let name = &self.formula.indices.get(*index)?.name;
            message.push(MessagePart::Text(format!("{word}{name} = ")));
            message.push(MessagePart::Value(Expr::index(*index)));
        }
        message.push(MessagePart::Text(", the tensor's extent is ".to_string()));
        message.push(MessagePart::Value(self.size.clone()));
        message.push(MessagePart::Text("; guard it with `| |`".to_string()));
        Some(message)
    }
}

/// Removes all steps of a formula where a condition over extents does not hold.
fn only_where(formula: &mut Formula, open: &Expr) -> Option<()> {
    if runtime::bool_literal(open) == Some(true) {
        return Some(());
    }
    if formula.indices.is_empty() {
        formula.indices.push(FormulaIndex { name: "step".to_string(), extent: Extent::Fixed(1) });
    }
    let first = formula.indices.first_mut()?;
    let steps = extent_expr(&first.extent);
    let steps = runtime::select(open.clone(), steps, Expr::int(0));
    first.extent = extent_of(&steps)?;
    Some(())
}

/// The row-major number of a step.
pub(super) fn number(indices: &[FormulaIndex]) -> Expr {
    let mut number = Sum::constant(0);
    for (position, index) in indices.iter().enumerate() {
        let extent = extent_expr(&index.extent);
        let outer = std::mem::replace(&mut number, Sum::from(&Expr::index(position))).into();
        let outer = match &extent.node {
            Node::Literal(Scalar::Int(n)) => Sum::from(&outer).scale(*n).into(),
            _ => Expr::apply(ScalarKind::Int, ScalarOp::Mul, vec![outer, extent]),
        };
        number = number.add(&Sum::from(&outer));
    }
    number.into()
}

/// Builds a formula over some of the indices and locals of another formula.
struct Rebuilt<'a> {
    source: &'a Formula,
    /// The replacement of an index: an index of the new formula, or zero if it has one value only.
    indices: FxHashMap<usize, Expr>,
    locals: FxHashMap<usize, usize>,
    result: Formula,
}

impl Rebuilt<'_> {
    fn index(&mut self, index: usize) -> Option<()> {
        let source_index = self.source.indices.get(index)?;
        let replacement = match source_index.extent {
            Extent::Fixed(1) => Expr::int(0),
            _ => {
                self.result.indices.push(source_index.clone());
                Expr::index(self.result.indices.len() - 1)
            }
        };
        self.indices.insert(index, replacement);
        Some(())
    }

    fn local(&mut self, position: usize) -> Option<usize> {
        if let Some(known) = self.locals.get(&position) {
            return Some(*known);
        }
        let mut local = self.source.locals.get(position)?.clone();
        local.value = self.expr(&local.value)?;
        self.result.locals.push(local);
        let new = self.result.locals.len() - 1;
        self.locals.insert(position, new);
        Some(new)
    }

    fn expr(&mut self, expr: &Expr) -> Option<Expr> {
        match &expr.node {
            Node::Index(index) => self.indices.get(index).cloned(),
            Node::Local(position) => {
                Some(Expr { kind: expr.kind, node: Node::Local(self.local(*position)?) })
            }
            _ => expr.with_children(|child| self.expr(child)),
        }
    }
}
