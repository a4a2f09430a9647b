//! Arg-reductions: positions that move on as long as a better element is found.
//!
//! `p := r where x[…, r, …] < x[…, p, …]`: every output is a position, and one condition compares an element with the
//! one at the positions so far. Whatever the order of evaluation, the result is the first best element of all, or the
//! position held before where none is better than that. A NaN is never better, and nothing is better than one. Positions
//! lie in the ranges of their indices, if they begin there; so clamps to these are seen through. Other conditions, which
//! do not read the positions, say which elements count; where they keep an index below a limit, clamps to that limit are
//! seen through as well.

use super::nest::{Nest, Term, TermId};
use super::target::{Placement, Slot};
use skript_frontend::model::Accumulation;
use skript_semantics::{ScalarKind, ScalarOp};

/// What is to be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgReduction {
    /// `new OP best`: `Lt`, `Le`, `Gt` or `Ge`.
    pub comparison: ScalarOp,
    /// The condition that compares, and which operand of it is the new element: 0 or 1.
    pub update: TermId,
    pub candidate: usize,
    /// The other conditions.
    pub guards: Vec<TermId>,
    /// By target: the index whose value it holds.
    pub positions: Vec<usize>,
    /// Where each target is written.
    pub slots: Vec<Slot>,
}

impl ArgReduction {
    /// `None`: it is something else.
    pub fn of(nest: &Nest) -> Option<Self> {
        let conditions = conjuncts(nest, nest.predicate?);
        let (mut updates, mut guards) = (Vec::new(), Vec::new());
        for condition in conditions {
            match reads_output(nest, condition) {
                true => updates.push(condition),
                false => guards.push(condition),
            }
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
        let positions = nest.targets.iter().map(|t| as_index(nest, t.value));
        let positions: Vec<usize> = positions.collect::<Option<_>>()?;
        let slots = slots(nest)?;
        let kept = |index: &usize| slots.iter().any(|s| s.indices.contains(index));
        let reduced = |index: &usize| nest.extents.get(*index) != Some(&1) && !kept(index);
        let distinct = positions
            .iter()
            .enumerate()
            .all(|(at, index)| !positions.iter().take(at).any(|other| other == index));
        let covered = (0..nest.extents.len())
            .filter(reduced)
            .all(|index| positions.contains(&index));
        if !distinct || !covered || positions.iter().any(kept) {
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
                slots,
            })
    }
}

/// The terms whose conjunction a predicate is.
fn conjuncts(nest: &Nest, predicate: TermId) -> Vec<TermId> {
    let (mut pending, mut found) = (vec![predicate], Vec::new());
    while let Some(term) = pending.pop() {
        match nest.terms.get(term) {
            Some(Term::Apply {
                op: ScalarOp::And,
                operands,
                ..
            }) => pending.extend(operands.iter().rev()),
            _ => found.push(term),
        }
    }
    found
}

/// Whether a term depends on what a target holds.
fn reads_output(nest: &Nest, term: TermId) -> bool {
    let Some(found) = nest.terms.get(term) else {
        return true;
    };
    let own = match found {
        Term::Access { tensor, .. } => nest.tensors.get(*tensor),
        _ => None,
    };
    own.is_some_and(|t| t.destination.is_some())
        || found.operands().into_iter().any(|o| reads_output(nest, o))
}

/// The comparison with its operands the other way round.
fn mirrored(op: ScalarOp) -> Option<ScalarOp> {
    Some(match op {
        ScalarOp::Lt => ScalarOp::Gt,
        ScalarOp::Le => ScalarOp::Ge,
        ScalarOp::Gt => ScalarOp::Lt,
        ScalarOp::Ge => ScalarOp::Le,
        _ => return None,
    })
}

/// The place that all targets have in common.
fn slots(nest: &Nest) -> Option<Vec<Slot>> {
    let mut common = None;
    for target in &nest.targets {
        let forms: Vec<_> = target.subscripts.iter().map(|s| nest.affine(*s)).collect();
        let Placement::Block(slots) = Placement::of(&forms, &nest.extents) else {
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

/// Whether `new` and `best` read one tensor, `best` with the positions so far in the place of their indices.
fn is_update(
    nest: &Nest,
    new: TermId,
    best: TermId,
    positions: &[usize],
    guards: &[TermId],
) -> bool {
    // Both in the type that the comparison computes in.
    if let (Some(new), Some(best)) = (widened(nest, new), widened(nest, best)) {
        return is_update(nest, new, best, positions, guards);
    }
    let (
        Some(Term::Access { tensor, subscripts }),
        Some(Term::Access {
            tensor: same,
            subscripts: others,
        }),
    ) = (nest.terms.get(new), nest.terms.get(best))
    else {
        return false;
    };
    let is_output = |t: &usize| {
        nest.tensors
            .get(*t)
            .is_some_and(|t| t.destination.is_some())
    };
    if tensor != same || is_output(tensor) || subscripts.len() != others.len() {
        return false;
    }
    let mut found = vec![false; positions.len()];
    let agree = subscripts.iter().zip(others).all(|(new, best)| {
        let reduced = as_index(nest, *new).and_then(|i| positions.iter().position(|p| *p == i));
        match reduced {
            Some(target) => {
                if let Some(found) = found.get_mut(target) {
                    *found = true;
                }
                reads_own_place(nest, unclamped(nest, *best, *new, guards), target)
            }
            None => nest.affine(*new).is_some_and(|form| {
                let free = form.indices().iter().all(|i| !positions.contains(i));
                free && nest.affine(*best) == Some(form)
            }),
        }
    });
    agree && found.iter().all(|f| *f)
}

/// The real that a conversion to real takes.
fn widened(nest: &Nest, term: TermId) -> Option<TermId> {
    match nest.terms.get(term)? {
        Term::Apply {
            op: ScalarOp::ToReal,
            kind: ScalarKind::Real,
            operands,
        } => operands.first().copied(),
        _ => None,
    }
}

/// One more than the largest value of an index.
fn extent(nest: &Nest, index: TermId) -> i64 {
    as_index(nest, index)
        .and_then(|i| nest.extents.get(i).copied())
        .unwrap_or(0)
}

/// The term without a `min` and a `max` that change no number that the index takes where the guards hold.
fn unclamped(nest: &Nest, term: TermId, index: TermId, guards: &[TermId]) -> TermId {
    let Some(Term::Apply { op, operands, .. }) = nest.terms.get(term) else {
        return term;
    };
    let [x, y] = operands.as_slice() else {
        return term;
    };
    let is_harmless = |bound: TermId| match (op, nest.terms.get(bound)) {
        (ScalarOp::Min, Some(Term::Int(bound))) => *bound >= extent(nest, index) - 1,
        (ScalarOp::Max, Some(Term::Int(bound))) => *bound <= 0,
        (ScalarOp::Min, Some(_)) => is_last(nest, bound, index, guards),
        _ => false,
    };
    match (is_harmless(*x), is_harmless(*y)) {
        (_, true) => unclamped(nest, *x, index, guards),
        (true, false) => unclamped(nest, *y, index, guards),
        (false, false) => term,
    }
}

/// Whether `bound` is one less than a limit that the guards keep the index below.
fn is_last(nest: &Nest, bound: TermId, index: TermId, guards: &[TermId]) -> bool {
    let applied = |term: TermId, wanted: ScalarOp| match nest.terms.get(term) {
        Some(Term::Apply { op, operands, .. }) if *op == wanted => match operands.as_slice() {
            [x, y] => Some((*x, *y)),
            _ => None,
        },
        _ => None,
    };
    let Some((limit, one)) = applied(bound, ScalarOp::Sub) else {
        return false;
    };
    let same = |x: TermId, y: TermId| x == y || nest.terms.get(x) == nest.terms.get(y);
    let below = |guard: &TermId| {
        let found = applied(*guard, ScalarOp::Lt);
        found.is_some_and(|(x, y)| same(x, index) && y == limit)
    };
    nest.terms.get(one) == Some(&Term::Int(1)) && guards.iter().any(below)
}

/// Whether a term is the present value of a target, there where the target is written.
fn reads_own_place(nest: &Nest, term: TermId, target: usize) -> bool {
    let Some(Term::Access { tensor, subscripts }) = nest.terms.get(term) else {
        return false;
    };
    let Some(written) = nest.targets.get(target) else {
        return false;
    };
    let own = nest.tensors.get(*tensor).and_then(|t| t.destination) == Some(target);
    own && subscripts.len() == written.subscripts.len()
        && subscripts
            .iter()
            .zip(&written.subscripts)
            .all(|(read, write)| {
                nest.affine(*read)
                    .is_some_and(|form| nest.affine(*write) == Some(form))
            })
}

#[cfg(test)]
mod tests {
    use super::super::nest::samples::Builder;
    use super::*;

    /// `p[i] := r where x[i, r] OP x[i, p[i]]`, or with the operands the other way round.
    fn sample(op: ScalarOp, mirrored: bool) -> Builder {
        let mut b = Builder::new(Accumulation::Replace, &[3, 5]);
        let (i, r) = (b.index(0), b.index(1));
        let p = b.access(&[3], &[i]);
        b.nest.tensors[0].destination = Some(0);
        let new = b.access(&[3, 5], &[i, r]);
        let (first, last) = (b.int(0), b.int(4));
        let clamped = b.ints(ScalarOp::Min, p, last);
        let clamped = b.ints(ScalarOp::Max, clamped, first);
        let best = b.term(Term::Access {
            tensor: 1,
            subscripts: vec![i, clamped],
        });
        let (x, y) = if mirrored { (best, new) } else { (new, best) };
        let better = b.reals(op, x, y);
        b.nest.predicate = Some(better);
        b
    }

    #[test]
    fn a_running_best_is_an_arg_reduction() {
        let mut b = sample(ScalarOp::Lt, false);
        let (i, r) = (b.index(0), b.index(1));
        let found = ArgReduction::of(&b.target(&[3], &[i], r)).unwrap();
        assert_eq!((found.comparison, found.candidate), (ScalarOp::Lt, 0));
        assert_eq!(found.positions, [1]);
        let mut b = sample(ScalarOp::Lt, true);
        let (i, r) = (b.index(0), b.index(1));
        let found = ArgReduction::of(&b.target(&[3], &[i], r)).unwrap();
        assert_eq!((found.comparison, found.candidate), (ScalarOp::Gt, 1));
    }

    #[test]
    fn what_keeps_something_else_is_none() {
        // Not the position, but its double.
        let mut b = sample(ScalarOp::Lt, false);
        let (i, r, two) = (b.index(0), b.index(1), b.int(2));
        let double = b.ints(ScalarOp::Mul, r, two);
        assert_eq!(ArgReduction::of(&b.target(&[3], &[i], double)), None);
        // The best of another row.
        let mut b = sample(ScalarOp::Lt, false);
        let (i, r, two) = (b.index(0), b.index(1), b.int(2));
        let other = b.ints(ScalarOp::Sub, two, i);
        assert_eq!(ArgReduction::of(&b.target(&[3], &[other], r)), None);
    }
    #[test]
    fn other_conditions_say_which_elements_count() {
        let mut b = sample(ScalarOp::Lt, false);
        let (i, r) = (b.index(0), b.index(1));
        let limit = b.term(Term::Opaque { operands: vec![] });
        let inside = b.ints(ScalarOp::Lt, r, limit);
        let better = b.nest.predicate.unwrap();
        let both = |b: &mut Builder, x: TermId, y: TermId| {
            b.term(Term::Apply {
                op: ScalarOp::And,
                kind: ScalarKind::Bool,
                operands: vec![x, y],
            })
        };
        b.nest.predicate = Some(both(&mut b, inside, better));
        let found = ArgReduction::of(&b.target(&[3], &[i], r)).unwrap();
        assert_eq!((found.update, found.guards), (better, vec![inside]));
        // Not one that reads the position.
        let mut b = sample(ScalarOp::Lt, false);
        let (i, r) = (b.index(0), b.index(1));
        let p = b.access(&[3], &[i]);
        let destination = b.nest.tensors.len() - 1;
        b.nest.tensors[destination].destination = Some(0);
        let later = b.ints(ScalarOp::Lt, p, r);
        let better = b.nest.predicate.unwrap();
        b.nest.predicate = Some(both(&mut b, later, better));
        assert_eq!(ArgReduction::of(&b.target(&[3], &[i], r)), None);
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
            let best = b.term(Term::Access {
                tensor: 1,
                subscripts: vec![i, clamped],
            });
            let better = b.reals(ScalarOp::Lt, new, best);
            let inside = b.ints(ScalarOp::Lt, r, limit);
            b.nest.predicate = Some(match guarded {
                true => b.term(Term::Apply {
                    op: ScalarOp::And,
                    kind: ScalarKind::Bool,
                    operands: vec![inside, better],
                }),
                false => better,
            });
            ArgReduction::of(&b.target(&[3], &[i], r)).is_some()
        };
        assert!(sample(true));
        assert!(!sample(false));
    }
}
