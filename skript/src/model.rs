// SPDX-License-Identifier: Apache-2.0
//! A composed graph.

use crate::code::{Code, Output};
use crate::error::Error;
use crate::graph::{self, Call};
use crate::port::Port;
use crate::problem::Problem;
use crate::target::Target;
use crate::weights::Weights;
use skript_frontend::compose::{ComposeOptions, compose};
use skript_frontend::diagnostics::{Sink, nodes};
use skript_frontend::limits::Limits;
use skript_frontend::model;
use skript_frontend::program::Program;
use skript_import::Origin;
use skript_passes::code_cache::Compiler;
use skript_passes::codegen::Interface;
use skript_passes::diagnostics::of_compilation;
use skript_passes::{CompileError, Options, Stop, compile_model, model_after};
use skript_runtime::{Artifact, artifact};
use skript_stablehlo::Weights as ProgramWeights;
use skript_stablehlo::export_model;
use skript_tensor::{ElementType, Tensor, TensorError};
use skript_view::{Histogram, Picture};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// A graph with everything that it invokes, specialized to attribute values, types and shapes.
#[derive(Clone, Debug)]
pub struct Model {
    inner: Arc<model::Model>,
    context: Context,
    interface: Option<Interface>,
}

/// What a model was composed of.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub program: Arc<Program>,
    /// Whether the document is in memory alone, because it was imported.
    pub in_memory: bool,
    pub origin: Arc<Origin>,
    pub options: ComposeOptions,
    pub limits: Limits,
}

/// A model as StableHLO.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The module as MLIR text; `@main` computes the model.
    pub text: String,
    /// Names of the arguments of `@main`: inputs, then variables.
    pub arguments: Vec<String>,
    /// Names of its results: outputs, then updated variables.
    pub results: Vec<String>,
}

impl Model {
    /// # Errors
    /// [`Error::Document`] if composition reports errors.
    pub(crate) fn compose(context: Context) -> Result<Self, Error> {
        let (program, mut sink) = (&context.program, Sink::default());
        let composed = compose(program, &context.options, &context.limits, &mut sink);
        let Some(inner) = composed.filter(|_| !sink.has_errors()) else {
            let problems = Problem::all(sink, &program.sources, context.in_memory);
            return Err(Error::Document(problems));
        };
        let origin = &context.origin;
        let interface = Interface::of(&inner).map(|mut interface| {
            let updates = interface.updates.len();
            let count = interface.outputs.len().saturating_sub(updates);
            let outputs = interface.outputs.get_mut(..count).unwrap_or_default();
            let (names, types) = (imported_inputs(origin), imported_outputs(origin));
            artifact::add_import(&mut interface.inputs, outputs, names, types);
            interface
        });
        Ok(Model { inner: Arc::new(inner), context, interface })
    }

    /// The model for arrays of these shapes, in the order of [`Model::inputs`]: its code is for them alone, and knows all
    /// extents. `None` if the model has no dynamic extents, or does not compose for these shapes.
    pub fn specialized(&self, shapes: &[&[u64]]) -> Option<Model> {
        let shapes = self.inner.dynamic_shapes(shapes);
        if shapes.is_empty() {
            return None;
        }
        let mut context = self.context.clone();
        let names = shapes.iter().map(|(name, _)| name.clone());
        context.options.given_inputs.extend(names);
        context.options.input_shapes.extend(shapes);
        Model::compose(context).ok()
    }

    /// The inputs, in the order of the graph; packs are flattened.
    pub fn inputs(&self) -> Vec<Port> {
        self.ports(|interface| &interface.inputs)
    }

    /// The outputs, in the order of the graph; packs are flattened.
    pub fn outputs(&self) -> Vec<Port> {
        self.output_ports().iter().map(Port::of).collect()
    }

    /// The variables of the graph and of what it invokes.
    pub fn variables(&self) -> Vec<Port> {
        self.ports(|interface| &interface.variables)
    }

    /// The inputs as compiled code has them, with the packs that they are items of.
    pub fn input_ports(&self) -> &[artifact::Port] {
        self.interface.as_ref().map_or(&[], |i| &i.inputs)
    }

    /// The outputs as compiled code has them, with the packs that they are items of.
    pub fn output_ports(&self) -> &[artifact::Port] {
        let Some(interface) = &self.interface else {
            return &[];
        };
        let updates = interface.updates.len();
        let count = interface.outputs.len().saturating_sub(updates);
        interface.outputs.get(..count).unwrap_or_default()
    }

    /// Whether calls give variables new values.
    pub fn updates_variables(&self) -> bool {
        self.interface.as_ref().is_some_and(|i| !i.updates.is_empty())
    }

    fn ports(&self, role: impl Fn(&Interface) -> &Vec<artifact::Port>) -> Vec<Port> {
        let ports = self.interface.iter().flat_map(role);
        ports.map(Port::of).collect()
    }

    pub(crate) fn entry(&self) -> Option<&model::Function> {
        self.inner.function(self.inner.entry)
    }

    /// The name of the graph.
    pub fn name(&self) -> &str {
        let name = self.entry().map_or("", |function| &function.name);
        name.rsplit('.').next().unwrap_or(name)
    }

    /// The values of the variables, in the order of [`Model::variables`].
    ///
    /// # Errors
    /// [`Error::Arrays`] if a variable has no value, or one of another shape or kind.
    pub fn variable_values(&self, weights: &Weights) -> Result<Vec<Tensor>, Error> {
        let interface = self.interface.as_ref();
        interface.map_or(Ok(Vec::new()), |i| weights.load(&i.variables))
    }

    /// The operator calls of the graph, in its order; those inside of branches, loops and operators are not listed.
    pub fn calls(&self) -> Vec<Call> {
        graph::calls(&self.inner)
    }

    /// Compiles the model to native code. The inputs and outputs of an imported model keep their names in it.
    ///
    /// # Errors
    /// [`Error::Compile`] if the model has a construct that compiled code does not support, or LLVM does not know the target.
    pub fn compile(&self, target: &Target) -> Result<Code, Error> {
        let options = options(target);
        let artifact = compile_model(&self.inner, &self.context.program.sources, &options);
        Ok(self.code(artifact.map_err(|e| self.not_compiled(&e))?))
    }

    /// The same, with the user's cache of compiled models, which `skript` has, too, and with plans of `skript tune`.
    /// `compiler` is the file of the program that calls this, or that of another with the same compiler: its length and
    /// time distinguish builds. Without such a cache, the model is compiled.
    ///
    /// # Errors
    /// Those of [`Model::compile`].
    pub fn compile_cached(&self, target: &Target, compiler: &Path) -> Result<Code, Error> {
        let (compiler, sources) = (Compiler::at(compiler), &self.context.program.sources);
        let (options, _) = compiler.tuned(&self.inner, sources, options(target));
        let compiled = compiler.compile(&self.inner, sources, &options);
        let (artifact, ..) = compiled.map_err(|e| self.not_compiled(&e))?;
        Ok(self.code(artifact))
    }

    fn not_compiled(&self, error: &CompileError) -> Error {
        let sources = &self.context.program.sources;
        let diagnostics = of_compilation(error, &self.inner, sources);
        Error::Compile(Problem::of_all(diagnostics, sources, self.context.in_memory))
    }

    fn code(&self, mut artifact: Artifact) -> Code {
        let (names, types) = (imported_inputs(&self.context.origin), imported_outputs(&self.context.origin));
        artifact.add_import(names, types);
        if self.context.in_memory {
            let sources = &self.context.program.sources;
            for check in &mut artifact.checks {
                nodes::name_frames(&mut check.trace, sources);
            }
        }
        Code::new(artifact)
    }

    /// The model in the `skript` dialect of MLIR, as text.
    ///
    /// # Errors
    /// [`Error::Compile`] if the model has a construct that the dialect does not have.
    pub fn to_mlir(&self) -> Result<String, Error> {
        let options = options(&Target::host());
        let text = model_after(&self.inner, &self.context.program.sources, &options, Stop::Skript, true)
            .map_err(|e| self.not_compiled(&e))?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// The model as a StableHLO program whose variables are arguments.
    ///
    /// # Errors
    /// [`Error::Compile`] if a construct has no StableHLO form.
    pub fn to_stablehlo(&self) -> Result<Export, Error> {
        let none = ProgramWeights::default();
        let exported = export_model(&self.inner, &self.context.program.sources, None, &none)?;
        let names = |ports: &[skript_stablehlo::Port]| ports.iter().map(|port| port.name.clone()).collect();
        Ok(Export {
            arguments: names(&exported.ports.arguments),
            results: names(&exported.ports.results),
            text: exported.text,
        })
    }

    /// The model as a page of HTML, as `skript view` writes it: the graph with formulas and shapes, and histograms of the
    /// values that `weights` has. The page needs no network.
    ///
    /// # Errors
    /// [`Error::Arrays`] if a file with arrays cannot be read, or has a variable of another shape or kind.
    pub fn to_html(&self, weights: &Weights) -> Result<String, Error> {
        let mut picture = Picture::of(&self.inner, &self.context.program);
        let (mut wrong, interface) = (Vec::new(), self.interface.as_ref());
        let ports = interface.map_or(&[][..], |interface| &interface.variables);
        for (port, loaded) in ports.iter().zip(weights.load_each(ports)) {
            match loaded {
                Ok(tensor) => {
                    let mut variables = picture.variables.iter_mut();
                    if let Some(variable) = variables.find(|v| v.name == port.name) {
                        variable.histogram = Some(Histogram::of(&tensor));
                    }
                }
                Err(TensorError::Missing { .. }) => {}
                Err(error) => wrong.push(error),
            }
        }
        if wrong.is_empty() { Ok(picture.html()) } else { Err(Error::Arrays(wrong)) }
    }

    /// Evaluates the model by its definition: slow, and independent of the compiler.
    ///
    /// # Errors
    /// [`Error::Name`] if an input has no array, [`Error::Arrays`] if a variable has no value, [`Error::Evaluate`] if
    /// an array does not fit or a run-time check fails.
    pub fn evaluate(&self, inputs: &[(&str, &Tensor)], weights: &Weights) -> Result<Vec<Output>, Error> {
        let interface = self.interface.as_ref();
        let incomplete = || Error::Evaluate("the model's entry is incomplete".to_owned());
        let interface = interface.ok_or_else(incomplete)?;
        let arrays = arranged(&interface.inputs, inputs)?;
        let arrays = declared(&interface.inputs, arrays)?;
        for (port, array) in interface.inputs.iter().zip(&arrays) {
            fits(port, array)?;
        }
        let arrays: Vec<Arc<Tensor>> = arrays.into_iter().map(|array| Arc::new(array.into_owned())).collect();
        let loaded = weights.load(&interface.variables)?;
        let variables: Vec<Arc<Tensor>> = loaded.into_iter().map(Arc::new).collect();
        let outcome = skript_reference::evaluate(&self.inner, &arrays, &variables)
            .map_err(|error| Error::Evaluate(error.failure.to_string()))?;
        let names = self.outputs().into_iter().map(|port| port.name);
        let values = outcome.outputs.iter().map(|tensor| tensor.as_ref().clone());
        Ok(names.zip(values).collect())
    }
}

/// Names of inputs in the graph and in the imported model, and their element types in that, of ints.
fn imported_inputs(origin: &Origin) -> impl Iterator<Item = (&str, &str, Option<ElementType>)> {
    origin.inputs.iter().map(|input| (input.name.as_str(), input.onnx.as_str(), input.ints))
}

/// Names of outputs in the graph and in the imported model, and their element types in that.
fn imported_outputs(origin: &Origin) -> impl Iterator<Item = (&str, &str, ElementType)> {
    origin.outputs.iter().map(|output| (output.name.as_str(), output.onnx.as_str(), output.element))
}

fn options(target: &Target) -> Options {
    Options { target: target.inner.clone(), ..Options::default() }
}

/// The arrays in the order of the ports.
pub(crate) fn arranged<T: Copy>(ports: &[artifact::Port], given: &[(&str, T)]) -> Result<Vec<T>, Error> {
    for (n, (name, _)) in given.iter().enumerate() {
        if !ports.iter().any(|port| port.name == *name) {
            return Err(Error::Name(format!("the model has no input `{name}`")));
        }
        if given.iter().skip(n + 1).any(|(other, _)| other == name) {
            return Err(Error::Name(format!("input `{name}` is passed twice")));
        }
    }
    let array = |port: &artifact::Port| {
        let found = given.iter().find(|(name, _)| *name == port.name);
        found
            .map(|(_, array)| *array)
            .ok_or_else(|| Error::Name(format!("input `{}` has no array", port.name)))
    };
    ports.iter().map(array).collect()
}

/// The arrays of ports, those of ints in the element types of the ports: their values must fit, and be those of the type that an
/// imported model declares.
pub(crate) fn declared<'t>(
    ports: &[artifact::Port],
    arrays: Vec<&'t Tensor>,
) -> Result<Vec<Cow<'t, Tensor>>, Error> {
    let own = |(port, array): (&artifact::Port, &'t Tensor)| {
        let is_own = port.imported.is_none() && port.element == array.element();
        if is_own || !port.element.is_int() || !array.element().is_int() {
            return Ok(Cow::Borrowed(array));
        }
        let what = format!("input `{}`", port.name);
        let converted = array.clone().into_input(&what, port.declared(), port.element);
        converted.map(Cow::Owned).map_err(|e| Error::Arrays(vec![e]))
    };
    ports.iter().zip(arrays).map(own).collect()
}

/// Whether an array has the type and shape of a port.
fn fits(port: &artifact::Port, array: &Tensor) -> Result<(), Error> {
    let extents = port.shape.iter().zip(array.shape());
    let same = extents.clone().count() == port.shape.len().max(array.shape().len())
        && extents.into_iter().all(|(extent, actual)| match extent {
            artifact::PortExtent::Fixed(n) => n == actual,
            artifact::PortExtent::Dynamic(bound) => actual <= bound,
        });
    if same && port.element == array.element() {
        Ok(())
    } else {
        Err(Error::Evaluate(format!(
            "input {} got an array of type {}{:?}",
            Port::of(port),
            array.element(),
            array.shape()
        )))
    }
}
