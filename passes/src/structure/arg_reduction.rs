//! Arg-reductions: positions that move on as long as a better element is found.
//!
//! `p := r where x[…, r, …] < x[…, p, …]`: every output is a position, and the only condition compares an element with the
//! one at the positions so far. Whatever the order of evaluation, the result is the first best element of all, or the
//! position held before where none is better than that. A NaN is never better, and nothing is better than one. Positions
//! lie in the ranges of their indices, if they begin there; so clamps to these are seen through.

use super::nest::{Nest, Term, TermId};
use super::target::{Placement, Slot};
use skript_frontend::model::Accumulation;
use skript_semantics::{ScalarKind, ScalarOp};

/// What is to be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgReduction {
    /// `new OP best`: `Lt`, `Le`, `Gt` or `Ge`.
    pub comparison: ScalarOp,
    /// Which operand of the predicate is the new element: 0 or 1.
    pub candidate: usize,
    /// By target: the index whose value it holds.
    pub positions: Vec<usize>,
    /// Where each target is written.
    pub slots: Vec<Slot>,
}

impl ArgReduction {
    /// `None`: it is something else.
    pub fn of(nest: &Nest) -> Option<Self> {
        let Term::Apply { op, operands, .. } = nest.terms.get(nest.predicate?)? else {
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
            .find(|(_, _, new, best)| is_update(nest, *new, *best, &positions))
            .map(|(candidate, comparison, ..)| ArgReduction {
                comparison,
                candidate,
                positions,
                slots,
            })
    }
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
fn is_update(nest: &Nest, new: TermId, best: TermId, positions: &[usize]) -> bool {
    // Both in the type that the comparison computes in.
    if let (Some(new), Some(best)) = (widened(nest, new), widened(nest, best)) {
        return is_update(nest, new, best, positions);
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
                reads_own_place(nest, unclamped(nest, *best, extent(nest, *new)), target)
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

/// The term without a `min` and a `max` that change no number from 0 to below `extent`, as positions are.
fn unclamped(nest: &Nest, term: TermId, extent: i64) -> TermId {
    let Some(Term::Apply { op, operands, .. }) = nest.terms.get(term) else {
        return term;
    };
    let [x, y] = operands.as_slice() else {
        return term;
    };
    let is_harmless = |bound: TermId| match (op, nest.terms.get(bound)) {
        (ScalarOp::Min, Some(Term::Int(bound))) => *bound >= extent - 1,
        (ScalarOp::Max, Some(Term::Int(bound))) => *bound <= 0,
        _ => false,
    };
    match (is_harmless(*x), is_harmless(*y)) {
        (_, true) => unclamped(nest, *x, extent),
        (true, false) => unclamped(nest, *y, extent),
        (false, false) => term,
    }
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
        // One more condition.
        let mut b = sample(ScalarOp::Lt, false);
        let (i, r, one) = (b.index(0), b.index(1), b.int(1));
        let late = b.ints(ScalarOp::Gt, r, one);
        let better = b.nest.predicate.unwrap();
        let both = b.term(Term::Apply {
            op: ScalarOp::And,
            kind: ScalarKind::Bool,
            operands: vec![better, late],
        });
        b.nest.predicate = Some(both);
        assert_eq!(ArgReduction::of(&b.target(&[3], &[i], r)), None);
        // The best of another row.
        let mut b = sample(ScalarOp::Lt, false);
        let (i, r, two) = (b.index(0), b.index(1), b.int(2));
        let other = b.ints(ScalarOp::Sub, two, i);
        assert_eq!(ArgReduction::of(&b.target(&[3], &[other], r)), None);
    }
}
