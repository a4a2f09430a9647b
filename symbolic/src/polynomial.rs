// SPDX-License-Identifier: Apache-2.0
//! Polynomials over symbols.

use crate::Form;

/// An integer that is known only at run time: a dynamic dimension, a loop index, or a value that a [`Prover`] defines.
///
/// [`Prover`]: crate::Prover
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolId(pub usize);

/// A product of at least one symbol.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Monomial(Vec<SymbolId>);

impl Monomial {
    /// The factors in ascending order; powers repeat a symbol.
    #[must_use]
    pub fn factors(&self) -> &[SymbolId] {
        &self.0
    }

    fn product(&self, other: &Self) -> Self {
        let mut factors = [self.factors(), other.factors()].concat();
        factors.sort_unstable();
        Monomial(factors)
    }
}

/// A sum of multiples of products of symbols.
///
/// ```
/// use skript_symbolic::{Polynomial, SymbolId};
///
/// let (n, m) = (Polynomial::symbol(SymbolId(0)), Polynomial::symbol(SymbolId(1)));
/// let area = n.plus(1).unwrap().mul(&m).unwrap();
/// assert_eq!(area.sub(&n.mul(&m).unwrap()), Some(m));
/// ```
pub type Polynomial = Form<Monomial>;

impl Polynomial {
    /// A polynomial that consists of one symbol.
    #[must_use]
    pub fn symbol(symbol: SymbolId) -> Self {
        Form::term(Monomial(vec![symbol]))
    }

    /// `(coefficient, symbol, constant)` if the polynomial is a multiple of one symbol and a constant.
    #[must_use]
    pub(crate) fn as_multiple(&self) -> Option<(i64, SymbolId, i64)> {
        match self.single_term()? {
            (coefficient, Monomial(factors)) if factors.len() == 1 => {
                Some((coefficient, *factors.first()?, self.offset()))
            }
            _ => None,
        }
    }

    /// The product of two polynomials.
    #[must_use]
    pub fn mul(&self, other: &Self) -> Option<Self> {
        let offset = other.scale(self.offset())?;
        self.terms().try_fold(offset, |mut sum, (one, x)| {
            sum.accumulate(one.clone(), x.checked_mul(other.offset())?)?;
            for (two, y) in other.terms() {
                sum.accumulate(one.product(two), x.checked_mul(y)?)?;
            }
            Some(sum)
        })
    }

    /// The symbol with the highest number.
    #[must_use]
    pub fn highest(&self) -> Option<SymbolId> {
        self.symbols().max()
    }

    /// The symbols of all terms; a symbol is repeated for each factor.
    pub fn symbols(&self) -> impl Iterator<Item = SymbolId> {
        self.terms().flat_map(|(product, _)| product.factors().iter().copied())
    }

    /// `(q, r)` with `self = symbol · q + r`, where neither q nor r contains the symbol; `None` if `self` contains a
    /// power of the symbol.
    #[must_use]
    pub fn split(&self, symbol: SymbolId) -> Option<(Self, Self)> {
        let (mut quotient, mut remainder) = (Form::default(), Form::constant(self.offset()));
        for (product, coefficient) in self.terms() {
            let others: Vec<SymbolId> =
                product.factors().iter().copied().filter(|factor| *factor != symbol).collect();
            match product.factors().len() - others.len() {
                0 => remainder.accumulate(product.clone(), coefficient)?,
                1 if others.is_empty() => quotient = quotient.plus(coefficient)?,
                1 => quotient.accumulate(Monomial(others), coefficient)?,
                _ => return None,
            }
        }
        Some((quotient, remainder))
    }

    /// The polynomial with `by` in place of a symbol; `None` if a power of the symbol occurs.
    #[must_use]
    pub fn replaced(&self, symbol: SymbolId, by: &Self) -> Option<Self> {
        let (quotient, remainder) = self.split(symbol)?;
        quotient.mul(by)?.add(&remainder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: SymbolId = SymbolId(0);
    const Y: SymbolId = SymbolId(1);

    #[test]
    fn a_symbol_is_replaced_in_products() {
        let (x, y) = (Polynomial::symbol(X), Polynomial::symbol(Y));
        let product = x.mul(&y).unwrap().plus(3).unwrap();
        let replaced = product.replaced(Y, &x.plus(2).unwrap()).unwrap();
        assert_eq!(replaced.split(X), None);
        let doubled = product.replaced(Y, &Polynomial::constant(2)).unwrap();
        assert_eq!(doubled.as_multiple(), Some((2, X, 3)));
    }

    #[test]
    fn overflow_is_none() {
        let large = Polynomial::symbol(X).scale(i64::MAX).unwrap();
        assert_eq!(large.mul(&Polynomial::symbol(Y).scale(2).unwrap()), None);
    }
}
