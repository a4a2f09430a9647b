// SPDX-License-Identifier: Apache-2.0
//! Turns panics into errors, because they must not unwind into C++.

use crate::error::PassError;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `f`; a panic becomes an error that states its location.
pub(crate) fn guard<T>(f: impl FnOnce() -> Result<T, PassError>) -> Result<T, PassError> {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        Err(PassError::from(format!("internal error, please report it: {text}")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_with_its_message() {
        let error = guard::<()>(|| panic!("index {} of {}", 3, 2)).unwrap_err();
        assert_eq!(error.message(), Some("internal error, please report it: index 3 of 2"));
    }
}
