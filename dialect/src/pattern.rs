// SPDX-License-Identifier: Apache-2.0
//! Rewrite patterns as closures, and the two drivers that apply them.

use crate::boundary::guard;
use crate::error::PassError;
use crate::ffi;
use crate::rewriter::Rewriter;
use melior::ir::OperationRef;
use melior::ir::operation::OperationLike;
use mlir_sys::{MlirOperation, MlirRewriterBase};
use std::cell::RefCell;
use std::ffi::{c_uint, c_void};
use std::rc::Rc;

type Rewrite<'c, 'p> =
    dyn for<'a, 'r> Fn(OperationRef<'c, 'a>, &'r Rewriter<'c>) -> Result<bool, PassError> + 'p;

struct Entry<'c, 'p> {
    root: String,
    benefit: u32,
    rewrite: Box<Rewrite<'c, 'p>>,
    failure: Rc<RefCell<Option<PassError>>>,
}

/// A set of rewrite patterns.
///
/// A pattern returns `Ok(true)` if it rewrote, `Ok(false)` if it does not match (and then has changed nothing), and an
/// error to stop the driver. A panic becomes such an error.
///
/// ```
/// # use skript_dialect::{context, Patterns, op};
/// # use skript_dialect::melior::ir::{Module, operation::OperationLike};
/// # let context = context();
/// # let module = Module::parse(&context, "func.func @f(%x: f32) -> f32 {
/// #   %0 = skript.neg %x : f32  %1 = skript.sqrt %0 : f32  return %1 : f32 }").unwrap();
/// let mut patterns = Patterns::new();
/// patterns.on("skript.neg", |op, rewriter| {
///     rewriter.replace_op_with_values(op, &[op.operand(0)?]);
///     Ok(true)
/// });
/// patterns.apply_once(&module.as_operation())?;
/// assert!(op::collect(&module.as_operation(), |op| op::is(&op, "skript.neg")).is_empty());
/// # Ok::<(), skript_dialect::PassError>(())
/// ```
#[derive(Default)]
pub struct Patterns<'c, 'p> {
    // Boxed: the driver holds addresses.
    #[allow(clippy::vec_box)]
    entries: Vec<Box<Entry<'c, 'p>>>,
    failure: Rc<RefCell<Option<PassError>>>,
}

impl<'c, 'p> Patterns<'c, 'p> {
    /// An empty set.
    pub fn new() -> Self {
        Patterns {
            entries: Vec::new(),
            failure: Rc::default(),
        }
    }

    /// A pattern on operations of one name.
    pub fn on<F>(&mut self, root: &str, rewrite: F)
    where
        F: for<'a, 'r> Fn(OperationRef<'c, 'a>, &'r Rewriter<'c>) -> Result<bool, PassError> + 'p,
    {
        self.add(root, 1, rewrite);
    }

    /// A pattern with a benefit: higher ones are tried first. An empty `root` is any operation.
    pub fn add<F>(&mut self, root: &str, benefit: u32, rewrite: F)
    where
        F: for<'a, 'r> Fn(OperationRef<'c, 'a>, &'r Rewriter<'c>) -> Result<bool, PassError> + 'p,
    {
        self.entries.push(Box::new(Entry {
            root: root.to_string(),
            benefit: benefit.min(u32::from(u16::MAX) - 1),
            rewrite: Box::new(rewrite),
            failure: Rc::clone(&self.failure),
        }));
    }

    /// Visits every operation below `op` once, in post-order, and rewrites where a pattern matches; no folding, no
    /// repetition. New operations are not visited. For conversions of single operations.
    ///
    /// A pattern may erase or replace its root and operations before it.
    ///
    /// # Errors
    /// The error of a pattern.
    pub fn apply_once<'a>(&self, op: &impl OperationLike<'c, 'a>) -> Result<(), PassError>
    where
        'c: 'a,
    {
        let set = self.freeze(op);
        // SAFETY: the set's patterns live in `self`.
        unsafe {
            mlir_sys::mlirWalkAndApplyPatterns(op.to_raw(), set);
            mlir_sys::mlirFrozenRewritePatternSetDestroy(set);
        }
        self.outcome()
    }

    fn freeze<'a>(&self, op: &impl OperationLike<'c, 'a>) -> mlir_sys::MlirFrozenRewritePatternSet
    where
        'c: 'a,
    {
        self.failure.take();
        // SAFETY: context and set are valid; entries outlive the frozen set, which the callers destroy.
        unsafe {
            let context = mlir_sys::mlirOperationGetContext(op.to_raw());
            let set = mlir_sys::mlirRewritePatternSetCreate(context);
            for entry in &self.entries {
                let address: *const Entry<'c, 'p> = &raw const **entry;
                ffi::skriptPatternSetAdd(
                    set,
                    ffi::string_ref(&entry.root),
                    entry.benefit as c_uint,
                    call,
                    address.cast_mut().cast(),
                );
            }
            mlir_sys::mlirFreezeRewritePattern(set)
        }
    }

    fn outcome(&self) -> Result<(), PassError> {
        self.failure.take().map_or(Ok(()), Err)
    }
}

unsafe extern "C" fn call(
    pattern: *mut c_void,
    op: MlirOperation,
    rewriter: MlirRewriterBase,
) -> bool {
    // SAFETY: `pattern` is an entry that outlives the driver; operation and rewriter are the driver's.
    let (entry, op, rewriter) = unsafe {
        (
            &*pattern.cast::<Entry<'_, '_>>(),
            OperationRef::from_raw(op),
            Rewriter::of_driver(rewriter),
        )
    };
    // After a failure nothing more is rewritten.
    if entry.failure.borrow().is_some() {
        return false;
    }
    match guard(|| (entry.rewrite)(op, &rewriter)) {
        Ok(rewritten) => rewritten,
        Err(error) => {
            entry.failure.replace(Some(error));
            false
        }
    }
}
