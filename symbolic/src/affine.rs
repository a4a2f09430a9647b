// SPDX-License-Identifier: Apache-2.0
//! Quasi-affine forms over loop indices.

use std::fmt;

use crate::{Extent, Form, Interval};

/// A sum of multiples of indices, floor divisions and remainders by positive constants.
///
/// `extents` bound the indices: index `i` is in `0..extents[i]`. The elements of `extents` are integers or [`Extent`]s.
///
/// ```
/// use skript_symbolic::Affine;
///
/// // Division and remainder recover the digits of a row-major position.
/// let flat = Affine::index(0).scale(4).unwrap().add(&Affine::index(1)).unwrap();
/// assert_eq!(flat.floor_div(4, &[3, 4]), Some(Affine::index(0)));
/// assert_eq!(flat.modulo(4, &[3, 4]), Some(Affine::index(1)));
/// assert_eq!(flat.floor_div(3, &[3, 4]).unwrap().to_string(), "((d0 * 4 + d1) floordiv 3)");
/// ```
pub type Affine = Form<Atom>;

/// A term of an [`Affine`] form. Divisors are positive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    /// A loop index, by its position in the list of loops.
    Index(usize),
    /// The quotient of a form by a constant, rounded down.
    FloorDiv(Box<Affine>, i64),
    /// The remainder of the floor division of a form by a constant, in `0..divisor`.
    Mod(Box<Affine>, i64),
}

impl Affine {
    /// One loop index.
    #[must_use]
    pub fn index(position: usize) -> Self {
        Form::term(Atom::Index(position))
    }

    /// The terms as forms, with their indices and coefficients.
    pub fn parts(&self) -> impl Iterator<Item = (Vec<usize>, Affine, i64)> {
        self.terms().map(|(atom, coefficient)| {
            let part = Form::term(atom.clone());
            (part.indices(), part, coefficient)
        })
    }

    /// The coefficients of the indices, if the form has no divisions or remainders.
    #[must_use]
    pub fn as_linear(&self) -> Option<Vec<(usize, i64)>> {
        self.terms()
            .map(|(atom, coefficient)| match atom {
                Atom::Index(index) => Some((*index, coefficient)),
                Atom::FloorDiv(..) | Atom::Mod(..) => None,
            })
            .collect()
    }

    /// The index if the form consists only of this index.
    #[must_use]
    pub fn as_index(&self) -> Option<usize> {
        match self.single_term()? {
            (1, Atom::Index(index)) if self.offset() == 0 => Some(*index),
            _ => None,
        }
    }

    /// `(p, d)` if the form is `⌊p / d⌋` of a linear form `p`: one floor division, possibly plus linear terms.
    #[must_use]
    pub fn as_quotient(&self) -> Option<(Affine, i64)> {
        let (atom, inner, divisor) = self.terms().find_map(|(atom, _)| match atom {
            Atom::FloorDiv(inner, divisor) => Some((atom, inner, *divisor)),
            _ => None,
        })?;
        if self.coefficient(atom) != 1 {
            return None;
        }
        let linear = self.sub(&Form::term(atom.clone()))?;
        let dividend = linear.scale(divisor)?.add(inner)?;
        dividend.as_linear()?;
        Some((dividend, divisor))
    }

    /// All indices that occur, including indices in divisions, in ascending order.
    #[must_use]
    pub fn indices(&self) -> Vec<usize> {
        let mut indices = Vec::new();
        self.collect_indices(&mut indices);
        indices.sort_unstable();
        indices.dedup();
        indices
    }

    fn collect_indices(&self, indices: &mut Vec<usize>) {
        for (atom, _) in self.terms() {
            match atom {
                Atom::Index(index) => indices.push(*index),
                Atom::FloorDiv(inner, _) | Atom::Mod(inner, _) => inner.collect_indices(indices),
            }
        }
    }

    /// `⌊self / divisor⌋` for a positive divisor. Multiples of the divisor are moved out of the division; the division
    /// is removed if, for these extents, the remaining terms are less than the divisor.
    #[must_use]
    pub fn floor_div(&self, divisor: i64, extents: &[impl Copy + Into<Extent>]) -> Option<Affine> {
        let (multiple, remainder) = self.split_multiples(divisor)?;
        if remainder.is_digit(divisor, extents)? {
            return Some(multiple);
        }
        multiple.add(&Form::term(Atom::FloorDiv(Box::new(remainder), divisor)))
    }

    /// `self mod divisor`, in `0..divisor`, for a positive divisor.
    #[must_use]
    pub fn modulo(&self, divisor: i64, extents: &[impl Copy + Into<Extent>]) -> Option<Affine> {
        let (_, remainder) = self.split_multiples(divisor)?;
        Some(if remainder.is_digit(divisor, extents)? {
            remainder
        } else {
            Form::term(Atom::Mod(Box::new(remainder), divisor))
        })
    }

    /// Whether all values are in `0..base`.
    fn is_digit(&self, base: i64, extents: &[impl Copy + Into<Extent>]) -> Option<bool> {
        let range = self.range(extents)?;
        Some(range.low >= 0 && range.high < base)
    }

    /// The interval of the values over the box `0 ≤ index < extent`; `None` if a value exceeds i64. An empty box is
    /// treated as one point.
    ///
    /// Exact for linear forms, an enclosure otherwise.
    #[must_use]
    pub fn range(&self, extents: &[impl Copy + Into<Extent>]) -> Option<Interval> {
        self.interval(|atom| match atom {
            Atom::Index(index) => (*extents.get(*index)?).into().indices(),
            Atom::FloorDiv(inner, divisor) => inner.range(extents)?.floor_div(*divisor),
            Atom::Mod(_, divisor) => Some(Interval { low: 0, high: divisor - 1 }),
        })
    }

    /// Whether `known ≥ 0` implies that the form is not negative, at all points of the box. False if the implication is
    /// not proven.
    ///
    /// ```
    /// use skript_symbolic::Affine;
    ///
    /// let (i, j) = (Affine::index(0), Affine::index(1));
    /// let difference = i.sub(&j).unwrap();
    /// assert!(difference.plus(1).unwrap().follows_from(&difference, &[4, 4]));
    /// assert!(!difference.follows_from(&difference.plus(1).unwrap(), &[4, 4]));
    /// ```
    #[must_use]
    pub fn follows_from(&self, known: &Affine, extents: &[impl Copy + Into<Extent>]) -> bool {
        let range = self.sub(known).and_then(|difference| difference.range(extents));
        range.is_some_and(|range| range.low >= 0)
    }

    /// The form with index `i` replaced by `replacement[i]`; `extents` bound the indices of the replacements.
    #[must_use]
    pub fn substitute(&self, replacement: &[Affine], extents: &[impl Copy + Into<Extent>]) -> Option<Affine> {
        self.replaced_by(|atom| match atom {
            Atom::Index(index) => replacement.get(*index).cloned(),
            Atom::FloorDiv(inner, divisor) => {
                inner.substitute(replacement, extents)?.floor_div(*divisor, extents)
            }
            Atom::Mod(inner, divisor) => inner.substitute(replacement, extents)?.modulo(*divisor, extents),
        })
    }

    /// The value at a point; `None` if it exceeds i64 or the point has too few coordinates.
    #[must_use]
    pub fn evaluate(&self, point: &[i64]) -> Option<i64> {
        self.value(|atom| match atom {
            Atom::Index(index) => point.get(*index).copied(),
            Atom::FloorDiv(inner, divisor) => Some(inner.evaluate(point)?.div_euclid(*divisor)),
            Atom::Mod(inner, divisor) => Some(inner.evaluate(point)?.rem_euclid(*divisor)),
        })
    }
}

/// Writes the form in MLIR's affine-map syntax.
impl fmt::Display for Affine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (atom, coefficient) in self.terms() {
            f.write_str(separator)?;
            separator = " + ";
            match atom {
                Atom::Index(index) => write!(f, "d{index}")?,
                Atom::FloorDiv(inner, divisor) => write!(f, "(({inner}) floordiv {divisor})")?,
                Atom::Mod(inner, divisor) => write!(f, "(({inner}) mod {divisor})")?,
            }
            if coefficient != 1 {
                write!(f, " * {coefficient}")?;
            }
        }
        match self.offset() {
            0 if !separator.is_empty() => Ok(()),
            offset => write!(f, "{separator}{offset}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotient_has_a_dividend() {
        // ⌊(i − 4·j + 5) / 2⌋: the multiple of the divisor leaves the division.
        let form = Affine::index(0).add_scaled(&Affine::index(1), -4).and_then(|form| form.plus(5)).unwrap();
        let quotient = form.floor_div(2, &[9, 3]).unwrap();
        assert_eq!(quotient.as_quotient(), Some((form.clone(), 2)));
        assert_eq!(form.as_quotient(), None);
        assert_eq!(quotient.scale(3).unwrap().as_quotient(), None);
    }

    #[test]
    fn parts_have_their_indices() {
        // 3·d0 − 2·⌊(d1 + d2) / 4⌋ + 7
        let sum = Affine::index(1).add(&Affine::index(2)).unwrap();
        let quotient = sum.floor_div(4, &[9, 9, 9]).unwrap();
        let form = quotient.scale(-2).unwrap().add_scaled(&Affine::index(0), 3).unwrap().plus(7).unwrap();
        let parts: Vec<_> = form.parts().collect();
        assert_eq!(parts, [(vec![0], Affine::index(0), 3), (vec![1, 2], quotient.clone(), -2)]);
        assert_eq!(form.indices(), [0, 1, 2]);
        assert_eq!(Affine::constant(7).indices(), [0; 0]);
        assert_eq!(form.to_string(), "d0 * 3 + ((d1 + d2) floordiv 4) * -2 + 7");
        let twice = quotient.add(&Affine::index(2)).unwrap();
        assert_eq!(twice.indices(), [1, 2]);
    }

    #[test]
    fn indices_and_linear_forms_are_recognized() {
        let (i, j) = (Affine::index(0), Affine::index(4));
        let linear = i.add_scaled(&j, -5).unwrap();
        assert_eq!(linear.plus(3).unwrap().as_linear(), Some(vec![(0, 1), (4, -5)]));
        assert_eq!(i.modulo(2, &[3]).unwrap().as_linear(), None);
        assert_eq!(i.floor_div(2, &[3]).unwrap().as_linear(), None);
        assert_eq!((i.as_index(), j.as_index()), (Some(0), Some(4)));
        let others = [i.plus(1), i.scale(2), Some(linear), i.modulo(2, &[3]), Some(Affine::default())];
        assert!(others.iter().all(|form| form.as_ref().unwrap().as_index().is_none()));
    }

    #[test]
    fn divisions_of_digits_are_folded() {
        // 4·d0 + d1 with d1 < 4; with d1 < 5, the digit may be too large, with d1 − 1, too small.
        let flat = Affine::index(0).scale(4).unwrap().add(&Affine::index(1)).unwrap();
        assert_eq!(flat.floor_div(4, &[3, 4]), Some(Affine::index(0)));
        assert_eq!(flat.modulo(4, &[3, 4]), Some(Affine::index(1)));
        assert_eq!(flat.floor_div(4, &[3, 5]).unwrap().to_string(), "d0 + ((d1) floordiv 4)");
        assert_eq!(flat.modulo(4, &[3, 5]).unwrap().to_string(), "((d1) mod 4)");
        let digit = Affine::index(0).add_scaled(&Affine::index(1), -1).unwrap();
        assert_eq!(digit.modulo(4, &[3, 2]).unwrap().to_string(), "((d0 + d1 * -1) mod 4)");
        assert_eq!(digit.modulo(4, &[3, 1]), Some(digit.clone()));
        assert_eq!(digit.modulo(4, &[4, 1]), Some(digit));
    }

    #[test]
    fn forms_are_printed_as_affine_maps() {
        assert_eq!(Affine::default().to_string(), "0");
        assert_eq!(Affine::constant(-3).to_string(), "-3");
        assert_eq!(Affine::index(2).to_string(), "d2");
    }

    #[test]
    fn overflow_is_none() {
        let large = Affine::index(0).scale(i64::MAX).unwrap();
        assert_eq!(large.range(&[3]), None);
        assert_eq!(large.floor_div(0, &[3]), None);
        assert_eq!(large.evaluate(&[2]), None);
    }
}
