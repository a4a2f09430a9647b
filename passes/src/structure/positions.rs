// SPDX-License-Identifier: Apache-2.0
//! Subscripts that depend on one index alone: all values, computed at compile time.

use super::nest::{Nest, Term, TermId};
use skript_semantics::Scalar;
use skript_symbolic::Extent;
use std::collections::HashMap;

/// Maximum number of values; longer rows are computed at run time.
const LONGEST: i64 = 1 << 16;

/// The value of an integer at each value of the only index that it depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Positions {
    /// The loop index.
    pub index: usize,
    /// The value of the integer at each value of the index.
    pub positions: Vec<i64>,
}

impl Positions {
    /// `None` if the term depends on no index or on several, on data or on reals, or if the index is too long.
    pub fn of(nest: &Nest, term: TermId) -> Option<Self> {
        let (index, positions) = values(nest, term, |value| match value {
            Scalar::Int(position) => Some(position),
            _ => None,
        })?;
        Some(Positions { index, positions })
    }

    /// The only index that a condition depends on, and its values for which the condition is true.
    pub fn holding(nest: &Nest, term: TermId) -> Option<(usize, Vec<bool>)> {
        values(nest, term, |value| match value {
            Scalar::Bool(holds) => Some(holds),
            _ => None,
        })
    }

    /// Whether a subscript depends on data: an access is part of it.
    pub fn are_data(nest: &Nest, term: TermId) -> bool {
        !nest.accesses(&[term]).is_empty()
    }
}

/// The value of a term at each value of the only index that it depends on.
fn values<T>(nest: &Nest, term: TermId, value_of: impl Fn(Scalar) -> Option<T>) -> Option<(usize, Vec<T>)> {
    let needed = nest.reachable(&[term]);
    let mut index = None;
    for id in &needed {
        match nest.terms.get(*id)? {
            Term::Index(own)
                if nest.extents.get(*own) != Some(&Extent::ONE) && *index.get_or_insert(*own) != *own =>
            {
                return None;
            }
            Term::Access { .. } | Term::Opaque { .. } => return None,
            _ => {}
        }
    }
    let index = index?;
    let extent = nest.extents.get(index)?.as_static()?;
    if extent > LONGEST {
        return None;
    }
    let all = (0..extent).map(|value| evaluated(nest, &needed, term, index, value));
    Some((index, all.map(|value| value.and_then(&value_of)).collect::<Option<_>>()?))
}

/// The value of `term` at this value of the index; `needed` are its terms, operands first.
fn evaluated(nest: &Nest, needed: &[TermId], term: TermId, index: usize, value: i64) -> Option<Scalar> {
    let mut values: HashMap<TermId, Scalar> = HashMap::new();
    for id in needed {
        let of = |operand: &TermId| values.get(operand).copied();
        let found = match nest.terms.get(*id)? {
            Term::Int(number) => Scalar::Int(*number),
            Term::Bool(truth) => Scalar::Bool(*truth),
            Term::Index(own) => Scalar::Int(if *own == index { value } else { 0 }),
            Term::Apply { op, operands, .. } => {
                let operands = operands.iter().map(of).collect::<Option<Vec<_>>>()?;
                op.eval(&operands)
            }
            Term::Branch { condition, then, otherwise } => match of(condition)? {
                Scalar::Bool(true) => of(then)?,
                _ => of(otherwise)?,
            },
            Term::Access { .. } | Term::Opaque { .. } => return None,
        };
        if matches!(found, Scalar::Real(_)) {
            return None;
        }
        values.insert(*id, found);
    }
    values.get(&term).copied()
}

#[cfg(test)]
mod tests {
    use super::super::nest::samples::Builder;
    use super::*;
    use skript_frontend::model::Accumulation;
    use skript_semantics::ScalarOp;

    #[test]
    fn a_clamped_quotient_is_known() {
        let mut b = Builder::new(Accumulation::Assign, &[6, 4]);
        let (i, two, last) = (b.index(0), b.int(2), b.int(1));
        let half = b.ints(ScalarOp::Div, i, two);
        let clamped = b.ints(ScalarOp::Min, half, last);
        let found = Positions::of(&b.nest, clamped).unwrap();
        assert_eq!((found.index, found.positions), (0, vec![0, 0, 1, 1, 1, 1]));
    }

    #[test]
    fn conditions_of_one_index_are_known() {
        let mut b = Builder::new(Accumulation::Sum, &[2, 4]);
        let (j, two) = (b.index(1), b.int(2));
        let other = b.ints(ScalarOp::Ne, j, two);
        let held = Some((1, vec![true, true, false, true]));
        assert_eq!(Positions::holding(&b.nest, other), held);
        assert_eq!(Positions::of(&b.nest, other), None);
    }

    #[test]
    fn data_and_several_indices_are_not() {
        let mut b = Builder::new(Accumulation::Assign, &[6, 4]);
        let (i, j) = (b.index(0), b.index(1));
        let both = b.ints(ScalarOp::Min, i, j);
        let read = b.access(&[6], &[i]);
        assert_eq!(Positions::of(&b.nest, both), None);
        assert_eq!(Positions::of(&b.nest, read), None);
        assert!(Positions::are_data(&b.nest, read) && !Positions::are_data(&b.nest, both));
        let mut b = Builder::new(Accumulation::Assign, &[LONGEST + 1]);
        let (i, last) = (b.index(0), b.int(9));
        let long = b.ints(ScalarOp::Min, i, last);
        assert_eq!(Positions::of(&b.nest, long), None);
    }
}
