// SPDX-License-Identifier: Apache-2.0
//! Names, roles, shapes and element types of an exported program's arguments and results.

use super::ExportError;
use melior::ir::attribute::{ArrayAttribute, IntegerAttribute, StringAttribute};
use melior::ir::operation::OperationLike;

use melior::ir::{Attribute, OperationRef, Type};
use skript_dialect::melior;
use skript_passes::ir::attribute_names;
use skript_passes::ir::func::function_type;
use skript_passes::ir::{attributes, types};

/// One argument or result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// The name in the model.
    pub name: String,
    /// `input`, `variable`, `output`, or `extent`.
    pub role: String,
    /// The extents, outermost first.
    pub shape: Vec<i64>,
    /// `f32`, `i64`, `i1`; `i32` for extents.
    pub dtype: String,
    /// For the role `extent`: the name of the tensor, and the dimension.
    pub extent_of: Option<(String, i64)>,
}

/// Arguments and results, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// The arguments of `main`, in order: inputs, then variables.
    pub arguments: Vec<Port>,
    /// The results of `main`, in order.
    pub results: Vec<Port>,
}

impl Interface {
    /// Reads the entry function.
    ///
    /// # Errors
    /// [`ExportError`] if the operation is not a function whose arguments and results are named tensors.
    pub fn new(entry: OperationRef<'_, '_>) -> Result<Self, ExportError> {
        let function = function_type(entry)?;
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
    let described = entry
        .attribute(list)
        .ok()
        .and_then(|a| ArrayAttribute::try_from(a).ok())
        .and_then(|a| a.element(position).ok());
    // Arguments of entries have all these attributes; other functions have none.
    let text = |name: &str| described.and_then(|a| entry_of(a, name)).unwrap_or_default();
    let extent_of = described
        .and_then(|a| attributes::entry(a, attribute_names::DIMENSION))
        .and_then(|a| IntegerAttribute::try_from(a).ok())
        .map(|dimension| (text(attribute_names::EXTENT_OF), dimension.value()));
    let shape = match types::extents(r#type) {
        Some(shape) => shape,
        // Extents are scalars in the source and tensors of rank 0 in the program.
        None if extent_of.is_some() => Vec::new(),
        None => {
            return Err(ExportError::new(entry, "has an argument that is not a tensor"));
        }
    };
    let element = types::element_of(r#type).unwrap_or(r#type).to_string();
    Ok(Port {
        name: text(attribute_names::NAME),
        role: text(attribute_names::ROLE),
        shape,
        dtype: element,
        extent_of,
    })
}

/// A string of a dictionary.
fn entry_of(dictionary: Attribute<'_>, name: &str) -> Option<String> {
    let value = attributes::entry(dictionary, name)?;
    Some(StringAttribute::try_from(value).ok()?.value().to_owned())
}
