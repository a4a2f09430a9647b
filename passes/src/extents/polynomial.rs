//! Polynomials of integers that are known only at run time: extents, and indices below them.
//!
//! Arithmetic is checked: what leaves i64 is no polynomial (`None`), never a wrong one.

use std::collections::BTreeMap;

/// An integer that is known only at run time.
pub type Unknown = usize;

/// A sum of products of unknowns. By product (its factors ascending; none: the constant) the coefficient, which is not zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Polynomial {
    terms: BTreeMap<Vec<Unknown>, i64>,
}

impl Polynomial {
    pub fn constant(value: i64) -> Self {
        Polynomial::term(Vec::new(), value)
    }

    pub fn unknown(unknown: Unknown) -> Self {
        Polynomial::term(vec![unknown], 1)
    }

    fn term(factors: Vec<Unknown>, coefficient: i64) -> Self {
        let some = (coefficient != 0).then_some((factors, coefficient));
        Polynomial {
            terms: some.into_iter().collect(),
        }
    }

    /// Products of unknowns and what they count.
    pub fn terms(&self) -> impl Iterator<Item = (&[Unknown], i64)> {
        let terms = self.terms.iter();
        terms.map(|(factors, coefficient)| (factors.as_slice(), *coefficient))
    }

    /// The value if no unknown occurs.
    pub fn as_constant(&self) -> Option<i64> {
        match self.terms.iter().next() {
            None => Some(0),
            Some((factors, value)) if factors.is_empty() && self.terms.len() == 1 => Some(*value),
            Some(_) => None,
        }
    }

    /// `(coefficient, unknown, constant)` where a multiple of one unknown and a constant are all there is.
    pub fn as_multiple(&self) -> Option<(i64, Unknown, i64)> {
        let unknown = self.highest()?;
        let (factor, rest) = self.split(unknown)?;
        Some((factor.as_constant()?, unknown, rest.as_constant()?))
    }

    pub fn add(&self, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        for (factors, coefficient) in &other.terms {
            let present = sum.terms.remove(factors).unwrap_or(0);
            let total = present.checked_add(*coefficient)?;
            if total != 0 {
                sum.terms.insert(factors.clone(), total);
            }
        }
        Some(sum)
    }

    pub fn sub(&self, other: &Self) -> Option<Self> {
        self.add(&other.scale(-1)?)
    }

    pub fn plus(&self, value: i64) -> Option<Self> {
        self.add(&Polynomial::constant(value))
    }

    pub fn scale(&self, factor: i64) -> Option<Self> {
        self.mul(&Polynomial::constant(factor))
    }

    pub fn mul(&self, other: &Self) -> Option<Self> {
        let mut product = Polynomial::default();
        for (one, x) in &self.terms {
            for (two, y) in &other.terms {
                let mut factors = [one.as_slice(), two].concat();
                factors.sort_unstable();
                product = product.add(&Polynomial::term(factors, x.checked_mul(*y)?))?;
            }
        }
        Some(product)
    }

    /// The last of the unknowns that occur.
    pub fn highest(&self) -> Option<Unknown> {
        self.terms.keys().filter_map(|f| f.last().copied()).max()
    }

    /// All unknowns that occur.
    pub fn unknowns(&self) -> impl Iterator<Item = Unknown> {
        self.terms.keys().flatten().copied()
    }

    /// `(q, r)` such that this is `unknown · q + r`, neither of which has the unknown; `None` where its square occurs.
    pub fn split(&self, unknown: Unknown) -> Option<(Self, Self)> {
        let (mut quotient, mut rest) = (Polynomial::default(), Polynomial::default());
        for (factors, coefficient) in &self.terms {
            let others: Vec<Unknown> = factors.iter().copied().filter(|f| *f != unknown).collect();
            let (part, term) = match factors.len() - others.len() {
                0 => (&mut rest, factors.clone()),
                1 => (&mut quotient, others),
                _ => return None,
            };
            part.terms.insert(term, *coefficient);
        }
        Some((quotient, rest))
    }

    /// The value where an unknown is `by`.
    pub fn replaced(&self, unknown: Unknown, by: &Self) -> Option<Self> {
        let (quotient, rest) = self.split(unknown)?;
        quotient.mul(by)?.add(&rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn x() -> Polynomial {
        Polynomial::unknown(0)
    }

    fn y() -> Polynomial {
        Polynomial::unknown(1)
    }

    #[test]
    fn what_cancels_is_gone() {
        let product = x().plus(1).unwrap().mul(&y()).unwrap();
        let rest = product.sub(&x().mul(&y()).unwrap()).unwrap();
        assert_eq!(rest, y());
        assert_eq!(rest.sub(&y()).unwrap().as_constant(), Some(0));
    }

    #[test]
    fn an_unknown_is_replaced_in_products() {
        let product = x().mul(&y()).unwrap().plus(3).unwrap();
        let replaced = product.replaced(1, &x().plus(2).unwrap()).unwrap();
        assert_eq!(replaced.split(0), None);
        assert_eq!(
            product
                .replaced(1, &Polynomial::constant(2))
                .unwrap()
                .as_multiple(),
            Some((2, 0, 3))
        );
    }

    #[test]
    fn what_leaves_the_integers_is_none() {
        assert_eq!(x().scale(i64::MAX).unwrap().scale(2), None);
        assert_eq!(Polynomial::constant(i64::MAX).plus(1), None);
    }
}
