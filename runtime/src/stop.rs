// SPDX-License-Identifier: Apache-2.0
//! Stops calls of compiled code from another thread.
//!
//! The context of a call has a word that loops without a known number of iterations load in each iteration
//! (`skript-lower-checks`). If it is not 0, the code returns early, as for a failed check.

use skript_intrinsics::compiled::{Context, STOP};
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Stops the calls of an instance from another thread.
///
/// Code checks for it in loops that only a condition ends; other code finishes first. An instance that was stopped refuses all
/// calls until [`StopHandle::reset`].
#[derive(Clone)]
pub struct StopHandle(Arc<Shared>);

/// The context of the calls of an instance.
pub(crate) struct CallContext(Arc<Shared>);

struct Shared(UnsafeCell<Context>);

// SAFETY: other threads access only the word at STOP, atomically.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    fn stop(&self) -> &AtomicI64 {
        // SAFETY: the context outlives the reference; Rust accesses the word by this function alone.
        unsafe { AtomicI64::from_ptr((&raw mut (*self.0.get()).values).cast::<i64>().add(STOP)) }
    }
}

impl StopHandle {
    /// Stops the current call, if there is one, and all later calls.
    pub fn stop(&self) {
        self.0.stop().store(1, Ordering::Relaxed);
    }

    /// Allows calls again.
    pub fn reset(&self) {
        self.0.stop().store(0, Ordering::Relaxed);
    }

    /// Whether calls are stopped.
    pub fn is_stopped(&self) -> bool {
        self.0.stop().load(Ordering::Relaxed) != 0
    }
}

impl Default for CallContext {
    fn default() -> Self {
        CallContext(Arc::new(Shared(UnsafeCell::new(Context::default()))))
    }
}

impl CallContext {
    /// Prepares the context for a call. A stop that was requested before the call is kept.
    pub(crate) fn reset(&mut self) {
        let context = self.pointer();
        // SAFETY: no call is running, and the word at STOP is not accessed.
        unsafe {
            (&raw mut (*context).values).cast::<i64>().write_bytes(0, STOP);
            (*context).seed = 0;
            (*context).draws = 0;
            (*context).message = Context::default().message;
        }
    }

    pub(crate) fn pointer(&self) -> *mut Context {
        self.0.0.get()
    }

    /// The values and the message that the last call recorded.
    pub(crate) fn values(&self) -> Context {
        let mut copy = Context::default();
        let context = self.pointer();
        // SAFETY: no call is running, and the word at STOP is not accessed.
        unsafe {
            let values = (&raw const (*context).values).cast::<i64>();
            values.copy_to_nonoverlapping(copy.values.as_mut_ptr(), STOP);
            copy.message = (*context).message;
        }
        copy
    }

    pub(crate) fn handle(&self) -> StopHandle {
        StopHandle(Arc::clone(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_lasts_until_it_is_reset() {
        let mut context = CallContext::default();
        let handle = context.handle();
        assert!(!handle.is_stopped());
        handle.stop();
        context.reset();
        assert!(handle.is_stopped());
        assert_eq!(context.values().values[STOP], 0);
        handle.reset();
        assert!(!handle.is_stopped());
    }
}
