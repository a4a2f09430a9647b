// SPDX-License-Identifier: Apache-2.0
//! Converts options that Python functions receive. Exceptions for unsuitable values contain the name of the option.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Maximum number of characters of a value in messages.
const MAX_SHOWN: usize = 80;

/// Converts the value of an option; `wanted` describes the values that it accepts.
///
/// # Errors
/// TypeError for a value of a wrong type, ValueError for other unsuitable values.
pub fn converted<'py, T>(value: &Bound<'py, PyAny>, name: &str, wanted: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    let extracted: Result<T, <T as FromPyObject<'_, 'py>>::Error> = value.extract();
    extracted.map_err(|refused| {
        let refused: PyErr = refused.into();
        let text = format!("{name} is {}: it must be {wanted}", shown(value));
        if refused.is_instance_of::<PyTypeError>(value.py()) {
            PyTypeError::new_err(text)
        } else {
            PyValueError::new_err(text)
        }
    })
}

/// The `repr` of a value, truncated.
pub fn shown(value: &Bound<'_, PyAny>) -> String {
    let Ok(text) = value.repr() else {
        return "a value without a text".to_owned();
    };
    let text = text.to_string();
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", text.split_at(end).0),
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
            /// TypeError or ValueError for an unsuitable value.
            pub fn $name(value: &pyo3::Bound<'_, pyo3::PyAny>) -> pyo3::PyResult<$type> {
                $crate::options::converted(value, stringify!($name), $wanted)
            }
        )*
    };
}

/// The description of [`threads`].
pub const THREADS: &str = "an int of at least 0, where 0 stands for all CPUs of this process";

options! {
    threads: usize = THREADS;
    device: String = "the name of a device: 'cpu', 'cuda', 'vulkan' or 'auto'";
    weights: bool = "True or False";
    seconds: f64 = "a number of seconds";
}

/// The option `threads` of a function with a different default.
///
/// # Errors
/// The errors of [`threads`].
pub fn other_threads(value: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    converted(value, "threads", THREADS)
}
