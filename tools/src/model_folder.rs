// SPDX-License-Identifier: Apache-2.0
//! Writes the modules of a model to a new folder.

use std::path::{Path, PathBuf};

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::program::{Origin, Program};

use crate::onnx_model::IMPORT_FILE;
use crate::written::unwritten;

/// Maximum size of the description of an imported model in bytes.
const MAX_IMPORT_BYTES: u64 = 1 << 28;

/// Writes the modules of the model, with this text of the main module, and the description of an imported model.
pub fn write_modules(program: &Program, main: &str, folder: &Path) -> Result<(), Box<Diagnostic>> {
    for (key, module) in &program.modules {
        if program.origin(key) != Origin::Model {
            continue;
        }
        let is_main = *key == program.main;
        let path = if is_main { PathBuf::from("main") } else { key.split('.').collect() };
        let path = folder.join(path).with_extension("sknd");
        let text = program.sources.get(module.file).map_or("", |file| &file.text);
        write(&path, if is_main { main } else { text }.as_bytes())?;
    }
    let description = program.folder.join(IMPORT_FILE);
    if description.is_file() {
        let text = skript_host::file::read_within(&description, &program.folder, MAX_IMPORT_BYTES);
        let text = text.map_err(|error| unwritten(&folder.join(IMPORT_FILE), error))?;
        write(&folder.join(IMPORT_FILE), &text)?;
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Box<Diagnostic>> {
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    folder.and_then(|()| std::fs::write(path, bytes)).map_err(|error| unwritten(path, error))
}
