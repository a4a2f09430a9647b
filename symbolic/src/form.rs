// SPDX-License-Identifier: Apache-2.0
//! Sums of integer multiples of terms.

use std::collections::BTreeMap;

use crate::Interval;

/// `constant + Σ coefficient · term`. No coefficient is zero, so equal sums have equal representations.
///
/// Operations return `None` if a coefficient or the constant exceeds i64.
///
/// ```
/// use skript_symbolic::Form;
///
/// let d = Form::term("d");
/// let difference = d.plus(3).unwrap().sub(&d).unwrap();
/// assert_eq!(difference.as_constant(), Some(3));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Form<T> {
    terms: BTreeMap<T, i64>,
    constant: i64,
}

impl<T> Default for Form<T> {
    fn default() -> Self {
        Form { terms: BTreeMap::new(), constant: 0 }
    }
}

impl<T: Ord + Clone> Form<T> {
    /// The form without terms.
    #[must_use]
    pub fn constant(value: i64) -> Self {
        Form { constant: value, ..Form::default() }
    }

    /// One term with coefficient 1.
    #[must_use]
    pub fn term(term: T) -> Self {
        Form { terms: BTreeMap::from([(term, 1)]), constant: 0 }
    }

    /// The constant summand.
    #[must_use]
    pub fn offset(&self) -> i64 {
        self.constant
    }

    /// The terms in ascending order, with their coefficients.
    pub fn terms(&self) -> impl Iterator<Item = (&T, i64)> {
        self.terms.iter().map(|(term, coefficient)| (term, *coefficient))
    }

    /// The coefficient of a term; zero if it does not occur.
    #[must_use]
    pub fn coefficient(&self, term: &T) -> i64 {
        self.terms.get(term).copied().unwrap_or(0)
    }

    /// The value if no term occurs.
    #[must_use]
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// `(coefficient, term)` if exactly one term occurs.
    #[must_use]
    pub fn single_term(&self) -> Option<(i64, &T)> {
        let mut terms = self.terms();
        match (terms.next(), terms.next()) {
            (Some((term, coefficient)), None) => Some((coefficient, term)),
            _ => None,
        }
    }

    /// `self + factor · other`.
    #[must_use]
    pub fn add_scaled(&self, other: &Self, factor: i64) -> Option<Self> {
        let mut sum = self.clone();
        let offset = other.constant.checked_mul(factor)?;
        sum.constant = sum.constant.checked_add(offset)?;
        for (term, coefficient) in &other.terms {
            sum.accumulate(term.clone(), coefficient.checked_mul(factor)?)?;
        }
        Some(sum)
    }

    /// Adds a multiple of a term in place.
    pub(crate) fn accumulate(&mut self, term: T, coefficient: i64) -> Option<()> {
        let total = self.coefficient(&term).checked_add(coefficient)?;
        match total {
            0 => self.terms.remove(&term),
            _ => self.terms.insert(term, total),
        };
        Some(())
    }

    /// The sum of two forms.
    #[must_use]
    pub fn add(&self, other: &Self) -> Option<Self> {
        self.add_scaled(other, 1)
    }

    /// The difference of two forms.
    #[must_use]
    pub fn sub(&self, other: &Self) -> Option<Self> {
        self.add_scaled(other, -1)
    }

    /// The sum with a constant.
    #[must_use]
    pub fn plus(&self, value: i64) -> Option<Self> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(value)?;
        Some(sum)
    }

    /// The product with a constant.
    #[must_use]
    pub fn scale(&self, factor: i64) -> Option<Self> {
        Form::default().add_scaled(self, factor)
    }

    /// The product of two forms, if one of them is constant.
    #[must_use]
    pub fn linear_product(&self, other: &Self) -> Option<Self> {
        match (self.as_constant(), other.as_constant()) {
            (_, Some(factor)) => self.scale(factor),
            (Some(factor), None) => other.scale(factor),
            (None, None) => None,
        }
    }

    /// Whether the form is a multiple of `divisor` for all integer values of the terms.
    ///
    /// ```
    /// use skript_symbolic::Form;
    ///
    /// let even = Form::term("d").scale(4).unwrap().plus(2).unwrap();
    /// assert!(even.is_multiple_of(2) && !even.is_multiple_of(4));
    /// ```
    #[must_use]
    pub fn is_multiple_of(&self, divisor: i64) -> bool {
        self.split_multiples(divisor).is_some_and(|(_, remainder)| remainder == Form::default())
    }

    /// `(q, r)` with `self = q · divisor + r`, where no coefficient of `r` is a multiple of the divisor and its
    /// constant is in `0..divisor`; `None` if the divisor is not positive.
    #[must_use]
    pub fn split_multiples(&self, divisor: i64) -> Option<(Self, Self)> {
        if divisor <= 0 {
            return None;
        }
        let mut quotient = Form::constant(self.constant.div_euclid(divisor));
        let mut remainder = Form::constant(self.constant.rem_euclid(divisor));
        for (term, coefficient) in &self.terms {
            let (part, coefficient) = match coefficient % divisor {
                0 => (&mut quotient, coefficient / divisor),
                _ => (&mut remainder, *coefficient),
            };
            part.terms.insert(term.clone(), coefficient);
        }
        Some((quotient, remainder))
    }

    /// The value for given values of the terms; `None` if the value of a term is missing or the result exceeds i64.
    #[must_use]
    pub fn value(&self, mut of: impl FnMut(&T) -> Option<i64>) -> Option<i64> {
        self.interval(|term| of(term).map(Interval::point)).map(|point| point.low)
    }

    /// The interval of the values for given intervals of the terms; `None` if an interval is missing or a value exceeds
    /// i64.
    ///
    /// Exact if the terms vary independently, an enclosure otherwise.
    #[must_use]
    pub fn interval(&self, mut of: impl FnMut(&T) -> Option<Interval>) -> Option<Interval> {
        let terms = self.terms().map(|(term, factor)| Some((of(term)?, factor)));
        let terms: Vec<_> = terms.collect::<Option<_>>()?;
        Interval::sum(self.constant, terms)
    }

    /// The form with every term replaced by a form.
    #[must_use]
    pub(crate) fn replaced_by<U: Ord + Clone>(
        &self,
        mut by: impl FnMut(&T) -> Option<Form<U>>,
    ) -> Option<Form<U>> {
        let constant = Some(Form::constant(self.constant));
        self.terms().fold(constant, |sum, (term, coefficient)| sum?.add_scaled(&by(term)?, coefficient))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cancelled_terms_vanish() {
        let form = Form::term('a').add(&Form::term('b')).unwrap();
        assert_eq!(form.sub(&Form::term('b')), Some(Form::term('a')));
        assert_eq!(form.scale(0), Some(Form::default()));
        assert_eq!(form.sub(&form).unwrap().as_constant(), Some(0));
    }

    #[test]
    fn overflow_is_none() {
        let large = Form::term('a').scale(i64::MAX).unwrap();
        assert_eq!(large.scale(2), None);
        assert_eq!(large.add(&Form::term('a')), None);
        assert_eq!(Form::<char>::constant(i64::MAX).plus(1), None);
        assert_eq!(large.interval(|_| Some(Interval { low: 0, high: 2 })), None);
    }

    #[test]
    fn one_factor_of_a_product_is_constant() {
        let (a, three) = (Form::term('a'), Form::constant(3));
        assert_eq!(a.linear_product(&three), a.scale(3));
        assert_eq!(three.linear_product(&a), a.scale(3));
        assert_eq!(a.linear_product(&a), None);
    }
}
