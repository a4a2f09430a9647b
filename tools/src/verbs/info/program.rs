// SPDX-License-Identifier: Apache-2.0
//! `skript info program.mlir`: prints the interface and memory of a StableHLO program.

use serde_json::{Value as Json, json};
use skript::{Compiler, Target};
use skript_stablehlo::import::{Program, Tensor};

use crate::command_line::InfoArguments;
use crate::console::{Console, Status};
use crate::stablehlo_program::{load, model_flags, perform};

pub fn run(arguments: &InfoArguments, console: &mut Console) -> Status {
    let (path, reading) = (&arguments.model, &arguments.reading);
    let wrong = model_flags(reading, &[("--variables", arguments.variables)]);
    perform(reading, wrong, console, |sources| {
        let compiler = Compiler::new(&Target::host()).for_this_executable(true);
        let (program, _) = load(path, reading, &[], &compiler, sources)?;
        let text = if arguments.json { format!("{}\n", json(&program)) } else { text(&program) };
        crate::stdout::print(&text);
        Ok(())
    })
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
