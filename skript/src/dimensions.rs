// SPDX-License-Identifier: Apache-2.0
//! The names of dynamic dimensions.

use crate::model::Model;
use skript_frontend::model::{Extent, Function, Port, ShapeExpr};

/// A name for each dimension of each tensor; `None` for static and computed dimensions.
type Names = Vec<Vec<Option<String>>>;

impl Model {
    /// The declared names of the dynamic dimensions of the inputs, in the order of [`Model::inputs`].
    pub fn input_dimensions(&self) -> Names {
        self.entry().map_or(Vec::new(), |f| names(f, &f.inputs))
    }

    /// The declared names of the dynamic dimensions of the outputs, in the order of [`Model::outputs`].
    pub fn output_dimensions(&self) -> Names {
        self.entry().map_or(Vec::new(), |f| names(f, &f.outputs))
    }
}

fn names(function: &Function, ports: &[Port]) -> Names {
    let values = ports.iter().flat_map(|port| port.tensors.values());
    let shapes = values.filter_map(|id| Some(&function.values.get(id.0 as usize)?.tensor.shape));
    shapes.map(|s| s.iter().map(name).collect()).collect()
}

fn name(extent: &Extent) -> Option<String> {
    let Extent::Dynamic { expr, .. } = extent else {
        return None;
    };
    match &**expr {
        // Synthesized names have a dot.
        ShapeExpr::Symbol(name) if !name.contains('.') => Some(name.clone()),
        _ => None,
    }
}
