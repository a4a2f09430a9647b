// SPDX-License-Identifier: Apache-2.0
//! Selects the textual form of values that are known at import.

use std::rc::Rc;

use skript_tensor::{ElementType, Tensor};

use crate::extent::Extent;
use crate::literals::real_text;
use crate::tensor::of_items;
use crate::value::{Item, Value};

/// Maximum number of elements of a constant in the text.
const MAX_IN_TEXT: usize = 8;

/// The textual form of a known value.
#[derive(Debug, PartialEq)]
pub enum Written {
    /// A scalar.
    Literal(String),
    /// A scalar that depends on dynamic dimensions.
    Extent(Extent),
    /// A vector that depends on dynamic dimensions.
    Extents(Vec<Extent>),
    /// A tensor without elements.
    Empty,
    /// A larger tensor of equal elements.
    Uniform(String),
    /// A small constant.
    Few(String),
    /// An array of the weights.
    Variable,
}

/// The form of a value that no statement computes.
pub fn written(value: &Value) -> Written {
    let Some(known) = &value.known else {
        return Written::Variable;
    };
    let literal = |item: &Item| match item {
        Item::Bool(truth) => Some(truth.to_string()),
        Item::Real(number) if number.is_nan() => None,
        Item::Real(number) => Some(real_text(value.element, *number)),
        Item::Int(extent) => extent.value().map(|v| v.to_string()),
    };
    let literals: Option<Vec<String>> = known.iter().map(literal).collect();
    let Some(texts) = literals else {
        return match (known.as_slice(), value.rank()) {
            ([Item::Int(extent)], 0) => Written::Extent(extent.clone()),
            _ => value.extents().map_or(Written::Variable, Written::Extents),
        };
    };
    if known.len() == 1 && value.rank() == 0 {
        return Written::Literal(texts.concat());
    }
    let first = texts.first();
    let uniform = first.filter(|first| texts.iter().all(|t| t == *first));
    let few = texts.len() <= MAX_IN_TEXT && (!value.is_real() || texts.len() == 1);
    match uniform {
        _ if texts.is_empty() => Written::Empty,
        Some(text) if few => Written::Few(text.clone()),
        Some(text) => Written::Uniform(text.clone()),
        None if few => Written::Few(format!("[{}]", texts.join(", "))),
        None => Written::Variable,
    }
}

/// The array of a value; `None` if its elements are unknown.
pub fn tensor_of(value: &Value) -> Option<Rc<Tensor>> {
    if let Some(tensor) = &value.tensor {
        if tensor.element() != ElementType::U64 {
            return Some(tensor.clone());
        }
        // Unsigned 64-bit ints are represented by signed ints with the same bits.
        let ints = Tensor::from_bytes(ElementType::I64, tensor.shape(), tensor.bytes());
        return ints.ok().map(Rc::new);
    }
    let shape: Option<Vec<u64>> = value.shape.iter().map(|e| u64::try_from(e.value()?).ok()).collect();
    let (shape, items) = shape.zip(value.known.as_ref())?;
    let element = match value.element {
        ElementType::U64 => ElementType::I64,
        element => element,
    };
    of_items(element, &shape, items)
}
