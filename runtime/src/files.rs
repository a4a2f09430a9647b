// SPDX-License-Identifier: Apache-2.0
//! Reads and writes the tensors of a compiled model, for command-line tools.

use crate::artifact::{Artifact, Port};
use skript_semantics::Scalar;
use skript_tensor::contents::{self, Listed};
use skript_tensor::{
    ElementType, MissingWeights, Tensor, TensorError, VariableRequest, WeightStore, load_each, npy,
};
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

/// Reads the input of a port from an `.npy` file, in the port's element type. The type that the model declares must be able to
/// represent its values.
///
/// # Errors
/// [`TensorError`] if the file is not an array, or has values that the element type cannot represent.
pub fn input(port: &Port, path: &Path) -> Result<Tensor, TensorError> {
    let tensor = npy::read(path, &|_, _| Ok(()))?;
    tensor.into_input(&format!("input `{}`", port.name), port.declared(), port.element)
}

/// The errors of reading variables.
#[derive(Debug, Default)]
pub struct Unread {
    /// The errors; of the errors for missing variables, only the first.
    pub errors: Vec<TensorError>,
    /// Remarks about files found in place of missing variables.
    pub remarks: Vec<String>,
}

/// Reads the variables of a compiled model, in order.
///
/// # Errors
/// [`Unread`] if a variable is missing or unsuitable.
pub fn variables(artifact: &Artifact, weights: &WeightStore) -> Result<Vec<Tensor>, Unread> {
    let requests: Vec<VariableRequest> = artifact.variables.iter().map(request).collect();
    let (mut variables, mut missing) = (Vec::new(), Vec::new());
    let mut unread = Unread::default();
    let each = load_each(weights, &requests, MissingWeights::Error);
    for (request, loaded) in requests.iter().zip(each) {
        match loaded {
            Ok(tensor) => variables.push(tensor),
            Err(error) => {
                let is_missing = matches!(error, TensorError::Missing { .. });
                if !is_missing || missing.is_empty() {
                    unread.errors.push(error);
                }
                missing.extend(is_missing.then(|| Listed::from(request)));
            }
        }
    }
    if !missing.is_empty() {
        unread.remarks = contents::remarks(&missing, weights);
    }
    if unread.errors.is_empty() { Ok(variables) } else { Err(unread) }
}

/// The description of a variable for the lookup in weight files.
fn request(port: &Port) -> VariableRequest<'_> {
    VariableRequest {
        name: &port.name,
        aliases: &port.aliases,
        element: port.element,
        shape: port.shape.iter().map(|e| e.bound()).collect(),
    }
}

/// The positions of the graph's outputs, with the names of their files. New values of updated variables are not included.
pub fn outputs(artifact: &Artifact) -> impl Iterator<Item = (usize, String)> {
    let updated = |n: usize| {
        let mut updates = artifact.updates.iter();
        updates.any(|(_, o)| usize::try_from(*o) == Ok(n))
    };
    artifact.outputs.iter().enumerate().filter(move |(n, _)| !updated(*n)).map(|(n, port)| (n, stem(port)))
}

/// The name of an output's file without its extension: `y`, for items of a pack `ys_0`, `ys_1`, ….
fn stem(port: &Port) -> String {
    match &port.pack {
        Some(pack) => format!("{}_{}", pack.name, pack.position),
        None => port.name.clone(),
    }
}

/// The tensor in another element type of the same kind; `None` if it has this type or another kind, or if memory is
/// insufficient.
pub fn converted(tensor: &Tensor, element: ElementType) -> Option<Tensor> {
    if element == tensor.element() || element.kind() != tensor.kind() {
        return None;
    }
    if (tensor.element(), element) == (ElementType::I64, ElementType::U64) {
        // Unsigned integers are stored with the same bits.
        return Tensor::from_bytes(element, tensor.shape(), tensor.bytes()).ok();
    }
    let values = (0..tensor.volume()).map(|at| tensor.get(at).unwrap_or(Scalar::Int(0)));
    Tensor::from_scalars(element, tensor.shape(), values).ok()
}

/// Writes `DIR/<name>.npy`; the folder must exist.
///
/// # Errors
/// The path and the reason, if the file cannot be written.
pub fn write(folder: &Path, name: &str, tensor: &Tensor) -> Result<(), String> {
    let path = folder.join(format!("{name}.npy"));
    let written = || {
        let mut stream = BufWriter::new(File::create(&path).map_err(|e| e.to_string())?);
        npy::write(&path, tensor, &mut stream).map_err(|e| e.to_string())?;
        stream.flush().map_err(|e| e.to_string())
    };
    written().map_err(|e| format!("{}: error: {e}", path.display()))
}
