// SPDX-License-Identifier: Apache-2.0
//! Errors as exceptions: `Error`, and built-in exceptions for arguments.

use std::ffi::CStr;
use std::path::Path;

use pyo3::exceptions::{
    PyException, PyFileNotFoundError, PyMemoryError, PyOSError, PyTimeoutError, PyTypeError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use skript_host::format::{foreign_format, is_onnx_model};
use skript_runtime::{ArtifactError, LoadError, RunError};

/// The prefix of paths in the standard library, which users cannot open.
pub const LIBRARY: &str = "<stdlib>/";

static ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();

const DOC: &CStr = c"A model that cannot be read, compiled or run.

str() is the rendered text, with lines of the document and carets. `diagnostics` lists all messages; the other attributes
are those of the first one: `code` (such as 'SK0412', or None), `message`, `severity`, `file`, `line`, `column`, `end_line`,
`end_column` (counted from 1, None without a location), `span` (the last four), `notes` (a list of texts), `help` (or None).";

/// Adds the class `Error` to a module; `name` is its full name.
///
/// # Errors
/// An exception of the interpreter.
pub fn install(module: &Bound<'_, PyModule>, name: &CStr) -> PyResult<()> {
    let py = module.py();
    let base = py.get_type::<PyException>();
    let class = ERROR.get_or_try_init(py, || PyErr::new_type(py, name, Some(DOC), Some(&base), None))?;
    module.add("Error", class.clone_ref(py))
}

/// One message of an error.
#[pyclass(frozen, get_all, module = "skript")]
#[derive(Clone, Debug, Default)]
pub struct Diagnostic {
    /// The code of the rule, such as `SK0412`; `skript explain SK0412` describes it.
    pub code: Option<String>,
    /// `error` or `warning`.
    pub severity: String,
    /// The message, with the names and values of the model.
    pub message: String,
    /// The file, or None.
    pub file: Option<String>,
    /// Line, column, line and column of the end, counted from 1; the end is exclusive.
    pub span: Option<(usize, usize, usize, usize)>,
    /// Further notes, such as the operator calls that lead to the location.
    pub notes: Vec<String>,
    /// How to fix it, if that is known.
    pub help: Option<String>,
    /// The complete message as text.
    pub rendered: String,
}

#[pymethods]
impl Diagnostic {
    /// The line, counted from 1; None without a location.
    #[getter]
    fn line(&self) -> Option<usize> {
        self.span.map(|span| span.0)
    }

    /// The column, counted from 1; None without a location.
    #[getter]
    fn column(&self) -> Option<usize> {
        self.span.map(|span| span.1)
    }

    fn __str__(&self) -> &str {
        &self.rendered
    }

    fn __repr__(&self) -> String {
        let at = match (&self.file, self.span) {
            (Some(file), Some((line, column, ..))) => format!(" at {file}:{line}:{column}"),
            _ => String::new(),
        };
        let code = self.code.as_deref().unwrap_or("");
        format!("<{} {code}{at}: {}>", self.severity, self.message)
    }
}

impl Diagnostic {
    /// A diagnostic that consists only of a message.
    pub fn from_message(message: impl Into<String>) -> Diagnostic {
        let message = message.into();
        Diagnostic {
            severity: "error".to_owned(),
            rendered: message.clone(),
            message,
            ..Diagnostic::default()
        }
    }
}

/// The exception for an input with unsuitable values.
pub fn input(py: Python<'_>, message: &str) -> PyErr {
    let code = "SK9103";
    let rendered = format!("error[{code}]: {message}");
    error(py, vec![Diagnostic { code: Some(code.to_owned()), rendered, ..Diagnostic::from_message(message) }])
}

/// The exception for these diagnostics.
pub fn error(py: Python<'_>, diagnostics: Vec<Diagnostic>) -> PyErr {
    let Some(class) = ERROR.get(py) else {
        return PyValueError::new_err("the module is not initialized");
    };
    let texts: Vec<&str> = diagnostics.iter().map(|d| d.rendered.as_str()).collect();
    let rendered = texts.join("\n\n");
    let exception = class.bind(py).call1((rendered,)).and_then(|value| {
        let first = diagnostics.first().cloned().unwrap_or_default();
        let span = first.span;
        value.setattr("code", first.code)?;
        value.setattr("severity", first.severity)?;
        value.setattr("message", first.message)?;
        value.setattr("file", first.file)?;
        value.setattr("span", span)?;
        value.setattr("line", span.map(|s| s.0))?;
        value.setattr("column", span.map(|s| s.1))?;
        value.setattr("end_line", span.map(|s| s.2))?;
        value.setattr("end_column", span.map(|s| s.3))?;
        value.setattr("notes", first.notes)?;
        value.setattr("help", first.help)?;
        value.setattr("diagnostics", diagnostics)?;
        Ok(PyErr::from_value(value))
    });
    exception.unwrap_or_else(|failed| failed)
}

/// The exception for one message without a code.
pub fn plain(py: Python<'_>, message: impl Into<String>) -> PyErr {
    error(py, vec![Diagnostic::from_message(message)])
}

/// The exception for a failed call.
pub fn run(py: Python<'_>, failed: &RunError) -> PyErr {
    let message = failed.to_string();
    match failed {
        RunError::Count { .. } | RunError::Element { .. } => PyTypeError::new_err(message),
        RunError::Shape { .. } | RunError::Embedded => PyValueError::new_err(message),
        RunError::Memory(_) => PyMemoryError::new_err(message),
        RunError::Check { code, trace, .. } => {
            let mut rendered = format!("error[{code}]: {message}");
            for frame in trace {
                rendered += &format!("\nnote: {frame}");
            }
            let in_user_code = trace.iter().find(|frame| !frame.starts_with(LIBRARY));
            let located = in_user_code.or(trace.first()).and_then(|frame| location(frame));
            error(
                py,
                vec![Diagnostic {
                    code: Some(code.clone()),
                    severity: "error".to_owned(),
                    message,
                    file: located.as_ref().map(|(file, _)| file.clone()),
                    span: located.map(|(_, span)| span),
                    notes: trace.clone(),
                    help: None,
                    rendered,
                }],
            )
        }
        RunError::Stopped { .. } => PyTimeoutError::new_err(message),
        RunError::Status(_) | RunError::Changed(_) | RunError::Device(_) | RunError::Load(_) => {
            plain(py, message)
        }
    }
}

/// `path:line:column-line:column: name`, the end optional.
fn location(frame: &str) -> Option<(String, (usize, usize, usize, usize))> {
    let (place, _) = frame.split_once(": ").unwrap_or((frame, ""));
    let (start, end) = match place.rsplit_once('-') {
        Some((start, end)) if numbers(end).is_some() => (start, numbers(end)),
        _ => (place, None),
    };
    let (rest, column) = start.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    let (line, column) = (line.parse().ok()?, column.parse().ok()?);
    let (end_line, end_column) = end.unwrap_or((line, column));
    Some((file.to_owned(), (line, column, end_line, end_column)))
}

fn numbers(text: &str) -> Option<(usize, usize)> {
    let (line, column) = text.split_once(':')?;
    Some((line.parse().ok()?, column.parse().ok()?))
}

/// The exception for code that cannot be loaded.
pub fn load(py: Python<'_>, failed: &LoadError) -> PyErr {
    plain(py, failed.to_string())
}

/// The exception for a file that is not a compiled model.
pub fn artifact(py: Python<'_>, path: &Path, failed: &ArtifactError) -> PyErr {
    let name = path.display();
    if !path.exists() {
        return PyFileNotFoundError::new_err(format!("there is no file {name}"));
    }
    if is_onnx_model(path) {
        let text = format!(
            "{name} is an ONNX model: compile it with `skript.load` of the package skript, and write the compiled model with its `save`"
        );
        return plain(py, text);
    }
    match foreign_format(path) {
        Some(format) => plain(
            py,
            format!(
                "{name} is {}, not a compiled model (.skm), which `save` of the package skript writes",
                format.name
            ),
        ),
        None => plain(py, format!("{name}: {failed}")),
    }
}

/// The exception for a file that cannot be written.
pub fn written(path: &std::path::Path, failed: &std::io::Error) -> PyErr {
    let text = format!("cannot write {}: {failed}", path.display());
    match failed.raw_os_error() {
        Some(code) => PyOSError::new_err((code, text)),
        None => PyOSError::new_err(text),
    }
}
