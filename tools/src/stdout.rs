// SPDX-License-Identifier: Apache-2.0
//! Writes results to stdout.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Whether the output of a command is discarded, as in a batch.
pub static QUIET: AtomicBool = AtomicBool::new(false);

/// The first error of writing to stdout since [`take_failure`].
static FAILED_WRITE: Mutex<Option<String>> = Mutex::new(None);

/// Writes to stdout. A failure makes the exit status 1; a closed pipe is not an error.
pub fn print(text: &str) {
    if QUIET.load(Ordering::Relaxed) {
        return;
    }
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(text.as_bytes());
    match written.and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            FAILED_WRITE
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get_or_insert_with(|| error.to_string());
        }
        _ => {}
    }
}

/// Takes the first error of writing to stdout since the previous call, if any.
pub fn take_failure() -> Option<String> {
    FAILED_WRITE.lock().unwrap_or_else(PoisonError::into_inner).take()
}
