// SPDX-License-Identifier: Apache-2.0
//! Failures: the status that a function returns, and the last failure of each thread.

use crate::types::{self, skc_error};
use skript::{Error, Location, Severity};
use std::cell::RefCell;
use std::ffi::CString;
use std::panic::AssertUnwindSafe;

/// The status and the description of a failure.
pub(crate) struct Failure {
    status: i32,
    code: String,
    text: String,
    location: Option<Location>,
}

impl Failure {
    pub(crate) fn new(status: i32, text: impl Into<String>) -> Self {
        Failure { status, code: String::new(), text: text.into(), location: None }
    }

    pub(crate) fn argument(text: impl Into<String>) -> Self {
        Failure::new(types::ARGUMENT, text)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        let status = match &error {
            Error::Document(problems) => {
                let first = problems.iter().find(|p| p.severity == Severity::Error);
                let rendered: Vec<&str> = problems.iter().map(|p| p.rendered.as_str()).collect();
                return Failure {
                    status: types::DOCUMENT,
                    code: first.map_or_else(String::new, |p| p.code.to_owned()),
                    text: rendered.join("\n"),
                    location: first.and_then(|p| p.location.clone()),
                };
            }
            Error::Run(run) => return of_run(run, text),
            Error::Compile(_) | Error::Export(_) | Error::Program(_) => types::COMPILE,
            Error::Target(_) | Error::Load(_) => types::PROCESSOR,
            Error::Code(_) => types::FILE,
            Error::Name(_) => types::ARGUMENT,
            Error::Arrays(_) => types::WEIGHTS,
            _ => types::INTERNAL,
        };
        Failure::new(status, text)
    }
}

/// The failure of a call, by the kind of its error.
fn of_run(error: &skript::RunError, text: String) -> Failure {
    use skript::RunError;
    match error {
        RunError::Check { code, trace, .. } => Failure {
            code: code.clone(),
            // As compiled objects report it: the message, then the call stack.
            text: trace.iter().fold(text, |text, call| format!("{text}\n  in {call}")),
            ..Failure::new(types::CHECK, "")
        },
        RunError::Memory(_) => Failure::new(types::MEMORY, text),
        RunError::Changed(_) | RunError::Embedded => Failure::new(types::WEIGHTS, text),
        RunError::Status(_) => Failure::new(types::INTERNAL, text),
        RunError::Stopped { .. } => Failure::new(types::STOPPED, text),
        RunError::Device(_) => Failure::new(types::DEVICE, text),
        RunError::Load(_) => Failure::new(types::PROCESSOR, text),
        RunError::Count { .. } | RunError::Element { .. } | RunError::Shape { .. } => Failure::argument(text),
    }
}

/// The strings that the last error points to.
struct Last {
    error: skc_error,
    _strings: [CString; 3],
}

thread_local! {
    static LAST: RefCell<Option<Box<Last>>> = const { RefCell::new(None) };
}

/// Executes the body of an interface function. Converts failures and panics to its status.
pub(crate) fn guarded(work: impl FnOnce() -> Result<(), Failure>) -> i32 {
    let done = std::panic::catch_unwind(AssertUnwindSafe(work));
    let failure = match done {
        Ok(Ok(())) => return types::OK,
        Ok(Err(failure)) => failure,
        Err(_) => Failure::new(types::INTERNAL, "internal error: this is a defect of the library"),
    };
    let status = failure.status;
    keep(failure);
    status
}

/// A C string, with spaces in place of zero bytes, which would end it.
pub(crate) fn c_string(text: &str) -> CString {
    let Ok(string) = CString::new(text.replace('\0', " ")) else {
        unreachable!("the text has no zero bytes")
    };
    string
}

fn keep(failure: Failure) {
    let path = failure.location.as_ref().map_or("", |at| &at.path);
    let strings = [c_string(&failure.code), c_string(&failure.text), c_string(path)];
    let number = |get: fn(&Location) -> usize| {
        let number = failure.location.as_ref().map_or(0, get);
        u32::try_from(number).unwrap_or(u32::MAX)
    };
    let [code, text, path] = &strings;
    let error = skc_error {
        status: failure.status,
        code: code.as_ptr(),
        text: text.as_ptr(),
        path: path.as_ptr(),
        line: number(|at| at.line),
        column: number(|at| at.column),
        end_line: number(|at| at.end_line),
        end_column: number(|at| at.end_column),
    };
    let last = Box::new(Last { error, _strings: strings });
    // The slot of a terminating thread may have been destroyed.
    let _ = LAST.try_with(|slot| slot.replace(Some(last)));
}

/// The last failure of this thread; null if there was none.
pub(crate) fn last() -> *const skc_error {
    let last = LAST.try_with(|slot| {
        let slot = slot.borrow();
        slot.as_ref().map_or(std::ptr::null(), |last| &raw const last.error)
    });
    last.unwrap_or(std::ptr::null())
}
