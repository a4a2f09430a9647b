// SPDX-License-Identifier: Apache-2.0
//! Errors of passes: MLIR diagnostics at operations.

use crate::ffi;
use melior::ir::{Location, operation::OperationLike};

/// The error of a pass: a diagnostic that was emitted already, or a message for the operation that the pass runs on.
///
/// Errors that concern an operation are reported where they are found, with [`PassError::at`]; a pass may report many
/// and return the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassError(Option<String>);

impl PassError {
    /// Reports `'name' op message` at the operation.
    pub fn at<'c: 'a, 'a>(op: impl OperationLike<'c, 'a>, message: impl AsRef<str>) -> Self {
        Self::at_with_notes(op, message, &[])
    }

    /// Reports at the operation, with notes at other locations.
    pub(crate) fn at_with_notes<'c: 'a, 'a>(
        op: impl OperationLike<'c, 'a>,
        message: impl AsRef<str>,
        notes: &[(Location<'c>, &str)],
    ) -> Self {
        let locations: Vec<_> = notes.iter().map(|(position, _)| position.to_raw()).collect();
        let texts: Vec<_> = notes.iter().map(|(_, text)| ffi::string_ref(text)).collect();
        // SAFETY: operation and locations are valid; both arrays have one entry per note.
        unsafe {
            ffi::skriptEmitOpError(
                op.to_raw(),
                ffi::string_ref(message.as_ref()),
                notes.len() as isize,
                locations.as_ptr(),
                texts.as_ptr(),
            );
        }
        PassError(None)
    }

    /// Reports at a location.
    pub fn at_location(location: Location<'_>, message: impl AsRef<str>) -> Self {
        // The C function wants a terminated string.
        let message = message.as_ref().replace('\0', " ") + "\0";
        // SAFETY: the location is valid, the message ends in NUL.
        unsafe { mlir_sys::mlirEmitError(location.to_raw(), message.as_ptr().cast()) };
        PassError(None)
    }

    /// The message that was not reported yet.
    pub fn message(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// Reports the message at the operation, unless it was reported already.
    pub(crate) fn report<'c: 'a, 'a>(self, op: impl OperationLike<'c, 'a>) {
        if let Some(message) = self.0 {
            Self::at(op, message);
        }
    }
}

impl std::fmt::Display for PassError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.message().unwrap_or("reported above"))
    }
}

impl std::error::Error for PassError {}

impl From<String> for PassError {
    fn from(message: String) -> Self {
        PassError(Some(message))
    }
}

impl From<&str> for PassError {
    fn from(message: &str) -> Self {
        PassError(Some(message.to_string()))
    }
}

impl From<melior::Error> for PassError {
    fn from(error: melior::Error) -> Self {
        PassError(Some(format!("internal error, please report it: {error}")))
    }
}
