// SPDX-License-Identifier: Apache-2.0
//! Proves inequalities between polynomials.

mod definition;
mod search;

use std::collections::HashMap;
use std::ops::Range;

use crate::{Polynomial, SymbolId};

pub use definition::Definition;

/// The effort limit of one query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Maximum number of symbol replacements in one search. A query performs one search, and another search for each
    /// assumption that it is combined with.
    pub steps: usize,
    /// Maximum number of symbols, and of assumptions about these symbols, that a query is combined with: the latest
    /// ones are used.
    pub assumptions: usize,
    /// Maximum number of assumptions whose multiples a query adds up; 0: a query uses one assumption, as it is. All of these
    /// sums of a query take at most [`Budget::assumptions`] searches.
    pub multiples: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { steps: 400, assumptions: 64, multiples: 0 }
    }
}

/// Proves `x ≤ y` from the definitions of symbols and from assumptions.
///
/// A query replaces symbols by their bounds, the last one first, until a constant is left. An inequality that is not
/// proven within the [`Budget`] is unknown, not false. Assumptions have a scope: [`Prover::rollback`] removes those
/// since a [`Mark`].
///
/// ```
/// use skript_symbolic::{Definition, Polynomial, Prover};
///
/// let mut prover = Prover::default();
/// let n = prover.define(Definition::Between(Some(0), Some(1024)));
/// let i = prover.define(Definition::Below(n.clone()));
/// assert!(prover.at_most(&i.plus(1).unwrap(), &n));
/// assert!(!prover.at_most(&n, &i));
///
/// let half = prover.quotient(&n, 2).unwrap();
/// assert!(prover.at_most(&half.scale(2).unwrap(), &n));
///
/// let mark = prover.mark();
/// let one = Polynomial::constant(1);
/// prover.assume_at_most(&one, &half);
/// assert!(prover.at_most(&one, &half));
/// prover.rollback(mark);
/// assert!(!prover.at_most(&one, &half));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Prover {
    budget: Budget,
    definitions: Vec<Definition>,
    /// An upper bound of the absolute value of each symbol, if one is known.
    magnitudes: Vec<Option<i64>>,
    interned: HashMap<Definition, SymbolId>,
    /// Polynomials that are not positive.
    assumptions: Vec<Polynomial>,
    /// Positions of the assumptions in which a symbol occurs.
    assumptions_of: HashMap<SymbolId, Vec<usize>>,
    /// Symbols and the polynomials that they are equal to. Earlier polynomials may contain symbols of later pairs.
    equal: Vec<(SymbolId, Polynomial)>,
    equal_of: HashMap<SymbolId, usize>,
    /// Weaker definitions of symbols, whose original definitions depended on a symbol that is now equal to a
    /// polynomial in these symbols.
    redefined: Vec<(SymbolId, Definition)>,
    redefined_of: HashMap<SymbolId, Vec<usize>>,
}

/// A state of the assumptions of a [`Prover`].
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    assumptions: usize,
    equal: usize,
    redefined: usize,
}

impl Prover {
    /// A prover with the given budget.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        Prover { budget, ..Prover::default() }
    }

    /// Adds a symbol.
    pub fn define(&mut self, definition: Definition) -> Polynomial {
        let magnitude = self.magnitude_of(&definition);
        self.magnitudes.push(magnitude);
        let symbol = self.next_symbol();
        self.definitions.push(definition);
        Polynomial::symbol(symbol)
    }

    /// The symbol of this definition; equal definitions have one symbol.
    fn intern(&mut self, definition: Definition) -> Polynomial {
        if let Some(symbol) = self.interned.get(&definition) {
            return Polynomial::symbol(*symbol);
        }
        self.interned.insert(definition.clone(), self.next_symbol());
        self.define(definition)
    }

    /// The next symbol that [`Prover::define`] will return; later symbols are larger.
    #[must_use]
    pub fn next_symbol(&self) -> SymbolId {
        SymbolId(self.definitions.len())
    }

    /// Whether a polynomial fits i64 for all values of its symbols, so that fixed-width arithmetic computes it exactly.
    #[must_use]
    pub fn is_exact(&self, value: &Polynomial) -> bool {
        self.magnitude(value).is_some()
    }

    /// An upper bound of the absolute value; `None` if the value is unbounded or the bound exceeds i64.
    fn magnitude(&self, value: &Polynomial) -> Option<i64> {
        let bound = |symbol: &SymbolId| self.magnitudes.get(symbol.0).copied().flatten();
        let offset = value.offset().checked_abs()?;
        value.terms().try_fold(offset, |sum, (product, factor)| {
            let mut factors = product.factors().iter();
            let product = factors
                .try_fold(factor.checked_abs()?, |product, factor| product.checked_mul(bound(factor)?))?;
            sum.checked_add(product)
        })
    }

    fn magnitude_of(&self, definition: &Definition) -> Option<i64> {
        match definition {
            Definition::Between(low, high) => {
                let (low, high) = ((*low)?.checked_abs()?, (*high)?.checked_abs()?);
                Some(low.max(high))
            }
            _ => definition
                .parts()
                .try_fold(0, |largest, part| self.magnitude(part).map(|magnitude| magnitude.max(largest))),
        }
    }

    /// The smaller of two polynomials.
    pub fn min(&mut self, x: &Polynomial, y: &Polynomial) -> Polynomial {
        if self.at_most(x, y) {
            x.clone()
        } else if self.at_most(y, x) {
            y.clone()
        } else {
            self.intern(Definition::Min(x.clone(), y.clone()))
        }
    }

    /// The larger of two polynomials.
    pub fn max(&mut self, x: &Polynomial, y: &Polynomial) -> Polynomial {
        if self.at_most(x, y) {
            y.clone()
        } else if self.at_most(y, x) {
            x.clone()
        } else {
            self.intern(Definition::Max(x.clone(), y.clone()))
        }
    }

    /// One of two polynomials. Two calls with the same polynomials may select different ones.
    pub fn either(&mut self, x: &Polynomial, y: &Polynomial) -> Polynomial {
        if x == y { x.clone() } else { self.define(Definition::Either(x.clone(), y.clone())) }
    }

    /// `⌊x / divisor⌋`; `None` if the divisor is not positive.
    pub fn quotient(&mut self, x: &Polynomial, divisor: i64) -> Option<Polynomial> {
        match (divisor, x.as_constant()) {
            (..=0, _) => None,
            (1, _) => Some(x.clone()),
            (_, Some(x)) => Some(Polynomial::constant(x.div_euclid(divisor))),
            _ => Some(self.intern(Definition::Quotient(x.clone(), divisor))),
        }
    }

    /// `x - y · ⌊x / y⌋`.
    pub fn remainder(&mut self, x: &Polynomial, y: &Polynomial) -> Polynomial {
        let zero = Polynomial::constant(0);
        let last = y.plus(-1);
        if self.at_most(&zero, x) && last.is_some_and(|last| self.at_most(x, &last)) {
            return x.clone();
        }
        self.intern(Definition::Remainder(x.clone(), y.clone()))
    }

    /// The polynomial at another point: new symbols replace the symbols in `of_point`. `None` if a coefficient exceeds
    /// i64.
    pub fn at_another_point(&mut self, value: &Polynomial, of_point: &Range<SymbolId>) -> Option<Polynomial> {
        self.renamed(value, of_point, &mut HashMap::new())
    }

    fn renamed(
        &mut self,
        value: &Polynomial,
        of_point: &Range<SymbolId>,
        others: &mut HashMap<SymbolId, Polynomial>,
    ) -> Option<Polynomial> {
        let symbols: Vec<SymbolId> = value.symbols().filter(|s| of_point.contains(s)).collect();
        symbols.into_iter().try_fold(value.clone(), |value, symbol| {
            let other = match others.get(&symbol) {
                Some(other) => other.clone(),
                None => {
                    let definition = self.definitions.get(symbol.0)?.clone();
                    let renamed = definition.map(|part| self.renamed(part, of_point, others))?;
                    let other = self.define(renamed);
                    others.insert(symbol, other.clone());
                    other
                }
            };
            value.replaced(symbol, &other)
        })
    }

    /// The current assumptions.
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark { assumptions: self.assumptions.len(), equal: self.equal.len(), redefined: self.redefined.len() }
    }

    /// Removes the assumptions that were made after the mark.
    pub fn rollback(&mut self, mark: Mark) {
        for removed in self.assumptions.drain(mark.assumptions..) {
            for symbol in removed.symbols() {
                if let Some(positions) = self.assumptions_of.get_mut(&symbol) {
                    positions.retain(|position| *position < mark.assumptions);
                }
            }
        }
        for (symbol, _) in self.equal.drain(mark.equal..) {
            self.equal_of.remove(&symbol);
        }
        for (symbol, _) in self.redefined.drain(mark.redefined..) {
            if let Some(positions) = self.redefined_of.get_mut(&symbol) {
                positions.pop();
            }
        }
    }

    fn push_assumption(&mut self, not_positive: Polynomial) {
        for symbol in not_positive.symbols() {
            let positions = self.assumptions_of.entry(symbol).or_default();
            if positions.last() != Some(&self.assumptions.len()) {
                positions.push(self.assumptions.len());
            }
        }
        self.assumptions.push(not_positive);
    }

    /// Assumes `x ≤ y`.
    pub fn assume_at_most(&mut self, x: &Polynomial, y: &Polynomial) {
        let difference = x.sub(y).and_then(|difference| self.resolved(difference));
        if let Some(difference) = difference
            && !self.at_most(x, y)
        {
            self.push_assumption(difference);
        }
    }

    /// Assumes `x = y`. Has no effect if no symbol occurs alone with coefficient 1 or -1 in the difference.
    pub fn assume_equal(&mut self, x: &Polynomial, y: &Polynomial) {
        let Some(difference) = x.sub(y).and_then(|d| self.resolved(d)) else {
            return;
        };
        let mut symbols: Vec<SymbolId> = difference.symbols().collect();
        symbols.sort_unstable();
        let solved = symbols.into_iter().rev().find_map(|symbol| {
            let (factor, remainder) = difference.split(symbol)?;
            let factor = factor.as_constant().filter(|f| matches!(f, 1 | -1))?;
            Some((symbol, remainder.scale(-factor)?))
        });
        let Some((symbol, value)) = solved else {
            return;
        };
        let dependent = value.symbols().filter(|s| self.depends_on(*s, symbol));
        for other in dependent.collect::<Vec<SymbolId>>() {
            self.weaken(other);
        }
        self.equal_of.insert(symbol, self.equal.len());
        self.equal.push((symbol, value));
    }

    /// Replaces the definition of a symbol by constant bounds, so that it depends on no other symbol.
    fn weaken(&mut self, symbol: SymbolId) {
        let value = Polynomial::symbol(symbol);
        let is_natural = self.at_most(&Polynomial::constant(0), &value);
        let max = self.largest(&value, &mut { self.budget.steps });
        let definition = Definition::Between(is_natural.then_some(0), max);
        let positions = self.redefined_of.entry(symbol).or_default();
        positions.push(self.redefined.len());
        self.redefined.push((symbol, definition));
    }

    fn definition(&self, symbol: SymbolId) -> Option<&Definition> {
        let redefined = self.redefined_of.get(&symbol).and_then(|all| all.last());
        let redefined = redefined.and_then(|position| self.redefined.get(*position));
        redefined.map(|(_, definition)| definition).or_else(|| self.definitions.get(symbol.0))
    }

    /// The polynomial that a symbol is assumed to be equal to.
    fn equal(&self, symbol: SymbolId) -> Option<&(SymbolId, Polynomial)> {
        self.equal_of.get(&symbol).and_then(|position| self.equal.get(*position))
    }
}

#[cfg(test)]
mod tests;
