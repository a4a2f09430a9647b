// SPDX-License-Identifier: Apache-2.0
//! Long-running work, such as compilation, that Ctrl-C interrupts.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// The time between two checks for signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// The stack size of the thread, for deeply nested documents.
const STACK_BYTES: usize = 64 << 20;

/// Executes work on another thread, without the GIL. A signal whose handler raises an exception, such as Ctrl-C, ends the
/// wait. The thread still completes its work, but the result is dropped.
///
/// # Errors
/// The exception of the handler; RuntimeError if no thread can be started, or the work panics.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = sync_channel(1);
    let thread = thread::Builder::new().stack_size(STACK_BYTES);
    let worker = thread.spawn(move || {
        // The receiver no longer exists if a signal handler raised an exception.
        let _ = sender.send(work());
    });
    let failed = |text: String| PyRuntimeError::new_err(text);
    let worker = worker.map_err(|e| failed(format!("cannot start a thread: {e}")))?;
    loop {
        let received;
        (receiver, received) = py.detach(move || {
            let received = receiver.recv_timeout(SIGNAL_INTERVAL);
            (receiver, received)
        });
        match received {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                let panic = worker.join().err();
                let text = panic.as_ref().and_then(|panic| {
                    let text = panic.downcast_ref::<&str>().copied();
                    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
                });
                let text = text.unwrap_or("no message");
                return Err(failed(format!(
                    "a defect of skript, not of the model: please report it with the model: {text}"
                )));
            }
        }
    }
}
