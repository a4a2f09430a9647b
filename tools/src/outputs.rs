// SPDX-License-Identifier: Apache-2.0
//! Writes results to `.npy` files, or summarizes them.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::OUTPUT;
use skript_frontend::model::{Model, Port, PortTensors};
use skript_tensor::{Tensor, TensorError, npy, summary};

use crate::written::unwritten;

/// File stems of the entry's outputs, in the order of the flattened tensors: `y`, packs `ys_0`, `ys_1`.
pub fn names(model: &Model) -> Vec<String> {
    let outputs = model.function(model.entry).into_iter().flat_map(|entry| &entry.outputs);
    outputs.flat_map(Port::tensor_names).collect()
}

/// The names of outputs that are packs of dynamic length; each of them is one array.
pub fn stacks(model: &Model) -> Vec<String> {
    let ports = model.function(model.entry).into_iter().flat_map(|f| &f.outputs);
    let stacks = ports.filter(|port| matches!(port.tensors, PortTensors::Stack(_)));
    stacks.map(|port| port.name.clone()).collect()
}

/// The outputs of a specialized model, with one array for each pack whose length was dynamic before the specialization.
///
/// # Errors
/// The items of such a pack have different shapes, or memory is insufficient.
pub fn stacked(
    model: &Model,
    stacks: &[String],
    tensors: Vec<Tensor>,
) -> Result<(Vec<String>, Vec<Tensor>), Box<Diagnostic>> {
    let all = names(model);
    let (mut kept, mut results) = (Vec::new(), Vec::new());
    let mut rest = all.into_iter().zip(tensors);
    for port in model.function(model.entry).into_iter().flat_map(|f| &f.outputs) {
        let of_port: Vec<_> = match &port.tensors {
            PortTensors::Single(_) | PortTensors::Stack(_) => rest.by_ref().take(1).collect(),
            PortTensors::Pack(items) => rest.by_ref().take(items.len()).collect(),
            PortTensors::Null => Vec::new(),
        };
        let is_stack = stacks.contains(&port.name) && matches!(port.tensors, PortTensors::Pack(_));
        let (names, items): (Vec<String>, Vec<Tensor>) = of_port.into_iter().unzip();
        match items.first().filter(|_| is_stack) {
            Some(first) => {
                let items: Vec<&Tensor> = items.iter().collect();
                let whole = Tensor::stacked(first.element(), first.shape(), &items);
                let whole =
                    whole.map_err(|error| Diagnostic::without_location(&OUTPUT, error.to_string()))?;
                kept.push(port.name.clone());
                results.push(whole);
            }
            None => {
                kept.extend(names);
                results.extend(items);
            }
        }
    }
    Ok((kept, results))
}

/// Writes `DIR/<name>.npy` for each output, and creates the folder.
pub fn write(names: &[String], tensors: &[Tensor], folder: &Path) -> Result<(), Box<Diagnostic>> {
    make(folder)?;
    for (name, tensor) in names.iter().zip(tensors) {
        write_one(name, tensor, folder, npy::write)?;
    }
    Ok(())
}

/// Writes one tensor: path for messages, tensor, stream.
pub type Writer = fn(&Path, &Tensor, &mut dyn Write) -> Result<(), TensorError>;

/// Writes `DIR/<name>.npy`, and creates the folder.
pub fn write_one(name: &str, tensor: &Tensor, folder: &Path, write: Writer) -> Result<(), Box<Diagnostic>> {
    make(folder)?;
    let path = folder.join(format!("{name}.npy"));
    let file = File::create(&path).map_err(|e| unwritten(&path, e))?;
    let mut stream = BufWriter::new(file);
    write(&path, tensor, &mut stream).map_err(|e| unwritten(&path, e))?;
    stream.flush().map_err(|e| unwritten(&path, e))
}

fn make(folder: &Path) -> Result<(), Box<Diagnostic>> {
    fs::create_dir_all(folder).map_err(|e| unwritten(folder, e))
}

/// One line for each output: name, type, shape and the first elements.
pub fn summary(names: &[String], tensors: &[Tensor]) -> String {
    let outputs = names.iter().zip(tensors);
    outputs.map(|(name, tensor)| summary::line(name, tensor)).collect()
}
