// SPDX-License-Identifier: Apache-2.0
//! `skript import`: writes an ONNX model, or a language model in a GGUF file, as a model folder in SkriptND.

use std::path::{Path, PathBuf};

use skript::import_refused;
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{COMMAND_LINE_NAME, OUTPUT};
use skript_frontend::source::SourceMap;
use skript_host::format::is_gguf;
use skript_host::printable;
use skript_import::{GgufCache, GgufOptions, Imported, convert_gguf};

use crate::command_line::{ActivationType, ImportArguments};
use crate::console::{Console, Status};
use crate::language::option_refused;
use crate::onnx_model;
use crate::render::render;
use crate::written::{is_free, unwritten};

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
    if is_gguf(&arguments.model) {
        return import_gguf(arguments, &folder);
    }
    let options = [
        ("--activations", arguments.activations != ActivationType::Real),
        ("--cached", arguments.cached),
        ("--context", arguments.context.is_some()),
        ("--copy", arguments.copy),
    ];
    if let Some((option, _)) = options.into_iter().find(|(_, is_given)| *is_given) {
        return Err(vec![option_refused(option, &arguments.model)]);
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

/// Writes the language model of a GGUF file as a folder that contains the file.
fn import_gguf(arguments: &ImportArguments, folder: &Path) -> Result<(), Vec<Diagnostic>> {
    let options = [
        ("--input-shape", !arguments.input_shapes.is_empty()),
        ("--structure", arguments.structure),
        ("--bound", !arguments.options.bounds.is_empty()),
        ("--constant", !arguments.options.constants.is_empty()),
        ("--trainable", arguments.options.trainable),
    ];
    if let Some((option, _)) = options.into_iter().find(|(_, is_given)| *is_given) {
        let text = format!("{option} is for ONNX models, and {} is a GGUF file", arguments.model.display());
        return Err(vec![Diagnostic::without_location(&COMMAND_LINE_NAME, text)]);
    }
    let options = GgufOptions {
        context: arguments.context,
        cache: if arguments.cached { GgufCache::Variables } else { GgufCache::None },
        activations: arguments.activations.into(),
    };
    let imported = convert_gguf(&arguments.model, options).map_err(import_refused)?;
    onnx_model::write(&imported, folder, arguments.weights_format).map_err(|e| vec![*e])?;
    let path = folder.join("main.gguf");
    let placed = place(&arguments.model, &path, arguments.copy);
    placed.map_err(|e| vec![*unwritten(&path, e)])?;
    let folder = folder.to_string_lossy();
    let file = arguments.model.to_string_lossy();
    let text = format!("{}: the weights are those of {}\n", printable(&folder), printable(&file));
    crate::stdout::print(&text);
    Ok(())
}

/// Makes a file available under another path: as another name of the same file or, with `copies` or on another disk, as a copy.
fn place(file: &Path, path: &Path, copies: bool) -> std::io::Result<()> {
    let file = file.canonicalize()?;
    if path.canonicalize().is_ok_and(|path| path == file) {
        return Ok(());
    }
    if path.symlink_metadata().is_ok() {
        std::fs::remove_file(path)?;
    }
    if copies || std::fs::hard_link(&file, path).is_err() {
        std::fs::copy(&file, path)?;
    }
    Ok(())
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
