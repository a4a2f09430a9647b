// SPDX-License-Identifier: Apache-2.0
//! Guards that a border of the tensor makes redundant.
//!
//! Instead of skipping points outside of its tensor, a window may read a border that does not change the result: the
//! identity if elements are accumulated directly, false if one of the results of `&&` is accumulated by `|=` and true for `||` and `&=`,
//! zeros if products of elements are summed. A zero of type real times an
//! infinity or a NaN is not zero, so the guard of such a sum is redundant only if the other factors are finite.

use super::domain::Domain;
use crate::structure::guard::only_bounds;
use crate::structure::{Nest, Term, TermId};
use skript_frontend::model::Accumulation;
use skript_semantics::{Scalar, ScalarKind, ScalarOp};

/// The border of a tensor that is read beyond its extents.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Border {
    /// The access that the guard keeps in bounds. With the border, every point contributes.
    pub access: TermId,
    pub value: Scalar,
    /// The other factors of a product of reals, which must be finite.
    pub factors: Vec<TermId>,
}

impl Border {
    /// Returns `None` if the guard is required. `widens` returns whether a term widens a real, so that the border is widened too.
    /// `ends` returns whether a term states that an access is below the end of a dynamic dimension.
    pub(crate) fn new(
        nest: &Nest,
        domain: &Domain,
        element: ScalarKind,
        widens: impl Fn(TermId) -> bool,
        ends: impl Fn(TermId, TermId) -> bool,
    ) -> Option<Border> {
        let [target] = nest.targets.as_slice() else {
            return None;
        };
        if domain.always_holds() || nest.kind.op().is_none() {
            return None;
        }
        let read = |term: TermId| match nest.terms.get(term) {
            Some(Term::Apply { operands, .. }) if widens(term) => operands.first().copied().unwrap_or(term),
            _ => term,
        };
        let guarded = |access: TermId| {
            let Some(Term::Access { tensor, subscripts }) = nest.terms.get(access) else {
                return false;
            };
            let forms = subscripts.iter().map(|s| domain.affine(nest, *s));
            let (Some(forms), Some(tensor)) = (forms.collect::<Option<Vec<_>>>(), nest.tensors.get(*tensor))
            else {
                return false;
            };
            only_bounds(&domain.constraints, &forms, &tensor.extents)
                && domain.others.iter().all(|other| ends(*other, access))
        };
        if guarded(read(target.value)) {
            return Some(Border {
                access: read(target.value),
                value: nest.kind.identity(element),
                factors: Vec::new(),
            });
        }
        let joined = match nest.kind {
            Accumulation::Any => Some((ScalarOp::And, false)),
            Accumulation::All => Some((ScalarOp::Or, true)),
            _ => None,
        };
        if let Some((op, absorbing)) = joined {
            let operands = nest.junction(target.value, op);
            let is_read = |term: &TermId| matches!(nest.terms.get(*term), Some(Term::Access { .. }));
            let access = operands.iter().copied().find(|term| guarded(*term))?;
            let value = Scalar::Bool(absorbing);
            return operands.iter().all(is_read).then_some(Border { access, value, factors: Vec::new() });
        }
        let factors = nest.factors(target.value);
        let is_single = factors == [target.value];
        let factors: Vec<TermId> = factors.into_iter().map(read).collect();
        let multiplied = |term: &TermId| {
            match nest.terms.get(*term) {
                // A literal, or a value from outside of the formula.
                Some(Term::Opaque { operands }) => operands.is_empty(),
                term => matches!(term, Some(Term::Access { .. } | Term::Int(_))),
            }
        };
        // A factor that is computed from the elements may be infinite even if they are not.
        let is_int = element == ScalarKind::Int;
        let vanishes = is_int || factors.iter().all(multiplied);
        if nest.kind != Accumulation::Sum || is_single || !vanishes {
            return None;
        }
        let position = factors.iter().position(|factor| guarded(*factor))?;
        let mut others = factors;
        let access = others.remove(position);
        if is_int {
            others.clear();
        }
        Some(Border { access, value: element.default_value(), factors: others })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::nest::samples::Builder;

    /// `y[i] kind= value(x[|i + j - 1|], w[j])` over 8 and 3.
    fn window(kind: Accumulation, weighted: bool, more: bool) -> Nest {
        let mut b = Builder::new(kind, &[8, 3]);
        let (i, j) = (b.index(0), b.index(1));
        let position = b.window(0, 1, 1, 1, -1);
        let within = b.within(if more { j } else { position }, if more { 2 } else { 8 });
        b.nest.predicate = Some(within);
        let (x, w) = (b.access(&[8], &[position]), b.access(&[3], &[j]));
        let product = b.reals(ScalarOp::Mul, x, w);
        b.target(&[8], &[i], if weighted { product } else { x })
    }

    /// Returns the value of the border, and the number of factors that must be finite.
    fn border(nest: &Nest) -> Option<(Scalar, usize)> {
        let domain = Domain::new(nest).unwrap().unwrap();
        Border::new(nest, &domain, ScalarKind::Real, |_| false, |_, _| false)
            .map(|b| (b.value, b.factors.len()))
    }

    #[test]
    fn directly_accumulated_elements_are_padded_with_the_identity() {
        let infinity = Scalar::Real(f64::NEG_INFINITY);
        assert_eq!(border(&window(Accumulation::Max, false, false)), Some((infinity, 0)));
        let zero = Scalar::Real(0.0);
        assert_eq!(border(&window(Accumulation::Sum, false, false)), Some((zero, 0)));
    }

    #[test]
    fn factors_are_padded_with_zeros_if_the_others_are_finite() {
        let nest = window(Accumulation::Sum, true, false);
        assert_eq!(border(&nest), Some((Scalar::Real(0.0), 1)));
        assert_eq!(border(&window(Accumulation::Max, true, false)), None);
    }

    /// `y[i] kind= x[|i + j - 1|] op w[j]` over bools.
    fn joined(kind: Accumulation, op: ScalarOp) -> Nest {
        let mut b = Builder::new(kind, &[8, 3]);
        let (i, j) = (b.index(0), b.index(1));
        let position = b.window(0, 1, 1, 1, -1);
        b.nest.predicate = Some(b.within(position, 8));
        let (x, w) = (b.access(&[8], &[position]), b.access(&[3], &[j]));
        let value = b.term(Term::Apply { op, kind: ScalarKind::Bool, operands: vec![x, w] });
        b.target(&[8], &[i], value)
    }

    #[test]
    fn operands_of_and_are_padded_with_false() {
        assert_eq!(border(&joined(Accumulation::Any, ScalarOp::And)), Some((Scalar::Bool(false), 0)));
        assert_eq!(border(&joined(Accumulation::All, ScalarOp::Or)), Some((Scalar::Bool(true), 0)));
        assert_eq!(border(&joined(Accumulation::Any, ScalarOp::Or)), None);
        assert_eq!(border(&joined(Accumulation::All, ScalarOp::And)), None);
    }

    #[test]
    fn a_guard_with_another_condition_is_kept() {
        assert_eq!(border(&window(Accumulation::Max, false, true)), None);
    }
}
