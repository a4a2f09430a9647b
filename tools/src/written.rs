// SPDX-License-Identifier: Apache-2.0
//! Writes the output files of verbs, and builds the errors for files that cannot be written.

use std::fmt::Display;
use std::path::Path;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::OUTPUT;
use skript_host::overwrite;

/// Writes a file that the command line names.
pub fn write(path: &Path, parts: &[&[u8]]) -> Result<(), Box<Diagnostic>> {
    overwrite(path, parts).map_err(|error| unwritten(path, error))
}

/// The error for a file that cannot be written to a folder named on the command line.
pub fn unwritten(path: &Path, reason: impl Display) -> Box<Diagnostic> {
    let message = format!("cannot write {}: {reason}", path.display());
    Box::new(Diagnostic::without_location(&OUTPUT, message))
}

/// Refuses the folder of the model, whose files are read during the command, and without `force` a folder with files.
pub fn check_folder(folder: &Path, model: &Path, force: bool) -> Result<(), Box<Diagnostic>> {
    let wrong =
        |text: String, help: &str| Err(Box::new(Diagnostic::without_location(&OUTPUT, text).with_help(help)));
    let is_same = |path: &Path| {
        let source = if path == Path::new("") { Path::new(".") } else { path };
        folder.canonicalize().ok().is_some_and(|folder| source.canonicalize().ok() == Some(folder))
    };
    let is_document = model.extension().is_some_and(|extension| extension == "sknd");
    if is_same(model) || is_document && model.parent().is_some_and(is_same) {
        let text = format!("{} is the folder of the model", folder.display());
        return wrong(text, "-o names another folder");
    }
    if !force && !is_free(folder) {
        let text = format!("{} is not an empty folder", folder.display());
        return wrong(text, "-o names another folder; --force writes into this one");
    }
    Ok(())
}

/// Whether the path does not exist or is an empty folder.
pub fn is_free(folder: &Path) -> bool {
    match std::fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => !folder.exists(),
    }
}
