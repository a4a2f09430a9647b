// SPDX-License-Identifier: Apache-2.0
//! Converts counts and positions to the integer types that MLIR's C API accepts.

/// Converts a count or a position to `i64`.
pub(crate) fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or_else(|_| unreachable!("internal compiler error: {count} exceeds i64"))
}

/// The number of operands in a segment.
pub(crate) fn segment(count: usize) -> i32 {
    i32::try_from(count).unwrap_or_else(|_| unreachable!("internal compiler error: {count} operands"))
}
