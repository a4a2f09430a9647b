// SPDX-License-Identifier: Apache-2.0
//! Adds the intermediate tensors of a model to its outputs, so that two ways of computing it can be compared step by
//! step.

use super::{Block, Body, Model, Operation, Port, PortTensors, ValueId};

impl Model {
    /// The same model with every tensor that the entry graph computes as a separate output, in the order of
    /// computation, before the declared outputs. Tensors inside branches and loops have no single value and are
    /// omitted. Unnamed tensors are named by their number, `%12`.
    pub fn with_intermediates(&self) -> Model {
        let mut model = self.clone();
        let Some(entry) = model.functions.get_mut(self.entry.0 as usize) else {
            return model;
        };
        let Body::Block(block) = &entry.body else {
            return model;
        };
        let declared: Vec<ValueId> = entry.outputs.iter().flat_map(|p| p.tensors.values().to_vec()).collect();
        let mut ports = Vec::new();
        for id in computed(block) {
            if declared.contains(&id) {
                continue;
            }
            let Some(value) = entry.values.get(id.0 as usize) else {
                continue;
            };
            // Iteration counts have no storage type, which an output needs.
            if value.wide {
                continue;
            }
            ports.push(Port {
                name: value.name.clone().unwrap_or_else(|| format!("%{}", id.0)),
                tensors: PortTensors::Single(id),
                span: value.span,
            });
        }
        ports.append(&mut entry.outputs);
        entry.outputs = ports;
        model
    }
}

/// The tensors that the operations of a block compute, in order, without those of nested blocks.
fn computed(block: &Block) -> Vec<ValueId> {
    let mut values = Vec::new();
    for operation in &block.operations {
        match operation {
            Operation::Invoke(invoke) => values.extend(&invoke.outputs),
            Operation::Constant { .. } => {}
            Operation::If { outputs, .. } => values.extend(outputs),
            Operation::Cut { output, .. } => values.push(*output),
            Operation::Loop(l) => {
                values.extend(l.carried.iter().map(|c| c.result));
                values.extend(l.scan_outputs.iter().flatten());
            }
        }
    }
    values
}
