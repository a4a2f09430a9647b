// SPDX-License-Identifier: Apache-2.0
//! Options for composing a graph.

use crate::error::Error;
use skript_frontend::compose;
use skript_frontend::model::AttributeValue;
use skript_frontend::model::storage_types::StorageType;
use skript_import::Origin;
use skript_semantics::{IntType, Numbers, RealType};
use skript_tensor::ElementType;

/// The graph to compose, and values for it.
///
/// ```
/// use skript::ComposeOptions;
/// let options = ComposeOptions::default().graph("G").attribute("depth", 3).input_shape("x", &[4, 3]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ComposeOptions {
    inner: compose::ComposeOptions,
    real: Option<RealType>,
}

impl ComposeOptions {
    /// Selects the graph with this name; the default is the first one of the main module.
    pub fn graph(mut self, name: &str) -> Self {
        self.inner.graph = Some(name.to_owned());
        self
    }

    /// Sets an attribute of the graph; otherwise the attribute has its default.
    pub fn attribute(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.inner.attributes.insert(name.to_owned(), value.into().0);
        self
    }

    /// Fixes the shape of an input that the document leaves dynamic.
    pub fn input_shape(self, name: &str, shape: &[u64]) -> Self {
        self.pack_shapes(name, &[shape.to_vec()])
    }

    /// Fixes the shapes of the items of a pack.
    pub fn pack_shapes(mut self, name: &str, shapes: &[Vec<u64>]) -> Self {
        self.inner.input_shapes.insert(name.to_owned(), shapes.to_vec());
        self
    }

    /// Sets the number of items of a pack without a declared length.
    pub fn pack_length(mut self, name: &str, length: usize) -> Self {
        self.inner.pack_lengths.insert(name.to_owned(), length);
        self
    }

    /// Passes an array for the input instead of its default.
    pub fn given(mut self, name: &str) -> Self {
        self.inner.given_inputs.push(name.to_owned());
        self
    }

    /// Passes no array for the optional input.
    pub fn absent(mut self, name: &str) -> Self {
        self.inner.absent_inputs.push(name.to_owned());
        self
    }

    /// Applies the operators of `@quantize` to the tensors that it names; otherwise, the entries are only kept as metadata.
    pub fn quantize(mut self) -> Self {
        self.inner.simulate_quantization = true;
        self
    }

    /// Sets the element type of `real` tensors: f16, bf16, f32 or f64. The default is f32, or the type of the imported model.
    ///
    /// # Errors
    /// [`Error::Name`] for any other type.
    pub fn real(mut self, name: &str) -> Result<Self, Error> {
        let reals = [RealType::F16, RealType::BF16, RealType::F32, RealType::F64];
        self.real = Some(reals.into_iter().find(|t| t.name() == name).ok_or_else(|| unknown(name))?);
        Ok(self)
    }

    /// Sets the element type of `int` tensors: i8, i16, i32 or i64. The default is i64.
    ///
    /// # Errors
    /// [`Error::Name`] for any other type.
    pub fn int(mut self, name: &str) -> Result<Self, Error> {
        let ints = [IntType::I8, IntType::I16, IntType::I32, IntType::I64];
        self.inner.numbers.int = ints.into_iter().find(|t| t.name() == name).ok_or_else(|| unknown(name))?;
        Ok(self)
    }

    pub(crate) fn selected_graph(&self) -> Option<&str> {
        self.inner.graph.as_deref()
    }

    /// The element type of reals, if it was set.
    pub(crate) fn selected_real(&self) -> Option<RealType> {
        self.real
    }

    /// The composer's options for a document. An imported document adds element types and other names of inputs.
    pub(crate) fn resolved(&self, origin: Option<&Origin>) -> compose::ComposeOptions {
        let mut options = self.inner.clone();
        let imported = origin.and_then(|origin| origin.real).and_then(ElementType::real);
        let real = self.real.or(imported).unwrap_or_default();
        options.numbers = Numbers { real, ..options.numbers };
        if let Some(origin) = origin {
            let shapes = options.input_shapes.into_iter();
            options.input_shapes =
                shapes.map(|(name, shapes)| (origin.input(&name).to_owned(), shapes)).collect();
            let storage = origin.storage.iter();
            options.storage = storage
                .map(|(name, element)| (name.clone(), StorageType::new(element.real(), element.int())))
                .collect();
        }
        options
    }
}

fn unknown(name: &str) -> Error {
    Error::Name(format!("`{name}` is not an element type"))
}

/// A value of an attribute: a bool, an int, a real, a string, or a list of values.
#[derive(Clone, Debug)]
pub struct Value(AttributeValue);

impl From<AttributeValue> for Value {
    fn from(value: AttributeValue) -> Self {
        Value(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value(AttributeValue::Bool(value))
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value(AttributeValue::Int(value))
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value(AttributeValue::Real(value))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value(AttributeValue::Str(value.to_owned()))
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Value(AttributeValue::List(items.into_iter().map(|item| item.into().0).collect()))
    }
}
