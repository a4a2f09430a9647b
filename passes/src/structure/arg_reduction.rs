// SPDX-License-Identifier: Apache-2.0
//! Arg-reductions: positions that are updated whenever a better element is found.
//!
//! `p := r where x[…, r, …] < x[…, p, …]`: every output is a position. One condition compares an element, or an
//! expression of elements, with the same expression at the current positions. A position may be an affine expression of
//! its index, also with indices of the output (a position in a window), if the element is read at that position. The
//! result does not depend on the order of evaluation: it is the first best element, or the initial position if no
//! element is better. A NaN is never better, and no element is better than a NaN. If positions begin in the ranges of
//! their indices, they remain in these ranges, so clamps to them are ignored. The other conditions do not read
//! positions; they select elements. If they keep an index below a limit, clamps to that limit are ignored too.

use super::nest::{Nest, NestTarget, Term, TermId};
use super::target::{Placement, Slot};
use skript_frontend::model::Accumulation;
use skript_semantics::ScalarOp;
use skript_symbolic::Extent;

/// An arg-reduction: the comparison, the conditions and the positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgReduction {
    /// `new OP best`: `Lt`, `Le`, `Gt` or `Ge`.
    pub comparison: ScalarOp,
    /// The comparison condition.
    pub update: TermId,
    /// The operand of the comparison that is the new element, 0 or 1.
    pub candidate: usize,
    /// The other conditions.
    pub guards: Vec<TermId>,
    /// For each target, the reduced index that determines its value.
    pub positions: Vec<usize>,
    /// Whether the values are these indices themselves, not expressions of them.
    pub are_indices: bool,
    /// The block that each target writes.
    pub slots: Vec<Slot>,
}

impl ArgReduction {
    /// Recognizes a nest; `None` if it is not an arg-reduction.
    pub fn new(nest: &Nest) -> Option<Self> {
        let conditions = conjuncts(nest, nest.predicate?);
        let (mut updates, mut guards) = (Vec::new(), Vec::new());
        for condition in conditions {
            if reads_output(nest, condition) { updates.push(condition) } else { guards.push(condition) }
        }
        let [update] = updates.as_slice() else {
            return None;
        };
        let Term::Apply { op, operands, .. } = nest.terms.get(*update)? else {
            return None;
        };
        let [lhs, rhs] = operands.as_slice() else {
            return None;
        };
        if nest.kind != Accumulation::Replace {
            return None;
        }
        let is_index = |t: &NestTarget| as_index(nest, t.value).is_some();
        let are_indices = nest.targets.iter().all(is_index);
        let slots = slots(nest)?;
        let kept = |index: &usize| slots.iter().any(|s| s.indices.contains(index));
        let positions = nest.targets.iter().map(|t| reduced_index(nest, t.value, kept));
        let positions: Vec<usize> = positions.collect::<Option<_>>()?;
        let reduced = |index: &usize| nest.extents.get(*index) != Some(&Extent::ONE) && !kept(index);
        let distinct = positions
            .iter()
            .enumerate()
            .all(|(at, index)| !positions.iter().take(at).any(|other| other == index));
        let covered = (0..nest.extents.len()).filter(reduced).all(|index| positions.contains(&index));
        if !distinct || !covered {
            return None;
        }
        [(0, *op, *lhs, *rhs), (1, mirrored(*op)?, *rhs, *lhs)]
            .into_iter()
            .find(|(_, _, new, best)| is_update(nest, *new, *best, &positions, &guards))
            .map(|(candidate, comparison, ..)| ArgReduction {
                comparison,
                update: *update,
                candidate,
                guards,
                positions,
                are_indices,
                slots,
            })
    }

    /// Whether each step only compares, and replaces the positions by its indices if its element is strictly better.
    pub(crate) fn selects_first(&self) -> bool {
        let is_strict = matches!(self.comparison, ScalarOp::Lt | ScalarOp::Gt);
        self.guards.is_empty() && self.are_indices && is_strict
    }
}

/// The conjuncts of a predicate.
pub(super) fn conjuncts(nest: &Nest, predicate: TermId) -> Vec<TermId> {
    let (mut pending, mut found) = (vec![predicate], Vec::new());
    while let Some(term) = pending.pop() {
        match nest.terms.get(term) {
            Some(Term::Apply { op: ScalarOp::And, operands, .. }) => pending.extend(operands.iter().rev()),
            Some(Term::Branch { condition, then, otherwise })
                if nest.terms.get(*otherwise) == Some(&Term::Bool(false)) =>
            {
                pending.extend([*then, *condition]);
            }
            _ => found.push(term),
        }
    }
    found
}

/// Whether a term depends on the value of a target.
pub(super) fn reads_output(nest: &Nest, term: TermId) -> bool {
    let Some(found) = nest.terms.get(term) else {
        return true;
    };
    let tensor = match found {
        Term::Access { tensor, .. } => nest.tensors.get(*tensor),
        _ => None,
    };
    tensor.is_some_and(|t| t.destination.is_some())
        || found.operands().into_iter().any(|o| reads_output(nest, o))
}

/// The comparison with its operands exchanged.
pub(super) fn mirrored(op: ScalarOp) -> Option<ScalarOp> {
    Some(match op {
        ScalarOp::Lt => ScalarOp::Gt,
        ScalarOp::Le => ScalarOp::Ge,
        ScalarOp::Gt => ScalarOp::Lt,
        ScalarOp::Ge => ScalarOp::Le,
        _ => return None,
    })
}

/// The block that all targets write.
fn slots(nest: &Nest) -> Option<Vec<Slot>> {
    let mut common = None;
    for target in &nest.targets {
        let forms: Vec<_> = target.subscripts.iter().map(|s| nest.affine(*s)).collect();
        let Placement::Block(slots) = Placement::new(&forms, &nest.extents) else {
            return None;
        };
        if common.get_or_insert_with(|| slots.clone()) != &slots {
            return None;
        }
    }
    common
}

fn as_index(nest: &Nest, term: TermId) -> Option<usize> {
    match nest.terms.get(term)? {
        Term::Index(index) => Some(*index),
        _ => None,
    }
}

/// Compares an expression of a new element with the expression of the best element.
struct Update<'n> {
    nest: &'n Nest,
    /// For each target, the index that determines its value.
    positions: &'n [usize],
    guards: &'n [TermId],
    /// Conditions under which the current terms are computed.
    held: Vec<TermId>,
    /// For each target, whether the new element depends on its value.
    found: Vec<bool>,
}

/// Whether `best` is the expression `new` with each target's new value replaced by its current position.
fn is_update(nest: &Nest, new: TermId, best: TermId, positions: &[usize], guards: &[TermId]) -> bool {
    let mut update =
        Update { nest, positions, guards, held: Vec::new(), found: vec![false; nest.targets.len()] };
    !reads_output(nest, new) && update.agree(new, best) && update.found.iter().all(|f| *f)
}

impl Update<'_> {
    fn agree(&mut self, new: TermId, best: TermId) -> bool {
        let nest = self.nest;
        let inner = self.unclamped(best, new);
        for (target, own) in nest.targets.iter().enumerate() {
            if reads_own_element(nest, inner, target) && alike(nest, new, own.value) {
                if let Some(found) = self.found.get_mut(target) {
                    *found = true;
                }
                return true;
            }
        }
        if self.is_free(new) && (new == best || alike(nest, new, best)) || self.alike(new, best) {
            return true;
        }
        inner != best && self.alike(new, inner)
    }

    /// Whether two terms apply the same operation to matching operands.
    fn alike(&mut self, new: TermId, best: TermId) -> bool {
        let nest = self.nest;
        let each = |this: &mut Self, new: &[TermId], best: &[TermId]| {
            let mut pairs = new.iter().zip(best);
            new.len() == best.len() && pairs.all(|(x, y)| this.agree(*x, *y))
        };
        match (nest.terms.get(new), nest.terms.get(best)) {
            (
                Some(Term::Access { tensor, subscripts }),
                Some(Term::Access { tensor: same, subscripts: others }),
            ) => tensor == same && each(self, subscripts, others),
            (
                Some(Term::Apply { op, kind, operands }),
                Some(Term::Apply { op: same, kind: like, operands: others }),
            ) => (op, kind) == (same, like) && each(self, operands, others),
            (
                Some(Term::Branch { condition, then, otherwise }),
                Some(Term::Branch { condition: same, then: other, otherwise: left }),
            ) => {
                if !self.agree(*condition, *same) {
                    return false;
                }
                self.held.push(*condition);
                let agree = self.agree(*then, *other);
                self.held.pop();
                agree && self.agree(*otherwise, *left)
            }
            // An index that determines a position matches only that position.
            (Some(Term::Index(index)), Some(Term::Index(other))) => {
                index == other && !self.positions.contains(index)
            }
            (Some(Term::Int(_) | Term::Bool(_)), _) => nest.terms.get(new) == nest.terms.get(best),
            _ => false,
        }
    }

    /// Whether a term does not depend on an index that determines a position.
    fn is_free(&self, term: TermId) -> bool {
        let parts = self.nest.reachable(&[term]);
        !parts.into_iter().any(|part| as_index(self.nest, part).is_some_and(|i| self.positions.contains(&i)))
    }

    /// The term without a `min` and a `max` that have no effect on values of `new` under the guards.
    fn unclamped(&self, term: TermId, new: TermId) -> TermId {
        let nest = self.nest;
        let Some(Term::Apply { op, operands, .. }) = nest.terms.get(term) else {
            return term;
        };
        let [x, y] = operands.as_slice() else {
            return term;
        };
        let range = || nest.affine(new).and_then(|form| form.range(&nest.extents));
        let is_harmless = |bound: TermId| match (op, nest.terms.get(bound)) {
            (ScalarOp::Min, Some(Term::Int(bound))) => range().is_some_and(|r| r.high <= *bound),
            (ScalarOp::Max, Some(Term::Int(bound))) => self.is_at_least(new, *bound),
            (ScalarOp::Min, Some(_)) => {
                // At most the bound that something is subtracted from.
                let less = matches!(applied(nest, new), Some((ScalarOp::Sub, x, y))
                    if nest.same(x, bound) && self.is_at_least(y, 0));
                less || is_last(nest, bound, new, self.guards)
            }
            _ => false,
        };
        match (is_harmless(*x), is_harmless(*y)) {
            (_, true) => self.unclamped(*x, new),
            (true, false) => self.unclamped(*y, new),
            (false, false) => term,
        }
    }

    /// Whether a term is at least `bound` wherever it is computed.
    fn is_at_least(&self, term: TermId, bound: i64) -> bool {
        let nest = self.nest;
        let range = nest.affine(term).and_then(|form| form.range(&nest.extents));
        if range.is_some_and(|range| range.low >= bound) {
            return true;
        }
        match applied(nest, term) {
            Some((ScalarOp::Min, x, y)) => self.is_at_least(x, bound) && self.is_at_least(y, bound),
            Some((ScalarOp::Max, x, y)) => self.is_at_least(x, bound) || self.is_at_least(y, bound),
            // An index below a limit, counted from the last one.
            Some((ScalarOp::Sub, last, y)) if bound <= 0 && is_last(nest, last, y, self.guards) => true,
            // One less than a value that exceeds the bound.
            Some((ScalarOp::Sub, x, one)) if nest.terms.get(one) == Some(&Term::Int(1)) => {
                self.held.iter().any(|held| match applied(nest, *held) {
                    Some((ScalarOp::Gt, y, limit)) => {
                        let limit = nest.terms.get(limit);
                        nest.same(x, y) && matches!(limit, Some(Term::Int(l)) if *l >= bound)
                    }
                    _ => false,
                })
            }
            _ => false,
        }
    }
}

/// An operation of two operands.
fn applied(nest: &Nest, term: TermId) -> Option<(ScalarOp, TermId, TermId)> {
    match nest.terms.get(term)? {
        Term::Apply { op, operands, .. } => match operands.as_slice() {
            [x, y] => Some((*op, *x, *y)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether two terms have the same value, as forms of the indices or by their expressions.
fn alike(nest: &Nest, one: TermId, other: TermId) -> bool {
    let form = nest.affine(one);
    nest.same(one, other) || form.is_some() && form == nest.affine(other)
}

/// The only index that determines a term, ignoring kept indices and captured values; `None` if the term depends on
/// data, or not on exactly one index.
fn reduced_index(nest: &Nest, term: TermId, kept: impl Fn(&usize) -> bool) -> Option<usize> {
    let mut reduced = None;
    for part in nest.reachable(&[term]) {
        match nest.terms.get(part)? {
            Term::Index(index) if kept(index) => {}
            Term::Index(index) if reduced.is_none_or(|f| f == *index) => reduced = Some(*index),
            Term::Index(_) | Term::Access { .. } | Term::Branch { .. } => return None,
            Term::Opaque { operands } if !operands.is_empty() => return None,
            _ => {}
        }
    }
    reduced
}

/// Whether `bound` is one less than a limit that the guards keep the index below.
fn is_last(nest: &Nest, bound: TermId, index: TermId, guards: &[TermId]) -> bool {
    if as_index(nest, index).is_none() {
        return false;
    }
    let Some((ScalarOp::Sub, limit, one)) = applied(nest, bound) else {
        return false;
    };
    let below = |guard: &TermId| match applied(nest, *guard) {
        Some((ScalarOp::Lt, x, y)) => nest.same(x, index) && y == limit,
        _ => false,
    };
    nest.terms.get(one) == Some(&Term::Int(1)) && guards.iter().any(below)
}

/// Whether a term is the current value of a target at the element that the step writes.
pub(super) fn reads_own_element(nest: &Nest, term: TermId, target: usize) -> bool {
    let Some(Term::Access { tensor, subscripts }) = nest.terms.get(term) else {
        return false;
    };
    let Some(written) = nest.targets.get(target) else {
        return false;
    };
    let is_target = nest.tensors.get(*tensor).and_then(|t| t.destination) == Some(target);
    is_target
        && subscripts.len() == written.subscripts.len()
        && subscripts
            .iter()
            .zip(&written.subscripts)
            .all(|(read, write)| nest.affine(*read).is_some_and(|form| nest.affine(*write) == Some(form)))
}

#[cfg(test)]
mod tests {
    use super::super::nest::samples::Builder;
    use super::*;
    use skript_semantics::ScalarKind;

    /// `p[i] := r where x[i, r] OP x[i, p[i]]`, or with the operands exchanged.
    fn sample(op: ScalarOp, mirrored: bool) -> Builder {
        let mut b = Builder::new(Accumulation::Replace, &[3, 5]);
        let (i, r) = (b.index(0), b.index(1));
        let p = b.access(&[3], &[i]);
        b.nest.tensors[0].destination = Some(0);
        let new = b.access(&[3, 5], &[i, r]);
        let (first, last) = (b.int(0), b.int(4));
        let clamped = b.ints(ScalarOp::Min, p, last);
        let clamped = b.ints(ScalarOp::Max, clamped, first);
        let best = b.term(Term::Access { tensor: 1, subscripts: vec![i, clamped] });
        let (x, y) = if mirrored { (best, new) } else { (new, best) };
        let better = b.reals(op, x, y);
        b.nest.predicate = Some(better);
        b
    }

    #[test]
    fn a_running_best_is_an_arg_reduction() {
        let mut b = sample(ScalarOp::Lt, false);
        let (i, r) = (b.index(0), b.index(1));
        let reduction = ArgReduction::new(&b.target(&[3], &[i], r)).unwrap();
        assert_eq!((reduction.comparison, reduction.candidate), (ScalarOp::Lt, 0));
        assert_eq!(reduction.positions, [1]);
        let mut b = sample(ScalarOp::Lt, true);
        let (i, r) = (b.index(0), b.index(1));
        let reduction = ArgReduction::new(&b.target(&[3], &[i], r)).unwrap();
        assert_eq!((reduction.comparison, reduction.candidate), (ScalarOp::Gt, 1));
    }

    /// `p[i] := 4 - r where |x[4 - r] - x[i]| < |x[p[i]] - x[SHIFT + i]|`.
    fn expression(shift: i64) -> Option<ArgReduction> {
        let mut b = Builder::new(Accumulation::Replace, &[3, 5]);
        let (i, r) = (b.index(0), b.index(1));
        let (last, shift) = (b.int(4), b.int(shift));
        let address = b.ints(ScalarOp::Sub, last, r);
        let beside = b.ints(ScalarOp::Add, shift, i);
        let p = b.access(&[3], &[i]);
        b.nest.tensors[0].destination = Some(0);
        let new = b.access(&[5], &[address]);
        let mut read = |subscript: TermId| b.term(Term::Access { tensor: 1, subscripts: vec![subscript] });
        let (best, own, other) = (read(p), read(i), read(beside));
        let mut distance = |x: TermId, y: TermId| {
            let difference = b.reals(ScalarOp::Sub, x, y);
            b.term(Term::Apply { op: ScalarOp::Abs, kind: ScalarKind::Real, operands: vec![difference] })
        };
        let (new, best) = (distance(new, own), distance(best, other));
        b.nest.predicate = Some(b.reals(ScalarOp::Lt, new, best));
        let address = b.ints(ScalarOp::Sub, last, r);
        ArgReduction::new(&b.target(&[3], &[i], address))
    }

    #[test]
    fn expressions_of_elements_and_of_positions_agree() {
        let reduction = expression(0).unwrap();
        assert_eq!((reduction.positions, reduction.are_indices), (vec![1], false));
        assert_eq!(expression(1), None);
    }

    /// `p[i] := i + STEP·r where x[i + r] < x[p[i]]`.
    fn window(step: i64) -> Option<ArgReduction> {
        let mut b = Builder::new(Accumulation::Replace, &[3, 5]);
        let (i, r, step) = (b.index(0), b.index(1), b.int(step));
        let p = b.access(&[3], &[i]);
        b.nest.tensors[0].destination = Some(0);
        let address = b.ints(ScalarOp::Add, i, r);
        let new = b.access(&[7], &[address]);
        let best = b.term(Term::Access { tensor: 1, subscripts: vec![p] });
        b.nest.predicate = Some(b.reals(ScalarOp::Lt, new, best));
        let steps = b.ints(ScalarOp::Mul, step, r);
        let address = b.ints(ScalarOp::Add, i, steps);
        ArgReduction::new(&b.target(&[3], &[i], address))
    }

    #[test]
    fn positions_move_with_their_window() {
        let reduction = window(1).unwrap();
        assert_eq!((reduction.positions, reduction.are_indices), (vec![1], false));
        // The position is not the index of the element.
        assert_eq!(window(2), None);
    }

    #[test]
    fn what_keeps_something_else_is_none() {
        // Twice the position.
        let mut b = sample(ScalarOp::Lt, false);
        let (i, r, two) = (b.index(0), b.index(1), b.int(2));
        let double = b.ints(ScalarOp::Mul, r, two);
        assert_eq!(ArgReduction::new(&b.target(&[3], &[i], double)), None);
        // The best element of another row.
        let mut b = sample(ScalarOp::Lt, false);
        let (i, r, two) = (b.index(0), b.index(1), b.int(2));
        let other = b.ints(ScalarOp::Sub, two, i);
        assert_eq!(ArgReduction::new(&b.target(&[3], &[other], r)), None);
    }
    #[test]
    fn other_conditions_say_which_elements_count() {
        let mut b = sample(ScalarOp::Lt, false);
        let (i, r) = (b.index(0), b.index(1));
        let limit = b.term(Term::Opaque { operands: vec![] });
        let inside = b.ints(ScalarOp::Lt, r, limit);
        let better = b.nest.predicate.unwrap();
        let both = |b: &mut Builder, x: TermId, y: TermId| {
            b.term(Term::Apply { op: ScalarOp::And, kind: ScalarKind::Bool, operands: vec![x, y] })
        };
        b.nest.predicate = Some(both(&mut b, inside, better));
        let reduction = ArgReduction::new(&b.target(&[3], &[i], r)).unwrap();
        assert_eq!((reduction.update, reduction.guards), (better, vec![inside]));
        // A guard that reads the position.
        let mut b = sample(ScalarOp::Lt, false);
        let (i, r) = (b.index(0), b.index(1));
        let p = b.access(&[3], &[i]);
        let destination = b.nest.tensors.len() - 1;
        b.nest.tensors[destination].destination = Some(0);
        let later = b.ints(ScalarOp::Lt, p, r);
        let better = b.nest.predicate.unwrap();
        b.nest.predicate = Some(both(&mut b, later, better));
        assert_eq!(ArgReduction::new(&b.target(&[3], &[i], r)), None);
    }

    #[test]
    fn clamps_to_the_limit_of_a_guard_change_nothing() {
        let sample = |guarded: bool| {
            let mut b = Builder::new(Accumulation::Replace, &[3, 5]);
            let (i, r) = (b.index(0), b.index(1));
            let p = b.access(&[3], &[i]);
            b.nest.tensors[0].destination = Some(0);
            let new = b.access(&[3, 5], &[i, r]);
            let limit = b.term(Term::Opaque { operands: vec![] });
            let one = b.int(1);
            let last = b.ints(ScalarOp::Sub, limit, one);
            let clamped = b.ints(ScalarOp::Min, p, last);
            let best = b.term(Term::Access { tensor: 1, subscripts: vec![i, clamped] });
            let better = b.reals(ScalarOp::Lt, new, best);
            let inside = b.ints(ScalarOp::Lt, r, limit);
            b.nest.predicate = Some(if guarded {
                b.term(Term::Apply {
                    op: ScalarOp::And,
                    kind: ScalarKind::Bool,
                    operands: vec![inside, better],
                })
            } else {
                better
            });
            ArgReduction::new(&b.target(&[3], &[i], r)).is_some()
        };
        assert!(sample(true));
        assert!(!sample(false));
    }
}
