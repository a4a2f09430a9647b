// SPDX-License-Identifier: Apache-2.0
//! The position of an index in a pack (2.4), for static and dynamic lengths.
//!
//! An index below zero counts from the end. An index that depends on extents, or on indices of a formula that evaluates it
//! in every step, is checked at run time; an index that depends on data selects the nearest item.

use skript_semantics::{ScalarKind, ScalarOp};

use super::demand::{Demand, Position, Subject};
use super::evaluator::Evaluator;
use super::ranges::{Interval, Known, Work, box_facts};
use super::runtime;
use super::series::binary;
use super::value::Atom;
use crate::model::Expr;
use crate::model::check::is_shape_scalar;
use crate::source::Span;

/// An int, known at compile time or at run time.
pub(super) fn int_of(atom: &Atom) -> Option<Expr> {
    match atom {
        Atom::Int(_) | Atom::Run(_) => atom.to_expr().filter(|e| e.kind == ScalarKind::Int),
        _ => None,
    }
}

impl Evaluator<'_> {
    /// The position of an item; `None` if the index is not an int.
    pub(crate) fn item_position(&mut self, index: &Atom, length: &Expr, span: Span) -> Option<Expr> {
        let index = int_of(index)?;
        if is_shape_scalar(&index) {
            return Some(self.checked_position(index, length, span));
        }
        if runtime::reads(&index) {
            return Some(self.nearest(index, length));
        }
        let location = self.index_from_end(&index, length);
        Some(self.position_of_step(index, location, length, length, span))
    }

    /// The position of a tensor: an access at an index that depends on steps or data is handled by the access.
    pub(crate) fn tensor_position(&mut self, index: &Atom, length: &Expr, span: Span) -> Option<Expr> {
        let index = int_of(index)?;
        if is_shape_scalar(&index) { Some(self.checked_position(index, length, span)) } else { Some(index) }
    }

    /// A position that depends on extents.
    fn checked_position(&mut self, index: Expr, length: &Expr, span: Span) -> Expr {
        let location = self.index_from_end(&index, length);
        self.demand(Demand::index(&index, &location, length, span));
        location
    }

    /// A position that differs in each step of a formula.
    pub(super) fn position_of_step(
        &mut self,
        index: Expr,
        location: Expr,
        locations: &Expr,
        length: &Expr,
        span: Span,
    ) -> Expr {
        let nearest = self.nearest(location.clone(), locations);
        if let Some(formula) = self.formula.as_mut().filter(|_| nearest != location) {
            formula.clamped = true;
            formula.positions.push(Position {
                from_end: location != index,
                index,
                locations: locations.clone(),
                length: length.clone(),
                unless: Vec::new(),
                subject: Subject::Item,
                span,
            });
        }
        nearest
    }

    /// The index; negative values count from the end.
    pub(crate) fn index_from_end(&self, index: &Expr, length: &Expr) -> Expr {
        let Interval { low, high } = self.with_known(|known| known.interval(index));
        let shifted = binary(ScalarOp::Add, index.clone(), length.clone());
        let Some(shifted) = shifted.filter(|_| low < 0) else {
            return index.clone();
        };
        if high < 0 {
            return shifted;
        }
        // The last item's index is negative only if there is none.
        if runtime::plus(length, -1) == *index {
            return index.clone();
        }
        let below = runtime::compare(ScalarOp::Lt, index.clone(), Expr::int(0));
        runtime::select(below, shifted, index.clone())
    }

    /// The maximum of the int and zero.
    pub(super) fn not_negative(&self, number: Expr) -> Expr {
        let low = self.with_known(|known| known.interval(&number).low);
        if low < 0 { binary(ScalarOp::Max, number.clone(), Expr::int(0)).unwrap_or(number) } else { number }
    }

    /// The index if it is a valid position, else the nearest one.
    pub(super) fn nearest(&self, index: Expr, locations: &Expr) -> Expr {
        let last = runtime::plus(locations, -1);
        let slack = binary(ScalarOp::Sub, last.clone(), index.clone());
        let (low, above) = self.with_known(|known| {
            let above = slack.is_none_or(|slack| known.interval(&slack).low < 0);
            (known.interval(&index).low, above)
        });
        let int = |op, a, b| Expr::apply(ScalarKind::Int, op, vec![a, b]);
        let mut index = index;
        if above {
            index = int(ScalarOp::Min, index, last);
        }
        if low < 0 {
            index = self.not_negative(index);
        }
        index
    }

    fn with_known<T>(&self, ask: impl FnOnce(&Known) -> T) -> T {
        let work = Work::default();
        match &self.formula {
            Some(formula) => {
                let mut facts = box_facts(&formula.indices);
                facts.extend(formula.facts.iter().cloned());
                ask(&Known::new((&formula.indices, &[]), &facts, &work))
            }
            None => ask(&Known::new((&[], &[]), &[], &work)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::compose::testing::{assert_composes, assert_fires};
    use crate::diagnostics::codes::INDEX_OUT_OF_RANGE;

    /// A formula over `a`, three ints on a line, `c`, three that are not, and `e`, extents of which one is dynamic.
    fn reading(formula: &str) -> String {
        format!(
            "operator f {{ @attrib {{ a: int..; c: int..; }} @input {{ x: real[n]; }} @output {{ y: int[4]; }} \
             @using {{ e = [n, 3, 4]; same = [7 ..(3)]; }} @lower {{ {formula}; }} }} \
             graph G {{ @input {{ x: real[s|4]; }} @output {{ y: int[4]; }} \
             @compose {{ y = f{{a = [3, 5, 7], c = [3, 5, 4]}}(x); }} }}"
        )
    }

    #[test]
    fn s2_4_steps_outside_of_a_pack_are_refused() {
        for pack in ["a", "c", "e", "same", "[1, 2, 3]"] {
            for index in ["i", "2 * i", "i - 4", "3 - i", "i + n"] {
                let text = reading(&format!("y[i,] = {pack}[{index}], i < 4"));
                assert_fires(&INDEX_OUT_OF_RANGE, &text);
            }
            let local = reading(&format!("v = {pack}[i], y[i,] = v + v, i < 4"));
            assert_fires(&INDEX_OUT_OF_RANGE, &local);
            for formula in [
                format!("y[i,] = {pack}[i], i < 3"),
                format!("y[i,] = {pack}[i - 3], i < 4"),
                format!("y[i,] = {pack}[i], i < 4 | i < 3"),
                format!("y[i,] = i < 3 ? {pack}[i] : 0, i < 4"),
                format!("y[i,] = i > 2 || {pack}[i] > 4 ? 1 : 0, i < 4"),
                format!("y[i,] = {pack}[i << 2], i < 4"),
                format!("y[i,] = {pack}[int(x[0,])], i < 4"),
                format!("y[i,] = {pack}[n - 1], i < 4"),
            ] {
                assert_composes(&reading(&formula));
            }
        }
    }
}
