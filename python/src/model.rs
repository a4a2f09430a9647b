// SPDX-License-Identifier: Apache-2.0
//! The class `Model`.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use skript::{CallCodes, Compiler, DeviceChoice, Dimension, Key, Problem, Target, Tensor, Weights};
use skript_python_runtime::errors::Diagnostic;
use skript_python_runtime::options::other_threads;
use skript_python_runtime::{CompiledModel, Group, Inputs, Outputs, Port, choice, groups, named_as_compiled};
use skript_runtime::artifact::{self, PortExtent};
use skript_runtime::{SMALLER, files};

use crate::choices;
use crate::interruptible::interruptible;
use crate::loading::loaded;
use crate::options;
use crate::pickles::Call;
use crate::problems::{diagnostic, exception};
use crate::shaped::{ShapedCalls, imported_name};

/// A model in SkriptND: call it with arrays, compile it, inspect it.
///
/// The first call compiles it for this processor and keeps the code. Calls are as those of `CompiledModel`, and variables that the
/// model updates keep their values between calls.
#[pyclass(frozen, module = "skript")]
pub struct Model {
    model: Composed,
    weights: Weights,
    warnings: Vec<Problem>,
    name: String,
    calls: Calls,
    arguments: Vec<Group>,
    outputs: Outputs,
    /// The shape-specialized calls of an imported model.
    shaped: Option<ShapedCalls>,
    compiled: PyOnceLock<Py<CompiledModel>>,
    /// Specialized code by the shapes of calls.
    specialized: Mutex<CallCodes<Arc<Py<CompiledModel>>>>,
    /// Whether the code for all shapes requires too much memory to be compiled or loaded.
    is_too_large: AtomicBool,
    /// The Python call that created it.
    call: Option<Call>,
}

/// The model for all shapes, or the error if it can be composed only for the shapes of a call.
pub type Composed = Result<skript::Model, Arc<skript::Error>>;

/// The options of calls.
#[derive(Clone, Copy)]
pub struct Calls {
    /// The number of threads.
    pub threads: usize,
    /// Whether code is kept in the user's cache.
    pub cache: bool,
    /// Whether calls use code that is specialized to their shapes.
    pub specialize: bool,
    /// Whether sums of products of quantized tensors are computed in 8-bit integers; `None`: the model decides.
    pub computes_integers: Option<bool>,
}

impl Calls {
    /// Applies `computes_integers` to a target.
    fn with_integers(&self, target: Target) -> Target {
        match self.computes_integers {
            Some(integers) => target.with_integers(integers),
            None => target,
        }
    }
}

impl Model {
    /// # Errors
    /// An exception of the interpreter.
    pub fn new(
        py: Python<'_>,
        model: Composed,
        shaped: Option<ShapedCalls>,
        weights: Weights,
        warnings: Vec<Problem>,
        name: String,
        calls: Calls,
    ) -> PyResult<Model> {
        let (inputs, outputs) = match (&model, &shaped) {
            (_, Some(shaped)) if model.is_err() => (shaped.inputs(), shaped.outputs()),
            (Ok(model), _) => (model.input_ports(), model.output_ports()),
            (Err(error), _) => return Err(exception(py, error)),
        };
        let arguments = groups(inputs);
        let outputs = Outputs::new(py, outputs)?;
        Ok(Model {
            model,
            shaped,
            weights,
            warnings,
            name,
            calls,
            arguments,
            outputs,
            compiled: PyOnceLock::new(),
            specialized: Mutex::default(),
            is_too_large: AtomicBool::new(false),
            call: None,
        })
    }

    /// The model for all shapes.
    ///
    /// # Errors
    /// The exception for a model that cannot be composed for all shapes.
    pub(crate) fn whole(&self, py: Python<'_>) -> PyResult<&skript::Model> {
        self.model.as_ref().map_err(|e| {
            let error = exception(py, e);
            // Notes require Python 3.11.
            let note = "a call compiles the model for the shapes of its arrays; to fix the shapes before, pass shapes= or constants= to skript.load, or shapes= to compile or save";
            let _ = error.value(py).call_method1("add_note", (note,));
            error
        })
    }

    /// The values of variables.
    pub(crate) fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The options of calls.
    pub(crate) fn calls(&self) -> Calls {
        self.calls
    }

    fn input_ports(&self) -> &[artifact::Port] {
        match (&self.model, &self.shaped) {
            (Ok(model), _) => model.input_ports(),
            (Err(_), Some(shaped)) => shaped.inputs(),
            (Err(_), None) => &[],
        }
    }

    /// Adds the Python call that created the model. Unpickling repeats the call.
    pub fn made_by(self, call: Call) -> Model {
        Model { call: Some(call), ..self }
    }

    /// Returns a copy with separate variables, which have the current values.
    fn with_state(&self, py: Python<'_>) -> PyResult<Model> {
        let copy = Model::new(
            py,
            self.model.clone(),
            self.shaped.as_ref().map(ShapedCalls::copied),
            self.weights.clone(),
            self.warnings.clone(),
            self.name.clone(),
            self.calls,
        )?;
        if let Some(compiled) = self.compiled.get(py) {
            let compiled = Py::new(py, compiled.get().with_state(py)?)?;
            copy.compiled.get_or_init(py, || compiled);
        }
        Ok(Model { call: self.call.as_ref().map(|call| call.clone_ref(py)), ..copy })
    }

    /// Adds the names of dynamic dimensions to inputs or outputs.
    fn described(ports: &[skript::Port], dimensions: Vec<Vec<Option<String>>>) -> Vec<Port> {
        let names = dimensions.into_iter().chain(std::iter::repeat(Vec::new()));
        let both = ports.iter().zip(names);
        both.map(|(inner, dimensions)| Port { dimensions, ..port(inner) }).collect()
    }

    /// The tensors of a call, in the order of the graph.
    fn tensors(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<Tensor>> {
        self.call_inputs().tensors(py, args, kwargs)
    }

    /// Returns the inputs that calls pass.
    pub(crate) fn call_inputs(&self) -> Inputs<'_> {
        Inputs { groups: &self.arguments, ports: self.input_ports() }
    }

    pub(crate) fn compile_for(
        &self,
        py: Python<'_>,
        model: &skript::Model,
        weights: &Weights,
        target: &Target,
        threads: usize,
        cache: bool,
    ) -> PyResult<CompiledModel> {
        let (model, weights, compiler) = (model.clone(), weights.clone(), compiler(py, target, cache));
        let compiled = interruptible(py, move || {
            let variables = model.variable_values(&weights)?;
            Ok((model.with_names(compiler.compile(&model)?.artifact), variables))
        })?;
        let (code, variables) = compiled.map_err(|e| exception(py, &e))?;
        loaded(py, &self.name, code, variables, threads, target.device())
    }

    /// Evaluates the model for the arrays of a call by the definition of each operator.
    fn evaluate_for<'py>(
        &self,
        py: Python<'py>,
        shaped: &ShapedCalls,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let arrays = shaped.arrays(py, self, args, kwargs)?;
        let composed = shaped.composed(py, &arrays)?;
        let ports = composed.model.inputs();
        let declared = shaped.inputs().iter().zip(&arrays);
        let given = declared.filter_map(|(input, array)| {
            let name = imported_name(input);
            let is_it =
                |port: &&skript::Port| port.aliases.iter().any(|alias| alias == name) || port.name == name;
            Some((ports.iter().find(is_it)?.name.as_str(), array))
        });
        let given: Vec<(&str, &Tensor)> = given.collect();
        let evaluated = py.detach(|| composed.model.evaluate(&given, &composed.weights));
        let outputs = evaluated.map_err(|e| exception(py, &e))?;
        let values = outputs.into_iter().map(|(_, tensor)| tensor).collect();
        Outputs::new(py, composed.model.output_ports())?.results(py, values)
    }

    fn compile_for_gpu(
        &self,
        py: Python<'_>,
        device: DeviceChoice,
        precision: &str,
    ) -> PyResult<CompiledModel> {
        let target = Target::gpu(device, None).and_then(|t| t.with_tensor_cores(precision));
        let target = target.map_err(|e| exception(py, &e))?;
        let Calls { threads, cache, .. } = self.calls;
        self.compile_for(py, self.whole(py)?, &self.weights, &target, threads, cache)
    }

    /// The code for this processor.
    fn host_code<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, CompiledModel>> {
        let compiled = self.compiled.get_or_try_init(py, || {
            let code = self.compile_for_host(py, self.whole(py)?, &self.weights)?;
            Py::new(py, code)
        })?;
        Ok(compiled.bind(py))
    }

    pub(crate) fn compile_for_host(
        &self,
        py: Python<'_>,
        model: &skript::Model,
        weights: &Weights,
    ) -> PyResult<CompiledModel> {
        let Calls { threads, cache, .. } = self.calls;
        let target = self.calls.with_integers(Target::host());
        self.compile_for(py, model, weights, &target, threads, cache)
    }

    /// The model for these shapes, or for all shapes, with its weights.
    fn for_shapes(
        &self,
        py: Python<'_>,
        shapes: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<(skript::Model, Weights)> {
        let Some(shapes) = shapes else {
            return Ok((self.whole(py)?.clone(), self.weights.clone()));
        };
        let shapes = choices::shapes(shapes)?;
        if let Some(shaped) = &self.shaped {
            let composed = shaped.with_shapes(py, shapes)?;
            return Ok((composed.model, shaped.weights().cloned().unwrap_or(composed.weights)));
        }
        let model = self.whole(py)?.clone();
        let model = interruptible(py, move || model.with_shapes(shapes))?;
        Ok((model.map_err(|e| exception(py, &e))?, self.weights.clone()))
    }

    /// The code for this processor; `None` if it requires too much memory. Code for the shapes of a call requires less.
    fn host_code_if_small<'py>(&self, py: Python<'py>) -> PyResult<Option<&Bound<'py, CompiledModel>>> {
        if self.is_too_large.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let refused = match self.host_code(py) {
            Ok(code) => return Ok(Some(code)),
            Err(refused) => refused,
        };
        // `skript.Error` has the attribute `message`; other exceptions have only a text.
        let value = refused.value(py);
        let message = value.getattr("message").or_else(|_| value.str().map(Bound::into_any))?;
        let message: String = message.extract()?;
        if !message.contains(SMALLER) {
            return Err(refused);
        }
        self.is_too_large.store(true, Ordering::Relaxed);
        Ok(None)
    }

    /// The code for a call. It may be specialized to the shapes of the arrays if that is enabled, or if the code for all shapes
    /// requires too much memory.
    fn for_call<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, CompiledModel>> {
        let whole = self.whole(py)?;
        // Updated variables have one value for all shapes.
        if whole.updates_variables() {
            return self.host_code(py).cloned();
        }
        if !self.calls.specialize
            && let Some(code) = self.host_code_if_small(py)?
        {
            return Ok(code.clone());
        }
        let tensors = self.tensors(py, args, kwargs)?;
        let shapes: Vec<Vec<u64>> = tensors.iter().map(|t| t.shape().to_vec()).collect();
        let codes = || self.specialized.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, is_full) = {
            let mut codes = codes();
            (codes.known(&shapes, &[]), codes.is_full())
        };
        if let Some(code) = known {
            return Ok(code.bind(py).clone());
        }
        if is_full && let Some(code) = self.host_code_if_small(py)? {
            return Ok(code.clone());
        }
        let extents: Vec<&[u64]> = shapes.iter().map(Vec::as_slice).collect();
        let code = match whole.specialized(&extents) {
            Some(model) => Py::new(py, self.compile_for_host(py, &model, &self.weights)?)?,
            None => self.host_code(py)?.clone().unbind(),
        };
        codes().add(Key::from_shapes(shapes), Arc::new(code.clone_ref(py)), Duration::ZERO);
        Ok(code.into_bound(py))
    }
}

#[pymethods]
impl Model {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(shaped) = &self.shaped {
            return shaped.call(py, self, args, kwargs);
        }
        self.for_call(py, args, kwargs)?.call(args, kwargs)
    }

    /// The name of the graph.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The inputs, in the order of the graph; the tensors of a pack `xs` are `xs:1`, `xs:2`, ….
    #[getter]
    fn inputs(&self) -> Vec<Port> {
        match (&self.model, &self.shaped) {
            (_, Some(shaped)) => shaped.shown_inputs(),
            (Ok(model), None) => Model::described(&model.inputs(), model.input_dimensions()),
            (Err(_), None) => Vec::new(),
        }
    }

    /// The outputs, in the order of the graph.
    #[getter]
    fn outputs(&self) -> Vec<Port> {
        match (&self.model, &self.shaped) {
            (Ok(model), _) => Model::described(&model.outputs(), model.output_dimensions()),
            (Err(_), Some(shaped)) => shaped.shown_outputs(),
            (Err(_), None) => Vec::new(),
        }
    }

    /// The variables of the graph and of the operators that it calls.
    #[getter]
    fn variables(&self, py: Python<'_>) -> PyResult<Vec<Port>> {
        Ok(self.whole(py)?.variables().iter().map(port).collect())
    }

    /// Compiles the model.
    ///
    /// Parameters
    /// ----------
    /// target
    ///     'host' for this processor, or the name of another one (`x86-64-v3`, `znver5`, `neoverse-n1`) whose code this one can execute
    /// features
    ///     features of the processor to add or remove, such as '+avx512bf16,-avx512vl'
    /// fast_math
    ///     'none' for IEEE arithmetic in the order of the formulas, 'default', or 'winograd'
    /// quantize
    ///     'integer' computes sums of products of quantized tensors in 8-bit integers, 'simulate' in reals; the default is the
    ///     option of `load`. Only `load` applies `@quantize`
    /// threads
    ///     the number of threads of calls; the default is the option of `load`
    /// cache
    ///     whether the code is stored in and loaded from the user's cache of compiled models; the default is the option of `load`
    /// shapes
    ///     shapes of inputs by name, to which the code is specialized; a list of shapes for a pack
    ///
    /// Raises
    /// ------
    /// skript.Error
    ///     the model has a construct that compiled code does not support, or a variable has no value
    /// ValueError
    ///     an unknown target
    #[pyo3(signature = (*, target = "host".to_owned(), features = String::new(), fast_math = "default".to_owned(), quantize = None, threads = None, cache = None, shapes = None))]
    #[allow(clippy::too_many_arguments)]
    fn compile(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = options::target)] target: String,
        #[pyo3(from_py_with = options::features)] features: String,
        #[pyo3(from_py_with = options::fast_math)] fast_math: String,
        #[pyo3(from_py_with = options::quantize)] quantize: Option<String>,
        #[pyo3(from_py_with = other_threads)] threads: Option<usize>,
        #[pyo3(from_py_with = options::other_cache)] cache: Option<bool>,
        #[pyo3(from_py_with = options::shapes)] shapes: Option<Py<PyDict>>,
    ) -> PyResult<CompiledModel> {
        let cpu = match target.as_str() {
            "host" => "native",
            cpu => cpu,
        };
        let target = Target::named(cpu, &features).map_err(|e| exception(py, &e))?;
        let level = match fast_math.as_str() {
            "none" => skript::FastMath::None,
            "default" => skript::FastMath::Default,
            "winograd" => skript::FastMath::Winograd,
            other => {
                let text = format!("fast_math is 'none', 'default' or 'winograd', not {other:?}");
                return Err(pyo3::exceptions::PyValueError::new_err(text));
            }
        };
        let given = crate::loading::computes_integers(quantize.as_deref())?;
        let calls = Calls { computes_integers: given.or(self.calls.computes_integers), ..self.calls };
        let target = calls.with_integers(target.with_fast_math(level));
        let threads = threads.unwrap_or(self.calls.threads);
        let (model, weights) = self.for_shapes(py, shapes.as_ref().map(|shapes| shapes.bind(py)))?;
        self.compile_for(py, &model, &weights, &target, threads, cache.unwrap_or(self.calls.cache))
    }

    /// Compiles the model for a GPU, and loads it onto the GPU with its weights.
    ///
    /// Parameters
    /// ----------
    /// device
    ///     'cuda', 'vulkan', 'cuda:1' for the second one; 'auto' is the first GPU, or this processor with a warning; 'cpu' is this processor
    /// precision
    ///     the type to which matrix products on CUDA tensor cores round their inputs, 'tf32', 'f16' or 'bf16'; 'f32' does not use tensor cores
    ///
    /// Raises
    /// ------
    /// skript.Error
    ///     the device does not exist, or the model has a construct that kernels do not support
    /// ValueError
    ///     an unknown device
    ///
    /// Examples
    /// --------
    /// >>> there = model.to("cuda")
    /// >>> y = torch.from_dlpack(there(torch.ones(8, device="cuda")))
    #[pyo3(signature = (device, /, *, precision = "f32".to_owned()))]
    fn to(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = skript_python_runtime::options::device)] device: String,
        #[pyo3(from_py_with = options::precision)] precision: String,
    ) -> PyResult<Py<CompiledModel>> {
        let (chosen, precision) = (choice(&device)?, precision.as_str());
        match chosen {
            DeviceChoice::Cpu => Ok(self.host_code(py)?.clone().unbind()),
            DeviceChoice::Auto => match py.detach(|| Target::gpu(chosen, None)) {
                Ok(target) => Py::new(py, self.compile_for_gpu(py, target.device(), precision)?),
                Err(reason) => {
                    let text = format!("the model runs on the processor: {reason}");
                    let warnings = py.import("warnings")?;
                    warnings.call_method1("warn", (text,))?;
                    Ok(self.host_code(py)?.clone().unbind())
                }
            },
            device => Py::new(py, self.compile_for_gpu(py, device, precision)?),
        }
    }

    /// Writes the code for this processor, with its weights, as a compiled model (.skm); `shapes` specializes it as in `compile`.
    #[pyo3(signature = (path, /, *, weights = true, shapes = None))]
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        #[pyo3(from_py_with = skript_python_runtime::options::weights)] weights: bool,
        #[pyo3(from_py_with = options::shapes)] shapes: Option<Py<PyDict>>,
    ) -> PyResult<()> {
        named_as_compiled(&path)?;
        let Some(shapes) = shapes else {
            return self.host_code(py)?.get().save(py, path, weights);
        };
        let (model, values) = self.for_shapes(py, Some(shapes.bind(py)))?;
        self.compile_for_host(py, &model, &values)?.save(py, path, weights)
    }

    /// Measures calls, as `CompiledModel.bench`.
    #[pyo3(signature = (*args, seconds = 1.0, **kwargs))]
    fn bench<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        #[pyo3(from_py_with = skript_python_runtime::options::seconds)] seconds: f64,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(shaped) = &self.shaped {
            let selected = shaped.select(py, self, args, kwargs)?;
            let code = selected.code.bind(py).get();
            return match selected.arguments(self.call_inputs(), args, kwargs)? {
                Some(others) => code.bench(py, &PyTuple::empty(py), seconds, Some(&others)),
                None => code.bench(py, args, seconds, kwargs),
            };
        }
        let code = self.for_call(py, args, kwargs)?;
        code.get().bench(py, args, seconds, kwargs)
    }

    /// Computes the outputs by the definition of each operator, slowly and independently of the compiler, with the initial values
    /// of variables, which it does not update.
    #[pyo3(signature = (*args, **kwargs))]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(shaped) = &self.shaped {
            return self.evaluate_for(py, shaped, args, kwargs);
        }
        let model = self.whole(py)?;
        let tensors = self.tensors(py, args, kwargs)?;
        let inputs = model.inputs();
        let evaluated = py.detach(|| {
            // `evaluate` requires the types of the imported model.
            let tensors = inputs.iter().zip(tensors).map(|(port, tensor)| {
                let converted = port.imported.and_then(|element| files::converted(&tensor, element));
                converted.unwrap_or(tensor)
            });
            let tensors: Vec<Tensor> = tensors.collect();
            let named = inputs.iter().map(|port| port.name.as_str()).zip(&tensors);
            let named: Vec<(&str, &Tensor)> = named.collect();
            model.evaluate(&named, &self.weights)
        });
        let outputs = evaluated.map_err(|e| exception(py, &e))?;
        let values = outputs.into_iter().map(|(_, tensor)| tensor).collect();
        self.outputs.results(py, values)
    }

    /// The warnings about the document, and an error for each variable whose value is missing or has a wrong shape or kind.
    /// Other errors are raised by `load`.
    fn check(&self, py: Python<'_>) -> Vec<Diagnostic> {
        let mut diagnostics: Vec<Diagnostic> = self.warnings.iter().map(diagnostic).collect();
        let Ok(model) = &self.model else {
            return diagnostics;
        };
        match py.detach(|| model.variable_values(&self.weights)) {
            Ok(_) => {}
            Err(skript::Error::Arrays(wrong)) => {
                diagnostics.extend(wrong.iter().map(|e| Diagnostic::from_message(e.to_string())));
            }
            Err(other) => diagnostics.push(Diagnostic::from_message(other.to_string())),
        }
        diagnostics
    }

    /// The model as the text of a StableHLO program, whose arguments are the inputs and then the variables.
    fn to_stablehlo(&self, py: Python<'_>) -> PyResult<String> {
        let model = self.whole(py)?;
        let exported = py.detach(|| model.to_stablehlo());
        Ok(exported.map_err(|e| exception(py, &e))?.text)
    }

    /// The model as text in the MLIR dialect `skript`.
    fn to_mlir(&self, py: Python<'_>) -> PyResult<String> {
        let model = self.whole(py)?;
        py.detach(|| model.to_mlir()).map_err(|e| exception(py, &e))
    }

    /// The model as an HTML page, as `skript view` writes it: the searchable and expandable graph with formulas and shapes. With
    /// `weights`, the page contains histograms of them. The page needs no network.
    #[pyo3(signature = (*, weights = true))]
    fn to_html(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = skript_python_runtime::options::weights)] weights: bool,
    ) -> PyResult<String> {
        let none = Weights::none();
        let weights = if weights { &self.weights } else { &none };
        let model = self.whole(py)?;
        py.detach(|| model.to_html(weights)).map_err(|e| exception(py, &e))
    }

    /// The operator calls of the graph: a list that notebooks display as a page, with `to_dot()` for Graphviz.
    fn graph<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let class = py.import("skript.graph")?.getattr("Graph")?;
        let tensor = |t: &skript::CallTensor| (t.id, t.port.name.clone(), port(&t.port).shown());
        let tensors = |all: &[skript::CallTensor]| all.iter().map(tensor).collect::<Vec<_>>();
        let model = this.whole(py)?;
        let calls = model.calls().into_iter().map(|call| {
            let (inputs, outputs) = (tensors(&call.inputs), tensors(&call.outputs));
            (call.operator, call.label, inputs, outputs)
        });
        let shown = |ports: Vec<skript::Port>| -> Vec<(String, String)> {
            ports.iter().map(|p| (p.name.clone(), port(p).shown())).collect()
        };
        let (inputs, outputs) = (shown(model.inputs()), shown(model.outputs()));
        class.call1((&this.name, calls.collect::<Vec<_>>(), inputs, outputs, slf))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Model::graph(slf)?.call_method0("_repr_html_")
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Model> {
        self.with_state(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Model> {
        self.with_state(py)
    }

    /// The call that created the model, and the current values of variables that it updates.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let call = self.call.as_ref();
        let call = call.ok_or_else(|| PyTypeError::new_err("the model cannot be pickled"))?;
        let (function, arguments) = call.reduced(py)?;
        let compiled = self.compiled.get(py).map(|compiled| compiled.get());
        let updates = self.model.as_ref().is_ok_and(skript::Model::updates_variables);
        match compiled.filter(|_| updates) {
            Some(compiled) => (function, arguments, compiled.values(py)?).into_pyobject(py),
            None => (function, arguments).into_pyobject(py),
        }
    }

    fn __setstate__(&self, py: Python<'_>, values: &Bound<'_, PyDict>) -> PyResult<()> {
        self.host_code(py)?.get().set_values(py, values)
    }

    fn __repr__(&self) -> String {
        let ports = |ports: Vec<Port>| {
            let texts: Vec<String> = ports.iter().map(Port::text).collect();
            texts.join(", ")
        };
        let (inputs, outputs) = (ports(self.inputs()), ports(self.outputs()));
        format!("<model {}({inputs}) -> ({outputs})>", self.name)
    }
}

/// The compiler for a target. Cache entries are for one build of the compiler. If the driver of the command-line tools is beside
/// the extension module, as in a wheel, the build is that of the driver, so that both use the same entries. Otherwise, the build
/// is that of the extension module.
pub fn compiler(py: Python<'_>, target: &Target, cache: bool) -> Compiler {
    static FILE: PyOnceLock<Option<PathBuf>> = PyOnceLock::new();
    let find = || {
        let module = py.import("skript._skript").ok()?;
        let file: PathBuf = module.filename().ok()?.extract().ok()?;
        let driver = file.with_file_name("bin").join("skript-driver");
        Some(if driver.is_file() { driver } else { file })
    };
    let compiler = Compiler::new(target);
    match FILE.get_or_init(py, find).as_ref().filter(|_| cache) {
        Some(file) => compiler.cached(file),
        None => compiler,
    }
}

/// Converts a port.
fn port(port: &skript::Port) -> Port {
    let extent = |dimension: &Dimension| match dimension {
        Dimension::Static(n) => PortExtent::Fixed(*n),
        Dimension::Dynamic(bound) => PortExtent::Dynamic(*bound),
    };
    Port {
        name: port.name.clone(),
        aliases: port.aliases.clone(),
        element: port.imported.unwrap_or(port.element),
        shape: port.shape.iter().map(extent).collect(),
        dimensions: Vec::new(),
        pack: None,
    }
}
