// SPDX-License-Identifier: Apache-2.0
//! Calls with a maximum time.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use skript_runtime::StopHandle;

/// The time between two checks for signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);
const LEAST_INTERVAL: Duration = Duration::from_millis(1);

/// Executes a call on another thread, without the GIL, and stops it after a time, or when a signal handler raises an exception.
/// The time begins when the call has locked the state, and the call alone is stopped.
///
/// # Errors
/// The exception of the handler.
pub fn call<S: Send, T: Send>(
    py: Python<'_>,
    timeout: Duration,
    stop: &StopHandle,
    state: &Mutex<S>,
    call: impl FnOnce(&mut S) -> T + Send,
) -> PyResult<T> {
    // When the call began; `None` before and after it.
    let progress = Mutex::new(None::<Instant>);
    let begun = || progress.lock().unwrap_or_else(PoisonError::into_inner);
    let (result, raised) = py.detach(|| {
        thread::scope(|scope| {
            let (finished, waiting) = channel::<()>();
            let worker = scope.spawn(move || {
                let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                *begun() = Some(Instant::now());
                let result = catch_unwind(AssertUnwindSafe(|| call(&mut state)));
                *begun() = None;
                stop.reset();
                drop(finished);
                result
            });
            let mut raised = Ok(());
            let interval = || {
                let elapsed = begun().map_or(Duration::ZERO, |time| time.elapsed());
                SIGNAL_INTERVAL.min(timeout.saturating_sub(elapsed)).max(LEAST_INTERVAL)
            };
            while waiting.recv_timeout(interval()) == Err(RecvTimeoutError::Timeout) {
                if raised.is_ok() {
                    raised = Python::attach(|py| py.check_signals());
                }
                // While the guard exists, the call cannot end and reset the handle.
                let begun = begun();
                if begun.is_some_and(|time| raised.is_err() || time.elapsed() >= timeout) {
                    stop.stop();
                }
            }
            (worker.join().flatten(), raised)
        })
    });
    raised?;
    result.or_else(|panic| resume_unwind(panic))
}
