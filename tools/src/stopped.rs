// SPDX-License-Identifier: Apache-2.0
//! Failures of verbs, with help that names options.

use skript::{Error, Problem};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{NOT_COMPILED, RUN_FAILED, WEIGHTS};

use crate::command_line::Pipeline;

/// The failure of a command, with at least one diagnostic.
#[derive(Debug)]
pub struct Stopped(Vec<Diagnostic>);

impl Stopped {
    /// The message of the first diagnostic.
    pub fn message(&self) -> &str {
        self.0.first().map_or("", |d| &d.message)
    }

    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.0
    }

    /// Whether the failure is that the compiler does not support the model.
    pub fn is_not_compiled(&self) -> bool {
        self.0.first().is_some_and(|d| d.code == &NOT_COMPILED)
    }
}

impl From<skript::Error> for Stopped {
    fn from(error: skript::Error) -> Self {
        Stopped(diagnostics(error))
    }
}

impl From<Diagnostic> for Stopped {
    fn from(diagnostic: Diagnostic) -> Self {
        Stopped(vec![diagnostic])
    }
}

impl From<Box<Diagnostic>> for Stopped {
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        Stopped::from(*diagnostic)
    }
}

impl From<Vec<Diagnostic>> for Stopped {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        Stopped(diagnostics)
    }
}

/// Converts an error to diagnostics.
pub fn diagnostics(error: Error) -> Vec<Diagnostic> {
    match error {
        Error::Document(problems) => problems.into_iter().map(Problem::into_diagnostic).collect(),
        Error::Evaluate(problem) => vec![problem.into_diagnostic()],
        Error::Compile(refused) => {
            let help = refused.supporting.map(|supporting| other_engine(&supporting));
            let problems = refused.problems.into_iter().map(Problem::into_diagnostic);
            problems
                .map(|problem| match &help {
                    Some(help) => problem.with_help(help),
                    None => problem,
                })
                .collect()
        }
        Error::Arrays(wrong) => {
            wrong.iter().map(|e| Diagnostic::without_location(&WEIGHTS, e.to_string())).collect()
        }
        other => vec![Diagnostic::without_location(&RUN_FAILED, other.to_string())],
    }
}

/// The suggestion to use another lowering or the evaluator.
pub fn other_engine(supporting: &[&str]) -> String {
    let names: Vec<String> = supporting
        .iter()
        .filter_map(|flag| Pipeline::with_flag(flag))
        .map(|name| format!("--pipeline={name}"))
        .collect();
    match names.as_slice() {
        [] => "use --engine=reference".to_string(),
        [one] => format!("{one} supports this model"),
        several => format!("each of {} supports this model", several.join(", ")),
    }
}
