// SPDX-License-Identifier: Apache-2.0
//! Errors of compilation, with the options that support the model.

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::NOT_COMPILED;
use skript_frontend::model::Model;
use skript_frontend::source::SourceMap;
use skript_passes::diagnostics::{at_location, of_compilation, of_emission};
use skript_passes::{CompileError, EmitError};
use skript_stablehlo::ExportError;

use super::compiled::pipeline_of;
use crate::session::Stopped;

/// The diagnostics of a model that could not be compiled.
pub fn refused(error: &CompileError, model: &Model, sources: &SourceMap) -> Stopped {
    let supporting = match error {
        CompileError::Lowering { supporting, .. } => supporting.as_slice(),
        CompileError::Emit(_) | CompileError::Codegen(_) => &[],
    };
    let help = help(supporting);
    let is_located = matches!(error, CompileError::Emit(error) if error.span().is_some());
    let all = of_compilation(error, model, sources).into_iter();
    // The message of an operator without a form has the remedy.
    all.map(|diagnostic| if is_located { diagnostic } else { diagnostic.with_help(help.clone()) })
        .collect::<Vec<_>>()
        .into()
}

/// The diagnostics of a model that was not exported to StableHLO.
pub fn not_exported(error: &ExportError, model: &Model, sources: &SourceMap) -> Stopped {
    match error {
        ExportError::Emit(error) => emitted(error).into(),
        ExportError::Refused(message) => at_location(message, model, sources).into(),
        error => Diagnostic::without_location(&NOT_COMPILED, error.to_string()).into(),
    }
}

fn emitted(error: &EmitError) -> Diagnostic {
    match error.span() {
        Some(_) => of_emission(error),
        None => of_emission(error).with_help(help(&[])),
    }
}

/// The suggestion to use another lowering or the evaluator.
fn help(supporting: &[&str]) -> String {
    let names = supporting
        .iter()
        .filter_map(|flag| pipeline_of(flag))
        .map(|name| format!("--pipeline={name}"))
        .collect::<Vec<_>>();
    match names.as_slice() {
        [] => "use --engine=reference".to_string(),
        [one] => format!("{one} supports this model"),
        several => format!("each of {} supports this model", several.join(", ")),
    }
}
