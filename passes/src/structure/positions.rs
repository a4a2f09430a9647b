// SPDX-License-Identifier: Apache-2.0
//! Evaluates subscripts that depend on a single index at compile time.

use super::nest::{Nest, Term, TermId};
use skript_semantics::Scalar;
use skript_symbolic::Extent;
use std::collections::HashMap;

/// Maximum number of values. Subscripts with more values are computed at run time.
const MAX_VALUES: i64 = 1 << 16;

/// The value of an integer at each value of the only index that it depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Positions {
    /// The loop index.
    pub index: usize,
    /// The value of the integer at each value of the index.
    pub positions: Vec<i64>,
}

impl Positions {
    /// `None` if the term depends on no index, several indices, data or reals, or if the index has too many values.
    pub fn new(nest: &Nest, term: TermId) -> Option<Self> {
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

    /// Whether a subscript depends on data, because it contains an access.
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
            Term::Index(used)
                if nest.extents.get(*used) != Some(&Extent::ONE) && *index.get_or_insert(*used) != *used =>
            {
                return None;
            }
            Term::Access { .. } | Term::Opaque { .. } => return None,
            _ => {}
        }
    }
    let index = index?;
    let extent = nest.extents.get(index)?.as_static()?;
    if extent > MAX_VALUES {
        return None;
    }
    let all = (0..extent).map(|value| evaluated(nest, &needed, term, index, value));
    Some((index, all.map(|value| value.and_then(&value_of)).collect::<Option<_>>()?))
}

/// The value of `term` at this value of the index. `needed` has its terms, operands first.
fn evaluated(nest: &Nest, needed: &[TermId], term: TermId, index: usize, value: i64) -> Option<Scalar> {
    let mut values: HashMap<TermId, Scalar> = HashMap::new();
    for id in needed {
        let of = |operand: &TermId| values.get(operand).copied();
        let result = match nest.terms.get(*id)? {
            Term::Int(number) => Scalar::Int(*number),
            Term::Bool(truth) => Scalar::Bool(*truth),
            Term::Index(used) => Scalar::Int(if *used == index { value } else { 0 }),
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
        if matches!(result, Scalar::Real(_)) {
            return None;
        }
        values.insert(*id, result);
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
        let known = Positions::new(&b.nest, clamped).unwrap();
        assert_eq!((known.index, known.positions), (0, vec![0, 0, 1, 1, 1, 1]));
    }

    #[test]
    fn conditions_of_one_index_are_known() {
        let mut b = Builder::new(Accumulation::Sum, &[2, 4]);
        let (j, two) = (b.index(1), b.int(2));
        let other = b.ints(ScalarOp::Ne, j, two);
        let held = Some((1, vec![true, true, false, true]));
        assert_eq!(Positions::holding(&b.nest, other), held);
        assert_eq!(Positions::new(&b.nest, other), None);
    }

    #[test]
    fn data_and_several_indices_are_not() {
        let mut b = Builder::new(Accumulation::Assign, &[6, 4]);
        let (i, j) = (b.index(0), b.index(1));
        let both = b.ints(ScalarOp::Min, i, j);
        let read = b.access(&[6], &[i]);
        assert_eq!(Positions::new(&b.nest, both), None);
        assert_eq!(Positions::new(&b.nest, read), None);
        assert!(Positions::are_data(&b.nest, read) && !Positions::are_data(&b.nest, both));
        let mut b = Builder::new(Accumulation::Assign, &[MAX_VALUES + 1]);
        let (i, last) = (b.index(0), b.int(9));
        let long = b.ints(ScalarOp::Min, i, last);
        assert_eq!(Positions::new(&b.nest, long), None);
    }
}
