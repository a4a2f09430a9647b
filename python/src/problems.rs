// SPDX-License-Identifier: Apache-2.0
//! Errors of the compiler as exceptions.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use skript::{Problem, Severity};
use skript_python_runtime::errors::{self, Diagnostic, LIBRARY};

/// Options of the command line in messages, and the corresponding options of `load`.
const OPTIONS: [(&str, &str); 4] = [
    ("--bound", "bounds={…}"),
    ("--constant", "constants={…}"),
    ("--input-shape", "shapes={…}"),
    ("--specialize", "specialize=True"),
];

/// Describes the Python options that correspond to the command-line options in a message, if it contains any.
fn options(message: &str) -> Option<String> {
    let named = OPTIONS.iter().filter(|(flag, _)| message.contains(flag));
    let named: Vec<String> = named.map(|(flag, option)| format!("{flag} is {option}")).collect();
    (!named.is_empty()).then(|| format!("options of skript.load: {}", named.join(", ")))
}

/// A diagnostic without a location.
fn alone(message: &str) -> Diagnostic {
    let diagnostic = Diagnostic::from_message(message);
    match options(message) {
        Some(help) => {
            Diagnostic { rendered: format!("{message}\nhelp: {help}"), help: Some(help), ..diagnostic }
        }
        None => diagnostic,
    }
}

/// Adds the options of `load` to an exception that consists only of a message.
pub fn explained(py: Python<'_>, refused: PyErr) -> PyErr {
    let message = refused.value(py).str().map(|text| text.to_string());
    match message {
        Ok(message) if options(&message).is_some() => errors::error(py, vec![alone(&message)]),
        _ => refused,
    }
}

/// Converts a diagnostic of the frontend.
pub fn diagnostic(problem: &Problem) -> Diagnostic {
    let notes = problem.notes.iter().filter_map(|(location, _)| location.as_ref());
    let mut locations = problem.location.iter().chain(notes);
    let in_user_code = locations.find(|at| !at.path.starts_with(LIBRARY));
    let location = in_user_code.or(problem.location.as_ref());
    let notes = problem.notes.iter().map(|(location, text)| match location {
        Some(at) => format!("{}:{}:{}: {text}", at.path, at.line, at.column),
        None => text.clone(),
    });
    let (mut help, mut rendered) = (problem.help.clone(), problem.rendered.clone());
    let text = help.as_ref().unwrap_or(&problem.message);
    if let Some(python) = options(text) {
        rendered = format!("{}\nhelp: {python}", rendered.trim_end());
        help = Some(help.map_or(python.clone(), |help| format!("{help}; {python}")));
    }
    Diagnostic {
        code: Some(problem.code.to_owned()),
        severity: match problem.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
        .to_owned(),
        message: problem.message.clone(),
        file: location.map(|at| at.path.clone()),
        span: location.map(|at| (at.line, at.column, at.end_line, at.end_column)),
        notes: notes.collect(),
        help,
        rendered,
    }
}

/// The exception for an error.
pub fn exception(py: Python<'_>, error: &skript::Error) -> PyErr {
    match error {
        skript::Error::Document(problems) => errors::error(py, problems.iter().map(diagnostic).collect()),
        skript::Error::Compile(refused) => {
            errors::error(py, refused.problems.iter().map(diagnostic).collect())
        }
        skript::Error::Evaluate(problem) => errors::error(py, vec![diagnostic(problem)]),
        skript::Error::Arrays(wrong) => {
            let messages = wrong.iter().map(|e| Diagnostic::from_message(e.to_string()));
            errors::error(py, messages.collect())
        }
        skript::Error::Program(reasons) => {
            errors::error(py, reasons.iter().map(Diagnostic::from_message).collect())
        }
        skript::Error::Run(failed) => errors::run(py, failed),
        skript::Error::Name(text) => PyValueError::new_err(text.clone()),
        skript::Error::Target(unknown) => PyValueError::new_err(unknown.to_string()),
        other => errors::error(py, vec![alone(&other.to_string())]),
    }
}
