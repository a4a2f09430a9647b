// SPDX-License-Identifier: Apache-2.0
//! `skript compile program.mlir`: compiles a StableHLO program to an artifact or an object file.

use std::path::PathBuf;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{COMMAND_LINE_NAME, OUTPUT};
use skript_frontend::source::SourceMap;

use crate::command_line::{CompileArguments, EmitName, Pipeline};
use crate::console::{Console, Status};
use crate::engine::compiler;
use crate::stablehlo_program::{load, model_flags, perform};
use crate::written::write;

pub fn run(arguments: &CompileArguments, console: &mut Console) -> Status {
    let mut written = None;
    let status = perform(&arguments.reading, usage(arguments), console, |sources| {
        written = make(arguments, sources)?;
        Ok(())
    });
    if let Some(path) = written {
        console.write(&format!("wrote {}\n", path.display()));
    }
    status
}

/// Prints the passes that compile a program.
pub fn print_pipeline(arguments: &CompileArguments, console: &mut Console) -> Status {
    perform(&arguments.reading, usage(arguments), console, |_| {
        let mut target = arguments.target.target();
        target.has_line_tables = arguments.line_tables;
        crate::stdout::print(&format!("{}\n", skript_stablehlo::import::pipeline_text(&target)));
        Ok(())
    })
}

fn usage(arguments: &CompileArguments) -> Vec<Diagnostic> {
    let flags = [
        ("--pipeline", arguments.pipeline != Pipeline::Linalg),
        ("--keep", !arguments.keep.is_empty()),
        ("--report", arguments.report.is_some()),
        ("--mesh", arguments.mesh.is_some()),
        ("--weights", arguments.weights.location.is_some()),
        ("--variables", arguments.weights.variables.is_some()),
        ("--embed-weights", arguments.embed_weights),
        ("--dump-stages", arguments.dump_stages.is_some()),
        ("--dump-passes", arguments.dump_passes.is_some()),
    ];
    let mut wrong = model_flags(&arguments.reading, &flags);
    let is_code = matches!(arguments.emit(), EmitName::Artifact | EmitName::Obj);
    if let Some(text) = arguments.wrong_extension() {
        wrong.push(Diagnostic::without_location(&OUTPUT, text).with_help(EMITTED));
    } else if !is_code {
        let text = "this form is written of models in SkriptND, not of StableHLO programs";
        wrong.push(Diagnostic::without_location(&COMMAND_LINE_NAME, text).with_help(EMITTED));
    }
    wrong.extend(super::without_lines(arguments));
    wrong
}

const EMITTED: &str = "a StableHLO program becomes an artifact, `-o program.skm`, which skript-run runs, or an object file, `-o program.o`";

/// Writes the code; returns the written file if the user did not name it.
fn make(arguments: &CompileArguments, sources: &mut SourceMap) -> Result<Option<PathBuf>, Vec<Diagnostic>> {
    let compiler = compiler(arguments.pipeline, arguments.target.target())
        .with_line_tables(arguments.line_tables)
        .for_this_executable(true);
    let (program, _) = load(arguments.model(), &arguments.reading, &[], &compiler, sources)?;
    let (bytes, extension) = match arguments.emit() {
        EmitName::Obj => (program.artifact.object, "o"),
        _ => (program.artifact.to_bytes(), "skm"),
    };
    let named = arguments.model().with_extension(extension);
    let named = PathBuf::from(named.file_name().unwrap_or_default());
    write(arguments.output().unwrap_or(&named), &[&bytes]).map_err(|e| vec![*e])?;
    Ok(arguments.output().is_none().then_some(named))
}
