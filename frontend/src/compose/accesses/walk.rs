// SPDX-License-Identifier: Apache-2.0
//! All accesses of a formula, each with the conditions under which it is evaluated.

use crate::eval::runtime::literal_bool;
use crate::model::{Expr, Formula, Node, ValueId};
use skript_semantics::ScalarOp;

/// A condition on the path to an access, and its value there.
#[derive(Clone, Copy)]
pub(super) struct Condition<'f> {
    pub expr: &'f Expr,
    pub holds: bool,
}

impl PartialEq for Condition<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.holds == other.holds && std::ptr::eq(self.expr, other.expr)
    }
}

/// One dimension of an access.
pub(super) struct Access<'f> {
    pub tensor: ValueId,
    pub dimension: usize,
    pub subscripts: &'f [Expr],
    /// The conditions in the order of evaluation: each is evaluated only if all earlier ones hold.
    pub path: Vec<Condition<'f>>,
    pub(crate) is_write: bool,
}

/// The maximum number of visited expressions, with local values counted once per path.
const MAX_VISITS: usize = 1 << 16;

/// The accesses of a formula in the order of evaluation; `None` if local values are used on too many paths.
pub(super) fn accesses(formula: &Formula) -> Option<Vec<Access<'_>>> {
    let mut reads: Vec<bool> = Vec::with_capacity(formula.locals.len());
    for local in &formula.locals {
        reads.push(has_access(&local.value, &reads));
    }
    let mut walk = Walk {
        formula,
        reads,
        visited: vec![Vec::new(); formula.locals.len()],
        path: Vec::new(),
        accesses: Vec::new(),
        visits: MAX_VISITS,
    };
    if let Some(predicate) = &formula.predicate {
        walk.visit(predicate)?;
        conjuncts(predicate, true, &mut walk.path);
    }
    for target in &formula.targets {
        for subscript in &target.subscripts {
            walk.visit(subscript)?;
        }
        walk.record(target.output, &target.subscripts, true);
        walk.visit(&target.value)?;
    }
    Some(walk.accesses)
}

/// Whether a tensor is read in the expression, or in the local values that it uses.
fn has_access(expr: &Expr, locals: &[bool]) -> bool {
    match expr.node {
        Node::Access { .. } => true,
        Node::Local(position) => locals.get(position).is_some_and(|reads| *reads),
        _ => expr.children().iter().any(|c| has_access(c, locals)),
    }
}

/// Splits a condition into conjuncts that all have a known value where it is `holds`.
fn conjuncts<'f>(expr: &'f Expr, holds: bool, into: &mut Vec<Condition<'f>>) {
    match &expr.node {
        Node::Apply { op, operands } => match (op, operands.as_slice(), holds) {
            (ScalarOp::Not, [a], _) => return conjuncts(a, !holds, into),
            (ScalarOp::And, [a, b], true) | (ScalarOp::Or, [a, b], false) => {
                conjuncts(a, holds, into);
                return conjuncts(b, holds, into);
            }
            _ => {}
        },
        Node::Select { condition, then, otherwise } => {
            if holds && **otherwise == literal_bool(false) {
                conjuncts(condition, true, into);
                return conjuncts(then, true, into);
            }
            if !holds && **then == literal_bool(true) {
                conjuncts(condition, false, into);
                return conjuncts(otherwise, false, into);
            }
        }
        _ if *expr == literal_bool(holds) => return,
        _ => {}
    }
    into.push(Condition { expr, holds });
}

struct Walk<'f> {
    formula: &'f Formula,
    /// The locals that read a tensor.
    reads: Vec<bool>,
    /// For each local, the paths on which it has been visited.
    visited: Vec<Vec<Vec<Condition<'f>>>>,
    path: Vec<Condition<'f>>,
    accesses: Vec<Access<'f>>,
    visits: usize,
}

impl<'f> Walk<'f> {
    fn visit(&mut self, expr: &'f Expr) -> Option<()> {
        self.visits = self.visits.checked_sub(1)?;
        match &expr.node {
            Node::Literal(_) | Node::Index(_) | Node::Extent(_) => {}
            Node::Local(position) => self.local(*position)?,
            Node::Table { index, .. } => self.visit(index)?,
            Node::Apply { operands, .. } => {
                for operand in operands {
                    self.visit(operand)?;
                }
            }
            Node::Access { tensor, subscripts } => {
                for subscript in subscripts {
                    self.visit(subscript)?;
                }
                self.record(*tensor, subscripts, false);
            }
            Node::Select { condition, then, otherwise } => {
                self.visit(condition)?;
                self.where_holds(condition, true, then)?;
                self.where_holds(condition, false, otherwise)?;
            }
        }
        Some(())
    }

    fn where_holds(&mut self, condition: &'f Expr, holds: bool, expr: &'f Expr) -> Option<()> {
        let outside = self.path.len();
        conjuncts(condition, holds, &mut self.path);
        self.visit(expr)?;
        self.path.truncate(outside);
        Some(())
    }

    /// Visits the value of a local, unless it has been visited under a subset of the current conditions.
    fn local(&mut self, position: usize) -> Option<()> {
        if self.reads.get(position).is_none_or(|reads| !*reads) {
            return Some(());
        }
        let formula = self.formula;
        let local = formula.locals.get(position)?;
        let known = self.visited.get_mut(position)?;
        let path = &self.path;
        if known.iter().any(|k| k.iter().all(|c| path.contains(c))) {
            return Some(());
        }
        known.push(path.clone());
        self.visit(&local.value)
    }

    fn record(&mut self, tensor: ValueId, subscripts: &'f [Expr], is_write: bool) {
        for dimension in 0..subscripts.len() {
            self.accesses.push(Access { tensor, dimension, subscripts, path: self.path.clone(), is_write });
        }
    }
}
