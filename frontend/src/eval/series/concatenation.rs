// SPDX-License-Identifier: Apache-2.0
//! Concatenations of packs of dynamic length (2.4), folded one by one.

use skript_semantics::{Scalar, ScalarKind, ScalarOp};

use super::{Series, binary};
use crate::eval::ranges::decided;
use crate::eval::runtime;
use crate::model::{Expr, Node};

impl Series {
    /// The items before a place and those behind, if a choice by the position stands on top.
    pub(in crate::eval) fn parts(&self) -> Option<(Series, Series)> {
        let (condition, then, otherwise) = match &self.item().node {
            Node::Apply {
                op: ScalarOp::Select,
                operands,
            } => match operands.as_slice() {
                [condition, then, otherwise] => (condition, then, otherwise),
                _ => return None,
            },
            Node::Select {
                condition,
                then,
                otherwise,
            } => (&**condition, &**then, &**otherwise),
            _ => return None,
        };
        let (place, holds_before) = self.turn(condition)?;
        let place = self.within(place);
        let (before, behind) = match holds_before {
            true => (then, otherwise),
            false => (otherwise, then),
        };
        let rest = binary(ScalarOp::Sub, self.length.clone(), place.clone())?;
        let before = self.with_item(before.clone());
        let behind = self.with_item(behind.clone());
        let behind = Series::of(rest, |i| {
            Some(behind.at(&binary(ScalarOp::Add, i.clone(), place.clone())?))
        })?;
        Some((Series::of(place, |i| Some(before.at(i)))?, behind))
    }

    /// Where a comparison with the position turns, and whether it holds before.
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
        let zero = match rises {
            true => binary(ScalarOp::Sub, Expr::int(0), first)?,
            false => first,
        };
        let (holds_before, beyond) = match (op, rises) {
            (ScalarOp::Lt, true) | (ScalarOp::Gt, false) => (true, 0),
            (ScalarOp::Le, true) | (ScalarOp::Ge, false) => (true, 1),
            (ScalarOp::Ge, true) | (ScalarOp::Le, false) => (false, 0),
            (ScalarOp::Gt, true) | (ScalarOp::Lt, false) => (false, 1),
            _ => return None,
        };
        Some((runtime::plus(&zero, beyond), holds_before))
    }

    /// A place as one of this pack: none is before its first item, or behind its last.
    fn within(&self, place: Expr) -> Expr {
        let holds = |op, place: &Expr, limit: &Expr| {
            decided(&runtime::compare(op, place.clone(), limit.clone())) == Some(true)
        };
        let mut place = place;
        for (op, limit, nearest) in [
            (ScalarOp::Le, self.length.clone(), ScalarOp::Min),
            (ScalarOp::Ge, Expr::int(0), ScalarOp::Max),
        ] {
            if !holds(op, &place, &limit) {
                place = Expr::apply(ScalarKind::Int, nearest, vec![place, limit]);
            }
        }
        place
    }
}
