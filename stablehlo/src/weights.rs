// SPDX-License-Identifier: Apache-2.0
//! Weights that a program contains: constants instead of arguments.

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

/// The value for each argument. A variable that runs update has none: the caller keeps it between runs.
pub fn held<'w>(interface: &Interface, weights: &'w Weights) -> Vec<Option<&'w Tensor>> {
    let arguments = interface.arguments.iter();
    let changes = |port: &Port| {
        let new = |result: &Port| result.role == port.role && result.name == port.name;
        interface.results.iter().any(new)
    };
    let constant = |port: &&Port| port.role == "variable" && !changes(port);
    let values = arguments.map(|port| Some(port).filter(constant).map(|port| &port.name));
    values.map(|name| weights.get(name?)).collect()
}

/// The element type in weight files for a type of the program.
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
    let extents = types::extents(r#type).unwrap_or_default();
    let shape = tensor.shape().iter().map(|e| e.cast_signed());
    let element = types::element_of(r#type).and_then(|e| element_type(&e.to_string()));
    if !shape.eq(extents) || element != Some(tensor.element()) {
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
    Ok(at.constant(elements, r#type)?)
}
