// SPDX-License-Identifier: Apache-2.0
//! Splits indices that subscripts divide: `i / d` and `i mod d` with other indices, such as in a pixel shuffle.
//!
//! If d divides the extent, the index is a number with two digits, i = d·j + k: `i / d` is j, `i mod d` is k.

use super::nest::{Nest, Term, TermId};
use skript_symbolic::{Affine, Atom, Extent};
use std::collections::HashMap;

/// Maximum number of digits.
const MAX_DIGITS: usize = 8;

/// The nest with loops over digits, and the new number of each term. `None` if no subscript of at least `min_indices` indices
/// has divisions, or if digits do not make all such subscripts linear.
pub(super) fn split(nest: &Nest, min_indices: usize) -> Option<(Nest, Vec<TermId>)> {
    let mut split: Option<(Nest, Vec<TermId>)> = None;
    for _ in 0..MAX_DIGITS {
        let present = split.as_ref().map_or(nest, |(nest, _)| nest);
        let positions = quotients(present, min_indices);
        if positions.is_empty() {
            break;
        }
        let digit = |position: &Affine| digit(position, &present.extents);
        let (index, divisor) = positions.iter().find_map(digit)?;
        let low = present.extents.len();
        let mut extents = present.extents.clone();
        let extent = extents.get_mut(index)?;
        *extent = Extent::Static(extent.as_static()?.checked_div(divisor)?);
        extents.push(Extent::Static(divisor));
        let form = Affine::index(index).scale(divisor)?.add(&Affine::index(low))?;
        let uses = present.terms.iter().enumerate().filter(|(_, term)| **term == Term::Index(index));
        let forms: HashMap<_, _> = uses.map(|(term, _)| (term, form.clone())).collect();
        let (next, new) = present.substituted(&extents, &forms)?;
        let before = split.map(|(_, before)| before);
        let new = match before {
            Some(before) => before.into_iter().map(|term| new.get(term).copied()).collect::<Option<_>>()?,
            None => new,
        };
        split = Some((next, new));
    }
    split.filter(|(nest, _)| quotients(nest, min_indices).is_empty())
}

/// The subscripts of at least `min_indices` indices with divisions.
fn quotients(nest: &Nest, min_indices: usize) -> Vec<Affine> {
    let accesses = nest.accesses(&nest.roots());
    let read = accesses.iter().flat_map(|(_, _, positions)| positions.iter());
    let written = nest.targets.iter().flat_map(|t| &t.subscripts);
    let forms = read.chain(written).filter_map(|position| nest.affine(*position));
    forms.filter(|form| form.indices().len() >= min_indices && form.as_linear().is_none()).collect()
}

/// An index that a form divides, and its divisor.
fn digit(form: &Affine, extents: &[Extent]) -> Option<(usize, i64)> {
    form.terms().find_map(|(atom, _)| match atom {
        Atom::Index(_) => None,
        Atom::FloorDiv(inner, divisor) | Atom::Mod(inner, divisor) => match inner.as_index() {
            Some(index) => {
                let extent = extents.get(index)?.as_static()?;
                let divides = extent.checked_rem(*divisor)? == 0 && extent > *divisor;
                (divides && *divisor > 1).then_some((index, *divisor))
            }
            None => digit(inner, extents),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::super::nest::samples::Builder;
    use super::*;
    use skript_frontend::model::Accumulation;
    use skript_semantics::ScalarOp;

    /// `y[k, i] = x[4·k + 2·(i mod 2), i / D]`
    fn sample(divisor: i64) -> Nest {
        let mut b = Builder::new(Accumulation::Assign, &[2, 6]);
        let (k, i) = (b.index(0), b.index(1));
        let (two, four, divisor) = (b.int(2), b.int(4), b.int(divisor));
        let odd = b.ints(ScalarOp::Mod, i, two);
        let odd = b.ints(ScalarOp::Mul, two, odd);
        let group = b.ints(ScalarOp::Mul, four, k);
        let channel = b.ints(ScalarOp::Add, group, odd);
        let half = b.ints(ScalarOp::Div, i, divisor);
        let x = b.access(&[8, 3], &[channel, half]);
        b.target(&[2, 6], &[k, i], x)
    }

    #[test]
    fn halves_and_remainders_are_digits() {
        let (nest, _) = split(&sample(2), 2).unwrap();
        assert_eq!(nest.extents, [2, 3, 2]);
        let accesses = nest.accesses(&nest.roots());
        let (_, _, positions) = accesses[0];
        let forms: Vec<_> = positions.iter().map(|p| nest.affine(*p).unwrap()).collect();
        assert_eq!(forms[0].as_linear(), Some(vec![(0, 4), (2, 2)]));
        assert_eq!(forms[1], Affine::index(1));
    }

    #[test]
    fn indices_are_not_split_if_quotients_remain() {
        assert_eq!(split(&sample(4), 2).map(|(nest, _)| nest.extents), None);
    }

    #[test]
    fn a_dynamic_index_has_no_digits() {
        let mut nest = sample(2);
        nest.extents[1] = Extent::Dynamic(skript_symbolic::SymbolId(1));
        assert_eq!(split(&nest, 1).map(|(nest, _)| nest.extents), None);
    }

    #[test]
    fn a_single_index_is_split_on_request() {
        // y[i] += x[i / 2]
        let mut b = Builder::new(Accumulation::Sum, &[6]);
        let (i, two) = (b.index(0), b.int(2));
        let half = b.ints(ScalarOp::Div, i, two);
        let x = b.access(&[3], &[half]);
        let nest = b.target(&[6], &[i], x);
        assert!(split(&nest, 2).is_none());
        let (nest, _) = split(&nest, 1).unwrap();
        assert_eq!(nest.extents, [3, 2]);
    }
}
