// SPDX-License-Identifier: Apache-2.0
//! `skript compile --emit=c`: writes a C program, its header, and its weights.

use std::ffi::OsStr;
use std::path::Path;

use skript::{Compiler, Model, Target, Tensor};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{LIMIT_EXCEEDED, OUTPUT, WEIGHTS};
use skript_passes::Options;
use skript_passes::codegen::c::Weights;
use skript_tensor::TensorError;

use super::stop;
use crate::command_line::{CompileArguments, EmitName};
use crate::program_weights::{PUT_ELSEWHERE, WeightsLocation, too_large};
use crate::stopped::Stopped;
use crate::written::write;

/// Writes the program to the output file, its header next to it, and the variables, if requested, into it or next to it. Without an
/// output file, prints header and program.
pub fn make(
    arguments: &CompileArguments,
    model: &Model,
    variables: Option<&[Tensor]>,
) -> Result<(), Stopped> {
    if arguments.output().and_then(Path::extension).is_some_and(|name| name == "h" || name == "bin") {
        let text = "a C program, its header and its weights cannot be one file";
        let wrong = Diagnostic::without_location(&OUTPUT, text);
        return Err(wrong
            .with_help("use -o model.c: the header is model.h, and --weights=file writes model.bin")
            .into());
    }
    let tensors = model.captured(variables.unwrap_or(&[]));
    let weights = match arguments.weights.location() {
        WeightsLocation::Args => Weights::Arguments,
        WeightsLocation::File => Weights::File(&tensors),
        WeightsLocation::Inline => {
            let max_bytes = arguments.reading.limits.in_force().inline_bytes;
            if let Some(message) = too_large(tensors.iter(), max_bytes) {
                let wrong = Diagnostic::without_location(&LIMIT_EXCEEDED, message);
                return Err(wrong.with_help(PUT_ELSEWHERE).into());
            }
            Weights::Inline(&tensors)
        }
    };
    let (_, pipeline) = stop(EmitName::C, arguments.pipeline);
    let compiler = Compiler::new(&Target::host());
    let options = Options { pipeline: pipeline.flag(), ..compiler.options().clone() };
    let program = compiler.with_options(options).c_program(model, weights, !arguments.no_locations)?;
    // Detects mapped files that changed while they were read.
    for tensor in &tensors {
        let wrong = |e: TensorError| Diagnostic::without_location(&WEIGHTS, e.to_string());
        tensor.unchanged().map_err(wrong)?;
    }
    let Some(path) = arguments.output() else {
        crate::stdout::print(&format!("{}\n{}", program.header, program.source));
        return Ok(());
    };
    let header = path.with_extension("h");
    let name = header.file_name().map(OsStr::to_string_lossy);
    let include = name.map_or_else(String::new, |name| format!("#include \"{name}\"\n\n"));
    write(&header, &[program.header.as_bytes()])?;
    write(path, &[include.as_bytes(), program.source.as_bytes()])?;
    if let Some(bytes) = program.weights {
        write(&path.with_extension("bin"), &[&bytes])?;
    }
    Ok(())
}
