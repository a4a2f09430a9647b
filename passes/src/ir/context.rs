// SPDX-License-Identifier: Apache-2.0
//! The context of an operation.

use melior::ir::{OperationRef, Type, TypeLike};
use melior::{Context, ContextRef};
use mlir_sys::MlirContext;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

/// Borrows the context for creating types and attributes.
///
/// The reference lives as long as `holder`, which the caller keeps in its frame.
pub fn borrow<'c>(holder: &'c ContextRef<'_>) -> &'c Context {
    // SAFETY: `Context` and `ContextRef` are one raw pointer each, and the result borrows `holder`.
    unsafe { std::mem::transmute::<&ContextRef<'_>, &'c Context>(holder) }
}

/// The context of an operation, for as long as the context lives.
pub fn of<'c>(op: OperationRef<'c, '_>) -> &'c Context {
    // SAFETY: the operation is alive, and `'c`, which it borrows, ends before the context does.
    unsafe { held(mlir_sys::mlirOperationGetContext(op.to_raw())) }
}

/// The context of a type, for as long as the context lives.
pub fn of_type<'c>(r#type: Type<'c>) -> &'c Context {
    // SAFETY: as in `of`.
    unsafe { held(mlir_sys::mlirTypeGetContext(r#type.to_raw())) }
}

/// A reference to a context. Its lifetime must end before that of the context.
///
/// melior represents a reference to a context as a reference to a pointer. The pointer is leaked, one word for each address of a
/// context, so that callers need not store it.
unsafe fn held<'c>(raw: MlirContext) -> &'c Context {
    static HOLDERS: LazyLock<Mutex<HashMap<usize, &'static Holder>>> = LazyLock::new(Mutex::default);
    let mut holders = HOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
    let holder: &'static Holder =
        holders.entry(raw.ptr as usize).or_insert_with(|| Box::leak(Box::new(Holder(raw))));
    // SAFETY: `Context` is one raw pointer, as in `borrow`; the leaked pointer is never freed, and the context is never
    // dropped through it.
    unsafe { &*std::ptr::from_ref(&holder.0).cast::<Context>() }
}

struct Holder(MlirContext);

// SAFETY: the pointer never changes, and is only dereferenced by users of a context, which is thread-safe.
unsafe impl Sync for Holder {}
// SAFETY: as above.
unsafe impl Send for Holder {}
