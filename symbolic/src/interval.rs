//! Closed intervals of 64-bit integers.

/// All integers from `low` to `high`, both included; empty where `low` is greater.
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
    /// The interval that contains `value` alone.
    #[must_use]
    pub fn point(value: i64) -> Self {
        Interval {
            low: value,
            high: value,
        }
    }

    /// Whether `value` is one of the integers.
    #[must_use]
    pub fn contains(self, value: i64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The smallest interval that contains both.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        Interval {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    /// The number of integers minus one; `None` if it exceeds i64.
    #[must_use]
    pub fn width(self) -> Option<i64> {
        self.high.checked_sub(self.low)
    }

    /// The quotients by a positive constant, rounded down; `None` if the divisor is not positive.
    #[must_use]
    pub fn floor_div(self, divisor: i64) -> Option<Self> {
        (divisor > 0).then(|| Interval {
            low: self.low.div_euclid(divisor),
            high: self.high.div_euclid(divisor),
        })
    }
}
