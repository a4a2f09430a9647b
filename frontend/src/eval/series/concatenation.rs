// SPDX-License-Identifier: Apache-2.0
//! Concatenations of packs of dynamic length (2.4), folded part by part.

use skript_semantics::{Scalar, ScalarKind, ScalarOp};

use super::{Series, binary};
use crate::eval::ranges::decided;
use crate::eval::runtime;
use crate::model::{Expr, Node};

impl Series {
    /// The items before a position and those after it, if the outermost operation selects by the position.
    pub(in crate::eval) fn parts(&self) -> Option<(Series, Series)> {
        let (condition, then, otherwise) = match &self.item().node {
            Node::Apply { op: ScalarOp::Select, operands } => match operands.as_slice() {
                [condition, then, otherwise] => (condition, then, otherwise),
                _ => return None,
            },
            Node::Select { condition, then, otherwise } => (&**condition, &**then, &**otherwise),
            _ => return None,
        };
        let (position, holds_before) = self.turn(condition)?;
        let position = self.within(position);
        let (before, after) = if holds_before { (then, otherwise) } else { (otherwise, then) };
        let rest = binary(ScalarOp::Sub, self.length.clone(), position.clone())?;
        let before = self.with_item(before.clone());
        let after = self.with_item(after.clone());
        let after =
            Series::of(rest, |i| Some(after.at(&binary(ScalarOp::Add, i.clone(), position.clone())?)))?;
        Some((Series::of(position, |i| Some(before.at(i)))?, after))
    }

    /// The position at which a comparison changes its value, and the value before.
    fn turn(&self, condition: &Expr) -> Option<(Expr, bool)> {
        let Node::Apply { op, operands } = &condition.node else {
            return None;
        };
        let [a, b] = operands.as_slice() else {
            return None;
        };
        if a.kind != ScalarKind::Int {
            return None;
        }
        let difference = self.with_item(binary(ScalarOp::Sub, a.clone(), b.clone())?);
        let (first, step) = difference.line()?;
        let rises = match step.node {
            Node::Literal(Scalar::Int(1)) => true,
            Node::Literal(Scalar::Int(-1)) => false,
            _ => return None,
        };
        // first + i, or first - i, compared with zero.
        let zero = if rises { binary(ScalarOp::Sub, Expr::int(0), first)? } else { first };
        let (holds_before, beyond) = match (op, rises) {
            (ScalarOp::Lt, true) | (ScalarOp::Gt, false) => (true, 0),
            (ScalarOp::Le, true) | (ScalarOp::Ge, false) => (true, 1),
            (ScalarOp::Ge, true) | (ScalarOp::Le, false) => (false, 0),
            (ScalarOp::Gt, true) | (ScalarOp::Lt, false) => (false, 1),
            _ => return None,
        };
        Some((runtime::plus(&zero, beyond), holds_before))
    }

    /// A position clamped to this pack's range.
    fn within(&self, position: Expr) -> Expr {
        let holds = |op, position: &Expr, limit: &Expr| {
            decided(&runtime::compare(op, position.clone(), limit.clone())) == Some(true)
        };
        let mut position = position;
        for (op, limit, nearest) in
            [(ScalarOp::Le, self.length.clone(), ScalarOp::Min), (ScalarOp::Ge, Expr::int(0), ScalarOp::Max)]
        {
            if !holds(op, &position, &limit) {
                position = Expr::apply(ScalarKind::Int, nearest, vec![position, limit]);
            }
        }
        position
    }
}
