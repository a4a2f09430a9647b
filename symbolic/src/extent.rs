// SPDX-License-Identifier: Apache-2.0
//! Extents of loops and of tensors.

use crate::{Interval, SymbolId};

/// The number of values of a loop index, or of positions along a dimension of a tensor.
///
/// ```
/// use skript_symbolic::{Affine, Extent, Interval, SymbolId};
///
/// let extents = [Extent::Dynamic(SymbolId(0)), Extent::Static(3)];
/// let sum = Affine::index(0).add(&Affine::index(1)).unwrap();
/// let high = Extent::LARGEST - 1 + 2;
/// assert_eq!(sum.range(&extents), Some(Interval { low: 0, high }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// Known at compile time.
    Static(i64),
    /// Known only at run time; extents with the same symbol are equal.
    Dynamic(SymbolId),
}

impl Extent {
    /// The largest extent that a tensor may have.
    pub const LARGEST: i64 = 1 << 40;

    /// The extent 1.
    pub const ONE: Extent = Extent::Static(1);

    /// The extent if it is known at compile time.
    #[must_use]
    pub fn as_static(self) -> Option<i64> {
        match self {
            Extent::Static(extent) => Some(extent),
            Extent::Dynamic(_) => None,
        }
    }

    /// Whether the extent is known only at run time.
    #[must_use]
    pub fn is_dynamic(self) -> bool {
        self.as_static().is_none()
    }

    /// An upper bound: the extent itself if it is known at compile time.
    #[must_use]
    pub fn upper_bound(self) -> i64 {
        self.as_static().unwrap_or(Extent::LARGEST)
    }

    /// The interval of a loop index with this extent; an empty loop is treated as one iteration. `None` on overflow.
    #[must_use]
    pub fn indices(self) -> Option<Interval> {
        Some(Interval { low: 0, high: self.upper_bound().checked_sub(1)?.max(0) })
    }
}

impl From<i64> for Extent {
    fn from(extent: i64) -> Self {
        Extent::Static(extent)
    }
}

impl PartialEq<i64> for Extent {
    fn eq(&self, extent: &i64) -> bool {
        self.as_static() == Some(*extent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_static_extent_is_dynamic() {
        let dynamic = Extent::Dynamic(SymbolId(0));
        assert_ne!(dynamic, Extent::LARGEST);
        assert_ne!(dynamic, Extent::Static(Extent::LARGEST));
        assert_ne!(dynamic, Extent::Dynamic(SymbolId(1)));
        assert_eq!(dynamic.upper_bound(), Extent::LARGEST);
        assert!(dynamic.is_dynamic() && !Extent::from(Extent::LARGEST).is_dynamic());
    }

    #[test]
    fn an_empty_loop_counts_as_one_point() {
        assert_eq!(Extent::Static(0).indices(), Some(Interval::point(0)));
        assert_eq!(Extent::Static(i64::MIN).indices(), None);
    }
}
