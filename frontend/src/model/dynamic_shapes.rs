// SPDX-License-Identifier: Apache-2.0
//! Shapes of arrays for inputs with dynamic extents.

use super::{Model, PortTensors};

impl Model {
    /// Returns the shapes of the entry's inputs with dynamic extents, given the shapes of the input arrays, in the form
    /// of [`crate::compose::ComposeOptions::input_shapes`]; empty if all extents are static.
    pub fn dynamic_shapes(&self, arrays: &[&[u64]]) -> Vec<(String, Vec<Vec<u64>>)> {
        let Some(entry) = self.function(self.entry) else {
            return Vec::new();
        };
        let mut arrays = arrays.iter().copied();
        let mut shapes = Vec::new();
        for port in &entry.inputs {
            let values = port.tensors.values();
            let arrays: Vec<&[u64]> = arrays.by_ref().take(values.len()).collect();
            let types = values.iter().filter_map(|v| entry.values.get(v.0 as usize));
            let mut extents = types.flat_map(|v| &v.tensor.shape);
            if extents.any(|e| e.fixed().is_none()) {
                shapes.push((port.name.clone(), item_shapes(&port.tensors, &arrays)));
            }
        }
        shapes
    }
}

/// Returns the shape of each tensor of an input; for a stack, the shape of each item.
fn item_shapes(tensors: &PortTensors, arrays: &[&[u64]]) -> Vec<Vec<u64>> {
    match (tensors, arrays) {
        (PortTensors::Stack(_), [stack]) => match stack.split_first() {
            Some((count, item)) => (0..*count).map(|_| item.to_vec()).collect(),
            None => Vec::new(),
        },
        _ => arrays.iter().map(|shape| shape.to_vec()).collect(),
    }
}
