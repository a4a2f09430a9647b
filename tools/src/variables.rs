// SPDX-License-Identifier: Apache-2.0
//! Variables after a run: applies updates, and writes all variables to files.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::OUTPUT;
use skript_frontend::model::Model;
use skript_tensor::{Tensor, dat};

/// Applies the updates of a successful run (2.11).
pub fn commit(variables: &mut [Arc<Tensor>], updates: Vec<(usize, Arc<Tensor>)>) {
    for (position, value) in updates {
        if let Some(variable) = variables.get_mut(position) {
            *variable = value;
        }
    }
}

/// Writes `DIR/<scoped name>.dat` for each variable; creates the folder.
///
/// Each file is written under another name and then renamed, because the old one may be mapped as the weights of this
/// run.
pub fn save(model: &Model, variables: &[Arc<Tensor>], folder: &Path) -> Result<(), Box<Diagnostic>> {
    let wrong = |path: &Path, reason: String| {
        let message = format!("cannot write {}: {reason}", path.display());
        Box::new(Diagnostic::without_location(&OUTPUT, message))
    };
    fs::create_dir_all(folder).map_err(|e| wrong(folder, e.to_string()))?;
    for (variable, tensor) in model.variables.iter().zip(variables) {
        let path = folder.join(format!("{}.dat", variable.name));
        let beside = folder.join(format!(".{}.dat.new", variable.name));
        let written = write(&beside, &path, tensor);
        written.map_err(|reason| {
            // No partial file stays; a failure to remove it is not reported.
            let _ = fs::remove_file(&beside);
            wrong(&path, reason)
        })?;
    }
    Ok(())
}

/// The error if the file cannot be written.
fn write(beside: &Path, path: &Path, tensor: &Tensor) -> Result<(), String> {
    let file = File::create(beside).map_err(|e| e.to_string())?;
    let mut stream = BufWriter::new(file);
    dat::write(Path::new("the variable"), tensor, &mut stream).map_err(|e| e.to_string())?;
    stream.flush().map_err(|e| e.to_string())?;
    fs::rename(beside, path).map_err(|e| e.to_string())
}
