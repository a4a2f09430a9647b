//! Proves inequalities between integers that are known only at run time.
//!
//! A query replaces unknowns by their bounds, the last one first, until a constant is left. A result that is not found
//! counts as unknown, never as false.

use super::polynomial::{Polynomial, Unknown};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Steps after which a question has no answer.
const STEPS: usize = 400;
/// Maximum number of unknowns per query, and of facts that are tried for each, the last ones first.
const NEAR: usize = 64;

/// The definition of an unknown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// From 0 to just below it.
    Below(Polynomial),
    /// `⌊x / d⌋`, d positive.
    Quotient(Polynomial, i64),
    /// `x - y · ⌊x / y⌋`.
    Remainder(Polynomial, Polynomial),
    Min(Polynomial, Polynomial),
    Max(Polynomial, Polynomial),
    /// One of two.
    Either(Polynomial, Polynomial),
    /// Nothing else.
    Between(Option<i64>, Option<i64>),
}

impl Meaning {
    /// The polynomials in its definition.
    fn parts(&self) -> impl Iterator<Item = &Polynomial> {
        let (one, other) = match self {
            Meaning::Below(x) | Meaning::Quotient(x, _) => (Some(x), None),
            Meaning::Remainder(x, y)
            | Meaning::Min(x, y)
            | Meaning::Max(x, y)
            | Meaning::Either(x, y) => (Some(x), Some(y)),
            Meaning::Between(..) => (None, None),
        };
        one.into_iter().chain(other)
    }
}

impl Meaning {
    fn parts_mut(&mut self) -> impl Iterator<Item = &mut Polynomial> {
        let (one, other) = match self {
            Meaning::Below(x) | Meaning::Quotient(x, _) => (Some(x), None),
            Meaning::Remainder(x, y)
            | Meaning::Min(x, y)
            | Meaning::Max(x, y)
            | Meaning::Either(x, y) => (Some(x), Some(y)),
            Meaning::Between(..) => (None, None),
        };
        one.into_iter().chain(other)
    }
}

/// Known facts; they are removed at the end of their scope ([`Order::facts`], [`Order::forget`]).
#[derive(Clone, Debug, Default)]
pub struct Order {
    meanings: Vec<Meaning>,
    /// An upper bound of the absolute value of each unknown, if there is one.
    sizes: Vec<Option<i64>>,
    named: HashMap<Meaning, Unknown>,
    /// Polynomials that are not positive.
    facts: Vec<Polynomial>,
    /// Positions of the facts that an unknown occurs in.
    facts_of: HashMap<Unknown, Vec<usize>>,
    equal: Vec<(Unknown, Polynomial)>,
    equal_of: HashMap<Unknown, usize>,
    /// Unknowns that others are said in terms of now, though they were said in terms of these.
    free: Vec<(Unknown, Meaning)>,
    free_of: HashMap<Unknown, Vec<usize>>,
}

/// The number of facts at a point.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    facts: usize,
    equal: usize,
    free: usize,
}

impl Order {
    /// A number unlike all others.
    pub fn fresh(&mut self, meaning: Meaning) -> Polynomial {
        let size = self.size_of(&meaning);
        self.sizes.push(size);
        self.meanings.push(meaning);
        Polynomial::unknown(self.meanings.len() - 1)
    }

    /// Whether a computed integer is this polynomial, that is, whether it does not wrap in i64.
    pub fn is_exact(&self, value: &Polynomial) -> bool {
        self.size(value).is_some()
    }

    /// An upper bound of the absolute value of a polynomial; `None` if there is none, or it exceeds i64.
    fn size(&self, value: &Polynomial) -> Option<i64> {
        let of = |unknown: Unknown| self.sizes.get(unknown).copied().flatten();
        value.terms().try_fold(0i64, |sum, (factors, coefficient)| {
            let size = coefficient.checked_abs()?;
            let mut factors = factors.iter();
            let size = factors.try_fold(size, |size, factor| size.checked_mul(of(*factor)?))?;
            sum.checked_add(size)
        })
    }

    fn size_of(&self, meaning: &Meaning) -> Option<i64> {
        match meaning {
            Meaning::Below(limit) => self.size(limit),
            Meaning::Quotient(x, _) => self.size(x),
            Meaning::Remainder(x, y)
            | Meaning::Min(x, y)
            | Meaning::Max(x, y)
            | Meaning::Either(x, y) => Some(self.size(x)?.max(self.size(y)?)),
            Meaning::Between(low, high) => Some(
                low.as_ref()?
                    .checked_abs()?
                    .max(high.as_ref()?.checked_abs()?),
            ),
        }
    }

    /// The number with this meaning; equal ones are one.
    fn named(&mut self, meaning: Meaning) -> Polynomial {
        if let Some(unknown) = self.named.get(&meaning) {
            return Polynomial::unknown(*unknown);
        }
        self.named.insert(meaning.clone(), self.meanings.len());
        self.fresh(meaning)
    }

    pub fn min(&mut self, x: &Polynomial, y: &Polynomial) -> Polynomial {
        if self.at_most(x, y) {
            return x.clone();
        }
        if self.at_most(y, x) {
            return y.clone();
        }
        self.named(Meaning::Min(x.clone(), y.clone()))
    }

    pub fn max(&mut self, x: &Polynomial, y: &Polynomial) -> Polynomial {
        if self.at_most(x, y) {
            return y.clone();
        }
        if self.at_most(y, x) {
            return x.clone();
        }
        self.named(Meaning::Max(x.clone(), y.clone()))
    }

    /// One of two; another time, perhaps the other one.
    pub fn either(&mut self, x: &Polynomial, y: &Polynomial) -> Polynomial {
        match x == y {
            true => x.clone(),
            false => self.fresh(Meaning::Either(x.clone(), y.clone())),
        }
    }

    /// How many unknowns there are; later ones have larger numbers.
    pub fn unknowns(&self) -> Unknown {
        self.meanings.len()
    }

    /// The number at another point: unknowns in this range, those of the point, are unlike themselves there. `None`: it is beyond
    /// i64.
    pub fn another(&mut self, number: &Polynomial, own: &Range<Unknown>) -> Option<Polynomial> {
        self.renamed(number, own, &mut HashMap::new())
    }

    fn renamed(
        &mut self,
        number: &Polynomial,
        own: &Range<Unknown>,
        others: &mut HashMap<Unknown, Polynomial>,
    ) -> Option<Polynomial> {
        let mut number = number.clone();
        let all: Vec<Unknown> = number.unknowns().filter(|u| own.contains(u)).collect();
        for unknown in all {
            let other = match others.get(&unknown) {
                Some(other) => other.clone(),
                None => {
                    let mut meaning = self.meanings.get(unknown)?.clone();
                    for part in meaning.parts_mut() {
                        *part = self.renamed(part, own, others)?;
                    }
                    let other = self.fresh(meaning);
                    others.insert(unknown, other.clone());
                    other
                }
            };
            number = number.replaced(unknown, &other)?;
        }
        Some(number)
    }

    /// `⌊x / divisor⌋`; `None`: the divisor is not positive.
    pub fn quotient(&mut self, x: &Polynomial, divisor: i64) -> Option<Polynomial> {
        match (divisor, x.as_constant()) {
            (..=0, _) => None,
            (1, _) => Some(x.clone()),
            (_, Some(x)) => Some(Polynomial::constant(x.div_euclid(divisor))),
            _ => Some(self.named(Meaning::Quotient(x.clone(), divisor))),
        }
    }

    pub fn remainder(&mut self, x: &Polynomial, y: &Polynomial) -> Polynomial {
        let zero = Polynomial::constant(0);
        let last = y.plus(-1);
        if self.at_most(&zero, x) && last.is_some_and(|last| self.at_most(x, &last)) {
            return x.clone();
        }
        self.named(Meaning::Remainder(x.clone(), y.clone()))
    }

    /// The current facts.
    pub fn facts(&self) -> Facts {
        Facts {
            facts: self.facts.len(),
            equal: self.equal.len(),
            free: self.free.len(),
        }
    }

    /// Removes facts that were learned after `known`.
    pub fn forget(&mut self, known: Facts) {
        for position in known.facts..self.facts.len() {
            for unknown in self
                .facts
                .get(position)
                .into_iter()
                .flat_map(Polynomial::unknowns)
            {
                if let Some(positions) = self.facts_of.get_mut(&unknown) {
                    positions.retain(|own| *own < known.facts);
                }
            }
        }
        self.facts.truncate(known.facts);
        for (unknown, _) in self.equal.drain(known.equal..) {
            self.equal_of.remove(&unknown);
        }
        for (unknown, _) in self.free.drain(known.free..) {
            if let Some(positions) = self.free_of.get_mut(&unknown) {
                positions.pop();
            }
        }
    }

    fn push_fact(&mut self, fact: Polynomial) {
        for unknown in fact.unknowns() {
            let positions = self.facts_of.entry(unknown).or_default();
            if positions.last() != Some(&self.facts.len()) {
                positions.push(self.facts.len());
            }
        }
        self.facts.push(fact);
    }

    /// Learns that `x ≤ y`.
    pub fn learn(&mut self, x: &Polynomial, y: &Polynomial) {
        let fact = x.sub(y).and_then(|fact| self.resolved(fact));
        if let Some(fact) = fact
            && !self.at_most(x, y)
        {
            self.push_fact(fact);
        }
    }

    /// Learns that `x = y`.
    pub fn learn_equal(&mut self, x: &Polynomial, y: &Polynomial) {
        let Some(difference) = x.sub(y).and_then(|d| self.resolved(d)) else {
            return;
        };
        let mut unknowns: Vec<Unknown> = difference.unknowns().collect();
        unknowns.sort_unstable();
        for unknown in unknowns.into_iter().rev() {
            let parts = difference.split(unknown);
            let parts = parts.and_then(|(q, rest)| Some((q.as_constant()?, rest)));
            if let Some((factor @ (1 | -1), rest)) = parts
                && let Some(value) = rest.scale(-factor)
            {
                let zero = Polynomial::constant(0);
                let of = value.unknowns().filter(|other| self.is_of(*other, unknown));
                for other in of.collect::<Vec<Unknown>>() {
                    let is_natural = self.at_most(&zero, &Polynomial::unknown(other));
                    let most = self.largest(&Polynomial::unknown(other), &mut { STEPS });
                    let meaning = Meaning::Between(is_natural.then_some(0), most);
                    let positions = self.free_of.entry(other).or_default();
                    positions.push(self.free.len());
                    self.free.push((other, meaning));
                }
                self.equal_of.insert(unknown, self.equal.len());
                self.equal.push((unknown, value));
                return;
            }
        }
    }

    /// A number that a multiple of an unknown is not larger than.
    fn largest(&self, value: &Polynomial, steps: &mut usize) -> Option<i64> {
        *steps = steps.checked_sub(1)?;
        let Some((factor @ 1.., unknown, constant)) = value.as_multiple() else {
            return value.as_constant();
        };
        let most = match self.meaning(unknown)? {
            Meaning::Between(_, most) => (*most)?,
            Meaning::Below(limit) => self.largest(limit, steps)?.checked_sub(1)?,
            Meaning::Quotient(x, divisor) => self.largest(x, steps)?.div_euclid(*divisor),
            Meaning::Min(x, y) => match (self.largest(x, steps), self.largest(y, steps)) {
                (Some(x), Some(y)) => x.min(y),
                (x, y) => x.or(y)?,
            },
            Meaning::Max(x, y) | Meaning::Either(x, y) => {
                let x = self.largest(x, steps)?;
                x.max(self.largest(y, steps)?)
            }
            Meaning::Remainder(..) => return None,
        };
        factor.checked_mul(most)?.checked_add(constant)
    }

    /// Learns that the unknowns of a polynomial are positive, if that follows.
    pub fn raise(&mut self, value: &Polynomial) {
        let one = Polynomial::constant(1);
        let near = self.near(value);
        for unknown in near.iter().copied() {
            if !matches!(self.meaning(unknown), Some(Meaning::Between(..))) {
                continue;
            }
            let own = Polynomial::unknown(unknown);
            if self.least(unknown).is_none_or(|least| least < 1)
                && let Some(fact) = one.sub(&own)
                && (self.is_not_positive(&fact, &mut { STEPS }) || self.follows(&fact, &near))
            {
                self.push_fact(fact);
            }
        }
    }

    /// The unknowns of a polynomial and of their definitions, the nearest [`NEAR`] ones.
    fn near(&self, value: &Polynomial) -> Vec<Unknown> {
        let mut found: Vec<Unknown> = Vec::new();
        let mut seen = HashSet::new();
        let mut add = |value: &Polynomial, found: &mut Vec<Unknown>| {
            let new = value.unknowns().filter(|unknown| seen.insert(*unknown));
            found.extend(new.collect::<Vec<_>>());
        };
        add(value, &mut found);
        let mut next = 0;
        while let Some(unknown) = found.get(next).copied().filter(|_| found.len() < NEAR) {
            next += 1;
            if let Some((_, equal)) = self.equal_of.get(&unknown).and_then(|e| self.equal.get(*e)) {
                add(equal, &mut found);
            }
            let said = self.meaning(unknown).into_iter();
            said.flat_map(Meaning::parts)
                .for_each(|part| add(part, &mut found));
        }
        found
    }

    fn meaning(&self, unknown: Unknown) -> Option<&Meaning> {
        let free = self.free_of.get(&unknown).and_then(|all| all.last());
        let free = free.and_then(|position| self.free.get(*position));
        free.map(|(_, meaning)| meaning)
            .or_else(|| self.meanings.get(unknown))
    }

    /// Whether the definition of an unknown depends on another one, which then comes before it.
    pub fn is_of(&self, unknown: Unknown, other: Unknown) -> bool {
        let mut seen = HashSet::new();
        let mut pending = vec![unknown];
        while let Some(unknown) = pending.pop() {
            let said = self.meaning(unknown).into_iter().flat_map(Meaning::parts);
            for own in said.flat_map(Polynomial::unknowns) {
                if own == other {
                    return true;
                }
                if own < unknown && seen.insert(own) {
                    pending.push(own);
                }
            }
        }
        false
    }

    /// Whether `x ≤ y` is proven.
    pub fn at_most(&self, x: &Polynomial, y: &Polynomial) -> bool {
        let Some(difference) = x.sub(y) else {
            return false;
        };
        let mut steps = STEPS;
        self.is_not_positive(&difference, &mut steps)
            || self.follows(&difference, &self.near(&difference))
    }

    /// Whether a number is not positive because a fact of one of these unknowns is not.
    fn follows(&self, value: &Polynomial, near: &[Unknown]) -> bool {
        let positions = near.iter().filter_map(|unknown| self.facts_of.get(unknown));
        let mut positions: Vec<usize> = positions.flatten().copied().collect();
        positions.sort_unstable();
        positions.dedup();
        let last = positions.iter().rev().take(NEAR);
        let mut facts = last.filter_map(|position| self.facts.get(*position));
        facts.any(|fact| {
            let mut steps = STEPS;
            let rest = value.sub(fact);
            rest.is_some_and(|rest| self.is_not_positive(&rest, &mut steps))
        })
    }

    /// Replaces unknowns by equal polynomials. Earlier facts are in terms of later ones.
    fn resolved(&self, mut value: Polynomial) -> Option<Polynomial> {
        loop {
            let known = value.unknowns().filter_map(|u| self.equal_of.get(&u));
            let Some((unknown, equal)) = known.min().and_then(|first| self.equal.get(*first))
            else {
                return Some(value);
            };
            value = value.replaced(*unknown, equal)?;
        }
    }

    fn is_not_positive(&self, value: &Polynomial, steps: &mut usize) -> bool {
        self.bounded(value, steps).unwrap_or(false)
    }

    /// `None` if coefficients overflow i64, or if the search takes too many steps.
    fn bounded(&self, value: &Polynomial, steps: &mut usize) -> Option<bool> {
        *steps = steps.checked_sub(1)?;
        let value = self.resolved(value.clone())?;
        let Some(unknown) = value.highest() else {
            return Some(value.as_constant()? <= 0);
        };
        let (factor, rest) = value.split(unknown)?;
        let rises = self.is_not_positive(&factor.scale(-1)?, steps);
        if !rises && !self.is_not_positive(&factor, steps) {
            return Some(false);
        }
        let with = |bound: &Polynomial| factor.mul(bound)?.add(&rest);
        let mut holds = |bound: Option<Polynomial>| {
            let value = bound.and_then(|bound| with(&bound));
            value.is_some_and(|value| self.is_not_positive(&value, steps))
        };
        let constant = Polynomial::constant;
        Some(match (self.meaning(unknown)?, rises) {
            (Meaning::Below(limit), true) => holds(limit.plus(-1)),
            (Meaning::Below(_), false) => holds(Some(constant(0))),
            (Meaning::Min(x, y), true) | (Meaning::Max(x, y), false) => {
                holds(Some(x.clone())) || holds(Some(y.clone()))
            }
            (Meaning::Min(x, y), false)
            | (Meaning::Max(x, y), true)
            | (Meaning::Either(x, y), _) => holds(Some(x.clone())) && holds(Some(y.clone())),
            (Meaning::Remainder(x, y), true) => {
                let last = y.plus(-1)?;
                self.is_positive(y, steps)? && self.is_not_positive(&with(&last)?, steps)
                    || self.is_not_positive(&x.scale(-1)?, steps)
                        && self.is_positive(y, steps)?
                        && self.is_not_positive(&with(x)?, steps)
            }
            (Meaning::Remainder(_, y), false) => {
                self.is_positive(y, steps)? && self.is_not_positive(&rest, steps)
            }
            (Meaning::Quotient(x, divisor), _) => {
                // ⌊x / d⌋ ≤ -r where x < d (1 - r); r ≤ ⌊x / d⌋ where d r ≤ x. A multiple is compared with the fraction.
                let scaled = rest.scale(*divisor)?;
                let value = match factor.as_constant()? {
                    1 => x.add(&scaled)?.plus(1 - divisor)?,
                    -1 => scaled.sub(x)?,
                    many @ 0.. => x.scale(many)?.add(&scaled)?,
                    many => x.plus(1 - divisor)?.scale(many)?.add(&scaled)?,
                };
                self.is_not_positive(&value, steps)
            }
            (Meaning::Between(low, high), rises) => {
                let bound = if rises {
                    *high
                } else {
                    self.least(unknown).max(*low)
                };
                holds(bound.map(constant))
            }
        })
    }

    fn is_positive(&self, value: &Polynomial, steps: &mut usize) -> Option<bool> {
        Some(self.is_not_positive(&value.scale(-1)?.plus(1)?, steps))
    }

    /// The largest number that facts hold an unknown to be at least.
    fn least(&self, unknown: Unknown) -> Option<i64> {
        let facts = self.facts_of.get(&unknown).into_iter().flatten();
        let facts = facts.filter_map(|position| self.facts.get(*position));
        let bounds = facts.filter_map(|fact| match fact.as_multiple()? {
            // -c u + k ≤ 0
            (factor @ ..=-1, u, constant) if u == unknown => {
                let factor = factor.checked_neg()?;
                constant
                    .checked_add(factor - 1)
                    .map(|n| n.div_euclid(factor))
            }
            _ => None,
        });
        bounds.max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(order: &mut Order) -> Polynomial {
        order.fresh(Meaning::Between(Some(0), Some(8)))
    }

    fn plus(x: &Polynomial, value: i64) -> Polynomial {
        x.plus(value).unwrap()
    }

    #[test]
    fn an_index_stays_below_what_equals_its_limit() {
        let mut order = Order::default();
        let (n, m) = (extent(&mut order), extent(&mut order));
        let i = order.fresh(Meaning::Below(n.clone()));
        assert!(order.at_most(&i, &plus(&n, -1)));
        assert!(!order.at_most(&i, &plus(&m, -1)));
        let before = order.facts();
        order.learn_equal(&n, &m);
        assert!(order.at_most(&i, &plus(&m, -1)));
        order.forget(before);
        assert!(!order.at_most(&i, &plus(&m, -1)));
    }

    #[test]
    fn numbers_that_may_wrap_are_not_exact() {
        let mut order = Order::default();
        let (n, any) = (
            extent(&mut order),
            order.fresh(Meaning::Between(None, None)),
        );
        assert!(order.is_exact(&n.scale(i64::MAX / 8).unwrap()));
        assert!(!order.is_exact(&n.scale(i64::MAX / 8 + 1).unwrap()));
        assert!(!order.is_exact(&plus(&any, 1)));
        let less = order.min(&any, &n);
        assert!(!order.is_exact(&less));
        let i = order.fresh(Meaning::Below(plus(&n, 3)));
        assert!(order.is_exact(&plus(&i, i64::MAX - 11)));
        assert!(!order.is_exact(&plus(&i, i64::MAX - 10)));
    }

    #[test]
    fn digits_stay_below_the_product() {
        // j < g, c < n: j n + c ≤ g n - 1.
        let mut order = Order::default();
        let (g, n) = (extent(&mut order), extent(&mut order));
        let j = order.fresh(Meaning::Below(g.clone()));
        let c = order.fresh(Meaning::Below(n.clone()));
        let place = j.mul(&n).unwrap().add(&c).unwrap();
        let whole = g.mul(&n).unwrap();
        assert!(order.at_most(&place, &plus(&whole, -1)));
        assert!(!order.at_most(&place, &plus(&whole, -2)));
    }

    #[test]
    fn quotients_are_exact() {
        // j < 2 n: ⌊j / 2⌋ ≤ n - 1, and it may be n - 1.
        let mut order = Order::default();
        let n = extent(&mut order);
        let j = order.fresh(Meaning::Below(n.scale(2).unwrap()));
        let half = order.quotient(&j, 2).unwrap();
        assert!(order.at_most(&half, &plus(&n, -1)));
        assert!(!order.at_most(&half, &plus(&n, -2)));
        assert!(order.at_most(&Polynomial::constant(0), &half));
    }

    #[test]
    fn halves_of_what_is_even_stay_below_it() {
        // n = 2 ⌊n / 2⌋, i < ⌊n / 2⌋: ⌊n / 2⌋ + i ≤ n - 1.
        let mut order = Order::default();
        let n = extent(&mut order);
        let half = order.quotient(&n, 2).unwrap();
        order.learn_equal(&half.scale(2).unwrap(), &n);
        let i = order.fresh(Meaning::Below(half.clone()));
        let place = half.add(&i).unwrap();
        assert!(order.at_most(&place, &plus(&n, -1)));
        assert!(!order.at_most(&place, &plus(&n, -2)));
        assert!(order.at_most(&Polynomial::constant(0), &half));
    }

    #[test]
    fn what_is_left_of_a_slice_has_elements_around_it() {
        // max(n - 1 - min(1, n), 0) is positive: so is n.
        let mut order = Order::default();
        let n = extent(&mut order);
        let (zero, one) = (Polynomial::constant(0), Polynomial::constant(1));
        let first = order.min(&one, &n);
        let count = plus(&n, -1).sub(&first).unwrap();
        let count = order.max(&count, &zero);
        order.learn(&one, &count);
        order.raise(&count);
        let i = order.fresh(Meaning::Below(count));
        assert!(order.at_most(&plus(&i, 1), &plus(&n, -1)));
    }

    #[test]
    fn facts_raise_the_least_number() {
        let mut order = Order::default();
        let n = extent(&mut order);
        let one = Polynomial::constant(1);
        assert!(!order.at_most(&one, &n));
        order.learn(&one, &n);
        assert!(order.at_most(&one, &n));
        assert_eq!(order.min(&one, &n), one);
    }

    #[test]
    fn remainders_stay_below_what_is_positive() {
        let mut order = Order::default();
        let (n, x) = (extent(&mut order), extent(&mut order));
        let rest = order.remainder(&x, &n);
        assert!(!order.at_most(&rest, &plus(&n, -1)));
        order.learn(&Polynomial::constant(1), &n);
        assert!(order.at_most(&rest, &plus(&n, -1)));
    }
}
