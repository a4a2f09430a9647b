//! Counted writes: each step that a guard lets through writes at the number of those before, and counts itself.
//!
//! `c := c + 1` of one element that begins at zero, and elements at places of which one dimension is c. What the guard and
//! the elements are depends on no output; so the number of a step is a sum of marks, and no step waits for another.

use super::arg_reduction::{conjuncts, mirrored, reads_output, reads_own_place};
use super::nest::{Nest, Term, TermId};
use skript_frontend::model::Accumulation;
use skript_semantics::{ScalarKind, ScalarOp};

/// What is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counting {
    /// The target that counts.
    pub counter: usize,
    /// The conditions that no output decides.
    pub guards: Vec<TermId>,
    /// Those that keep the count below limits.
    pub limits: Vec<TermId>,
}

impl Counting {
    /// `None`: it is something else. The counter begins at zero.
    pub fn of(nest: &Nest) -> Option<Self> {
        if nest.kind != Accumulation::Replace {
            return None;
        }
        let (counter, _) = nest
            .targets
            .iter()
            .enumerate()
            .find(|(number, _)| counts(nest, *number))?;
        let is_count = |term: TermId| reads_own_place(nest, term, counter);
        let stands = |number: usize, places: &[TermId]| {
            let mut others = places.iter().filter(|place| !is_count(**place));
            number == counter
                || places.iter().any(|place| is_count(*place))
                    && others.all(|place| !reads_output(nest, *place))
        };
        let mut targets = nest.targets.iter().enumerate();
        let stand = targets.all(|(number, target)| {
            let is_free = number == counter || !reads_output(nest, target.value);
            is_free && stands(number, &target.subscripts)
        });
        if !stand || nest.targets.len() < 2 {
            return None;
        }
        let conditions = match nest.predicate {
            Some(predicate) => conjuncts(nest, predicate),
            None => Vec::new(),
        };
        let (limits, guards): (Vec<TermId>, Vec<TermId>) = conditions
            .into_iter()
            .partition(|condition| reads_output(nest, *condition));
        let is_limit = |limit: &TermId| is_limit(nest, *limit, &is_count);
        limits.iter().all(is_limit).then_some(Counting {
            counter,
            guards,
            limits,
        })
    }
}

/// Whether a target is one number more at each step.
fn counts(nest: &Nest, number: usize) -> bool {
    let Some(target) = nest.targets.get(number) else {
        return false;
    };
    let Some(Term::Apply {
        op: ScalarOp::Add,
        kind: ScalarKind::Int,
        operands,
    }) = nest.terms.get(target.value)
    else {
        return false;
    };
    let is_one = |term: &TermId| nest.terms.get(*term) == Some(&Term::Int(1));
    target.subscripts.is_empty()
        && matches!(operands.as_slice(), [x, y] if is_one(y) && reads_own_place(nest, *x, number))
}

/// Whether a condition keeps a count below a number, or lets it begin: once it fails, it fails for all steps behind.
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

    /// `y[PLACE] := VALUE, c := c + 1 where x[i] > 0 && c < 9`: whether it is a counted write.
    fn sample(place: fn(&mut Builder, TermId) -> TermId, reads: bool) -> Option<Counting> {
        let mut b = Builder::new(Accumulation::Replace, &[7]);
        b.nest.tensors.push(NestTensor {
            extents: vec![9],
            destination: Some(0),
        });
        b.nest.tensors.push(NestTensor {
            extents: Vec::new(),
            destination: Some(1),
        });
        let count = b.term(Term::Access {
            tensor: 1,
            subscripts: Vec::new(),
        });
        let (i, one, nine) = (b.index(0), b.int(1), b.int(9));
        let x = b.access(&[7], &[i]);
        let zero = b.term(Term::Opaque {
            operands: Vec::new(),
        });
        let marked = b.reals(ScalarOp::Gt, x, zero);
        let below = b.ints(ScalarOp::Lt, count, nine);
        b.nest.predicate = Some(b.both(marked, below));
        let next = b.ints(ScalarOp::Add, count, one);
        let own = b.term(Term::Access {
            tensor: 0,
            subscripts: vec![i],
        });
        let place = place(&mut b, count);
        let mut nest = b.target(&[9], &[place], if reads { own } else { x });
        nest.targets.push(NestTarget {
            extents: Vec::new(),
            subscripts: Vec::new(),
            value: next,
        });
        Counting::of(&nest)
    }

    #[test]
    fn the_number_of_those_before_is_a_place() {
        let found = sample(|_, count| count, false).unwrap();
        assert_eq!((found.counter, found.guards.len()), (1, 1));
    }

    #[test]
    fn what_is_made_of_a_count_or_of_outputs_is_none() {
        let twice = |b: &mut Builder, count| b.ints(ScalarOp::Add, count, count);
        assert_eq!(sample(twice, false), None);
        assert_eq!(sample(|_, count| count, true), None);
        assert_eq!(sample(|b, _| b.index(0), false), None);
    }
}
