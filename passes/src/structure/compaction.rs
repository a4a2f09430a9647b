// SPDX-License-Identifier: Apache-2.0
//! Recognizes stream compactions, where each step that satisfies a guard writes at the number of such steps before it, and
//! increments this count.
//!
//! A compaction consists of `c := c + 1`, where `c` is initially zero, and of writes at subscripts of which one is `c`. The guard
//! and the elements do not depend on outputs. Therefore, the position of a step is a prefix sum of the guards, and steps are
//! independent.

use super::arg_reduction::{conjuncts, mirrored, reads_output, reads_own_element};
use super::nest::{Nest, Term, TermId};
use skript_frontend::model::Accumulation;
use skript_semantics::{ScalarKind, ScalarOp};

/// The counter and the conditions of a compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compaction {
    /// The target that is the counter.
    pub counter: usize,
    /// The conditions that do not depend on outputs.
    pub guards: Vec<TermId>,
    /// The conditions that limit the count.
    pub limits: Vec<TermId>,
}

impl Compaction {
    /// Recognizes a nest. `None` if it is not a compaction. The initial value of the counter must be zero.
    pub fn new(nest: &Nest) -> Option<Self> {
        if nest.kind != Accumulation::Replace {
            return None;
        }
        let (counter, _) = nest.targets.iter().enumerate().find(|(number, _)| counts(nest, *number))?;
        let is_count = |term: TermId| reads_own_element(nest, term, counter);
        let is_at_count = |number: usize, positions: &[TermId]| {
            let mut others = positions.iter().filter(|position| !is_count(**position));
            number == counter
                || positions.iter().any(|position| is_count(*position))
                    && others.all(|position| !reads_output(nest, *position))
        };
        let mut targets = nest.targets.iter().enumerate();
        let are_at_count = targets.all(|(number, target)| {
            let is_independent = number == counter || !reads_output(nest, target.value);
            is_independent && is_at_count(number, &target.subscripts)
        });
        if !are_at_count || nest.targets.len() < 2 {
            return None;
        }
        let conditions = match nest.predicate {
            Some(predicate) => conjuncts(nest, predicate),
            None => Vec::new(),
        };
        let (limits, guards): (Vec<TermId>, Vec<TermId>) =
            conditions.into_iter().partition(|condition| reads_output(nest, *condition));
        let is_limit = |limit: &TermId| is_limit(nest, *limit, &is_count);
        limits.iter().all(is_limit).then_some(Compaction { counter, guards, limits })
    }
}

/// Whether each step increments a target by one.
fn counts(nest: &Nest, number: usize) -> bool {
    let Some(target) = nest.targets.get(number) else {
        return false;
    };
    let Some(Term::Apply { op: ScalarOp::Add, kind: ScalarKind::Int, operands }) =
        nest.terms.get(target.value)
    else {
        return false;
    };
    let is_one = |term: &TermId| nest.terms.get(*term) == Some(&Term::Int(1));
    target.subscripts.is_empty()
        && matches!(operands.as_slice(), [x, y] if is_one(y) && reads_own_element(nest, *x, number))
}

/// Whether a condition is an upper limit of the count. When it is false, it is also false for all later steps.
fn is_limit(nest: &Nest, condition: TermId, is_count: &impl Fn(TermId) -> bool) -> bool {
    let Some(Term::Apply { op, operands, .. }) = nest.terms.get(condition) else {
        return false;
    };
    let (op, limit) = match operands.as_slice() {
        [x, y] if is_count(*x) => (Some(*op), *y),
        [x, y] if is_count(*y) => (mirrored(*op), *x),
        _ => return false,
    };
    let is_fixed = nest.reachable(&[limit]).into_iter().all(|part| {
        let term = nest.terms.get(part);
        !matches!(term, Some(Term::Index(_) | Term::Access { .. }) | None)
    });
    match op {
        Some(ScalarOp::Lt | ScalarOp::Le) => is_fixed,
        Some(ScalarOp::Ge) => matches!(nest.terms.get(limit), Some(Term::Int(..=0))),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::nest::samples::Builder;
    use super::super::nest::{NestTarget, NestTensor};
    use super::*;

    /// Recognizes `y[SUBSCRIPT] := VALUE, c := c + 1 where x[i] > 0 && c < 9`.
    fn sample(subscript: fn(&mut Builder, TermId) -> TermId, reads: bool) -> Option<Compaction> {
        let mut b = Builder::new(Accumulation::Replace, &[7]);
        b.nest.tensors.push(NestTensor { extents: vec![9.into()], destination: Some(0) });
        b.nest.tensors.push(NestTensor { extents: Vec::new(), destination: Some(1) });
        let count = b.term(Term::Access { tensor: 1, subscripts: Vec::new() });
        let (i, one, nine) = (b.index(0), b.int(1), b.int(9));
        let x = b.access(&[7], &[i]);
        let zero = b.term(Term::Opaque { operands: Vec::new() });
        let marked = b.reals(ScalarOp::Gt, x, zero);
        let below = b.ints(ScalarOp::Lt, count, nine);
        b.nest.predicate = Some(b.both(marked, below));
        let next = b.ints(ScalarOp::Add, count, one);
        let present = b.term(Term::Access { tensor: 0, subscripts: vec![i] });
        let address = subscript(&mut b, count);
        let mut nest = b.target(&[9], &[address], if reads { present } else { x });
        nest.targets.push(NestTarget { extents: Vec::new(), subscripts: Vec::new(), value: next });
        Compaction::new(&nest)
    }

    #[test]
    fn a_count_is_a_subscript() {
        let compaction = sample(|_, count| count, false).unwrap();
        assert_eq!((compaction.counter, compaction.guards.len()), (1, 1));
    }

    #[test]
    fn functions_of_the_count_and_outputs_are_not_supported() {
        let twice = |b: &mut Builder, count| b.ints(ScalarOp::Add, count, count);
        assert_eq!(sample(twice, false), None);
        assert_eq!(sample(|_, count| count, true), None);
        assert_eq!(sample(|b, _| b.index(0), false), None);
    }
}
