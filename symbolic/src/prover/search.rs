// SPDX-License-Identifier: Apache-2.0
//! The search for a proof.

use std::collections::HashSet;

use super::{Definition, Prover};
use crate::{Polynomial, SymbolId};

impl Prover {
    /// Whether `x ≤ y` is proven.
    #[must_use]
    pub fn at_most(&self, x: &Polynomial, y: &Polynomial) -> bool {
        x.sub(y).is_some_and(|difference| {
            self.is_not_positive(&difference, &mut { self.budget.steps })
                || self.follows(&difference, &self.near(&difference))
                || self.follows_from_multiples(difference, self.budget.multiples, &mut {
                    self.budget.assumptions
                })
        })
    }

    /// Whether two polynomials are equal by only the assumed equalities.
    #[must_use]
    pub fn is_equal(&self, x: &Polynomial, y: &Polynomial) -> bool {
        let difference = x.sub(y).and_then(|difference| self.resolved(difference));
        difference.is_some_and(|difference| difference.as_constant() == Some(0))
    }

    /// Adds the assumption that a symbol near a polynomial is at least one, for each symbol for which it follows from
    /// the existing assumptions.
    ///
    /// Later queries then need one assumption less.
    pub fn derive_positive(&mut self, value: &Polynomial) {
        let one = Polynomial::constant(1);
        let near = self.near(value);
        for symbol in near.iter().copied() {
            if !matches!(self.definition(symbol), Some(Definition::Between(..))) {
                continue;
            }
            if self.lower_bound(symbol).is_none_or(|bound| bound < 1)
                && let Some(difference) = one.sub(&Polynomial::symbol(symbol))
                && (self.is_not_positive(&difference, &mut { self.budget.steps })
                    || self.follows(&difference, &near))
            {
                self.push_assumption(difference);
            }
        }
    }

    /// The symbols of a polynomial, then the symbols of their definitions, up to the budget.
    fn near(&self, value: &Polynomial) -> Vec<SymbolId> {
        let mut symbols: Vec<SymbolId> = Vec::new();
        let mut seen = HashSet::new();
        let mut add = |value: &Polynomial, symbols: &mut Vec<SymbolId>| {
            symbols.extend(value.symbols().filter(|symbol| seen.insert(*symbol)));
        };
        add(value, &mut symbols);
        let mut next = 0;
        while symbols.len() < self.budget.assumptions
            && let Some(symbol) = symbols.get(next).copied()
        {
            next += 1;
            if let Some((_, equal)) = self.equal(symbol) {
                add(equal, &mut symbols);
            }
            let definition = self.definition(symbol).into_iter();
            let parts = definition.flat_map(Definition::parts);
            parts.for_each(|part| add(part, &mut symbols));
        }
        symbols
    }

    /// Whether the definition of a symbol depends on another symbol.
    pub(super) fn depends_on(&self, symbol: SymbolId, other: SymbolId) -> bool {
        let mut seen = HashSet::new();
        let mut pending = vec![symbol];
        while let Some(symbol) = pending.pop() {
            let definition = self.definition(symbol).into_iter();
            let parts = definition.flat_map(Definition::parts);
            for part in parts.flat_map(Polynomial::symbols) {
                if part == other {
                    return true;
                }
                if part < symbol && seen.insert(part) {
                    pending.push(part);
                }
            }
        }
        false
    }

    /// Whether a polynomial is at most an assumption about one of these symbols, which is not positive.
    fn follows(&self, value: &Polynomial, near: &[SymbolId]) -> bool {
        self.assumptions(near).any(|assumption| {
            let difference = value.sub(assumption);
            difference.is_some_and(|difference| self.is_not_positive(&difference, &mut { self.budget.steps }))
        })
    }

    /// The latest assumptions about these symbols, up to the budget.
    fn assumptions(&self, near: &[SymbolId]) -> impl Iterator<Item = &Polynomial> {
        let positions = near.iter().filter_map(|symbol| self.assumptions_of.get(symbol));
        let mut positions: Vec<usize> = positions.flatten().copied().collect();
        positions.sort_unstable();
        positions.dedup();
        let last = positions.into_iter().rev().take(self.budget.assumptions);
        last.filter_map(|position| self.assumptions.get(position))
    }

    /// Whether a polynomial is at most a sum of positive multiples of up to `count` assumptions. Each multiple cancels a
    /// term of the polynomial.
    fn follows_from_multiples(&self, value: Polynomial, count: usize, queries: &mut usize) -> bool {
        let Some(value) = (count > 0).then(|| self.resolved(value)).flatten() else {
            return false;
        };
        let near: Vec<SymbolId> = value.symbols().collect();
        self.assumptions(&near).any(|assumption| {
            value.terms().any(|(term, factor)| {
                let Some(difference) = cancelled(&value, factor, assumption, assumption.coefficient(term))
                else {
                    return false;
                };
                if *queries == 0 {
                    return false;
                }
                *queries -= 1;
                self.is_not_positive(&difference, &mut { self.budget.steps })
                    || self.follows_from_multiples(difference, count - 1, queries)
            })
        })
    }

    /// Replaces symbols by their equal polynomials.
    pub(super) fn resolved(&self, mut value: Polynomial) -> Option<Polynomial> {
        loop {
            let positions = value.symbols().filter_map(|s| self.equal_of.get(&s));
            let Some((symbol, equal)) = positions.min().and_then(|first| self.equal.get(*first)) else {
                return Some(value);
            };
            value = value.replaced(*symbol, equal)?;
        }
    }

    fn is_not_positive(&self, value: &Polynomial, steps: &mut usize) -> bool {
        self.search(value, steps) == Some(true)
    }

    fn is_positive(&self, value: &Polynomial, steps: &mut usize) -> Option<bool> {
        Some(self.is_not_positive(&value.scale(-1)?.plus(1)?, steps))
    }

    /// Whether a polynomial is proven not to be positive. `None` if a coefficient exceeds i64 or the steps are
    /// exhausted.
    fn search(&self, value: &Polynomial, steps: &mut usize) -> Option<bool> {
        *steps = steps.checked_sub(1)?;
        let value = divided(self.resolved(value.clone())?);
        let Some(symbol) = value.highest() else {
            return Some(value.as_constant()? <= 0);
        };
        let (factor, remainder) = value.split(symbol)?;
        let rises = self.is_not_positive(&factor.scale(-1)?, steps);
        if !rises && !self.is_not_positive(&factor, steps) {
            return Some(false);
        }
        let with = |bound: &Polynomial| factor.mul(bound)?.add(&remainder);
        let mut holds = |bound: Option<Polynomial>| {
            let value = bound.and_then(|bound| with(&bound));
            value.is_some_and(|value| self.is_not_positive(&value, steps))
        };
        let constant = Polynomial::constant;
        Some(match (self.definition(symbol)?, rises) {
            (Definition::Below(limit), true) => holds(limit.plus(-1)),
            (Definition::Below(_), false) => holds(Some(constant(0))),
            (Definition::Range(_, high), true) => holds(Some(high.clone())),
            (Definition::Range(low, _), false) => holds(Some(low.clone())),
            (Definition::Min(x, y), true) | (Definition::Max(x, y), false) => {
                holds(Some(x.clone())) || holds(Some(y.clone()))
            }
            (Definition::Min(x, y), false)
            | (Definition::Max(x, y), true)
            | (Definition::Either(x, y), _) => holds(Some(x.clone())) && holds(Some(y.clone())),
            (Definition::Remainder(x, y), true) => {
                let last = y.plus(-1)?;
                self.is_positive(y, steps)? && self.is_not_positive(&with(&last)?, steps)
                    || self.is_not_positive(&x.scale(-1)?, steps)
                        && self.is_positive(y, steps)?
                        && self.is_not_positive(&with(x)?, steps)
            }
            (Definition::Remainder(_, y), false) => {
                self.is_positive(y, steps)? && self.is_not_positive(&remainder, steps)
            }
            (Definition::Quotient(x, divisor), _) => {
                // ⌊x / d⌋ ≤ -r if x < d (1 - r); r ≤ ⌊x / d⌋ if d r ≤ x. Multiples of the quotient are bounded by the
                // fraction.
                let scaled = remainder.scale(*divisor)?;
                let value = match (factor.as_constant(), rises) {
                    (Some(1), _) => x.add(&scaled)?.plus(1 - divisor)?,
                    (Some(-1), _) => scaled.sub(x)?,
                    (_, true) => factor.mul(x)?.add(&scaled)?,
                    (_, false) => factor.mul(&x.plus(1 - divisor)?)?.add(&scaled)?,
                };
                // A multiple of a non-negative quotient is non-negative.
                let is_natural = !rises && self.is_not_positive(&x.scale(-1)?, steps);
                is_natural && self.is_not_positive(&remainder, steps) || self.is_not_positive(&value, steps)
            }
            (Definition::Between(_, high), true) => holds(high.map(constant)),
            (Definition::Between(low, _), false) => holds(self.lower_bound(symbol).max(*low).map(constant)),
        })
    }

    /// The largest constant lower bound of a symbol in the assumptions.
    fn lower_bound(&self, symbol: SymbolId) -> Option<i64> {
        let positions = self.assumptions_of.get(&symbol).into_iter().flatten();
        let assumptions = positions.filter_map(|position| self.assumptions.get(*position));
        let bounds = assumptions.filter_map(|assumption| match assumption.as_multiple()? {
            // -c s + k ≤ 0
            (factor @ ..=-1, bounded, constant) if bounded == symbol => {
                let factor = factor.checked_neg()?;
                let constant = constant.checked_add(factor - 1);
                constant.map(|constant| constant.div_euclid(factor))
            }
            _ => None,
        });
        bounds.max()
    }

    /// A constant upper bound of `c · s + k` with positive c.
    pub(super) fn largest(&self, value: &Polynomial, steps: &mut usize) -> Option<i64> {
        *steps = steps.checked_sub(1)?;
        let Some((factor @ 1.., symbol, constant)) = value.as_multiple() else {
            return value.as_constant();
        };
        let bound = match self.definition(symbol)? {
            Definition::Between(_, high) => (*high)?,
            Definition::Below(limit) => self.largest(limit, steps)?.checked_sub(1)?,
            Definition::Range(_, high) => self.largest(high, steps)?,
            Definition::Quotient(x, divisor) => self.largest(x, steps)?.div_euclid(*divisor),
            Definition::Min(x, y) => match (self.largest(x, steps), self.largest(y, steps)) {
                (Some(x), Some(y)) => x.min(y),
                (x, y) => x.or(y)?,
            },
            Definition::Max(x, y) | Definition::Either(x, y) => {
                let x = self.largest(x, steps)?;
                x.max(self.largest(y, steps)?)
            }
            Definition::Remainder(..) => return None,
        };
        factor.checked_mul(bound)?.checked_add(constant)
    }
}

/// `value · |c| - assumption · |factor|`, in lowest terms, without the term that has the coefficients `factor` and `c`;
/// `None` if their signs differ.
fn cancelled(value: &Polynomial, factor: i64, assumption: &Polynomial, c: i64) -> Option<Polynomial> {
    if c == 0 || (c > 0) != (factor > 0) {
        return None;
    }
    let common = i64::try_from(common_divisor(factor.unsigned_abs(), c.unsigned_abs())).ok()?;
    let (factor, c) = ((factor / common).checked_abs()?, (c / common).checked_abs()?);
    value.scale(c)?.add_scaled(assumption, factor.checked_neg()?)
}

/// Divides a polynomial by the common factor of its coefficients; the result is not positive if and only if the
/// polynomial is not. Bounds of quotients are exact for coefficients of 1.
fn divided(value: Polynomial) -> Polynomial {
    let coefficients = value.terms().map(|(_, factor)| factor.unsigned_abs());
    let common = coefficients.fold(0, common_divisor);
    let common = i64::try_from(common).ok().filter(|common| *common > 1);
    let Some((quotient, remainder)) = common.and_then(|common| value.split_multiples(common)) else {
        return value;
    };
    quotient.plus(i64::from(remainder.offset() > 0)).unwrap_or(value)
}

fn common_divisor(mut x: u64, mut y: u64) -> u64 {
    while y != 0 {
        (x, y) = (y, x % y);
    }
    x
}
