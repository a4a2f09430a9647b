// SPDX-License-Identifier: Apache-2.0
//! Conversions of element counts between `usize` and `i64`.

/// Converts an element count to `i64`, the type of operands and attributes.
pub(super) fn as_i64(count: impl TryInto<i64>) -> i64 {
    count.try_into().unwrap_or_else(|_| unreachable!("internal compiler error: too many elements"))
}

/// Converts an element count to `usize`, the type of list lengths.
pub(super) fn as_usize(count: i64) -> usize {
    usize::try_from(count).unwrap_or_else(|_| unreachable!("internal compiler error: {count} elements"))
}
