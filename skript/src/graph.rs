// SPDX-License-Identifier: Apache-2.0
//! The operator calls of a graph, for inspection.

use skript_frontend::model::{self, Body, Extent, Function, Operation, ValueId};
use skript_tensor::ElementType;

use crate::port::{Dimension, Port};

/// One operator call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The operator with its module, `nn.conv`.
    pub operator: String,
    /// The label of the call, which qualifies the names of its variables.
    pub label: Option<String>,
    /// Its operands.
    pub inputs: Vec<CallTensor>,
    /// Its results.
    pub outputs: Vec<CallTensor>,
}

/// A tensor between calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTensor {
    /// Its unique number in the graph.
    pub id: u32,
    /// Name, element type and shape; the name is empty if the text has none.
    pub port: Port,
}

pub(crate) fn calls(model: &model::Model) -> Vec<Call> {
    let entry = model.function(model.entry);
    let Some((entry, Body::Block(block))) = entry.map(|f| (f, &f.body)) else {
        return Vec::new();
    };
    let tensors = |ids: &[ValueId]| {
        let tensors = ids.iter().filter_map(|id| tensor(entry, *id));
        tensors.collect()
    };
    let calls = block.operations.iter().filter_map(|operation| {
        let Operation::Invoke(call) = operation else {
            return None;
        };
        Some(Call {
            operator: model.function(call.callee)?.name.clone(),
            label: call.label.clone(),
            inputs: tensors(&call.inputs),
            outputs: tensors(&call.outputs),
        })
    });
    calls.collect()
}

fn tensor(function: &Function, id: ValueId) -> Option<CallTensor> {
    let value = function.values.get(usize::try_from(id.0).ok()?)?;
    let dimension = |extent: &Extent| match extent.fixed() {
        Some(n) => Dimension::Static(n),
        None => Dimension::Dynamic(extent.bound()),
    };
    Some(CallTensor {
        id: id.0,
        port: Port {
            aliases: Vec::new(),
            imported: None,
            name: value.name.clone().unwrap_or_default(),
            element: ElementType::for_kind(value.tensor.kind, function.numbers_of(value)),
            shape: value.tensor.shape.iter().map(dimension).collect(),
        },
    })
}
