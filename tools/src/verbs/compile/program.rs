// SPDX-License-Identifier: Apache-2.0
//! `skript compile program.mlir`: a StableHLO program as an artifact or an object file.

use std::path::PathBuf;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{COMMAND_LINE_NAME, OUTPUT};
use skript_frontend::source::SourceMap;

use super::write;
use crate::command_line::{CompileArguments, EmitName, Pipeline};
use crate::console::{Console, Status};
use crate::stablehlo_program::{finish, load, model_flags};

pub fn run(arguments: &CompileArguments, console: &mut Console) -> Status {
    let mut sources = SourceMap::default();
    let wrong = usage(arguments);
    let done = if wrong.is_empty() {
        make(arguments, &mut sources, console).map_err(|d| (Status::Wrong, d))
    } else {
        Err((Status::Usage, wrong))
    };
    finish(done, &sources, &arguments.reading, console)
}

/// Prints the passes that compile a program.
pub fn print_pipeline(arguments: &CompileArguments, console: &mut Console) -> Status {
    let wrong = usage(arguments);
    let done = if wrong.is_empty() {
        let target = arguments.target.target();
        crate::stdout::print(&format!("{}\n", skript_stablehlo::import::pipeline_text(&target)));
        Ok(())
    } else {
        Err((Status::Usage, wrong))
    };
    finish(done, &SourceMap::default(), &arguments.reading, console)
}

fn usage(arguments: &CompileArguments) -> Vec<Diagnostic> {
    let own = [
        ("--pipeline", arguments.pipeline != Pipeline::Linalg),
        ("--keep", !arguments.keep.is_empty()),
        ("--report", arguments.report.is_some()),
        ("--mesh", arguments.mesh.is_some()),
        ("--weights", arguments.weights.location.is_some()),
        ("--variables", arguments.weights.variables.is_some()),
        ("--embed-weights", arguments.embed_weights),
        ("--dump-stages", arguments.dump_stages.is_some()),
    ];
    let mut wrong = model_flags(&arguments.reading, &own);
    let is_code = matches!(arguments.emit(), EmitName::Artifact | EmitName::Obj);
    if let Some(text) = arguments.wrong_extension() {
        wrong.push(Diagnostic::without_location(&OUTPUT, text).with_help(EMITTED));
    } else if !is_code {
        let text = "this form is written of models in SkriptND, not of StableHLO programs";
        wrong.push(Diagnostic::without_location(&COMMAND_LINE_NAME, text).with_help(EMITTED));
    }
    wrong
}

const EMITTED: &str = "a StableHLO program becomes an artifact, `-o program.skm`, which skript-run runs, or an object file, `-o program.o`";

fn make(
    arguments: &CompileArguments,
    sources: &mut SourceMap,
    console: &mut Console,
) -> Result<(), Vec<Diagnostic>> {
    let (program, _) =
        load(arguments.model(), &arguments.reading, &[], &arguments.target.target(), true, sources)?;
    let (bytes, extension) = match arguments.emit() {
        EmitName::Obj => (program.artifact.object, "o"),
        _ => (program.artifact.to_bytes(), "skm"),
    };
    if let Some(path) = arguments.output() {
        return write(path, &bytes).map_err(|e| vec![*e]);
    }
    let name = arguments.model().with_extension(extension);
    let path = PathBuf::from(name.file_name().unwrap_or_default());
    write(&path, &bytes).map_err(|e| vec![*e])?;
    console.write(&format!("wrote {}\n", path.display()));
    Ok(())
}
