// SPDX-License-Identifier: Apache-2.0
//! The extents of dynamic tensors, which callers and compiled code pass to each other.

use crate::artifact::Artifact;
use skript_tensor::Tensor;

/// The extents of all dynamic tensors of a call, in the order of the ports.
#[derive(Debug, Default)]
pub(crate) struct Extents(Vec<i64>);

impl Extents {
    /// No extents yet; so many need no other allocation.
    pub(crate) fn with_capacity(count: usize) -> Self {
        Extents(Vec::with_capacity(count))
    }

    /// Sets the extents of a call, those of outputs to their upper bounds, and adds a pointer for each dynamic tensor.
    pub(crate) fn pass(
        &mut self,
        artifact: &Artifact,
        inputs: &[&Tensor],
        variables: &[&Tensor],
        pointers: &mut Vec<*mut u8>,
    ) {
        self.0.clear();
        for (ports, tensors) in [(&artifact.inputs, inputs), (&artifact.variables, variables)] {
            for (port, tensor) in ports.iter().zip(tensors) {
                if port.is_dynamic() {
                    // Shapes were compared with upper bounds below 2⁴⁰.
                    self.0
                        .extend(tensor.shape().iter().map(|n| n.cast_signed()));
                }
            }
        }
        for port in artifact.outputs.iter().filter(|p| p.is_dynamic()) {
            let bounds = port.shape.iter().map(|e| e.bound().cast_signed());
            self.0.extend(bounds);
        }
        let mut next = self.0.as_mut_ptr();
        for port in artifact.ports().filter(|p| p.is_dynamic()) {
            pointers.push(next.cast());
            next = next.wrapping_add(port.shape.len());
        }
    }

    /// The actual extents of an output after a call; `None` beyond the outputs.
    pub(crate) fn of_output(&self, artifact: &Artifact, position: usize) -> Option<Vec<u64>> {
        let port = artifact.outputs.get(position)?;
        if !port.is_dynamic() {
            return Some(port.shape.iter().map(|e| e.bound()).collect());
        }
        let before = artifact.inputs.len() + artifact.variables.len() + position;
        let start: usize = artifact
            .ports()
            .take(before)
            .filter(|p| p.is_dynamic())
            .map(|p| p.shape.len())
            .sum();
        let actual = self.0.get(start..start + port.shape.len())?;
        let clamped = actual
            .iter()
            .zip(&port.shape)
            .map(|(n, bound)| u64::try_from(*n).unwrap_or_default().min(bound.bound()));
        Some(clamped.collect())
    }
}
