// SPDX-License-Identifier: Apache-2.0
//! Writes the variables after a run to files.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::model::Model;
use skript_tensor::{Tensor, dat};

use crate::written::unwritten;

/// Writes `DIR/<scoped name>.dat` for each variable, and creates the folder.
///
/// Each file is written under a temporary name and then renamed, because the old file may be mapped as the weights of
/// this run.
pub fn save(model: &Model, variables: &[Tensor], folder: &Path) -> Result<(), Box<Diagnostic>> {
    fs::create_dir_all(folder).map_err(|e| unwritten(folder, e))?;
    for (variable, tensor) in model.variables.iter().zip(variables) {
        let path = folder.join(format!("{}.dat", variable.name));
        let temporary = folder.join(format!(".{}.dat.new", variable.name));
        let written = write(&temporary, &path, tensor);
        written.map_err(|reason| {
            // Removes the partial file. Ignores errors of the removal.
            let _ = fs::remove_file(&temporary);
            unwritten(&path, reason)
        })?;
    }
    Ok(())
}

/// Writes the tensor to the file `temporary` and renames this file to `path`.
fn write(temporary: &Path, path: &Path, tensor: &Tensor) -> Result<(), String> {
    let file = File::create(temporary).map_err(|e| e.to_string())?;
    let mut stream = BufWriter::new(file);
    dat::write(Path::new("the variable"), tensor, &mut stream).map_err(|e| e.to_string())?;
    stream.flush().map_err(|e| e.to_string())?;
    fs::rename(temporary, path).map_err(|e| e.to_string())
}
