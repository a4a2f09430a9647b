// SPDX-License-Identifier: Apache-2.0
//! Errors of the compiler as exceptions.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use skript::{Problem, Severity};
use skript_python_runtime::errors::{self, Diagnostic, LIBRARY};

/// A message of the frontend.
pub fn diagnostic(problem: &Problem) -> Diagnostic {
    let notes = problem
        .notes
        .iter()
        .filter_map(|(location, _)| location.as_ref());
    let mut locations = problem.location.iter().chain(notes);
    let own = locations.find(|at| !at.path.starts_with(LIBRARY));
    let location = own.or(problem.location.as_ref());
    let notes = problem.notes.iter().map(|(location, text)| match location {
        Some(at) => format!("{}:{}:{}: {text}", at.path, at.line, at.column),
        None => text.clone(),
    });
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
        help: problem.help.clone(),
        rendered: problem.rendered.clone(),
    }
}

/// The exception for an error.
pub fn exception(py: Python<'_>, error: &skript::Error) -> PyErr {
    match error {
        skript::Error::Document(problems) => {
            errors::error(py, problems.iter().map(diagnostic).collect())
        }
        skript::Error::Arrays(wrong) => {
            let messages = wrong.iter().map(|e| Diagnostic::of(e.to_string()));
            errors::error(py, messages.collect())
        }
        skript::Error::Program(reasons) => {
            errors::error(py, reasons.iter().map(Diagnostic::of).collect())
        }
        skript::Error::Run(failed) => errors::run(py, failed),
        skript::Error::Name(text) => PyValueError::new_err(text.clone()),
        skript::Error::Target(unknown) => PyValueError::new_err(unknown.to_string()),
        other => errors::plain(py, other.to_string()),
    }
}
