// SPDX-License-Identifier: Apache-2.0
//! Calls with a maximum time.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use skript_runtime::StopHandle;

/// The time between two checks for signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);
const LEAST_INTERVAL: Duration = Duration::from_millis(1);

/// Executes a call on another thread, without the GIL, and stops it after a time, or when a signal handler raises an exception.
///
/// # Errors
/// The exception of the handler.
pub fn call<T: Send>(
    py: Python<'_>,
    timeout: Duration,
    stop: &StopHandle,
    call: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let begun = Instant::now();
    let (result, raised) = py.detach(|| {
        thread::scope(|scope| {
            let (finished, waiting) = channel::<()>();
            let worker = scope.spawn(move || {
                let result = call();
                drop(finished);
                result
            });
            let mut raised = Ok(());
            let interval = || SIGNAL_INTERVAL.min(timeout.saturating_sub(begun.elapsed()));
            while waiting.recv_timeout(interval().max(LEAST_INTERVAL)) == Err(RecvTimeoutError::Timeout) {
                if raised.is_ok() {
                    raised = Python::attach(|py| py.check_signals());
                }
                if raised.is_err() || begun.elapsed() >= timeout {
                    stop.stop();
                }
            }
            (worker.join(), raised)
        })
    });
    stop.reset();
    raised?;
    result.or_else(|panic| std::panic::resume_unwind(panic))
}
