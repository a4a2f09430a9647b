// SPDX-License-Identifier: Apache-2.0
//! Writes results to `.npy` files, or prints a summary.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::OUTPUT;
use skript_frontend::model::{Model, PortTensors};
use skript_tensor::{Tensor, TensorError, npy, summary};

/// File stems of the entry's outputs, in the order of the flattened tensors: `y`, packs `ys_0`, `ys_1`.
pub fn names(model: &Model) -> Vec<String> {
    let mut names = Vec::new();
    for port in model.function(model.entry).into_iter().flat_map(|f| &f.outputs) {
        match &port.tensors {
            PortTensors::Single(_) | PortTensors::Stack(_) => names.push(port.name.clone()),
            PortTensors::Pack(items) => {
                names.extend((0..items.len()).map(|at| format!("{}_{at}", port.name)));
            }
            PortTensors::Null => {}
        }
    }
    names
}

/// Writes `DIR/<name>.npy` for each output; creates the folder.
pub fn write(names: &[String], tensors: &[Arc<Tensor>], folder: &Path) -> Result<(), Box<Diagnostic>> {
    make(folder)?;
    for (name, tensor) in names.iter().zip(tensors) {
        write_one(name, tensor, folder, npy::write)?;
    }
    Ok(())
}

/// How to write one tensor: path for messages, tensor, stream.
pub type Writer = fn(&Path, &Tensor, &mut dyn Write) -> Result<(), TensorError>;

/// Writes `DIR/<name>.npy`; creates the folder.
pub fn write_one(name: &str, tensor: &Tensor, folder: &Path, write: Writer) -> Result<(), Box<Diagnostic>> {
    make(folder)?;
    let path = folder.join(format!("{name}.npy"));
    let file = File::create(&path).map_err(|e| wrong(&path, e.to_string()))?;
    let mut stream = BufWriter::new(file);
    write(&path, tensor, &mut stream).map_err(|e| wrong(&path, e.to_string()))?;
    stream.flush().map_err(|e| wrong(&path, e.to_string()))
}

fn make(folder: &Path) -> Result<(), Box<Diagnostic>> {
    fs::create_dir_all(folder).map_err(|e| wrong(folder, e.to_string()))
}

fn wrong(path: &Path, reason: String) -> Box<Diagnostic> {
    let message = format!("cannot write {}: {reason}", path.display());
    Box::new(Diagnostic::without_location(&OUTPUT, message))
}

/// A line per output: name, type, shape and the first elements.
pub fn summary(names: &[String], tensors: &[Arc<Tensor>]) -> String {
    let outputs = names.iter().zip(tensors);
    outputs.map(|(name, tensor)| summary::line(name, tensor)).collect()
}
