// SPDX-License-Identifier: Apache-2.0
//! Closed intervals of 64-bit integers.

/// All integers from `low` to `high`, inclusive; empty if `low` is greater.
///
/// ```
/// use skript_symbolic::Interval;
///
/// let digits = Interval { low: 0, high: 9 };
/// assert_eq!(digits.floor_div(2), Some(Interval { low: 0, high: 4 }));
/// assert_eq!(digits.floor_div(0), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interval {
    /// The smallest integer.
    pub low: i64,
    /// The largest integer.
    pub high: i64,
}

impl Interval {
    /// The interval that contains only `value`.
    #[must_use]
    pub fn point(value: i64) -> Self {
        Interval { low: value, high: value }
    }

    /// Whether `value` is one of the integers.
    #[must_use]
    pub fn contains(self, value: i64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The smallest interval that contains both.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The number of integers minus one; `None` if it exceeds i64.
    #[must_use]
    pub fn width(self) -> Option<i64> {
        self.high.checked_sub(self.low)
    }

    /// The quotients by a positive constant, rounded down; `None` if the divisor is not positive.
    #[must_use]
    pub fn floor_div(self, divisor: i64) -> Option<Self> {
        (divisor > 0)
            .then(|| Interval { low: self.low.div_euclid(divisor), high: self.high.div_euclid(divisor) })
    }
}

/// Intervals of the results of integer operations, with the semantics of SkriptND: quotients round down unless stated
/// otherwise, remainders have the sign of the divisor, and both are zero if the divisor is zero.
///
/// The results enclose all values. `None` if a value exceeds i64, so that fixed-width arithmetic would wrap, or if the
/// operation has no useful bounds.
impl Interval {
    /// All 64-bit integers, the interval of an unknown value.
    pub const ALL: Interval = Interval { low: i64::MIN, high: i64::MAX };

    fn from_wide(low: i128, high: i128) -> Option<Self> {
        Some(Interval { low: i64::try_from(low).ok()?, high: i64::try_from(high).ok()? })
    }

    fn wide(self) -> (i128, i128) {
        (self.low.into(), self.high.into())
    }

    /// Whether the interval contains no integer.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.low > self.high
    }

    /// The values of `constant + Σ factor · integer`, with one integer of each interval.
    #[must_use]
    pub fn sum(constant: i64, terms: impl IntoIterator<Item = (Interval, i64)>) -> Option<Self> {
        let (mut low, mut high) = (i128::from(constant), i128::from(constant));
        for (interval, factor) in terms {
            let (min, max) = interval.wide();
            let ends = [min * i128::from(factor), max * i128::from(factor)];
            low = low.checked_add(ends[0].min(ends[1]))?;
            high = high.checked_add(ends[0].max(ends[1]))?;
        }
        Interval::from_wide(low, high)
    }

    /// The sums.
    #[must_use]
    pub fn plus(self, other: Self) -> Option<Self> {
        let ((a, b), (c, d)) = (self.wide(), other.wide());
        Interval::from_wide(a + c, b + d)
    }

    /// The differences.
    #[must_use]
    pub fn minus(self, other: Self) -> Option<Self> {
        let ((a, b), (c, d)) = (self.wide(), other.wide());
        Interval::from_wide(a - d, b - c)
    }

    /// The products.
    #[must_use]
    pub fn times(self, other: Self) -> Option<Self> {
        let ((a, b), (c, d)) = (self.wide(), other.wide());
        let ends = [a * c, a * d, b * c, b * d];
        Interval::from_wide(ends.into_iter().min()?, ends.into_iter().max()?)
    }

    /// The minima of two integers.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        Interval { low: self.low.min(other.low), high: self.high.min(other.high) }
    }

    /// The maxima of two integers.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Interval { low: self.low.max(other.low), high: self.high.max(other.high) }
    }

    /// The absolute values.
    #[must_use]
    pub fn abs(self) -> Option<Self> {
        if self.low >= 0 {
            return Some(self);
        }
        Some(Interval { low: 0, high: self.high.max(self.low.checked_neg()?) })
    }

    /// The quotients by a divisor that does not change its sign, rounded down.
    #[must_use]
    pub fn quotient(self, divisor: Self) -> Option<Self> {
        self.divided(divisor, |_| 0)
    }

    /// The quotients by a divisor that does not change its sign, rounded up.
    #[must_use]
    pub fn ceil_quotient(self, divisor: Self) -> Option<Self> {
        self.divided(divisor, |divisor| divisor - 1)
    }

    /// Quotients `(x + added(divisor)) / divisor`.
    fn divided(self, divisor: Self, added: fn(i128) -> i128) -> Option<Self> {
        let quotient = |x: i128, d: i128| {
            let (x, d) = if d < 0 { (-x, -d) } else { (x, d) };
            (x + added(d)).div_euclid(d)
        };
        let ((low, high), (min, max)) = (self.wide(), divisor.wide());
        if divisor.is_empty() {
            // Without divisors, there are no quotients.
            return Some(divisor);
        }
        if max < 0 {
            // The larger the dividend, the smaller the quotient.
            return Interval::from_wide(
                quotient(high, min).min(quotient(high, max)),
                quotient(low, min).max(quotient(low, max)),
            );
        }
        if min < 0 {
            return None;
        }
        // Quotients are monotonic in both operands.
        let (first, last) = (min.max(1), max.max(1));
        let lowest = quotient(low, first).min(quotient(low, last));
        let highest = quotient(high, first).max(quotient(high, last));
        match min {
            0 => Interval::from_wide(lowest.min(0), highest.max(0)),
            _ => Interval::from_wide(lowest, highest),
        }
    }

    /// The remainders.
    #[must_use]
    pub fn remainder(self, divisor: Self) -> Option<Self> {
        let (min, max) = (divisor.low, divisor.high);
        let is_natural = self.low >= 0 && min >= 0;
        if is_natural && self.high < min {
            return Some(self);
        }
        if is_natural {
            return Some(Interval { low: 0, high: self.high.min(max.saturating_sub(1).max(0)) });
        }
        let is_bounded = min > i64::MIN && max < i64::MAX;
        is_bounded.then(|| Interval { low: min.saturating_add(1).min(0), high: max.saturating_sub(1).max(0) })
    }

    /// The powers with nonnegative exponents; `None` if an exponent may be negative.
    #[must_use]
    pub fn power(self, exponent: Self) -> Option<Self> {
        let largest = self.low.unsigned_abs().max(self.high.unsigned_abs()).max(1);
        let largest = i64::try_from(largest).ok()?;
        let largest = largest.checked_pow(u32::try_from(exponent.high).ok()?)?;
        let low = if self.low < 0 { -largest } else { self.low.min(1) };
        (exponent.low >= 0 && largest < i64::MAX).then_some(Interval { low, high: largest })
    }
}
