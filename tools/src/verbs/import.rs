// SPDX-License-Identifier: Apache-2.0
//! `skript import`: writes an ONNX model as a model folder in SkriptND.

use std::path::{Path, PathBuf};

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::OUTPUT;
use skript_frontend::source::SourceMap;
use skript_import::Imported;

use crate::command_line::ImportArguments;
use crate::console::{Console, Status};
use crate::onnx_model;
use crate::render::render;

pub fn run(arguments: &ImportArguments, console: &mut Console) -> Status {
    match import(arguments, console) {
        Ok(()) => Status::Done,
        Err(diagnostics) => {
            render(&diagnostics, &SourceMap::default(), arguments.message_format, console);
            Status::Wrong
        }
    }
}

fn import(arguments: &ImportArguments, console: &mut Console) -> Result<(), Vec<Diagnostic>> {
    let folder = match &arguments.output {
        Some(folder) => folder.clone(),
        None => PathBuf::from(arguments.model.file_stem().unwrap_or_default()),
    };
    if !arguments.force && !is_free(&folder) {
        let text = format!("{} is not an empty folder", folder.display());
        let wrong = Diagnostic::without_location(&OUTPUT, text);
        return Err(vec![wrong.with_help("-o names another folder; --force writes into this one")]);
    }
    let imported = onnx_model::import(
        &arguments.model,
        &arguments.options,
        &arguments.input_shapes,
        arguments.structure,
    )?;
    onnx_model::write(&imported, &folder, arguments.weights_format).map_err(|e| vec![*e])?;
    for warning in &imported.warnings {
        let text = warning.to_string();
        console.write(&format!("warning: {}\n", skript_host::one_line(&text)));
    }
    for note in &imported.notes {
        console.write(&format!("note: {}\n", skript_host::one_line(note)));
    }
    crate::stdout::print(&summary(&imported, &folder));
    Ok(())
}

/// Whether the path does not exist or is an empty folder.
pub(super) fn is_free(folder: &Path) -> bool {
    match std::fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => !folder.exists(),
    }
}

/// The folder, the number of arrays and their size: `resnet50/: 53 arrays of weights, 102.1 MB`.
fn summary(imported: &Imported, folder: &Path) -> String {
    let bytes: usize = imported.weights.iter().map(|w| w.tensor.bytes().len()).sum();
    let folder = folder.to_string_lossy();
    format!(
        "{}: {} arrays of weights, {:.1} MB\n",
        skript_host::printable(&folder),
        imported.weights.len(),
        bytes as f64 / 1e6
    )
}
