//! Names, roles, shapes and element types of an exported program's arguments and results.

use super::ExportError;
use crate::mlir::types;
use melior::ir::attribute::{ArrayAttribute, DictionaryAttribute, StringAttribute, TypeAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::r#type::FunctionType;
use melior::ir::{Attribute, OperationRef, Type};
use skript_dialect::melior;

/// One argument or result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    pub name: String,
    /// `input`, `variable` or `output`.
    pub role: String,
    pub shape: Vec<i64>,
    /// `f32`, `i64`, `i1`.
    pub dtype: String,
}

/// Arguments and results, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    pub arguments: Vec<Port>,
    pub results: Vec<Port>,
}

impl Interface {
    /// Reads the entry function.
    pub fn of(entry: OperationRef<'_, '_>) -> Result<Self, ExportError> {
        let r#type = TypeAttribute::try_from(entry.attribute("function_type")?)?.value();
        let function = FunctionType::try_from(r#type)?;
        let arguments = (0..function.input_count())
            .map(|i| port(entry, "arg_attrs", i, function.input(i)?))
            .collect::<Result<_, _>>()?;
        let results = (0..function.result_count())
            .map(|i| port(entry, "res_attrs", i, function.result(i)?))
            .collect::<Result<_, _>>()?;
        Ok(Interface { arguments, results })
    }
}

fn port(
    entry: OperationRef<'_, '_>,
    list: &str,
    position: usize,
    r#type: Type<'_>,
) -> Result<Port, ExportError> {
    let attributes = entry
        .attribute(list)
        .ok()
        .and_then(|a| ArrayAttribute::try_from(a).ok())
        .and_then(|a| a.element(position).ok());
    let text = |name: &str| {
        attributes
            .and_then(|a| entry_of(a, name))
            .unwrap_or_default()
    };
    let shape = types::extents(r#type)
        .ok_or_else(|| ExportError::at(entry, "has an argument that is no tensor"))?;
    let element = types::element_of(r#type).map_or_else(String::new, |e| e.to_string());
    Ok(Port {
        name: text("skript.name"),
        role: text("skript.role"),
        shape,
        dtype: element,
    })
}

/// A string of a dictionary.
fn entry_of(dictionary: Attribute<'_>, name: &str) -> Option<String> {
    let value = DictionaryAttribute::try_from(dictionary)
        .ok()?
        .element_by_name(name)?;
    Some(StringAttribute::try_from(value).ok()?.value().to_owned())
}
