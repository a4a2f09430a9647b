// SPDX-License-Identifier: Apache-2.0
//! Shapes of arrays for inputs with dynamic extents.

use super::{Model, PortTensors};

impl Model {
    /// The shapes of the inputs of the entry that have dynamic extents, for arrays of these shapes, as
    /// [`crate::compose::ComposeOptions::input_shapes`] has them; empty if none has.
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

/// The shape of each tensor of an input; for a stack, that of each item.
fn item_shapes(tensors: &PortTensors, arrays: &[&[u64]]) -> Vec<Vec<u64>> {
    match (tensors, arrays) {
        (PortTensors::Stack(_), [stack]) => match stack.split_first() {
            Some((count, item)) => (0..*count).map(|_| item.to_vec()).collect(),
            None => Vec::new(),
        },
        _ => arrays.iter().map(|shape| shape.to_vec()).collect(),
    }
}
