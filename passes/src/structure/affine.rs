//! Quasi-affine forms over the indices of a formula: sums of multiples of indices, floor divisions and remainders by
//! positive constants.
//!
//! Arithmetic is checked: a form whose coefficients overflow i64 is not affine (`None`).

use std::collections::BTreeMap;
use std::fmt;

/// `constant + Σ coefficient · atom`; no coefficient is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Affine {
    terms: BTreeMap<Atom, i64>,
    constant: i64,
}

/// What a coefficient multiplies. Divisors are positive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    /// Position in the formula's list of indices.
    Index(usize),
    FloorDiv(Box<Affine>, i64),
    Mod(Box<Affine>, i64),
}

/// Closed interval of the values of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub low: i64,
    pub high: i64,
}

impl Affine {
    pub fn constant(value: i64) -> Self {
        Affine {
            terms: BTreeMap::new(),
            constant: value,
        }
    }

    pub fn index(position: usize) -> Self {
        Affine::atom(Atom::Index(position))
    }

    fn atom(atom: Atom) -> Self {
        Affine {
            terms: BTreeMap::from([(atom, 1)]),
            constant: 0,
        }
    }

    pub fn offset(&self) -> i64 {
        self.constant
    }

    pub fn terms(&self) -> impl Iterator<Item = (&Atom, i64)> {
        self.terms.iter().map(|(a, c)| (a, *c))
    }

    /// Each atom as a form, with the indices that occur in it and its coefficient.
    pub fn parts(&self) -> impl Iterator<Item = (Vec<usize>, Affine, i64)> {
        self.terms.iter().map(|(atom, coefficient)| {
            let part = Affine::atom(atom.clone());
            (part.indices(), part, *coefficient)
        })
    }

    /// The value if no index occurs.
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Coefficients of the plain indices, if there are no divisions or remainders.
    pub fn as_linear(&self) -> Option<Vec<(usize, i64)>> {
        self.terms
            .iter()
            .map(|(atom, c)| match atom {
                Atom::Index(i) => Some((*i, *c)),
                Atom::FloorDiv(..) | Atom::Mod(..) => None,
            })
            .collect()
    }

    /// The index if the form is that index alone.
    pub fn as_index(&self) -> Option<usize> {
        match self.as_linear()?.as_slice() {
            [(index, 1)] if self.constant == 0 => Some(*index),
            _ => None,
        }
    }

    /// `(p, d)` where the form is `⌊p / d⌋` of a linear form `p`: one floor division, and linear terms beside it.
    pub fn as_quotient(&self) -> Option<(Affine, i64)> {
        let mut quotients = self.terms.iter().filter_map(|(atom, c)| match atom {
            Atom::FloorDiv(inner, divisor) => Some((atom, *c, inner, *divisor)),
            _ => None,
        });
        let (atom, 1, inner, divisor) = quotients.next()? else {
            return None;
        };
        let mut rest = self.clone();
        rest.terms.remove(atom);
        let dividend = rest.scale(divisor)?.add(inner)?;
        dividend.as_linear()?;
        Some((dividend, divisor))
    }

    /// Every index that occurs, divisions included.
    pub fn indices(&self) -> Vec<usize> {
        let mut found = Vec::new();
        self.collect_indices(&mut found);
        found.sort_unstable();
        found.dedup();
        found
    }

    fn collect_indices(&self, found: &mut Vec<usize>) {
        for atom in self.terms.keys() {
            match atom {
                Atom::Index(i) => found.push(*i),
                Atom::FloorDiv(inner, _) | Atom::Mod(inner, _) => inner.collect_indices(found),
            }
        }
    }

    pub fn add(&self, other: &Affine) -> Option<Affine> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(other.constant)?;
        for (atom, coefficient) in &other.terms {
            let total = sum
                .terms
                .get(atom)
                .copied()
                .unwrap_or(0)
                .checked_add(*coefficient)?;
            if total == 0 {
                sum.terms.remove(atom);
            } else {
                sum.terms.insert(atom.clone(), total);
            }
        }
        Some(sum)
    }

    pub fn sub(&self, other: &Affine) -> Option<Affine> {
        self.add(&other.scale(-1)?)
    }

    pub fn scale(&self, factor: i64) -> Option<Affine> {
        if factor == 0 {
            return Some(Affine::default());
        }
        let mut scaled = self.clone();
        scaled.constant = scaled.constant.checked_mul(factor)?;
        for coefficient in scaled.terms.values_mut() {
            *coefficient = coefficient.checked_mul(factor)?;
        }
        Some(scaled)
    }

    /// The product, if one factor is constant.
    pub fn mul(&self, other: &Affine) -> Option<Affine> {
        match (self.as_constant(), other.as_constant()) {
            (_, Some(factor)) => self.scale(factor),
            (Some(factor), None) => other.scale(factor),
            (None, None) => None,
        }
    }

    /// `⌊self / divisor⌋` for a positive constant divisor. `extents` bound the indices, so terms that are multiples of
    /// the divisor, or below it, are split off.
    pub fn floor_div(&self, divisor: i64, extents: &[i64]) -> Option<Affine> {
        if divisor <= 0 {
            return None;
        }
        let (multiple, rest) = self.split_multiples(divisor)?;
        let range = rest.range(extents)?;
        if range.low >= 0 && range.high < divisor {
            return Some(multiple);
        }
        multiple.add(&match rest.as_constant() {
            Some(value) => Affine::constant(value.div_euclid(divisor)),
            None => Affine::atom(Atom::FloorDiv(Box::new(rest), divisor)),
        })
    }

    /// `self mod divisor` in `0..divisor`, for a positive constant divisor.
    pub fn modulo(&self, divisor: i64, extents: &[i64]) -> Option<Affine> {
        if divisor <= 0 {
            return None;
        }
        let (_, rest) = self.split_multiples(divisor)?;
        let range = rest.range(extents)?;
        if range.low >= 0 && range.high < divisor {
            return Some(rest);
        }
        Some(match rest.as_constant() {
            Some(value) => Affine::constant(value.rem_euclid(divisor)),
            None => Affine::atom(Atom::Mod(Box::new(rest), divisor)),
        })
    }

    /// `(m, r)` with `self = m·divisor + r`, where `r` keeps the terms that do not divide evenly.
    fn split_multiples(&self, divisor: i64) -> Option<(Affine, Affine)> {
        let constant = self.constant.rem_euclid(divisor);
        let mut multiple = Affine::constant(self.constant.div_euclid(divisor));
        let mut rest = Affine::constant(constant);
        for (atom, coefficient) in &self.terms {
            if coefficient.checked_rem(divisor)? == 0 {
                multiple
                    .terms
                    .insert(atom.clone(), coefficient.checked_div(divisor)?);
            } else {
                rest.terms.insert(atom.clone(), *coefficient);
            }
        }
        Some((multiple, rest))
    }

    /// The values over the box `0 ≤ index < extent`; empty boxes count as one point. Exact for linear forms, an
    /// enclosure otherwise.
    pub fn range(&self, extents: &[i64]) -> Option<Range> {
        let mut range = Range {
            low: self.constant,
            high: self.constant,
        };
        for (atom, coefficient) in &self.terms {
            let inner = atom.range(extents)?;
            let ends = [
                inner.low.checked_mul(*coefficient)?,
                inner.high.checked_mul(*coefficient)?,
            ];
            range.low = range.low.checked_add(ends[0].min(ends[1]))?;
            range.high = range.high.checked_add(ends[0].max(ends[1]))?;
        }
        Some(range)
    }

    /// The form with each index replaced.
    pub fn substitute(&self, replacement: &[Affine], extents: &[i64]) -> Option<Affine> {
        let mut result = Affine::constant(self.constant);
        for (atom, coefficient) in &self.terms {
            let replaced = match atom {
                Atom::Index(i) => replacement.get(*i)?.clone(),
                Atom::FloorDiv(inner, divisor) => inner
                    .substitute(replacement, extents)?
                    .floor_div(*divisor, extents)?,
                Atom::Mod(inner, divisor) => inner
                    .substitute(replacement, extents)?
                    .modulo(*divisor, extents)?,
            };
            result = result.add(&replaced.scale(*coefficient)?)?;
        }
        Some(result)
    }

    /// The value at a point; `None` if it overflows i64 or the point is too short.
    pub fn evaluate(&self, point: &[i64]) -> Option<i64> {
        let mut sum = self.constant;
        for (atom, coefficient) in &self.terms {
            let value = match atom {
                Atom::Index(i) => *point.get(*i)?,
                Atom::FloorDiv(inner, d) => inner.evaluate(point)?.div_euclid(*d),
                Atom::Mod(inner, d) => inner.evaluate(point)?.rem_euclid(*d),
            };
            sum = sum.checked_add(value.checked_mul(*coefficient)?)?;
        }
        Some(sum)
    }
}

impl Atom {
    fn range(&self, extents: &[i64]) -> Option<Range> {
        Some(match self {
            Atom::Index(i) => Range {
                low: 0,
                high: extents.get(*i)?.checked_sub(1)?.max(0),
            },
            Atom::FloorDiv(inner, d) => {
                let inner = inner.range(extents)?;
                Range {
                    low: inner.low.div_euclid(*d),
                    high: inner.high.div_euclid(*d),
                }
            }
            Atom::Mod(_, d) => Range {
                low: 0,
                high: d - 1,
            },
        })
    }
}

impl fmt::Display for Affine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (atom, coefficient) in &self.terms {
            if !first {
                f.write_str(" + ")?;
            }
            first = false;
            match atom {
                Atom::Index(i) => write!(f, "d{i}")?,
                Atom::FloorDiv(inner, d) => write!(f, "(({inner}) floordiv {d})")?,
                Atom::Mod(inner, d) => write!(f, "(({inner}) mod {d})")?,
            }
            if *coefficient != 1 {
                write!(f, " * {coefficient}")?;
            }
        }
        match (first, self.constant) {
            (true, c) => write!(f, "{c}"),
            (false, 0) => Ok(()),
            (false, c) => write!(f, " + {c}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(coefficients: &[i64], constant: i64) -> Affine {
        let mut sum = Affine::constant(constant);
        for (i, c) in coefficients.iter().enumerate() {
            sum = sum.add(&Affine::index(i).scale(*c).unwrap()).unwrap();
        }
        sum
    }

    #[test]
    fn a_window_subscript_knows_its_range() {
        let subscript = linear(&[2, 1], -1);
        assert_eq!(subscript.range(&[4, 3]), Some(Range { low: -1, high: 7 }));
    }

    #[test]
    fn row_major_order_divides_back() {
        let flat = linear(&[12, 4, 1], 0);
        let extents = [5, 3, 4];
        assert_eq!(flat.floor_div(12, &extents), Some(Affine::index(0)));
        assert_eq!(
            flat.floor_div(4, &extents).unwrap().modulo(3, &extents),
            Some(Affine::index(1))
        );
        assert_eq!(flat.modulo(4, &extents), Some(Affine::index(2)));
    }

    #[test]
    fn divisions_that_do_not_simplify_stay_exact() {
        let extents = [10, 10];
        let form = linear(&[3, -2], -7).floor_div(4, &extents).unwrap();
        for i in 0..10 {
            for j in 0..10 {
                let expected = (3.0 * i as f64 - 2.0 * j as f64 - 7.0) / 4.0;
                assert_eq!(form.evaluate(&[i, j]), Some(expected.floor() as i64));
            }
        }
    }

    #[test]
    fn cancelled_terms_vanish() {
        assert_eq!(
            linear(&[2, 1], 3).sub(&linear(&[2, 0], 1)),
            Some(linear(&[0, 1], 2))
        );
    }

    #[test]
    fn overflow_is_not_affine() {
        assert_eq!(Affine::index(0).scale(i64::MAX).unwrap().scale(2), None);
        assert_eq!(linear(&[i64::MAX], 0).range(&[3]), None);
    }

    #[test]
    fn a_quotient_gives_its_dividend_back() {
        // ⌊(i − 4·j + 5) / 2⌋: the multiple of the divisor moves out of the division.
        let form = Affine::index(0)
            .sub(&Affine::index(1).scale(4).unwrap())
            .unwrap()
            .add(&Affine::constant(5))
            .unwrap();
        let quotient = form.floor_div(2, &[9, 3]).unwrap();
        assert_eq!(quotient.as_quotient(), Some((form.clone(), 2)));
        assert_eq!(form.as_quotient(), None);
        assert_eq!(quotient.scale(3).unwrap().as_quotient(), None);
    }
}
