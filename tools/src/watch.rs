// SPDX-License-Identifier: Apache-2.0
//! Ends the work of a command at a deadline (`--timeout`), or when the user presses Ctrl-C.
//!
//! A call of compiled code is stopped first, so that its message states where it was. Work that does not stop soon ends with the
//! process; a second Ctrl-C ends the process at once.

use std::process::exit;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::Duration;

use clap::Args;
use skript::StopHandle;
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::RUN_FAILED;

use crate::command_line::MessageFormat;
use crate::console::{Console, Status};
use crate::session::say;

/// The time that a stopped call has to return.
const GRACE: Duration = Duration::from_millis(500);

/// The exit status after a second Ctrl-C, as if the signal had ended the process.
const INTERRUPTED: i32 = 130;

#[derive(Clone, Copy, Debug, Args)]
pub struct StopArguments {
    /// Stop after this time, which includes compilation
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "write a number of seconds".to_owned())?;
    let duration = Duration::try_from_secs_f64(seconds).ok().filter(|d| !d.is_zero());
    duration.ok_or_else(|| "the time must be positive".to_owned())
}

/// The work in progress.
struct Work {
    number: u64,
    format: MessageFormat,
    call: Option<StopHandle>,
    /// Why it must end.
    reason: Option<String>,
}

static WORK: Mutex<Option<Work>> = Mutex::new(None);
static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

fn work() -> MutexGuard<'static, Option<Work>> {
    WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Watches the work of a command while it exists.
pub struct Watch;

impl Watch {
    pub fn begin(arguments: StopArguments, format: MessageFormat) -> Watch {
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        *work() = Some(Work { number, format, call: None, reason: None });
        static HANDLER: Once = Once::new();
        // Without a handler, Ctrl-C ends the process at once.
        HANDLER.call_once(|| {
            let _ = ctrlc::set_handler(interrupt);
        });
        if let Some(time) = arguments.timeout {
            let timer = move || {
                thread::sleep(time);
                end(number, &format!("stopped after {} s (--timeout)", time.as_secs_f64()));
            };
            thread::spawn(timer);
        }
        Watch
    }

    /// Names the instance whose calls the command executes next.
    pub fn calls(handle: Option<StopHandle>) {
        if let Some(work) = work().as_mut() {
            work.call = handle;
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        *work() = None;
    }
}

/// The message of a call that was stopped.
pub fn message() -> Option<String> {
    let reason = work().as_ref().and_then(|work| work.reason.clone());
    reason.map(|reason| format!("the run was {reason}"))
}

/// Handles Ctrl-C.
fn interrupt() {
    let number = match work().as_ref() {
        Some(Work { number, reason: None, .. }) => *number,
        _ => exit(INTERRUPTED),
    };
    thread::spawn(move || end(number, "interrupted"));
}

/// Stops the work with a number, if it is still in progress; ends the process if the work does not end soon.
fn end(number: u64, reason: &str) {
    let is_current = |work: &&mut Work| work.number == number;
    match work().as_mut().filter(is_current) {
        Some(work) => {
            work.reason = Some(reason.to_owned());
            if let Some(call) = &work.call {
                call.stop();
            }
        }
        None => return,
    }
    thread::sleep(GRACE);
    let mut work = work();
    if let Some(work) = work.as_mut().filter(is_current) {
        let message = format!("the run was {reason}");
        say(Diagnostic::without_location(&RUN_FAILED, message), work.format, &mut Console::stderr());
        exit(Status::Wrong as i32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_positive_numbers() {
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        for text in ["", "x", "0", "-1", "nan", "inf", "1e300", "1e-300"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
