// SPDX-License-Identifier: Apache-2.0
//! `skript compile --dump-stages` and `--dump-passes`: the text of the model after each step, in numbered files.

use std::path::Path;

use skript::Model;
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::OUTPUT;

use super::{after_stage, stage};
use crate::command_line::{CompileArguments, EmitName, Pipeline};
use crate::session::{Session, Stopped};
use crate::written::write;

/// Writes the text after each stage to a numbered file.
pub fn stages(
    arguments: &CompileArguments,
    session: &Session,
    model: &Model,
    folder: &Path,
) -> Result<(), Stopped> {
    make(folder)?;
    let lowered = match arguments.pipeline {
        Pipeline::Linalg => (EmitName::Linalg, "linalg.mlir"),
        Pipeline::LinalgNamed => (EmitName::LinalgNamed, "linalg-named.mlir"),
        Pipeline::LinalgTensors => (EmitName::LinalgTensors, "linalg-tensors.mlir"),
        Pipeline::Affine => (EmitName::Affine, "affine.mlir"),
        Pipeline::Scf => (EmitName::Scf, "scf.mlir"),
    };
    let stages = [
        (EmitName::Ast, "ast.json"),
        (EmitName::Model, "model.txt"),
        (EmitName::Skript, "skript.mlir"),
        lowered,
        (EmitName::Buffers, "buffers.mlir"),
        (EmitName::Scheduled, "scheduled.mlir"),
        (EmitName::LlvmDialect, "llvm-dialect.mlir"),
        (EmitName::Llvm, "llvm.ll"),
        (EmitName::Asm, "asm.s"),
    ];
    for (number, (emit, name)) in stages.into_iter().enumerate() {
        let bytes = after_stage(arguments, emit, session, model)?;
        write(&folder.join(format!("{}-{name}", number + 1)), &[&bytes])?;
    }
    Ok(())
}

/// Writes the MLIR text after each pass that changes it to a numbered file, which is named after the pass.
pub fn passes(arguments: &CompileArguments, model: &Model, folder: &Path) -> Result<(), Stopped> {
    make(folder)?;
    let (_, compiler) = stage(arguments, EmitName::LlvmDialect);
    let mut number = 0;
    let mut written = Ok(());
    compiler.report_passes(model, !arguments.no_locations, &mut |pass, text| {
        number += 1;
        if written.is_ok() {
            written = write(&folder.join(format!("{number:03}-{}.mlir", flag(pass))), &[text]);
        }
    })?;
    Ok(written?)
}

/// The flag of a pass without its options; the first one of passes that are nested on an operation.
fn flag(pass: &str) -> &str {
    let end_of_name = |c: char| !(c.is_ascii_alphanumeric() || c == '-');
    let nested =
        pass.split_once('(').filter(|(anchor, _)| !anchor.contains('{')).map_or(pass, |(_, passes)| passes);
    nested.split(end_of_name).next().unwrap_or(pass)
}

fn make(folder: &Path) -> Result<(), Box<Diagnostic>> {
    std::fs::create_dir_all(folder).map_err(|error| {
        let message = format!("{}: {error}", folder.display());
        Box::new(Diagnostic::without_location(&OUTPUT, message))
    })
}

#[cfg(test)]
mod tests {
    use super::flag;

    #[test]
    fn files_are_named_after_the_flag_of_the_pass() {
        assert_eq!(flag("cse"), "cse");
        assert_eq!(flag("canonicalize{region-simplify=disabled}"), "canonicalize");
        assert_eq!(flag("func.func(skript-mark{a=(1)},cse)"), "skript-mark");
        assert_eq!(flag("skript-mark{a=(1)}"), "skript-mark");
    }
}
