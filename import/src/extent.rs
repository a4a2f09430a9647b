// SPDX-License-Identifier: Apache-2.0
//! Extents as integer polynomials over the dynamic dimensions of the inputs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A factor of a term.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Atom {
    /// A dynamic dimension of an input, by its name in the graph.
    Named(String),
    /// A data-dependent dimension of a computed tensor: value and axis.
    Of(usize, usize),
    /// A quotient, rounded down.
    Quotient(Box<Extent>, Box<Extent>),
    /// A quotient without remainder, as in a Reshape: its product with the divisor is the dividend.
    Exact(Box<Extent>, Box<Extent>),
    Smaller(Box<Extent>, Box<Extent>),
    Larger(Box<Extent>, Box<Extent>),
}

/// Upper bounds of named dimensions.
pub type Bounds = BTreeMap<String, u64>;

/// Minimum and maximum; `None` if unbounded.
type Range = (Option<i64>, Option<i64>);

/// A sum of products of atoms, each with a nonzero coefficient.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extent(BTreeMap<Vec<Atom>, i64>);

/// Maximum number of terms; operations with larger results are refused.
const MAX_TERMS: usize = 64;

impl From<i64> for Extent {
    fn from(value: i64) -> Self {
        let mut terms = BTreeMap::new();
        if value != 0 {
            terms.insert(Vec::new(), value);
        }
        Extent(terms)
    }
}

impl Extent {
    /// The extent of one atom.
    pub fn atom(atom: Atom) -> Extent {
        Extent(BTreeMap::from([(vec![atom], 1)]))
    }

    /// A named dynamic dimension.
    pub fn named(name: &str) -> Extent {
        Extent::atom(Atom::Named(name.to_owned()))
    }

    /// The value of a static extent.
    pub fn value(&self) -> Option<i64> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// The name, if the extent is a dynamic dimension of an input.
    pub fn name(&self) -> Option<&str> {
        let (factors, 1) = self.single()? else {
            return None;
        };
        match factors {
            [Atom::Named(name)] => Some(name),
            _ => None,
        }
    }

    /// Whether the extent is static with this value.
    pub fn is(&self, value: i64) -> bool {
        self.value() == Some(value)
    }

    /// The sum; `None` if a number overflows.
    pub fn plus(&self, other: &Extent) -> Option<Extent> {
        let mut sum = self.clone();
        for (factors, factor) in &other.0 {
            sum.add(factors.clone(), *factor)?;
        }
        Some(sum)
    }

    /// The difference; `None` if a number overflows.
    pub fn minus(&self, other: &Extent) -> Option<Extent> {
        self.plus(&other.times(&Extent::from(-1))?)
    }

    /// The product; `None` if a number overflows.
    pub fn times(&self, other: &Extent) -> Option<Extent> {
        let mut product = Extent::default();
        for (left, a) in &self.0 {
            for (right, b) in &other.0 {
                let mut factors = [left.as_slice(), right.as_slice()].concat();
                factors.sort();
                product.add(factors, a.checked_mul(*b)?)?;
            }
        }
        Some(product.cancelled())
    }

    /// Cancels exact quotients that are multiplied by their divisors.
    fn cancelled(self) -> Extent {
        let mut sum = self;
        for atom in sum.exact_quotients() {
            if let Some(simpler) = sum.without_quotient(&atom) {
                sum = simpler;
            }
        }
        sum
    }

    fn exact_quotients(&self) -> BTreeSet<Atom> {
        let exact = self.0.keys().flatten().filter(|atom| matches!(atom, Atom::Exact(..)));
        exact.cloned().collect()
    }

    /// The sum with an exact quotient cancelled, if the divisor of the quotient divides its cofactor.
    fn without_quotient(&self, atom: &Atom) -> Option<Extent> {
        let Atom::Exact(dividend, divisor) = atom else {
            return None;
        };
        let (mut multiplied, mut others) = (Extent::default(), Extent::default());
        for (factors, factor) in &self.0 {
            match factors.iter().position(|other| other == atom) {
                Some(at) => {
                    let mut cofactors = factors.clone();
                    cofactors.remove(at);
                    multiplied.add(cofactors, *factor)?;
                }
                None => others.add(factors.clone(), *factor)?,
            }
        }
        let cofactor = multiplied.exactly_over(divisor)?;
        dividend.times(&cofactor)?.plus(&others)
    }

    /// The quotient, rounded down; `None` if the divisor is zero or a number overflows.
    pub fn over(&self, other: &Extent) -> Option<Extent> {
        self.divided(other, Atom::Quotient)
    }

    /// The quotient of extents that divide without remainder; `None` if the divisor is zero or a number overflows.
    pub fn divided_exactly(&self, other: &Extent) -> Option<Extent> {
        self.divided(other, Atom::Exact)
    }

    fn divided(&self, other: &Extent, quotient: fn(Box<Extent>, Box<Extent>) -> Atom) -> Option<Extent> {
        if let (Some(a), Some(b)) = (self.value(), other.value()) {
            let quotient = a.checked_div_euclid(b)?;
            let down = b < 0 && a.checked_rem_euclid(b)? != 0;
            return Some(Extent::from(if down { quotient - 1 } else { quotient }));
        }
        if other.is(0) {
            return None;
        }
        if let Some(exact) = self.exactly_over(other) {
            return Some(exact);
        }
        // Exact quotients in the divisor: `a / ((b / c) * d)` is `a * c / (b * d)`.
        for atom in other.exact_quotients() {
            if let Atom::Exact(dividend, divisor) = &atom
                && let Some(cofactor) = other.exactly_over(&Extent::atom(atom.clone()))
                && let Some(all) = self.times(divisor)
                && let Some(exact) = all.exactly_over(&dividend.times(&cofactor)?)
            {
                return Some(exact);
            }
        }
        let (dividend, divisor) = self.reduced(other)?;
        let atom = quotient(Box::new(dividend), Box::new(divisor));
        Some(Extent::atom(atom))
    }

    /// Dividend and divisor without their common factors.
    fn reduced(&self, other: &Extent) -> Option<(Extent, Extent)> {
        let shared = Extent::content([self, other]);
        let (dividend, divisor) = (self.exactly_over(&shared)?, other.exactly_over(&shared)?);
        let content = Extent::content([&divisor]);
        let sum = divisor.exactly_over(&content)?;
        match dividend.exactly_over(&sum) {
            Some(quotient) => Some((quotient, content)),
            None => Some((dividend, divisor)),
        }
    }

    /// The largest term that divides each term.
    fn content<'e>(sums: impl IntoIterator<Item = &'e Extent>) -> Extent {
        let mut terms = sums.into_iter().flat_map(|sum| &sum.0);
        let Some((first, factor)) = terms.next() else {
            return Extent::from(1);
        };
        let (mut atoms, mut number) = (first.clone(), factor.unsigned_abs());
        for (factors, factor) in terms {
            number = greatest_divisor(number, factor.unsigned_abs());
            let mut unmatched = factors.clone();
            atoms.retain(|atom| match unmatched.iter().position(|other| other == atom) {
                Some(at) => {
                    unmatched.remove(at);
                    true
                }
                None => false,
            });
        }
        // A common factor of 2^63 is not divided out.
        let number = i64::try_from(number).unwrap_or(1);
        Extent(BTreeMap::from([(atoms, number)]))
    }

    /// The quotient, if the polynomial division, which starts at the leading terms, has no remainder.
    fn exactly_over(&self, other: &Extent) -> Option<Extent> {
        let (divisor, divisor_factor) = other.leading()?;
        let (mut remainder, mut quotient) = (self.clone(), Extent::default());
        while let Some((factors, factor)) = remainder.leading() {
            let mut factors = factors.clone();
            for atom in divisor {
                let at = factors.iter().position(|a| a == atom)?;
                factors.remove(at);
            }
            if factor.checked_rem(*divisor_factor)? != 0 {
                return None;
            }
            let factor = factor.checked_div(*divisor_factor)?;
            quotient.add(factors.clone(), factor)?;
            for (other_factors, other_factor) in &other.0 {
                let mut product = [factors.as_slice(), other_factors.as_slice()].concat();
                product.sort();
                remainder.add(product, other_factor.checked_mul(factor)?.checked_neg()?)?;
            }
        }
        Some(quotient)
    }

    /// The leading term in a monomial order: the highest degree first, then the highest power of the smallest atom.
    fn leading(&self) -> Option<(&Vec<Atom>, &i64)> {
        self.0.iter().max_by(|(a, _), (b, _)| a.len().cmp(&b.len()).then_with(|| b.cmp(a)))
    }

    /// The range of the extent: named dimensions are between 0 and their bounds, computed dimensions are at least 0.
    pub fn range(&self, bounds: &Bounds) -> Range {
        let mut sum: Range = (Some(0), Some(0));
        for (factors, factor) in &self.0 {
            let mut product: Range = (Some(1), Some(1));
            for atom in factors {
                let (low, high) = atom.range(bounds);
                // Products of possibly negative factors do not occur in practice.
                product = match (product, low) {
                    ((Some(a), b), Some(low)) if a >= 0 && low >= 0 => {
                        let high = b.zip(high).and_then(|(b, high)| b.checked_mul(high));
                        (a.checked_mul(low), high)
                    }
                    ((Some(1), Some(1)), _) => (low, high),
                    _ => (None, None),
                };
            }
            let times = |v: Option<i64>| v.and_then(|v| v.checked_mul(*factor));
            let (low, high) = if *factor < 0 {
                (times(product.1), times(product.0))
            } else {
                (times(product.0), times(product.1))
            };
            let plus = |a: Option<i64>, b: Option<i64>| a.zip(b).and_then(|(a, b)| a.checked_add(b));
            sum = (plus(sum.0, low), plus(sum.1, high));
        }
        sum
    }

    /// Whether the extent contains a division whose divisor may be zero.
    pub fn may_divide_by_zero(&self) -> bool {
        self.0.keys().flatten().any(|atom| match atom {
            Atom::Named(_) | Atom::Of(..) => false,
            Atom::Quotient(a, b) | Atom::Exact(a, b) => {
                let is_filled = b.value().is_some_and(|divisor| divisor != 0);
                !is_filled || a.may_divide_by_zero()
            }
            Atom::Smaller(a, b) | Atom::Larger(a, b) => a.may_divide_by_zero() || b.may_divide_by_zero(),
        })
    }

    /// Whether the extent is never negative.
    pub fn is_natural(&self, bounds: &Bounds) -> bool {
        self.range(bounds).0.is_some_and(|low| low >= 0)
    }

    /// The smaller of two extents; `None` if a number overflows.
    pub fn smaller(&self, other: &Extent, bounds: &Bounds) -> Option<Extent> {
        match self.minus(other)?.range(bounds) {
            (_, Some(high)) if high <= 0 => Some(self.clone()),
            (Some(low), _) if low >= 0 => Some(other.clone()),
            _ => {
                let (a, b) = (Box::new(self.clone()), Box::new(other.clone()));
                Some(Extent::atom(Atom::Smaller(a, b)))
            }
        }
    }

    /// The larger of two extents; `None` if a number overflows.
    pub fn larger(&self, other: &Extent, bounds: &Bounds) -> Option<Extent> {
        match self.minus(other)?.range(bounds) {
            (_, Some(high)) if high <= 0 => Some(other.clone()),
            (Some(low), _) if low >= 0 => Some(self.clone()),
            _ => {
                let (a, b) = (Box::new(self.clone()), Box::new(other.clone()));
                Some(Extent::atom(Atom::Larger(a, b)))
            }
        }
    }

    fn single(&self) -> Option<(&[Atom], i64)> {
        let mut terms = self.0.iter();
        let (factors, factor) = terms.next()?;
        terms.next().is_none().then_some((factors, *factor))
    }

    fn add(&mut self, factors: Vec<Atom>, factor: i64) -> Option<()> {
        let sum = self.0.get(&factors).copied().unwrap_or(0);
        match sum.checked_add(factor)? {
            0 => self.0.remove(&factors),
            sum => self.0.insert(factors, sum),
        };
        (self.0.len() <= MAX_TERMS).then_some(())
    }

    /// The product of several extents.
    pub fn product<'e>(extents: impl IntoIterator<Item = &'e Extent>) -> Option<Extent> {
        let mut extents = extents.into_iter();
        extents.try_fold(Extent::from(1), |product, extent| product.times(extent))
    }

    /// Collects the values whose dimensions occur in the extent.
    pub fn values(&self, values: &mut BTreeSet<usize>) {
        for atom in self.0.keys().flatten() {
            match atom {
                Atom::Named(_) => {}
                Atom::Of(value, _) => {
                    values.insert(*value);
                }
                Atom::Quotient(a, b) | Atom::Exact(a, b) | Atom::Smaller(a, b) | Atom::Larger(a, b) => {
                    a.values(values);
                    b.values(values);
                }
            }
        }
    }

    /// The extent in SkriptND, where `name` is the name of a computed tensor.
    pub fn text(&self, name: &dyn Fn(usize) -> String) -> String {
        if self.0.is_empty() {
            return "0".to_owned();
        }
        let mut text = String::new();
        // The constant term comes last: `n + 1`.
        let (constant, others): (Vec<_>, Vec<_>) = self.0.iter().partition(|(f, _)| f.is_empty());
        for (factors, factor) in others.into_iter().chain(constant) {
            match (text.is_empty(), *factor < 0) {
                (true, true) => text.push('-'),
                (true, false) => {}
                (false, true) => text.push_str(" - "),
                (false, false) => text.push_str(" + "),
            }
            let mut parts: Vec<String> = Vec::new();
            if factor.unsigned_abs() != 1 || factors.is_empty() {
                parts.push(factor.unsigned_abs().to_string());
            }
            for atom in factors {
                parts.push(match atom {
                    Atom::Named(name) => name.clone(),
                    Atom::Of(value, axis) => format!("{}.shape[{axis}]", name(*value)),
                    Atom::Quotient(a, b) | Atom::Exact(a, b) => {
                        format!("({} / {})", a.factor(name), b.factor(name))
                    }
                    Atom::Smaller(a, b) => format!("({} << {})", a.factor(name), b.factor(name)),
                    Atom::Larger(a, b) => format!("({} >> {})", a.factor(name), b.factor(name)),
                });
            }
            let _ = write!(text, "{}", parts.join(" * "));
        }
        text
    }

    fn factor(&self, name: &dyn Fn(usize) -> String) -> String {
        let text = self.text(name);
        if self.0.len() > 1 || text.contains('*') { format!("({text})") } else { text }
    }
}

fn greatest_divisor(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Atom {
    fn range(&self, bounds: &Bounds) -> Range {
        let both =
            |a: Option<i64>, b: Option<i64>, select: fn(i64, i64) -> i64| a.zip(b).map(|(a, b)| select(a, b));
        let either =
            |a: Option<i64>, b: Option<i64>, select: fn(i64, i64) -> i64| both(a, b, select).or(a).or(b);
        match self {
            Atom::Named(name) => {
                let bound = bounds.get(name).and_then(|b| i64::try_from(*b).ok());
                (Some(0), bound)
            }
            Atom::Of(..) => (Some(0), None),
            Atom::Quotient(a, b) | Atom::Exact(a, b) => {
                let (low, high) = a.range(bounds);
                match b.value().filter(|b| *b > 0) {
                    Some(b) => (low.map(|v| v.div_euclid(b)), high.map(|v| v.div_euclid(b))),
                    None if low.is_some_and(|v| v >= 0) && b.is_natural(bounds) => (Some(0), high),
                    None => (None, None),
                }
            }
            Atom::Smaller(a, b) => {
                let (a, b) = (a.range(bounds), b.range(bounds));
                (both(a.0, b.0, i64::min), either(a.1, b.1, i64::min))
            }
            Atom::Larger(a, b) => {
                let (a, b) = (a.range(bounds), b.range(bounds));
                (either(a.0, b.0, i64::max), both(a.1, b.1, i64::max))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(extent: &Extent) -> String {
        extent.text(&|value| format!("t{value}"))
    }

    #[test]
    fn polynomials_are_normalized() {
        let n = Extent::named("n");
        let twice = n.plus(&n).unwrap();
        assert_eq!(text(&twice), "2 * n");
        assert_eq!(text(&twice.minus(&n).unwrap().minus(&n).unwrap()), "0");
        let area = n.times(&Extent::from(12)).unwrap();
        assert_eq!(area.over(&n).unwrap().value(), Some(12));
        assert_eq!(text(&area.over(&Extent::from(5)).unwrap()), "((12 * n) / 5)");
        assert_eq!(text(&area.minus(&Extent::from(1)).unwrap()), "12 * n - 1");
        assert_eq!(text(&Extent::atom(Atom::Of(3, 1))), "t3.shape[1]");
    }

    #[test]
    fn quotients_of_polynomials_are_exact() {
        let number = |n: i64| Extent::from(n);
        let (n, p) = (Extent::named("n"), Extent::named("p"));
        let sum = n.plus(&p).unwrap();
        let times = |a: &Extent, b: &Extent| a.times(b).unwrap();
        // `Concat(past, new)` as heads: (p + n) * 768 / ((p + n) * 64).
        let all = times(&times(&sum, &n), &number(768));
        let head = times(&sum, &number(64));
        assert_eq!(text(&all.over(&head).unwrap()), "12 * n");
        let square = times(&sum, &sum);
        assert_eq!(square.over(&sum), Some(sum.clone()));
        let difference = n.minus(&p).unwrap();
        let product = times(&sum, &difference);
        assert_eq!(product.over(&sum), Some(difference.clone()));
        assert_eq!(product.over(&difference), Some(sum.clone()));
        // A dividend with a remainder.
        let more = product.plus(&number(1)).unwrap();
        assert!(text(&more.over(&sum).unwrap()).contains(" / (n + p)"));
        assert_eq!(sum.over(&number(0)), None);
        // Common factors cancel.
        let (dividend, divisor) = (times(&sum, &number(12)), times(&times(&sum, &n), &number(8)));
        assert_eq!(text(&dividend.over(&divisor).unwrap()), "(3 / (2 * n))");
        assert_eq!(text(&times(&n, &number(6)).over(&number(4)).unwrap()), "((3 * n) / 2)");
    }

    #[test]
    fn exact_quotients_cancel() {
        let number = |n: i64| Extent::from(n);
        let (n, p) = (Extent::named("n"), Extent::named("p"));
        let times = |a: &Extent, b: &Extent| a.times(b).unwrap();
        // A Reshape to [-1, 4, p] preserves the number of elements.
        let divisor = times(&number(4), &p);
        let inferred = times(&n, &number(12)).divided_exactly(&divisor).unwrap();
        assert_eq!(text(&inferred), "((3 * n) / p)");
        let elements = times(&times(&inferred, &number(4)), &p);
        assert_eq!(text(&elements), "12 * n");
        assert_eq!(text(&elements.over(&inferred).unwrap()), "4 * p");
        let sum = times(&n, &n).divided_exactly(&n.plus(&p).unwrap()).unwrap();
        let back = times(&sum, &n).plus(&times(&sum, &p)).unwrap();
        assert_eq!(text(&times(&back, &number(1))), "n * n");
        assert_eq!(text(&times(&sum, &n.plus(&p).unwrap())), "n * n");
        // Other quotients round down.
        let half = n.over(&number(2)).unwrap();
        assert_eq!(text(&times(&half, &number(2))), "2 * (n / 2)");
    }

    #[test]
    fn bounds_decide_minimum_and_maximum() {
        let bounds = Bounds::from([("n".to_owned(), 1024)]);
        let n = Extent::named("n");
        let more = n.plus(&Extent::from(1)).unwrap();
        assert_eq!(more.smaller(&n, &bounds), Some(n.clone()));
        assert_eq!(n.smaller(&Extent::from(1024), &bounds), Some(n.clone()));
        let cut = n.smaller(&Extent::from(512), &bounds).unwrap();
        assert_eq!(text(&cut), "(n << 512)");
        assert_eq!(cut.range(&bounds), (Some(0), Some(512)));
        let less = n.minus(&Extent::from(1)).unwrap();
        assert_eq!(text(&less.larger(&Extent::from(0), &bounds).unwrap()), "((n - 1) >> 0)");
        assert_eq!(n.larger(&Extent::from(0), &bounds), Some(n.clone()));
        let min = Extent::from(i64::MIN);
        assert_eq!(min.smaller(&Extent::from(1), &bounds), None);
    }

    #[test]
    fn overflow_does_not_panic() {
        let max = Extent::from(i64::MAX);
        assert_eq!(max.plus(&Extent::from(1)), None);
        assert_eq!(max.times(&max), None);
        let min = Extent::from(i64::MIN);
        assert_eq!(min.over(&Extent::from(-1)), None);
        assert_eq!(Extent::from(1).over(&Extent::from(0)), None);
        assert_eq!(Extent::from(-7).over(&Extent::from(2)).unwrap().value(), Some(-4));
        assert_eq!(Extent::from(7).over(&Extent::from(-2)).unwrap().value(), Some(-4));
    }
}
