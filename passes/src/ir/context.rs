// SPDX-License-Identifier: Apache-2.0
//! The context of an operation.

use melior::ir::OperationRef;
use melior::{Context, ContextRef};
use mlir_sys::MlirContext;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

/// The context as a reference for creating types and attributes.
///
/// The reference lives as long as `holder`, so a pass stores one in its own frame.
pub fn borrow<'c>(holder: &'c ContextRef<'_>) -> &'c Context {
    // SAFETY: `Context` and `ContextRef` are one raw pointer each, and the result borrows `holder`.
    unsafe { std::mem::transmute::<&ContextRef<'_>, &'c Context>(holder) }
}

/// The context of an operation, for as long as the context lives.
///
/// melior reads a context through a reference to the pointer to it. For each address of a context one word is kept
/// until the process ends, so that the reference needs no holder in the caller's frame.
pub fn of<'c>(op: OperationRef<'c, '_>) -> &'c Context {
    static HOLDERS: LazyLock<Mutex<HashMap<usize, &'static Holder>>> = LazyLock::new(Mutex::default);
    // SAFETY: the operation is alive.
    let raw = unsafe { mlir_sys::mlirOperationGetContext(op.to_raw()) };
    let mut holders = HOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
    let holder: &'static Holder =
        holders.entry(raw.ptr as usize).or_insert_with(|| Box::leak(Box::new(Holder(raw))));
    // SAFETY: `Context` is one raw pointer, as in `borrow`; the reference to it never dangles and never drops it, and `'c`,
    // which the operation borrows, ends before the context does.
    unsafe { &*std::ptr::from_ref(&holder.0).cast::<Context>() }
}

struct Holder(MlirContext);

// SAFETY: the pointer is never changed, and only dereferenced by users of a context, which is thread-safe.
unsafe impl Sync for Holder {}
// SAFETY: as above.
unsafe impl Send for Holder {}
