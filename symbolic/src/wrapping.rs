// SPDX-License-Identifier: Apache-2.0
//! Sums of multiples of terms modulo 2⁶⁴.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::ops::{Add, Sub};

use crate::Interval;

/// `constant + Σ coefficient · term` modulo 2⁶⁴, like fixed-width integer arithmetic. No coefficient is zero.
///
/// Terms keep the order in which they first occur, so that a printed sum has the order of the parsed text.
///
/// ```
/// use skript_symbolic::WrappingForm;
///
/// let form = WrappingForm::sum(i64::MAX, [(&"b", 2), (&"a", 1), (&"b", -2)]).plus(1);
/// assert_eq!(form, WrappingForm::sum(i64::MIN, [(&"a", 1)]));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct WrappingForm<T> {
    constant: i64,
    terms: Vec<(T, i64)>,
}

impl<T: Clone + PartialEq + Hash> WrappingForm<T> {
    /// The form without terms.
    #[must_use]
    pub fn constant(value: i64) -> Self {
        WrappingForm { constant: value, terms: Vec::new() }
    }

    /// The sum of a constant and multiples of terms, in almost linear time.
    #[must_use]
    pub fn sum<'t>(constant: i64, terms: impl IntoIterator<Item = (&'t T, i64)>) -> Self
    where
        T: 't,
    {
        WrappingForm::constant(constant).with(terms)
    }

    fn with<'t>(mut self, terms: impl IntoIterator<Item = (&'t T, i64)>) -> Self
    where
        T: 't,
    {
        let mut positions = Positions::default();
        for (term, coefficient) in terms {
            let position = positions.find(&self.terms, term);
            match position.and_then(|position| self.terms.get_mut(position)) {
                Some((_, sum)) => *sum = sum.wrapping_add(coefficient),
                None => self.terms.push((term.clone(), coefficient)),
            }
        }
        self.without_zeros()
    }

    fn without_zeros(mut self) -> Self {
        self.terms.retain(|(_, coefficient)| *coefficient != 0);
        self
    }

    /// The constant summand.
    #[must_use]
    pub fn offset(&self) -> i64 {
        self.constant
    }

    /// The terms in order of their first occurrence, with their coefficients.
    pub fn terms(&self) -> impl Iterator<Item = (&T, i64)> {
        self.terms.iter().map(|(term, factor)| (term, *factor))
    }

    /// The terms of [`WrappingForm::terms`], without a copy.
    pub fn into_terms(self) -> impl Iterator<Item = (T, i64)> {
        self.terms.into_iter()
    }

    /// The coefficient of a term; zero if it does not occur.
    #[must_use]
    pub fn coefficient(&self, term: &T) -> i64 {
        self.terms().find(|(other, _)| *other == term).map_or(0, |(_, coefficient)| coefficient)
    }

    /// `self + factor · other`.
    #[must_use]
    pub fn add_scaled(self, other: &Self, factor: i64) -> Self {
        let terms = other.terms().map(|(term, coefficient)| (term, coefficient.wrapping_mul(factor)));
        self.plus(other.constant.wrapping_mul(factor)).with(terms)
    }

    /// The sum with a constant.
    #[must_use]
    pub fn plus(mut self, value: i64) -> Self {
        self.constant = self.constant.wrapping_add(value);
        self
    }

    /// The product with a constant.
    #[must_use]
    pub fn scale(mut self, factor: i64) -> Self {
        self.constant = self.constant.wrapping_mul(factor);
        for (_, coefficient) in &mut self.terms {
            *coefficient = coefficient.wrapping_mul(factor);
        }
        self.without_zeros()
    }

    /// The constant with the terms for which `keeps` is true, and the sum of the other terms.
    #[must_use]
    pub fn split(self, mut keeps: impl FnMut(&T) -> bool) -> (Self, Self) {
        let (terms, others) = self.terms.into_iter().partition(|(term, _)| keeps(term));
        let kept = WrappingForm { constant: self.constant, terms };
        let removed = WrappingForm { constant: 0, terms: others };
        (kept, removed)
    }

    /// The interval of the values for given intervals of the terms; `None` if the sum may wrap.
    #[must_use]
    pub fn interval(&self, mut of: impl FnMut(&T) -> Interval) -> Option<Interval> {
        Interval::sum(self.constant, self.terms().map(|(term, f)| (of(term), f)))
    }
}

impl<T: Clone + PartialEq + Hash> Add<&Self> for WrappingForm<T> {
    type Output = Self;

    fn add(self, other: &Self) -> Self {
        self.add_scaled(other, 1)
    }
}

impl<T: Clone + PartialEq + Hash> Sub<&Self> for WrappingForm<T> {
    type Output = Self;

    fn sub(self, other: &Self) -> Self {
        self.add_scaled(other, -1)
    }
}

/// Maximum number of terms for which a linear search finds equal terms.
const MAX_LINEAR: usize = 16;
/// Finds equal terms; uses hashes for many terms.
#[derive(Default)]
struct Positions(HashMap<u64, Vec<usize>>);

impl Positions {
    /// The position of a term in the list. If the result is `None`, the caller must append the term to the list.
    fn find<T: PartialEq + Hash>(&mut self, terms: &[(T, i64)], term: &T) -> Option<usize> {
        if terms.len() < MAX_LINEAR {
            return terms.iter().position(|(listed, _)| listed == term);
        }
        if self.0.is_empty() {
            for (position, (listed, _)) in terms.iter().enumerate() {
                self.0.entry(hash(listed)).or_default().push(position);
            }
        }
        let alike = self.0.entry(hash(term)).or_default();
        let is_same = |position: &&usize| terms.get(**position).is_some_and(|(listed, _)| listed == term);
        let position = alike.iter().find(is_same).copied();
        if position.is_none() {
            alike.push(terms.len());
        }
        position
    }
}

fn hash(term: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    term.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_terms_are_collected_as_few_are() {
        let terms: Vec<usize> = (0..1000).map(|n| n % 100).collect();
        let form = WrappingForm::sum(0, terms.iter().map(|term| (term, 1)));
        let expected: Vec<_> = (0..100).map(|n| (n, 10)).collect();
        assert_eq!(form.into_terms().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_term_that_cancels_keeps_its_position_until_the_end() {
        let form = WrappingForm::sum(0, [(&'a', 1), (&'b', 1), (&'a', -1), (&'a', 3)]);
        assert_eq!(form.terms().collect::<Vec<_>>(), [(&'a', 3), (&'b', 1)]);
        let other = WrappingForm::sum(1, [(&'b', 1), (&'c', 2)]);
        let difference = form - &other;
        let expected = WrappingForm::sum(-1, [(&'a', 3), (&'c', -2)]);
        assert_eq!(difference, expected);
    }

    #[test]
    fn a_factor_of_a_power_of_two_removes_terms() {
        let form = WrappingForm::sum(3, [(&'a', 1 << 32), (&'b', 1)]).scale(1 << 32);
        assert_eq!(form, WrappingForm::sum(3 << 32, [(&'b', 1 << 32)]));
    }

    #[test]
    fn a_sum_that_may_wrap_has_no_interval() {
        let form = WrappingForm::sum(1, [(&'a', 2)]);
        let of = |high| form.interval(|_| Interval { low: 0, high });
        assert_eq!(of(3), Some(Interval { low: 1, high: 7 }));
        assert_eq!(of(i64::MAX), None);
    }
}
