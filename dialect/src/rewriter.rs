// SPDX-License-Identifier: Apache-2.0
//! Changing IR.

use melior::ir::{Operation, OperationRef};
use melior::{Context, ContextRef, RewriterBase};
use mlir_sys::MlirRewriterBase;
use std::ops::Deref;

/// A rewriter for passes: an insertion point, and every operation of melior's [`RewriterBase`] (insert,
/// replace, erase, move, inline, merge, clone) through `Deref`.
///
/// It has no insertion point initially; set one first.
pub struct Rewriter<'c> {
    raw: MlirRewriterBase,
    base: RewriterBase<'c, 'c>,
    context: ContextRef<'c>,
}

impl<'c> Rewriter<'c> {
    /// A new rewriter without an insertion point.
    pub(crate) fn for_context(context: ContextRef<'c>) -> Self {
        // SAFETY: the context is valid as long as the IR in it, which the rewriter does not outlive.
        let raw = unsafe { mlir_sys::mlirIRRewriterCreate(context.to_ref().to_raw()) };
        Rewriter {
            raw,
            // SAFETY: created above; lives as long as `self`.
            base: unsafe { RewriterBase::from_raw(raw) },
            context,
        }
    }

    /// The context of the IR, in which types, attributes and operations are created.
    pub fn context(&self) -> &Context {
        // SAFETY: a `ContextRef` is a `Context` that it does not own; the result borrows `self`, which holds it.
        unsafe { self.context.to_ref() }
    }

    /// Inserts an operation at the insertion point.
    ///
    /// The reference is valid until the operation is erased or replaced.
    pub fn create<'a>(&self, op: Operation<'c>) -> OperationRef<'c, 'a>
    where
        'c: 'a,
    {
        // SAFETY: the operation moves into the block and lives there.
        unsafe { OperationRef::from_raw(mlir_sys::mlirRewriterBaseInsert(self.raw, op.into_raw())) }
    }

    /// Sets the insertion point before an operation and returns `self`.
    pub fn before(&self, op: OperationRef<'c, '_>) -> &Self {
        self.base.set_insertion_point_before(op);
        self
    }
}

impl<'c> Deref for Rewriter<'c> {
    type Target = RewriterBase<'c, 'c>;

    fn deref(&self) -> &Self::Target {
        &self.base
    }
}

impl Drop for Rewriter<'_> {
    fn drop(&mut self) {
        // SAFETY: created by `for_context`, destroyed once.
        unsafe { mlir_sys::mlirIRRewriterDestroy(self.raw) }
    }
}
