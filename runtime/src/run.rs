// SPDX-License-Identifier: Apache-2.0
//! One call: loads a program, creates an instance, computes.

use crate::artifact::Artifact;
use crate::device::DeviceInstance;
use crate::error::RunError;
use crate::instance::Instance;
use crate::program::Program;
use skript_tensor::map::MappedFile;
use skript_tensor::{Tensor, TensorError};

/// Loads `artifact` and computes its outputs once: the graph's outputs, then the new values of updated variables
/// ([`Artifact::updates`]).
///
/// # Errors
/// [`RunError`]: the errors of [`Program::load`] and [`Instance::call`].
pub fn run(artifact: &Artifact, inputs: &[&Tensor], variables: &[&Tensor]) -> Result<Vec<Tensor>, RunError> {
    let load = |e: crate::error::LoadError| RunError::Load(e.to_string());
    let program = Program::load(artifact.clone()).map_err(load)?;
    let mut instance = Instance::new(&program).map_err(load)?;
    compute(&mut instance, inputs, variables)
}

/// Executes one call of an instance, with new tensors for the outputs.
///
/// # Errors
/// The errors of [`Instance::call`], and [`RunError::Changed`] if a mapped file was written to since it was opened.
pub fn compute(
    instance: &mut Instance,
    inputs: &[&Tensor],
    variables: &[&Tensor],
) -> Result<Vec<Tensor>, RunError> {
    let mut outputs = slots(instance.program().artifact())?;
    instance.call(inputs, variables, &mut outputs)?;
    unchanged(inputs.iter().chain(variables).copied()).map_err(|e| RunError::Changed(e.to_string()))?;
    if let Some(embedded) = &instance.program().artifact().embedded {
        let unchanged = embedded.unchanged();
        unchanged.map_err(|e| RunError::Changed(e.to_string()))?;
    }
    actual(outputs, |n| instance.output_shape(n))
}

/// Returns an error if a mapped file of these tensors was written to since it was opened. Consecutive tensors of
/// one file cause one check.
pub(crate) fn unchanged<'t>(tensors: impl IntoIterator<Item = &'t Tensor>) -> Result<(), TensorError> {
    let mut last: Option<&MappedFile> = None;
    for (file, _) in tensors.into_iter().filter_map(Tensor::file) {
        if !last.is_some_and(|last| last.is(file)) {
            file.unchanged()?;
            last = Some(file);
        }
    }
    Ok(())
}

/// Like [`compute`], on a device.
///
/// # Errors
/// The errors of [`DeviceInstance::call`].
pub fn compute_on_device(
    instance: &mut DeviceInstance,
    inputs: &[&Tensor],
    variables: &[&Tensor],
) -> Result<Vec<Tensor>, RunError> {
    let mut outputs = slots(instance.program().artifact())?;
    instance.call(inputs, variables, &mut outputs)?;
    unchanged(inputs.iter().chain(variables).copied()).map_err(|e| RunError::Changed(e.to_string()))?;
    actual(outputs, |n| instance.output_shape(n))
}

/// Removes the new values of variables ([`Artifact::updates`]) from the end of a call's outputs; returns them with the positions
/// of the variables.
pub fn updates<T>(artifact: &Artifact, outputs: &mut Vec<T>) -> Vec<(usize, T)> {
    let first = outputs.len().saturating_sub(artifact.updates.len());
    let values = outputs.split_off(first);
    let positions = artifact.updates.iter().map(|(variable, _)| *variable);
    positions.map(|n| n as usize).zip(values).collect()
}

/// Shrinks outputs to their actual extents.
fn actual(outputs: Vec<Tensor>, shape: impl Fn(usize) -> Option<Vec<u64>>) -> Result<Vec<Tensor>, RunError> {
    let actual = outputs.into_iter().enumerate().map(|(n, tensor)| match shape(n) {
        Some(shape) if shape != tensor.shape() => shrunk(&tensor, &shape),
        _ => Ok(tensor),
    });
    actual.collect()
}

/// Tensors for the outputs of calls; dynamic extents have their upper bounds.
///
/// # Errors
/// [`RunError::Memory`] if memory is insufficient.
pub fn slots(artifact: &Artifact) -> Result<Vec<Tensor>, RunError> {
    let slot = |port: &crate::artifact::Port| {
        let shape: Vec<u64> = port.shape.iter().map(|e| e.bound()).collect();
        let slot = if port.is_dynamic() {
            Tensor::reserved(port.element, &shape)
        } else {
            Tensor::zeros(port.element, &shape)
        };
        slot.map_err(|e| RunError::Memory(e.to_string()))
    };
    artifact.outputs.iter().map(slot).collect()
}

/// The elements of a slot within its actual extents, contiguous.
fn shrunk(tensor: &Tensor, shape: &[u64]) -> Result<Tensor, RunError> {
    let failed = || RunError::Memory(format!("shape {shape:?}"));
    let bytes = skript_tensor::shape::byte_length(tensor.element(), shape).ok_or_else(failed)?;
    let held = tensor.bytes().get(..bytes).ok_or_else(failed)?;
    Tensor::from_bytes(tensor.element(), shape, held).map_err(|e| RunError::Memory(e.to_string()))
}
