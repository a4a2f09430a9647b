// SPDX-License-Identifier: Apache-2.0
//! Analyzes predicates as conjunctions of affine inequalities.

use super::nest::{Nest, Term, TermId};
use skript_semantics::{ScalarKind, ScalarOp};
use skript_symbolic::{Affine, Extent};

/// The constraints that a predicate implies: all `constraints` are ≥ 0 if it is true.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Guard {
    /// Constraints that are false at some points of the domain.
    pub constraints: Vec<Affine>,
    /// Conjuncts that are not affine. If empty, the predicate is equivalent to the constraints.
    pub others: Vec<TermId>,
}

/// The smallest box of indices that contains all points where a guard is true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DomainBox {
    pub low: Vec<i64>,
    /// Zero if no point remains.
    pub extents: Vec<Extent>,
}

impl Guard {
    /// The facts that follow if the predicate of a nest is true.
    pub fn new(nest: &Nest) -> Guard {
        Guard::all(nest, nest.predicate)
    }

    /// The facts that follow if all these terms are true.
    pub fn all(nest: &Nest, terms: impl IntoIterator<Item = TermId>) -> Guard {
        let mut guard = Guard::default();
        for term in terms {
            guard.require(nest, term, true);
        }
        guard.constraints.retain(|c| c.range(&nest.extents).is_none_or(|r| r.low < 0));
        guard.constraints.sort();
        guard.constraints.dedup();
        guard
    }

    pub(crate) fn always_holds(&self) -> bool {
        self.constraints.is_empty() && self.others.is_empty()
    }

    /// Adds the facts that follow if `term` has the value `expected`.
    fn require(&mut self, nest: &Nest, term: TermId, expected: bool) {
        match nest.terms.get(term) {
            Some(Term::Bool(value)) => {
                if *value != expected {
                    self.constraints.push(Affine::constant(-1));
                }
            }
            Some(Term::Apply { op, kind, operands }) => {
                let known = match (op, operands.as_slice()) {
                    (ScalarOp::Not, [x]) => {
                        self.require(nest, *x, !expected);
                        true
                    }
                    (ScalarOp::And, [x, y]) if expected => {
                        self.require(nest, *x, true);
                        self.require(nest, *y, true);
                        true
                    }
                    (ScalarOp::Or, [x, y]) if !expected => {
                        self.require(nest, *x, false);
                        self.require(nest, *y, false);
                        true
                    }
                    (op, [x, y]) if *kind == ScalarKind::Int => {
                        self.compare(nest, *op, *x, *y, expected).is_some()
                    }
                    _ => false,
                };
                if !known {
                    self.others.push(term);
                }
            }
            // `a && b`, where `b` is only evaluated if `a` is true.
            Some(Term::Branch { condition, then, otherwise })
                if expected && nest.terms.get(*otherwise) == Some(&Term::Bool(false)) =>
            {
                self.require(nest, *condition, true);
                self.require(nest, *then, true);
            }
            _ => self.others.push(term),
        }
    }

    fn compare(&mut self, nest: &Nest, op: ScalarOp, x: TermId, y: TermId, expected: bool) -> Option<()> {
        let (x, y) = (nest.affine(x)?, nest.affine(y)?);
        // If a side may overflow, the comparison uses the wrapped value.
        x.range(&nest.extents)?;
        y.range(&nest.extents)?;
        let op = match (op, expected) {
            (op, true) => op,
            (ScalarOp::Lt, false) => ScalarOp::Ge,
            (ScalarOp::Le, false) => ScalarOp::Gt,
            (ScalarOp::Gt, false) => ScalarOp::Le,
            (ScalarOp::Ge, false) => ScalarOp::Lt,
            (ScalarOp::Ne, false) => ScalarOp::Eq,
            _ => return None,
        };
        match op {
            ScalarOp::Lt => self.constraints.push(y.sub(&x)?.plus(-1)?),
            ScalarOp::Le => self.constraints.push(y.sub(&x)?),
            ScalarOp::Gt => self.constraints.push(x.sub(&y)?.plus(-1)?),
            ScalarOp::Ge => self.constraints.push(x.sub(&y)?),
            ScalarOp::Eq => {
                let (below, above) = (x.sub(&y)?, y.sub(&x)?);
                self.constraints.push(below);
                self.constraints.push(above);
            }
            _ => return None,
        }
        Some(())
    }

    /// Removes the constraints on single indices from the guard, and returns the box that they define. Constraints on indices with
    /// dynamic extents remain, because a dynamic extent may be less than any bound.
    pub(crate) fn split_box(&mut self, extents: &[Extent]) -> DomainBox {
        let mut low = vec![0i64; extents.len()];
        let mut end: Vec<i64> = extents.iter().map(|extent| extent.upper_bound()).collect();
        let mut is_empty = false;
        self.constraints.retain(|constraint| {
            let Some(linear) = constraint.as_linear() else {
                return true;
            };
            let offset = constraint.offset();
            match linear.as_slice() {
                [(index, _)] if extents.get(*index).is_some_and(|extent| extent.is_dynamic()) => true,
                [] => {
                    is_empty |= offset < 0;
                    // Without indices, the box cannot be empty, so the constraint remains.
                    offset < 0 && extents.is_empty()
                }
                // c·i + o ≥ 0 with c > 0: i ≥ ⌈-o / c⌉
                [(index, c)] if *c > 0 => match (low.get_mut(*index), offset.checked_neg()) {
                    (Some(bound), Some(needed)) => {
                        *bound = (*bound).max(-((-needed).div_euclid(*c)));
                        false
                    }
                    _ => true,
                },
                // c·i + o ≥ 0 with c < 0: i ≤ ⌊o / -c⌋
                [(index, c)] => match (end.get_mut(*index), c.checked_neg()) {
                    (Some(bound), Some(divisor)) => {
                        *bound = (*bound).min(offset.div_euclid(divisor).saturating_add(1));
                        false
                    }
                    _ => true,
                },
                _ => true,
            }
        });
        DomainBox {
            extents: low
                .iter()
                .zip(&end)
                .zip(extents)
                .map(|((low, end), extent)| match extent {
                    _ if is_empty => Extent::Static(0),
                    Extent::Static(_) => Extent::Static(end.saturating_sub(*low).max(0)),
                    Extent::Dynamic(_) => *extent,
                })
                .collect(),
            low,
        }
    }
}

/// Whether the constraints only require that these subscripts are in bounds of a tensor with these extents.
pub(crate) fn only_bounds(constraints: &[Affine], subscripts: &[Affine], extents: &[Extent]) -> bool {
    let bounds: Vec<Affine> = subscripts
        .iter()
        .zip(extents)
        .flat_map(|(form, extent)| {
            let last = extent.as_static().and_then(|extent| extent.checked_sub(1));
            let end = last.and_then(|last| Affine::constant(last).sub(form));
            std::iter::once(form.clone()).chain(end)
        })
        .collect();
    constraints.iter().all(|c| bounds.contains(c))
}

#[cfg(test)]
mod tests {
    use super::super::nest::samples::Builder;
    use super::*;
    use skript_frontend::model::Accumulation;
    use skript_symbolic::SymbolId;

    #[test]
    fn a_padded_window_has_two_bounds() {
        let mut b = Builder::new(Accumulation::Sum, &[8, 3]);
        let position = b.window(0, 1, 1, 1, -1);
        let within = b.within(position, 8);
        b.nest.predicate = Some(within);
        let guard = Guard::new(&b.nest);
        assert_eq!(guard.constraints.len(), 2);
        assert!(guard.others.is_empty());
        for i in 0..8 {
            for j in 0..3 {
                let holds = guard.constraints.iter().all(|c| c.evaluate(&[i, j]).unwrap() >= 0);
                assert_eq!(holds, (0..8).contains(&(i + j - 1)), "at {i}, {j}");
            }
        }
    }

    #[test]
    fn bounds_that_are_always_true_are_removed() {
        let mut b = Builder::new(Accumulation::Sum, &[6, 3]);
        let position = b.window(0, 1, 1, 1, 0);
        let within = b.within(position, 8);
        b.nest.predicate = Some(within);
        assert!(Guard::new(&b.nest).always_holds());
    }

    #[test]
    fn bounds_on_one_index_shrink_the_domain() {
        let mut b = Builder::new(Accumulation::Assign, &[10, 4]);
        let position = b.window(0, 2, 1, 0, -3);
        let within = b.within(position, 8);
        b.nest.predicate = Some(within);
        let mut guard = Guard::new(&b.nest);
        let domain = guard.split_box(&[10, 4].map(Extent::Static));
        assert_eq!(domain.low, [2, 0]);
        assert_eq!(domain.extents, [4, 4]);
        assert!(guard.always_holds());
    }

    #[test]
    fn boxes_over_dynamic_extents_are_not_split() {
        // 2 ≤ i < 5 of n elements; n may be three.
        let extents = [Extent::Dynamic(SymbolId(0))];
        let mut b = Builder::new(Accumulation::Assign, &extents);
        let position = b.window(0, 1, 0, 0, -2);
        let within = b.within(position, 3);
        b.nest.predicate = Some(within);
        let mut guard = Guard::new(&b.nest);
        let domain = guard.split_box(&extents);
        assert_eq!((domain.low, domain.extents), (vec![0], extents.to_vec()));
        assert_eq!(guard.constraints.len(), 2);
    }

    #[test]
    fn a_side_that_may_overflow_is_not_affine() {
        let mut b = Builder::new(Accumulation::Sum, &[8]);
        let (i, factor, zero) = (b.index(0), b.int(1 << 62), b.int(0));
        let product = b.ints(ScalarOp::Mul, i, factor);
        let above = b.ints(ScalarOp::Ge, product, zero);
        b.nest.predicate = Some(above);
        let guard = Guard::new(&b.nest);
        assert_eq!((guard.constraints, guard.others), (vec![], vec![above]));
    }

    #[test]
    fn a_negated_comparison_is_reversed() {
        let mut b = Builder::new(Accumulation::Assign, &[10]);
        let (i, four) = (b.index(0), b.int(4));
        let below = b.ints(ScalarOp::Lt, i, four);
        let not = b.term(Term::Apply { op: ScalarOp::Not, kind: ScalarKind::Bool, operands: vec![below] });
        b.nest.predicate = Some(not);
        let domain = Guard::new(&b.nest).split_box(&[Extent::Static(10)]);
        assert_eq!(domain.low, [4]);
        assert_eq!(domain.extents, [6]);
    }
}
