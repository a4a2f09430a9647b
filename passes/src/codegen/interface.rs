// SPDX-License-Identifier: Apache-2.0
//! The interface of a compiled model: names, element types and shapes, in the order of the entry's arguments.

use skript_frontend::model::{Extent, Function, Model, Port, PortTensors, TensorType, ValueId};
use skript_runtime::artifact::{self, Artifact, PackPlace, PortExtent};
use skript_semantics::Numbers;
use skript_tensor::ElementType;

/// Ports in the order of the entry's arguments and results.
#[derive(Clone, Debug, Default)]
pub struct Interface {
    /// The inputs, in the order of the entry's arguments.
    pub inputs: Vec<artifact::Port>,
    /// The variables, in the order of the arguments after the inputs.
    pub variables: Vec<artifact::Port>,
    /// The outputs, in the order of the graph.
    pub outputs: Vec<artifact::Port>,
    /// Pairs of a variable and the output with its new value.
    pub updates: Vec<(u32, u32)>,
}

impl Interface {
    /// Returns the interface of a model's entry: inputs with packs flattened, variables in the order of the entry's captures,
    /// outputs, then updates. `None` if the model has dangling references.
    pub fn from_model(model: &Model) -> Option<Interface> {
        let entry = model.function(model.entry)?;
        let mut variables = Vec::with_capacity(entry.capture_variables.len());
        for id in &entry.capture_variables {
            let variable = model.variable(*id)?;
            variables.push(artifact::Port {
                name: variable.name.clone(),
                aliases: variable.aliases.clone(),
                ..port(&variable.tensor, String::new(), variable.numbers)
            });
        }
        let mut outputs = ports(entry, &entry.outputs)?;
        let mut updates = Vec::with_capacity(model.updates.len());
        for (id, value) in &model.updates {
            let position = entry.capture_variables.iter().position(|v| v == id)?;
            updates.push((u32::try_from(position).ok()?, u32::try_from(outputs.len()).ok()?));
            let name = model.variable(*id)?.name.clone();
            let (tensor, numbers) = tensor(entry, *value)?;
            outputs.push(port(tensor, name, numbers));
        }
        Some(Interface { inputs: ports(entry, &entry.inputs)?, variables, outputs, updates })
    }

    /// Whether an artifact has this interface. This rejects an artifact that was stored under the wrong key: callers would pass
    /// buffers of wrong sizes to its code.
    pub fn is_of(&self, artifact: &Artifact) -> bool {
        self.inputs == artifact.inputs
            && self.variables == artifact.variables
            && self.outputs == artifact.outputs
            && self.updates == artifact.updates
    }
}

fn tensor(function: &Function, id: ValueId) -> Option<(&TensorType, Numbers)> {
    let value = function.values.get(id.0 as usize)?;
    Some((&value.tensor, function.numbers_of(value)))
}

fn port(tensor: &TensorType, name: String, numbers: Numbers) -> artifact::Port {
    let extent = |e: &Extent| match e {
        Extent::Fixed(n) => PortExtent::Fixed(*n),
        Extent::Dynamic { bound, .. } => PortExtent::Dynamic(*bound),
    };
    artifact::Port {
        name,
        aliases: Vec::new(),
        element: ElementType::for_kind(tensor.kind, numbers),
        imported: None,
        shape: tensor.shape.iter().map(extent).collect(),
        pack: None,
    }
}

/// Returns the ports of all tensors. A port has the declared name, such as `x`; the items of a pack are named `xs:1`, `xs:2`.
fn ports(function: &Function, declared: &[Port]) -> Option<Vec<artifact::Port>> {
    let mut ports = Vec::new();
    for declaration in declared {
        let values = declaration.tensors.values();
        let is_pack = matches!(declaration.tensors, PortTensors::Pack(_));
        for (position, id) in values.iter().enumerate() {
            let (tensor, numbers) = tensor(function, *id)?;
            if is_pack {
                let mut item = port(tensor, format!("{}:{}", declaration.name, position + 1), numbers);
                item.pack = Some(PackPlace {
                    name: declaration.name.clone(),
                    position: u32::try_from(position).ok()?,
                    length: u32::try_from(values.len()).ok()?,
                });
                ports.push(item);
            } else {
                ports.push(port(tensor, declaration.name.clone(), numbers));
            }
        }
    }
    Some(ports)
}
