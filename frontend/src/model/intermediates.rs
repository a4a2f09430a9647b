// SPDX-License-Identifier: Apache-2.0
//! Adds the intermediate tensors of a model to its outputs, so that two ways of computing it can be compared step by
//! step.

use super::{Block, Body, Function, FunctionId, Model, Operation, Port, PortTensors, Value, ValueId};

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
                name: port_name(value, id),
                tensors: PortTensors::Single(id),
                span: value.span,
            });
        }
        ports.append(&mut entry.outputs);
        entry.outputs = ports;
        model
    }

    /// The same model with these tensors as its outputs, in this order, instead of the declared outputs. A tensor is in the block of the
    /// entry graph, or in that of an operator: its path has the positions of the invocations, from the entry graph inwards. `None` if
    /// a path leads to no tensor, or to a tensor of an operator whose extents are dynamic.
    pub fn with_outputs(&self, tensors: &[(Vec<usize>, ValueId)]) -> Option<Model> {
        let mut model = self.clone();
        let mut entry = self.function(self.entry)?.clone();
        let wanted: Vec<Wanted> = tensors.iter().map(|(path, id)| (path.as_slice(), *id)).collect();
        let ids = model.expose(&mut entry, &wanted)?;
        entry.outputs = ports(&entry, &ids)?;
        *model.functions.get_mut(self.entry.0 as usize)? = entry;
        Some(model)
    }

    /// Adds the tensors of invoked operators as results of the invocations. Returns the tensors of the function.
    fn expose(&mut self, function: &mut Function, wanted: &[Wanted]) -> Option<Vec<ValueId>> {
        let mut ids: Vec<ValueId> = wanted.iter().map(|(_, id)| *id).collect();
        let mut positions: Vec<usize> = wanted.iter().filter_map(|(path, _)| path.first().copied()).collect();
        positions.sort_unstable();
        positions.dedup();
        for position in positions {
            let inside = (0..wanted.len())
                .filter(|at| wanted.get(*at).is_some_and(|(path, _)| path.first() == Some(&position)));
            let inside: Vec<usize> = inside.collect();
            let below: Vec<Wanted> = inside
                .iter()
                .filter_map(|at| wanted.get(*at))
                .filter_map(|(path, id)| Some((path.get(1..)?, *id)))
                .collect();
            let Body::Block(block) = &mut function.body else {
                return None;
            };
            let Operation::Invoke(invoke) = block.operations.get_mut(position)? else {
                return None;
            };
            let mut callee = self.function(invoke.callee)?.clone();
            let results = self.expose(&mut callee, &below)?;
            callee.outputs.extend(ports(&callee, &results)?);
            for (at, result) in inside.into_iter().zip(results) {
                let value = callee.values.get(result.0 as usize)?;
                value.tensor.fixed_shape()?;
                let id = ValueId(u32::try_from(function.values.len()).ok()?);
                function.values.push(value.clone());
                invoke.outputs.push(id);
                *ids.get_mut(at)? = id;
            }
            invoke.callee = FunctionId(u32::try_from(self.functions.len()).ok()?);
            self.functions.push(callee);
        }
        Some(ids)
    }
}

/// A tensor, and the path of invocations to it.
type Wanted<'a> = (&'a [usize], ValueId);

/// An output for each of these tensors.
fn ports(function: &Function, ids: &[ValueId]) -> Option<Vec<Port>> {
    let ports = ids.iter().map(|id| {
        let value = function.values.get(id.0 as usize)?;
        Some(Port { name: port_name(value, *id), tensors: PortTensors::Single(*id), span: value.span })
    });
    ports.collect()
}

/// The name of a tensor as an output: unnamed tensors are named by their number, `%12`.
fn port_name(value: &Value, id: ValueId) -> String {
    value.name.clone().unwrap_or_else(|| format!("%{}", id.0))
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
