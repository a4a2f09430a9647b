// SPDX-License-Identifier: Apache-2.0
//! Definitions of symbols.

use crate::Polynomial;

/// The known definition of a symbol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Definition {
    /// A loop index: at least 0 and less than the polynomial.
    Below(Polynomial),
    /// `⌊x / d⌋` for a positive constant d.
    Quotient(Polynomial, i64),
    /// `x - y · ⌊x / y⌋`.
    Remainder(Polynomial, Polynomial),
    /// The minimum.
    Min(Polynomial, Polynomial),
    /// The maximum.
    Max(Polynomial, Polynomial),
    /// One of two polynomials; which one is unknown.
    Either(Polynomial, Polynomial),
    /// An integer between two polynomials, inclusive.
    Range(Polynomial, Polynomial),
    /// An integer between two constants, inclusive; `None` is unbounded.
    Between(Option<i64>, Option<i64>),
}

impl Definition {
    /// The polynomials of the definition.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Polynomial> {
        let parts = match self {
            Definition::Below(x) | Definition::Quotient(x, _) => [Some(x), None],
            Definition::Remainder(x, y)
            | Definition::Min(x, y)
            | Definition::Max(x, y)
            | Definition::Either(x, y)
            | Definition::Range(x, y) => [Some(x), Some(y)],
            Definition::Between(..) => [None, None],
        };
        parts.into_iter().flatten()
    }

    /// The definition with every polynomial replaced.
    pub(super) fn map(&self, mut by: impl FnMut(&Polynomial) -> Option<Polynomial>) -> Option<Definition> {
        Some(match self {
            Definition::Below(x) => Definition::Below(by(x)?),
            Definition::Quotient(x, divisor) => Definition::Quotient(by(x)?, *divisor),
            Definition::Remainder(x, y) => Definition::Remainder(by(x)?, by(y)?),
            Definition::Min(x, y) => Definition::Min(by(x)?, by(y)?),
            Definition::Max(x, y) => Definition::Max(by(x)?, by(y)?),
            Definition::Either(x, y) => Definition::Either(by(x)?, by(y)?),
            Definition::Range(x, y) => Definition::Range(by(x)?, by(y)?),
            Definition::Between(low, high) => Definition::Between(*low, *high),
        })
    }
}
