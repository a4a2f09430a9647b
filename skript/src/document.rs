// SPDX-License-Identifier: Apache-2.0
//! Parsed and checked text.

use crate::error::Error;
use crate::model::Model;
use crate::problem::{Problem, Severity};
use skript_frontend::check::check_program;
use skript_frontend::compose;
use skript_frontend::diagnostics::Sink;
use skript_frontend::limits::Limits;
use skript_frontend::model::AttributeValue;
use skript_frontend::program::{Edition, Program};
use skript_frontend::source_files::{load_program, load_text};
use skript_semantics::{IntType, Numbers, RealType};
use std::path::Path;
use std::sync::Arc;

/// A main module and all that it imports, checked.
#[derive(Debug)]
pub struct Document {
    program: Arc<Program>,
    limits: Limits,
    problems: Vec<Problem>,
}

/// The graph to compose, and values for it.
///
/// ```
/// use skript::ComposeOptions;
/// let options = ComposeOptions::default().graph("G").attribute("depth", 3).input_shape("x", &[4, 3]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ComposeOptions {
    inner: compose::ComposeOptions,
}

impl ComposeOptions {
    /// Selects the graph with this name; the default is the first one of the main module.
    pub fn graph(mut self, name: &str) -> Self {
        self.inner.graph = Some(name.to_owned());
        self
    }

    /// Sets an attribute of the graph; otherwise the attribute has its default.
    pub fn attribute(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.inner
            .attributes
            .insert(name.to_owned(), value.into().0);
        self
    }

    /// Fixes the shape of an input that the document leaves dynamic.
    pub fn input_shape(mut self, name: &str, shape: &[u64]) -> Self {
        self.inner
            .input_shapes
            .insert(name.to_owned(), vec![shape.to_vec()]);
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

    /// Sets the element types of `real` tensors (f16, bf16, f32, f64) and of `int` tensors (i8, i16, i32, i64); the
    /// defaults are f32 and i64.
    ///
    /// # Errors
    /// [`Error::Name`] for any other type.
    pub fn element_types(mut self, real: &str, int: &str) -> Result<Self, Error> {
        let unknown = |name: &str| Error::Name(format!("`{name}` is not an element type"));
        let reals = [RealType::F16, RealType::BF16, RealType::F32, RealType::F64];
        let ints = [IntType::I8, IntType::I16, IntType::I32, IntType::I64];
        self.inner.numbers = Numbers {
            real: *reals
                .iter()
                .find(|t| t.name() == real)
                .ok_or_else(|| unknown(real))?,
            int: *ints
                .iter()
                .find(|t| t.name() == int)
                .ok_or_else(|| unknown(int))?,
        };
        Ok(self)
    }
}

/// A value of an attribute: a bool, an int, a real, a string, or a list of values.
#[derive(Clone, Debug)]
pub struct Value(AttributeValue);

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
        let items = items.into_iter().map(|item| item.into().0);
        Value(AttributeValue::List(items.collect()))
    }
}

impl Document {
    /// Reads a model folder with a `main.sknd`, or a single file, and checks it. Imports are resolved in the folder,
    /// then in the standard library. All errors, including files that cannot be read, are in [`Document::problems`].
    pub fn open(path: &Path, edition: Option<Edition>, limits: &Limits) -> Self {
        let mut sink = Sink::default();
        let program = load_program(path, edition, limits, &mut sink);
        Self::checked(program, limits, sink)
    }

    /// Parses a text and checks it. Locations of problems have `name` as their path; imports are resolved beside it.
    pub fn parse(name: &str, text: &str, limits: &Limits) -> Self {
        let mut sink = Sink::default();
        let program = load_text(text, Path::new(name), None, limits, &mut sink);
        Self::checked(program, limits, sink)
    }

    fn checked(program: Program, limits: &Limits, mut sink: Sink) -> Self {
        if program.main_module().is_some() {
            check_program(&program, &mut sink);
        }
        let problems = Problem::all(sink, &program.sources);
        Document {
            program: Arc::new(program),
            limits: limits.clone(),
            problems,
        }
    }

    /// All errors and warnings in the order of the text.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Names of the graphs of the main module, in its order.
    pub fn graphs(&self) -> Vec<&str> {
        use skript_frontend::ast::DefinitionKind;
        let main = self.program.main_module().into_iter();
        let graphs = main
            .flat_map(|module| &module.definitions)
            .filter(|definition| definition.kind == DefinitionKind::Graph);
        graphs.map(|graph| graph.name.name.as_str()).collect()
    }

    /// Specializes a graph and everything that it invokes to attribute values, types and shapes.
    ///
    /// # Errors
    /// [`Error::Document`] if the document has errors or composition reports some; [`Error::Name`] if there is no such
    /// graph.
    pub fn compose(&self, options: &ComposeOptions) -> Result<Model, Error> {
        let errors = self.problems.iter();
        let errors: Vec<Problem> = errors
            .filter(|p| p.severity == Severity::Error)
            .cloned()
            .collect();
        if !errors.is_empty() {
            return Err(Error::Document(errors));
        }
        let known = self.graphs();
        let wanted = options.inner.graph.as_deref();
        if known.is_empty() || wanted.is_some_and(|name| !known.contains(&name)) {
            return Err(Error::Name(match wanted {
                Some(name) => format!("the main module has no graph `{name}`"),
                None => "the main module has no graph".to_owned(),
            }));
        }
        let mut sink = Sink::default();
        let composed = compose::compose(&self.program, &options.inner, &self.limits, &mut sink);
        match composed {
            Some(model) if !sink.has_errors() => Ok(Model::new(model, Arc::clone(&self.program))),
            _ => Err(Error::Document(Problem::all(sink, &self.program.sources))),
        }
    }
}
