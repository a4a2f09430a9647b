// SPDX-License-Identifier: Apache-2.0
//! The messages of panics, for the diagnostics of internal errors.

use std::sync::{Mutex, Once, PoisonError};

static LAST_PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Installs a hook that records the messages of panics on all threads.
pub fn record() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            *LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner) = Some(info.to_string());
        }));
    });
}

/// Takes the message of the last panic, if any since the previous call.
pub fn take_last() -> Option<String> {
    LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner).take()
}
