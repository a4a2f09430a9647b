// SPDX-License-Identifier: Apache-2.0
//! A composed graph.

use crate::code::{Code, Output};
use crate::compiler::Compiler;
use crate::error::{Error, NotCompiled};
use crate::graph::{self, Call};
use crate::port::Port;
use crate::positions;
use crate::problem::{Locations, Problem};
use crate::target::Target;
use crate::weights::Weights;
use skript_frontend::compose::{ComposeOptions, compose};
use skript_frontend::diagnostics::{Sink, nodes};
use skript_frontend::limits::Limits;
use skript_frontend::model::{self, Extent};
use skript_frontend::program::Program;
use skript_frontend::source::SourceMap;
use skript_import::Origin;
use skript_passes::codegen::Interface;
use skript_passes::diagnostics::of_compilation;
use skript_passes::{CompileError, Stop, SumsOfProducts, sums_of_products};
use skript_reference::Outcome;
use skript_runtime::{Artifact, artifact, files};
use skript_stablehlo::Weights as ProgramWeights;
use skript_stablehlo::export_model;
use skript_tensor::{ElementType, Tensor, TensorError, VariableRequest};
use skript_view::{Histogram, Picture};
use std::borrow::Cow;
use std::sync::Arc;

/// A graph with everything that it invokes, specialized to attribute values, types and shapes.
#[derive(Clone, Debug)]
pub struct Model {
    inner: Arc<model::Model>,
    context: Context,
    interface: Option<Interface>,
}

/// The document and the options that a model was composed from.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub program: Arc<Program>,
    pub locations: Locations,
    pub origin: Option<Arc<Origin>>,
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
    /// Names of the results of `@main`: outputs, then updated variables.
    pub results: Vec<String>,
}

impl Model {
    pub(crate) fn compose(context: Context, sink: &mut Sink) -> Option<Self> {
        let inner = compose(&context.program, &context.options, &context.limits, sink)?;
        positions::misfits(&inner).into_iter().for_each(|misfit| sink.report(misfit));
        Some(Model::new(inner, context))
    }

    fn new(inner: model::Model, context: Context) -> Self {
        let interface = Interface::from_model(&inner).map(|mut interface| {
            let updates = interface.updates.len();
            let count = interface.outputs.len().saturating_sub(updates);
            let (outputs, _) = interface.outputs.split_at_mut(count);
            let origin = context.origin.as_deref();
            artifact::add_import(
                &mut interface.inputs,
                outputs,
                imported_inputs(origin),
                imported_outputs(origin),
            );
            interface
        });
        Model { inner: Arc::new(inner), context, interface }
    }

    /// The functions for the compiler's crates. Their interface changes without notice.
    pub fn ir(&self) -> &model::Model {
        &self.inner
    }

    /// The origin of an imported model.
    pub fn origin(&self) -> Option<&Origin> {
        self.context.origin.as_deref()
    }

    /// The limits of the document.
    pub(crate) fn limits(&self) -> &Limits {
        &self.context.limits
    }

    /// The modules of the document.
    pub(crate) fn program(&self) -> &Program {
        &self.context.program
    }

    /// The texts of all modules.
    pub fn sources(&self) -> &SourceMap {
        &self.context.program.sources
    }

    /// The model specialized to arrays of these shapes, in the order of [`Model::inputs`]; all its extents are static. `None` if the
    /// model has no dynamic extents, or does not compose for these shapes.
    pub fn specialized(&self, shapes: &[&[u64]]) -> Option<Model> {
        let shapes = self.inner.dynamic_shapes(shapes);
        if shapes.is_empty() { None } else { self.with_shapes(shapes).ok() }
    }

    /// The model specialized to these shapes of inputs, by name; a pack has one shape for each item.
    ///
    /// # Errors
    /// [`Error::Document`] if the model does not compose for these shapes.
    pub fn with_shapes(&self, shapes: Vec<(String, Vec<Vec<u64>>)>) -> Result<Model, Error> {
        let mut context = self.context.clone();
        for (name, shapes) in shapes {
            let name = context.origin.as_ref().map_or(name.as_str(), |origin| origin.input(&name)).to_owned();
            context.options.given_inputs.push(name.clone());
            context.options.input_shapes.insert(name, shapes);
        }
        let mut sink = Sink::default();
        let model = Model::compose(context, &mut sink).filter(|_| !sink.has_errors());
        let problems = || Problem::all(sink.into_sorted(), self.sources(), self.context.locations);
        model.ok_or_else(|| Error::Document(problems()))
    }

    /// The model with every tensor of the graph as an output.
    pub fn with_intermediates(&self) -> Model {
        Model::new(self.inner.with_intermediates(), self.context.clone())
    }

    /// The model with these tensors as its only outputs, each with the path of invocations to it; `None` if one of them cannot be an
    /// output. This interface is for the compiler's crates, and changes without notice.
    pub fn with_outputs(&self, tensors: &[(Vec<usize>, model::ValueId)]) -> Option<Model> {
        Some(Model::new(self.inner.with_outputs(tensors)?, self.context.clone()))
    }

    /// The numbers of sums of products that code of the model computes in bytes and in reals. This interface is for the compiler's
    /// crates, and changes without notice.
    ///
    /// # Errors
    /// [`Error::Compile`] if the model is not compiled.
    pub fn sums_of_products(&self, compiler: &Compiler) -> Result<SumsOfProducts, Error> {
        let options = compiler.options_for(self.origin());
        let sums = sums_of_products(&self.inner, self.sources(), &options);
        sums.map_err(|error| self.not_compiled(&error))
    }

    /// The inputs, in the order of the graph; packs are flattened.
    pub fn inputs(&self) -> Vec<Port> {
        self.ports(|interface| &interface.inputs)
    }

    /// The outputs, in the order of the graph; packs are flattened.
    pub fn outputs(&self) -> Vec<Port> {
        self.output_ports().iter().map(Port::new).collect()
    }

    /// The variables of the graph and of the operators that it invokes.
    pub fn variables(&self) -> Vec<Port> {
        self.ports(|interface| &interface.variables)
    }

    /// The inputs of compiled code, with the packs that they are items of.
    pub fn input_ports(&self) -> &[artifact::Port] {
        self.interface.as_ref().map_or(&[], |i| &i.inputs)
    }

    /// The outputs of compiled code, with the packs that they are items of.
    pub fn output_ports(&self) -> &[artifact::Port] {
        let Some(interface) = &self.interface else {
            return &[];
        };
        let updates = interface.updates.len();
        let count = interface.outputs.len().saturating_sub(updates);
        interface.outputs.split_at(count).0
    }

    /// Whether calls update variables.
    pub fn updates_variables(&self) -> bool {
        self.interface.as_ref().is_some_and(|i| !i.updates.is_empty())
    }

    fn ports(&self, role: impl Fn(&Interface) -> &Vec<artifact::Port>) -> Vec<Port> {
        let ports = self.interface.iter().flat_map(role);
        ports.map(Port::new).collect()
    }

    pub(crate) fn locations(&self) -> Locations {
        self.context.locations
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
    /// [`Error::Arrays`] if a variable has no value, or a value with a wrong shape or kind.
    pub fn variable_values(&self, weights: &Weights) -> Result<Vec<Tensor>, Error> {
        let interface = self.interface.as_ref();
        interface.map_or(Ok(Vec::new()), |i| weights.of_ports(&i.variables))
    }

    /// The operator calls of the graph in order, without calls inside of branches, loops and operators.
    pub fn calls(&self) -> Vec<Call> {
        graph::calls(&self.inner)
    }

    /// Compiles the model to native code, in which the inputs and outputs of an imported model keep their names.
    ///
    /// # Errors
    /// [`Error::Compile`] if the model has a construct that compiled code does not support, or LLVM does not support the target.
    pub fn compile(&self, target: &Target) -> Result<Code, Error> {
        let compiled = Compiler::new(target).compile(self)?;
        Ok(self.with_names(compiled.artifact))
    }

    pub(crate) fn not_compiled(&self, error: &CompileError) -> Error {
        let diagnostics = of_compilation(error, &self.inner, self.sources());
        Error::Compile(NotCompiled {
            problems: Problem::all(diagnostics, self.sources(), self.context.locations),
            supporting: match error {
                CompileError::Lowering { supporting, .. } => Some(supporting.clone()),
                CompileError::Emit(error) if error.span().is_some() => None,
                CompileError::Emit(_) | CompileError::Codegen(_) => Some(Vec::new()),
            },
        })
    }

    /// Adds the names and element types of the imported model to code of this model.
    pub fn with_names(&self, mut artifact: Artifact) -> Code {
        let origin = self.context.origin.as_deref();
        artifact.add_import(imported_inputs(origin), imported_outputs(origin));
        if self.context.locations == Locations::Nodes {
            for check in &mut artifact.checks {
                nodes::name_frames(&mut check.trace, self.sources());
            }
        }
        Code::new(artifact)
    }

    /// Converts outputs to the element types of the imported model.
    pub fn converted(&self, outputs: Vec<Tensor>) -> Vec<Tensor> {
        let ports = self.output_ports().iter().zip(outputs);
        let converted = ports.map(|(port, tensor)| {
            let element = port.imported.and_then(|element| files::converted(&tensor, element));
            element.unwrap_or(tensor)
        });
        converted.collect()
    }

    /// The model as text in the MLIR dialect `skript`.
    ///
    /// # Errors
    /// [`Error::Compile`] if the model has a construct that the dialect does not support.
    pub fn to_mlir(&self) -> Result<String, Error> {
        let text = Compiler::new(&Target::host()).stage(self, Stop::Skript, true)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// The model as a StableHLO program whose variables are arguments.
    ///
    /// # Errors
    /// [`Error::Compile`] if a construct has no StableHLO form.
    pub fn to_stablehlo(&self) -> Result<Export, Error> {
        let none = ProgramWeights::default();
        let exported = export_model(&self.inner, self.sources(), None, &none)?;
        let names = |ports: &[skript_stablehlo::Port]| ports.iter().map(|port| port.name.clone()).collect();
        Ok(Export {
            arguments: names(&exported.ports.arguments),
            results: names(&exported.ports.results),
            text: exported.text,
        })
    }

    /// The model as an HTML page, as `skript view` writes it: the graph with formulas and shapes, and histograms of the values in
    /// `weights`. The page needs no network.
    ///
    /// # Errors
    /// [`Error::Arrays`] if a file with arrays cannot be read, or the shape or kind of a variable is wrong.
    pub fn to_html(&self, weights: &Weights) -> Result<String, Error> {
        let mut picture = self.picture();
        self.add_histograms(&mut picture, weights)?;
        Ok(picture.html())
    }

    /// The graph with formulas and shapes, for drawing.
    pub fn picture(&self) -> Picture {
        Picture::new(&self.inner, &self.context.program)
    }

    /// Adds histograms of the variables that have values.
    ///
    /// # Errors
    /// The errors of [`Model::to_html`].
    pub fn add_histograms(&self, picture: &mut Picture, weights: &Weights) -> Result<(), Error> {
        let mut wrong = Vec::new();
        let loaded = weights.load_each(&self.requests());
        for (variable, loaded) in picture.variables.iter_mut().zip(loaded) {
            match loaded {
                Ok(tensor) => variable.histogram = Some(Histogram::new(&tensor)),
                Err(TensorError::Missing { .. }) => {}
                Err(error) => wrong.push(error),
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(Error::Arrays(wrong)) }
    }

    /// The requests for all variables of the model in files of weights.
    pub fn requests(&self) -> Vec<VariableRequest<'_>> {
        let requests = self.inner.variables.iter().map(|variable| VariableRequest {
            name: &variable.name,
            aliases: &variable.aliases,
            element: ElementType::for_kind(variable.tensor.kind, variable.numbers),
            shape: variable.tensor.shape.iter().map(Extent::bound).collect(),
        });
        requests.collect()
    }

    /// Selects the values that code of the model requires from the values of [`Model::requests`].
    pub fn captured(&self, variables: &[Tensor]) -> Vec<Tensor> {
        let captured = self.captured_variables().filter_map(|at| variables.get(at).cloned());
        captured.collect()
    }

    /// Sets the values of captured variables, the inverse of [`Model::captured`].
    pub fn release(&self, captured: &[Tensor], variables: &mut [Tensor]) {
        for (at, value) in self.captured_variables().zip(captured) {
            if let Some(variable) = variables.get_mut(at) {
                variable.clone_from(value);
            }
        }
    }

    fn captured_variables(&self) -> impl Iterator<Item = usize> {
        let ids = self.entry().map_or(&[][..], |entry| &entry.capture_variables);
        ids.iter().map(|id| id.0 as usize)
    }

    /// Evaluates the model by its definition, slowly and independently of the compiler.
    ///
    /// # Errors
    /// [`Error::Name`] if an input has no array, or an array with a wrong type or shape, [`Error::Arrays`] if a variable has no value,
    /// [`Error::Evaluate`] if a run-time check fails.
    pub fn evaluate(&self, inputs: &[(&str, &Tensor)], weights: &Weights) -> Result<Vec<Output>, Error> {
        let ports = self.input_ports();
        let arrays = declared(ports, arranged(ports, inputs)?)?;
        for (port, array) in ports.iter().zip(&arrays) {
            fits(port, array)?;
        }
        let arrays: Vec<Tensor> = arrays.into_iter().map(Cow::into_owned).collect();
        let variables = weights.load(&self.requests())?;
        let (values, _) = self.evaluate_in_order(&arrays, &variables)?;
        Ok(self.outputs().into_iter().map(|port| port.name).zip(values).collect())
    }

    /// Evaluates the model on arrays in the order of its inputs and of [`Model::requests`]; returns the outputs, and the new values of
    /// variables by their positions.
    ///
    /// # Errors
    /// [`Error::Evaluate`] if a run-time check fails.
    pub fn evaluate_in_order(&self, inputs: &[Tensor], variables: &[Tensor]) -> Result<Evaluated, Error> {
        let shared =
            |arrays: &[Tensor]| -> Vec<Arc<Tensor>> { arrays.iter().cloned().map(Arc::new).collect() };
        let outcome = skript_reference::evaluate(&self.inner, &shared(inputs), &shared(variables));
        let Outcome { outputs, updates, .. } = outcome.map_err(|error| {
            let failed = error.diagnostic(&self.inner);
            Error::Evaluate(Box::new(Problem::new(failed, self.sources(), self.context.locations)))
        })?;
        let new_values = updates.into_iter().map(|(id, value)| (id.0 as usize, Arc::unwrap_or_clone(value)));
        Ok((outputs.into_iter().map(Arc::unwrap_or_clone).collect(), new_values.collect()))
    }
}

/// Outputs, and new values of variables by position.
pub type Evaluated = (Vec<Tensor>, Vec<(usize, Tensor)>);

/// The names of inputs in the graph and in the imported model, and their int types in the imported model.
fn imported_inputs(origin: Option<&Origin>) -> impl Iterator<Item = (&str, &str, Option<ElementType>)> {
    let inputs = origin.into_iter().flat_map(|origin| &origin.inputs);
    inputs.map(|input| (input.name.as_str(), input.onnx.as_str(), input.ints))
}

/// The names of outputs in the graph and in the imported model, and their element types in the imported model.
fn imported_outputs(origin: Option<&Origin>) -> impl Iterator<Item = (&str, &str, ElementType)> {
    let outputs = origin.into_iter().flat_map(|origin| &origin.outputs);
    outputs.map(|output| (output.name.as_str(), output.onnx.as_str(), output.element))
}

/// Sorts arrays in the order of the ports.
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
        let named = given.iter().find(|(name, _)| *name == port.name);
        let (_, array) = named.ok_or_else(|| Error::Name(format!("input `{}` has no array", port.name)))?;
        Ok(*array)
    };
    ports.iter().map(array).collect()
}

/// Converts int arrays to the element types of their ports. Their values must fit, also into the type that an imported model
/// declares.
pub(crate) fn declared<'t>(
    ports: &[artifact::Port],
    arrays: Vec<&'t Tensor>,
) -> Result<Vec<Cow<'t, Tensor>>, Error> {
    let converted = |(port, array): (&artifact::Port, &'t Tensor)| {
        let has_type = port.imported.is_none() && port.element == array.element();
        if has_type || !port.element.is_int() || !array.element().is_int() {
            return Ok(Cow::Borrowed(array));
        }
        let what = format!("input `{}`", port.name);
        let converted = array.clone().into_input(&what, port.declared(), port.element);
        converted.map(Cow::Owned).map_err(|e| Error::Arrays(vec![e]))
    };
    ports.iter().zip(arrays).map(converted).collect()
}

/// Returns an error unless an array has the type and shape of a port.
fn fits(port: &artifact::Port, array: &Tensor) -> Result<(), Error> {
    let mut extents = port.shape.iter().zip(array.shape());
    let is_same = port.shape.len() == array.shape().len()
        && extents.all(|(extent, actual)| match extent {
            artifact::PortExtent::Fixed(n) => n == actual,
            artifact::PortExtent::Dynamic(bound) => actual <= bound,
        });
    if is_same && port.element == array.element() {
        return Ok(());
    }
    let (port, element, shape) = (Port::new(port), array.element(), array.shape());
    Err(Error::Name(format!("input {port} got an array of type {element}{shape:?}")))
}
