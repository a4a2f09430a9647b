// SPDX-License-Identifier: Apache-2.0
//! The extents of dynamic tensors, which callers and compiled code pass to each other.

use crate::artifact::{Artifact, Port};

/// The extents of all dynamic tensors of a call, in the order of the ports.
#[derive(Debug, Default)]
pub(crate) struct Extents(Vec<i64>);

impl Extents {
    /// An empty list with capacity for `count` extents.
    pub(crate) fn with_capacity(count: usize) -> Self {
        Extents(Vec::with_capacity(count))
    }

    /// Sets the extents of a call from the shapes of inputs and variables. Outputs get their upper bounds.
    pub(crate) fn set<'t>(&mut self, artifact: &Artifact, shapes: impl IntoIterator<Item = &'t [u64]>) {
        self.0.clear();
        let read = artifact.inputs.iter().chain(&artifact.variables);
        for (port, shape) in read.zip(shapes) {
            if port.is_dynamic() {
                // Shapes were compared with upper bounds below 2⁴⁰.
                self.0.extend(shape.iter().map(|n| n.cast_signed()));
            }
        }
        for port in artifact.outputs.iter().filter(|p| p.is_dynamic()) {
            self.0.extend(bounds(port));
        }
    }

    /// Resets the extents of outputs to their upper bounds, for another call with the same inputs.
    pub(crate) fn bound_outputs(&mut self, artifact: &Artifact) {
        let outputs = artifact.outputs.iter().filter(|p| p.is_dynamic());
        let bounds: Vec<i64> = outputs.flat_map(bounds).collect();
        let kept = self.0.len().saturating_sub(bounds.len());
        self.0.truncate(kept);
        self.0.extend(bounds);
    }

    /// Adds a pointer for each dynamic tensor.
    pub(crate) fn add_pointers(&mut self, artifact: &Artifact, pointers: &mut Vec<*mut u8>) {
        let mut next = self.0.as_mut_ptr();
        for port in artifact.ports().filter(|p| p.is_dynamic()) {
            pointers.push(next.cast());
            next = next.wrapping_add(port.shape.len());
        }
    }

    /// All extents.
    pub(crate) fn values(&self) -> &[i64] {
        &self.0
    }

    /// Replaces all extents.
    pub(crate) fn replace(&mut self, values: &[i64]) {
        self.0.clear();
        self.0.extend(values);
    }

    /// The actual extents of an output after a call; `None` beyond the outputs.
    pub(crate) fn of_output(&self, artifact: &Artifact, position: usize) -> Option<Vec<u64>> {
        let port = artifact.outputs.get(position)?;
        if !port.is_dynamic() {
            return Some(port.shape.iter().map(|e| e.bound()).collect());
        }
        let before = artifact.inputs.len() + artifact.variables.len() + position;
        let start: usize =
            artifact.ports().take(before).filter(|p| p.is_dynamic()).map(|p| p.shape.len()).sum();
        let actual = self.0.get(start..start + port.shape.len())?;
        let clamped =
            actual.iter().zip(&port.shape).map(|(n, bound)| (*n).max(0).cast_unsigned().min(bound.bound()));
        Some(clamped.collect())
    }
}

/// The upper bounds of a tensor's extents.
fn bounds(port: &Port) -> impl Iterator<Item = i64> {
    port.shape.iter().map(|e| e.bound().cast_signed())
}
