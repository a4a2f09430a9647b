// SPDX-License-Identifier: Apache-2.0
//! The context of an operation.

use melior::{Context, ContextRef};

/// The context as the reference that types and attributes are made from.
///
/// The reference lives as long as `holder`, so a pass keeps one in its own frame.
pub fn borrow<'c>(holder: &'c ContextRef<'_>) -> &'c Context {
    // SAFETY: `Context` and `ContextRef` are one raw pointer each, and the result borrows `holder`.
    unsafe { std::mem::transmute::<&ContextRef<'_>, &'c Context>(holder) }
}
