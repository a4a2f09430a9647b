// SPDX-License-Identifier: Apache-2.0
//! `skript info program.mlir`: interface and memory of a StableHLO program.

use serde_json::{Value as Json, json};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::source::SourceMap;
use skript_passes::target::TargetDescription;
use skript_stablehlo::import::{Program, Tensor};

use crate::command_line::InfoArguments;
use crate::console::{Console, Status};
use crate::stablehlo_program::{finish, load, model_flags};

pub fn run(arguments: &InfoArguments, console: &mut Console) -> Status {
    let mut sources = SourceMap::default();
    let wrong = model_flags(&arguments.reading, &[("--variables", arguments.variables)]);
    let done = if wrong.is_empty() {
        print(arguments, &mut sources).map_err(|d| (Status::Wrong, d))
    } else {
        Err((Status::Usage, wrong))
    };
    finish(done, &sources, &arguments.reading, console)
}

fn print(arguments: &InfoArguments, sources: &mut SourceMap) -> Result<(), Vec<Diagnostic>> {
    let (program, _) =
        load(&arguments.model, &arguments.reading, &[], &TargetDescription::host(), true, sources)?;
    crate::stdout::print(&if arguments.json { format!("{}\n", json(&program)) } else { text(&program) });
    Ok(())
}

fn text(program: &Program) -> String {
    let mut text = String::new();
    for (title, tensors) in [("arguments", &program.arguments), ("results", &program.results)] {
        text += &format!("{title}\n");
        for (n, tensor) in tensors.iter().enumerate() {
            text += &format!("    {n}: {}\n", tensor.text());
        }
    }
    text + &format!("memory      {} bytes of arena\n", program.artifact.arena.size)
}

fn json(program: &Program) -> Json {
    let types = |tensors: &[Tensor]| -> Json { tensors.iter().map(Tensor::text).collect() };
    json!({
        "arguments": types(&program.arguments),
        "results": types(&program.results),
        "arena_bytes": program.artifact.arena.size,
    })
}
