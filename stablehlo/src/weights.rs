// SPDX-License-Identifier: Apache-2.0
//! Weights that become constants of a program instead of arguments.

use super::error::ExportError;
use super::interface::{Interface, Port};
use super::tensors::Tensors;
use melior::ir::{Type, Value};
use skript_dialect::melior;
use skript_frontend::model::ConstantData;
use skript_passes::ir::{attributes, dense, types};
use skript_tensor::{ElementType, Tensor};
use std::collections::HashMap;

/// Values of variables by name, with the types of the program's arguments.
pub type Weights = HashMap<String, Tensor>;

/// The weight for each argument. A variable that the program updates remains an argument: the caller stores it between
/// runs.
pub fn held<'w>(interface: &Interface, weights: &'w Weights) -> Vec<Option<&'w Tensor>> {
    let arguments = interface.arguments.iter();
    let changes = |port: &Port| {
        let new = |result: &Port| result.role == port.role && result.name == port.name;
        interface.results.iter().any(new)
    };
    let constant = |port: &&Port| port.role == "variable" && !changes(port);
    arguments.map(|port| Some(port).filter(constant).and_then(|port| weights.get(&port.name))).collect()
}

/// The element type of weight files for an element type of the program.
pub fn element_type(name: &str) -> Option<ElementType> {
    match name {
        "i1" => Some(ElementType::Bool),
        name => skript_intrinsics::description::element(name),
    }
}

/// The constant that replaces an argument of this type.
pub(crate) fn constant<'c: 'a, 'a>(
    tensor: &Tensor,
    r#type: Type<'c>,
    at: &Tensors<'c, 'a>,
) -> Result<Value<'c, 'a>, ExportError> {
    let shape: Vec<i64> = tensor.shape().iter().map(|e| e.cast_signed()).collect();
    let element = types::element_of(r#type).and_then(|e| element_type(&e.to_string()));
    if types::extents(r#type) != Some(shape) || element != Some(tensor.element()) {
        return Err(ExportError::Weights {
            given: format!("{}{:?}", tensor.element(), tensor.shape()),
            wanted: r#type.to_string(),
        });
    }
    let elements = match tensor.as_bool_bytes() {
        Some(bytes) => {
            let values = ConstantData::Bool(bytes.iter().map(|b| *b != 0).collect());
            attributes::elements(at.at.context, &values, r#type)
        }
        None => Some(dense::of_bytes(r#type, tensor.bytes())),
    };
    let elements = elements.ok_or(ExportError::Invalid)?;
    Ok(at.constant(elements, r#type))
}
