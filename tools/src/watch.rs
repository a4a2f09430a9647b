// SPDX-License-Identifier: Apache-2.0
//! Ends the work of a command at a deadline (`--timeout`), or when the user presses Ctrl-C.
//!
//! A call of compiled code is stopped first, so that its message states where it was. Work that does not stop soon ends with the
//! process; a second Ctrl-C ends the process at once.

use std::process::exit;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::Duration;

use skript::StopHandle;
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::RUN_FAILED;

use crate::console::Status;

/// The time that a stopped call has to return.
const GRACE: Duration = Duration::from_millis(500);

/// The exit status after a second Ctrl-C.
const INTERRUPTED: i32 = Status::Interrupted as i32;

/// The work in progress.
struct Work {
    number: u64,
    report: Box<dyn Fn(Diagnostic) + Send>,
    call: Option<StopHandle>,
    /// Why it must end.
    reason: Option<String>,
    /// A flag that ends the work if it is set.
    flag: Option<Arc<AtomicBool>>,
}

static WORK: Mutex<Option<Work>> = Mutex::new(None);
static NUMBER: AtomicU64 = AtomicU64::new(0);

fn work() -> MutexGuard<'static, Option<Work>> {
    WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Watches the work of a command while it exists.
pub struct Watch;

impl Watch {
    /// Watches work that must end after `timeout`. If it does not stop, `report` prints why the process ends.
    pub fn begin(timeout: Option<Duration>, report: impl Fn(Diagnostic) + Send + 'static) -> Watch {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        *work() = Some(Work { number, report: Box::new(report), call: None, reason: None, flag: None });
        static HANDLER: Once = Once::new();
        // Without a handler, Ctrl-C ends the process at once.
        HANDLER.call_once(|| {
            let _ = ctrlc::set_handler(interrupt);
        });
        if let Some(time) = timeout {
            let timer = move || {
                thread::sleep(time);
                end(number, &format!("stopped after {} s (--timeout)", time.as_secs_f64()));
            };
            thread::spawn(timer);
        }
        Watch
    }

    /// Watches work that ends soon after `flag` is set. The first Ctrl-C sets it, a second one ends the process.
    pub fn begin_text(flag: Arc<AtomicBool>, report: impl Fn(Diagnostic) + Send + 'static) -> Watch {
        let watch = Watch::begin(None, report);
        if let Some(work) = work().as_mut() {
            work.flag = Some(flag);
        }
        watch
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
        Some(Work { flag: Some(flag), .. }) if !flag.swap(true, Ordering::Relaxed) => return,
        Some(Work { flag: Some(_), .. }) => exit(INTERRUPTED),
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
        (work.report)(Diagnostic::without_location(&RUN_FAILED, message));
        exit(Status::Wrong as i32);
    }
}
