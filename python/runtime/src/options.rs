// SPDX-License-Identifier: Apache-2.0
//! Options of functions as Python passes them: a value that does not fit is an exception with the option's name.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// The largest number of characters of a value that a message shows.
const MOST_SHOWN: usize = 80;

/// Converts the value of an option; `wanted` describes the values that it accepts.
///
/// # Errors
/// TypeError for a value of another type, ValueError for another value that does not fit.
pub fn converted<'py, T>(value: &Bound<'py, PyAny>, name: &str, wanted: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    let found: Result<T, <T as FromPyObject<'_, 'py>>::Error> = value.extract();
    found.map_err(|refused| {
        let refused: PyErr = refused.into();
        let text = format!("{name} is {}: it must be {wanted}", shown(value));
        if refused.is_instance_of::<PyTypeError>(value.py()) {
            PyTypeError::new_err(text)
        } else {
            PyValueError::new_err(text)
        }
    })
}

/// The value as Python writes it, shortened.
pub fn shown(value: &Bound<'_, PyAny>) -> String {
    let Ok(text) = value.repr() else {
        return "a value without a text".to_owned();
    };
    let text = text.to_string();
    match text.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// Defines a conversion for each option, for `#[pyo3(from_py_with = …)]`.
#[macro_export]
macro_rules! options {
    ($($name:ident: $type:ty = $wanted:expr;)*) => {
        $(
            #[doc = concat!("The option `", stringify!($name), "`.")]
            ///
            /// # Errors
            /// TypeError or ValueError for a value that does not fit.
            pub fn $name(value: &pyo3::Bound<'_, pyo3::PyAny>) -> pyo3::PyResult<$type> {
                $crate::options::converted(value, stringify!($name), $wanted)
            }
        )*
    };
}

/// The text about [`threads`].
pub const THREADS: &str = "an int of at least 0, where 0 stands for all CPUs of this process";

options! {
    threads: usize = THREADS;
    device: String = "the name of a device: 'cpu', 'cuda', 'vulkan' or 'auto'";
    weights: bool = "True or False";
    seconds: f64 = "a number of seconds";
}

/// The option `threads` of a function that has another default.
///
/// # Errors
/// Those of [`threads`].
pub fn other_threads(value: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    converted(value, "threads", THREADS)
}
