// SPDX-License-Identifier: Apache-2.0
//! The class `CompiledModel`.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use skript_runtime::artifact::{self, Artifact};
use skript_runtime::device::{DeviceArray, DeviceChoice};
use skript_runtime::{DeviceInstance, Instance, Prepared, Program, RunError, StopHandle, embed, run};
use skript_tensor::Tensor;
use skript_tensor::random::{self, Purpose};

use crate::arguments::Inputs;
use crate::device::{self, Passed};
use crate::pickles::{self, Reduced};
use crate::ports::{Group, Port, groups};
use crate::results::{Outputs, named_tuple};
use crate::{arrays, errors, limited, options};

/// The immutable part: the code, its interface, and the initial values of its variables.
struct Compiled {
    name: String,
    program: Program,
    variables: Vec<Tensor>,
    /// The results of preparation with the initial values, shared by all copies.
    prepared: Mutex<Option<Prepared>>,
    inputs: Vec<Group>,
    outputs: Outputs,
    device: DeviceChoice,
}

impl Compiled {
    /// Whether these are the initial values of all variables.
    fn is_first(&self, variables: &[&Tensor]) -> bool {
        let mut both = self.variables.iter().zip(variables);
        both.all(|(a, b)| a.bytes().as_ptr() == b.bytes().as_ptr())
    }

    fn prepared(&self) -> MutexGuard<'_, Option<Prepared>> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes the results of preparation with the same values to an instance.
    fn share(&self, instance: &mut Instance, variables: &[&Tensor]) {
        if instance.prepared().is_none()
            && self.is_first(variables)
            && let Some(prepared) = &*self.prepared()
        {
            instance.set_prepared(prepared.clone());
        }
    }

    /// Keeps the results of an instance's preparation for other instances.
    fn keep(&self, instance: &Instance, variables: &[&Tensor]) {
        let mut prepared = self.prepared();
        if prepared.is_none() && self.is_first(variables) {
            *prepared = instance.prepared().cloned();
        }
    }
}

/// The mutable part, which calls change.
struct State {
    place: Place,
    variables: Vec<Tensor>,
}

/// Sets variables to new values, by their positions.
fn keep(variables: &mut [Tensor], updates: Vec<(usize, Tensor)>) {
    for (position, value) in updates {
        if let Some(slot) = variables.get_mut(position) {
            *slot = value.into_shared();
        }
    }
}

/// The place where calls are executed.
enum Place {
    Processor(Box<Instance>),
    Device(Box<DeviceInstance>),
}

impl Place {
    fn open(py: Python<'_>, compiled: &Compiled, threads: usize) -> PyResult<Place> {
        let program = &compiled.program;
        if let Some(kernels) = &program.artifact().kernels {
            let opened = py.detach(|| {
                let device = skript_gpu::open(kernels, compiled.device);
                let device = device.map_err(|e| RunError::Device(e.to_string()))?;
                DeviceInstance::new(program, device)
            });
            let instance = opened.map_err(|e| errors::run(py, &e))?;
            return Ok(Place::Device(Box::new(instance)));
        }
        let mut instance = Instance::new(program).map_err(|e| errors::load(py, &e))?;
        instance.set_threads(threads);
        Ok(Place::Processor(Box::new(instance)))
    }

    fn compute(
        &mut self,
        compiled: &Compiled,
        inputs: &[&Tensor],
        variables: &[&Tensor],
    ) -> Result<Vec<Tensor>, RunError> {
        match self {
            Place::Processor(instance) => {
                compiled.share(instance, variables);
                run::compute(instance, inputs, variables)
            }
            Place::Device(instance) => run::compute_on_device(instance, inputs, variables),
        }
    }

    fn forget(&mut self) {
        match self {
            Place::Processor(instance) => instance.forget(),
            Place::Device(instance) => instance.forget(),
        }
    }
}

/// A compiled model: call it with arrays.
///
/// Inputs are arrays in the order of the graph, or keyword arguments with its names; a pack is a list of arrays. Contiguous
/// numpy arrays, and objects with `__dlpack__` in CPU memory (torch, jax), are read in place; do not write to them during a
/// call. Numbers in lists are converted. One output is returned as an array, several as a named tuple.
///
/// Variables that the model updates keep their values between calls; `variables` returns them, `set_variable` and `reset` change
/// them, and a `copy` has separate ones. Calls release the GIL. Calls of one object from several threads are serialized: pass a
/// `copy` to each thread.
///
/// A model on a GPU copies numpy arrays, and uses arrays in GPU memory in place: results of `upload`, its own outputs, and with CUDA
/// torch, jax and cupy arrays. If an input is on the GPU, each output is a `DeviceArray`.
///
/// Raises
/// ------
/// TypeError
///     an unknown, missing or repeated input, or an array with elements of another type
/// ValueError
///     an array with a wrong shape
/// skript.Error
///     a run-time check of the model fails; variables then keep their values
#[pyclass(frozen, module = "skript")]
pub struct CompiledModel {
    compiled: Arc<Compiled>,
    state: Mutex<State>,
    threads: usize,
    /// Maximum time of a call, and the handle that stops it.
    timeout: Mutex<Option<Duration>>,
    stop: Option<StopHandle>,
}

impl CompiledModel {
    /// Loads code. `variables` are the values of all variables, unless the code embeds them. Code for a GPU is loaded onto `device`.
    ///
    /// # Errors
    /// The exception `Error` if the code does not run on this machine, or the device does not exist.
    pub fn new(
        py: Python<'_>,
        name: &str,
        artifact: Artifact,
        variables: Vec<Tensor>,
        threads: usize,
        device: DeviceChoice,
    ) -> PyResult<CompiledModel> {
        let variables = match &artifact.embedded {
            Some(embedded) => embedded.variables().to_vec(),
            None => variables,
        };
        let count = artifact.outputs.len().saturating_sub(artifact.updates.len());
        let inputs = groups(&artifact.inputs);
        let outputs = Outputs::new(py, artifact.outputs.get(..count).unwrap_or(&[]))?;
        let program = Program::load(artifact).map_err(|e| errors::load(py, &e))?;
        let compiled = Compiled {
            name: name.to_owned(),
            program,
            variables: variables.into_iter().map(Tensor::into_shared).collect(),
            prepared: Mutex::default(),
            inputs,
            outputs,
            device,
        };
        CompiledModel::from_compiled(py, Arc::new(compiled), threads)
    }

    fn from_compiled(py: Python<'_>, compiled: Arc<Compiled>, threads: usize) -> PyResult<CompiledModel> {
        let (place, variables) = (Place::open(py, &compiled, threads)?, compiled.variables.clone());
        let stop = match &place {
            Place::Processor(instance) => Some(instance.stop_handle()),
            Place::Device(_) => None,
        };
        let state = Mutex::new(State { place, variables });
        Ok(CompiledModel { compiled, state, threads, timeout: Mutex::default(), stop })
    }

    fn artifact(&self) -> &Artifact {
        self.compiled.program.artifact()
    }

    /// The code with the initial values of its variables.
    fn whole(&self) -> Result<Cow<'_, Artifact>, RunError> {
        let artifact = self.artifact();
        if artifact.embedded.is_some() || artifact.variables.is_empty() {
            return Ok(Cow::Borrowed(artifact));
        }
        let variables: Vec<&Tensor> = self.compiled.variables.iter().collect();
        Ok(Cow::Owned(embed(artifact.clone(), &variables, self.threads)?))
    }

    /// Whether calls update a variable.
    fn is_updated(&self, variable: usize) -> bool {
        let mut updates = self.artifact().updates.iter();
        updates.any(|(n, _)| usize::try_from(*n) == Ok(variable))
    }

    /// A copy with the current values of variables.
    ///
    /// # Errors
    /// An exception for a device without memory.
    pub fn with_state(&self, py: Python<'_>) -> PyResult<CompiledModel> {
        let copy = CompiledModel::from_compiled(py, Arc::clone(&self.compiled), self.threads)?;
        let present = py.detach(|| self.locked().variables.clone());
        copy.locked().variables = present;
        Ok(copy)
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The inputs of calls.
    fn call_inputs(&self) -> Inputs<'_> {
        Inputs { groups: &self.compiled.inputs, ports: &self.artifact().inputs }
    }

    /// The tensors of a call, in the order of the graph.
    ///
    /// # Errors
    /// TypeError or ValueError for unsuitable arguments.
    fn arguments(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<Tensor>> {
        self.call_inputs().tensors(py, args, kwargs)
    }

    fn compute(&self, inputs: &[&Tensor]) -> Result<Vec<Tensor>, RunError> {
        self.compute_in(&mut self.locked(), inputs)
    }

    /// Computes the outputs and keeps the new values of variables.
    fn compute_in(&self, state: &mut State, inputs: &[&Tensor]) -> Result<Vec<Tensor>, RunError> {
        let State { place, variables } = state;
        let current: Vec<&Tensor> = variables.iter().collect();
        let mut values = place.compute(&self.compiled, inputs, &current)?;
        if let Place::Processor(instance) = place {
            self.compiled.keep(instance, &current);
        }
        let updates = run::updates(self.artifact(), &mut values);
        keep(variables, updates);
        Ok(values)
    }

    /// Like [`CompiledModel::compute`], with outputs on the device.
    fn compute_on_device(&self, inputs: &[Passed]) -> Result<Vec<DeviceArray>, RunError> {
        let mut state = self.locked();
        let State { place, variables } = &mut *state;
        let Place::Device(instance) = place else {
            return Err(RunError::Device("the model is not on a GPU".to_owned()));
        };
        let inputs: Vec<_> = inputs.iter().map(Passed::argument).collect();
        let current: Vec<&Tensor> = variables.iter().collect();
        let mut values = instance.call_on_device(&inputs, &current)?;
        let updates = run::updates(self.artifact(), &mut values).into_iter();
        keep(
            variables,
            updates.map(|(n, array)| Ok((n, array.to_tensor()?))).collect::<Result<_, RunError>>()?,
        );
        Ok(values)
    }

    /// Calls a model on a GPU.
    fn call_there<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (device, stream) = match &self.locked().place {
            Place::Device(instance) => (instance.device(), instance.stream()),
            Place::Processor(_) => (DeviceChoice::Cpu, None),
        };
        let passed = self.call_inputs().converted(args, kwargs, |what, value, port| {
            device::passed(py, what, value, port, (device, stream))
        })?;
        let tensors: Vec<&Tensor> = passed.iter().filter_map(Passed::tensor).collect();
        if tensors.len() == passed.len() {
            let values = py.detach(|| self.compute(&tensors));
            return self.compiled.outputs.results(py, values.map_err(|e| errors::run(py, &e))?);
        }
        let values = py.detach(|| self.compute_on_device(&passed));
        let arrays = values.map_err(|e| errors::run(py, &e))?.into_iter();
        let objects: PyResult<Vec<_>> = arrays.map(|array| device::object(py, array)).collect();
        self.compiled.outputs.grouped(py, &objects?)
    }

    /// The position of a variable.
    fn variable(&self, name: &str) -> PyResult<(usize, &artifact::Port)> {
        let mut variables = self.artifact().variables.iter().enumerate();
        let named = variables.find(|(_, port)| port.is_named(name));
        named.ok_or_else(|| PyKeyError::new_err(format!("the model has no variable `{name}`")))
    }
}

#[pymethods]
impl CompiledModel {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if self.artifact().kernels.is_some() {
            return self.call_there(py, args, kwargs);
        }
        let tensors = self.arguments(py, args, kwargs)?;
        let timeout = *self.timeout.lock().unwrap_or_else(PoisonError::into_inner);
        let tensors: Vec<&Tensor> = tensors.iter().collect();
        let values = match (timeout, &self.stop) {
            (Some(timeout), Some(stop)) => {
                limited::call(py, timeout, stop, &self.state, |state| self.compute_in(state, &tensors))?
            }
            _ => py.detach(|| self.compute(&tensors)),
        };
        self.compiled.outputs.results(py, values.map_err(|e| errors::run(py, &e))?)
    }

    /// Maximum time of a call in seconds; None, the initial value, for no limit. A call that takes longer, in a loop that only a
    /// condition ends, raises TimeoutError; other code finishes first. Ctrl-C stops such a loop as well if there is a limit.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     the number is not positive, or the model is on a GPU
    #[getter]
    fn timeout(&self) -> Option<f64> {
        self.timeout.lock().unwrap_or_else(PoisonError::into_inner).map(|time| time.as_secs_f64())
    }

    #[setter]
    fn set_timeout(&self, seconds: Option<f64>) -> PyResult<()> {
        let wrong = |text: &str| PyValueError::new_err(text.to_owned());
        let time = seconds.map(|seconds| {
            let time = Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero());
            time.ok_or_else(|| wrong("a timeout is a positive number of seconds"))
        });
        let time = time.transpose()?;
        if time.is_some() && self.stop.is_none() {
            return Err(wrong("calls on a GPU cannot be stopped"));
        }
        *self.timeout.lock().unwrap_or_else(PoisonError::into_inner) = time;
        Ok(())
    }

    /// The device that executes calls: 'cpu', 'cuda:0', 'vulkan:0'.
    #[getter]
    fn device(&self, py: Python<'_>) -> String {
        py.detach(|| match &self.locked().place {
            Place::Processor(_) => DeviceChoice::Cpu.to_string(),
            Place::Device(instance) => instance.device().to_string(),
        })
    }

    /// Copies an array to the GPU of the model.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     the model is not on a GPU
    #[pyo3(signature = (array, /))]
    fn upload<'py>(&self, py: Python<'py>, array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let tensor = arrays::any_tensor(py, "the array", array)?;
        let copied = py.detach(|| match &self.locked().place {
            Place::Processor(_) => None,
            Place::Device(instance) => Some(instance.upload(&tensor)),
        });
        let wrong = || PyValueError::new_err("the model is not on a GPU: `Model.to` compiles it for one");
        let copied = copied.ok_or_else(wrong)?;
        device::object(py, copied.map_err(|e| errors::run(py, &e))?)
    }

    /// The name of the graph.
    #[getter]
    fn name(&self) -> &str {
        &self.compiled.name
    }

    /// The inputs, in the order of the graph.
    #[getter]
    fn inputs(&self) -> Vec<Port> {
        self.compiled.inputs.iter().map(|group| group.port.clone()).collect()
    }

    /// The outputs, in the order of the graph.
    #[getter]
    fn outputs(&self) -> Vec<Port> {
        self.compiled.outputs.groups.iter().map(|group| group.port.clone()).collect()
    }

    /// The processor of the code, by its LLVM name.
    #[getter]
    fn target(&self) -> &str {
        &self.artifact().target.cpu
    }

    /// The number of threads of a call; 0 stands for all CPUs of this process, or SKRIPT_NUM_THREADS.
    #[getter]
    fn threads(&self) -> usize {
        self.threads
    }

    /// The size of the working memory of each copy in bytes.
    #[getter]
    fn memory(&self) -> u64 {
        self.artifact().arena.size
    }

    /// The current values of all variables by their full names, as read-only arrays.
    #[getter]
    fn variables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = py.detach(|| self.locked().variables.clone());
        let values_by_name = PyDict::new(py);
        for (at, (port, value)) in self.artifact().variables.iter().zip(values).enumerate() {
            if self.artifact().embedded.is_none() || self.is_updated(at) {
                values_by_name.set_item(&port.name, arrays::read_only(py, value)?)?;
            }
        }
        Ok(values_by_name)
    }

    /// Sets a variable to a copy of a value. In code that embeds its weights, only variables that the model updates can be set.
    #[pyo3(signature = (name, value, /))]
    fn set_variable(&self, py: Python<'_>, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (at, port) = self.variable(name)?;
        if self.artifact().embedded.is_some() && !self.is_updated(at) {
            return Err(PyValueError::new_err(format!("variable `{name}` is embedded in the code")));
        }
        let tensor = arrays::tensor_of(py, &format!("variable `{name}`"), value, port)?;
        let copy = Tensor::from_bytes(tensor.element(), tensor.shape(), tensor.bytes());
        let copy = copy.map_err(|e| PyValueError::new_err(e.to_string()))?.into_shared();
        drop(tensor);
        py.detach(|| {
            let mut state = self.locked();
            // Another value may have the address of the former value.
            state.place.forget();
            if let Some(slot) = state.variables.get_mut(at) {
                *slot = copy;
            }
        });
        Ok(())
    }

    /// Resets all variables to their initial values.
    fn reset(&self, py: Python<'_>) {
        py.detach(|| {
            let mut state = self.locked();
            state.place.forget();
            state.variables = self.compiled.variables.clone();
        });
    }

    /// The same code with separate working memory and variables, which start with their initial values.
    #[pyo3(signature = (*, threads = None))]
    fn copy(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = options::other_threads)] threads: Option<usize>,
    ) -> PyResult<CompiledModel> {
        let threads = threads.unwrap_or(self.threads);
        CompiledModel::from_compiled(py, Arc::clone(&self.compiled), threads)
    }

    /// Writes a compiled model (.skm) with its weights, for `load` and the package skript-runtime.
    #[pyo3(signature = (path, /, *, weights = true))]
    pub fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        #[pyo3(from_py_with = options::weights)] weights: bool,
    ) -> PyResult<()> {
        named_as_compiled(&path)?;
        if self.artifact().embedded.is_some() && !weights {
            return Err(PyValueError::new_err("the code embeds its weights"));
        }
        let saved = py.detach(|| {
            if weights {
                let whole = self.whole()?;
                Ok(whole.save(&path))
            } else {
                Ok(self.artifact().save(&path))
            }
        });
        let written = saved.map_err(|e| errors::run(py, &e))?;
        written.map_err(|e| errors::written(&path, &e))
    }

    /// Measures calls for `seconds` after a warm-up call, with random arrays if none are passed. Returns a named tuple: the times of
    /// a call in seconds, `best`, `median` and `mean`, and the number of `calls`. Variables keep their values.
    #[pyo3(signature = (*args, seconds = 1.0, **kwargs))]
    pub fn bench<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        #[pyo3(from_py_with = options::seconds)] seconds: f64,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let none = args.is_empty() && kwargs.is_none_or(|k| k.is_empty());
        let tensors = if none { self.random_inputs()? } else { self.arguments(py, args, kwargs)? };
        let budget = Duration::try_from_secs_f64(seconds)
            .map_err(|e| PyValueError::new_err(format!("seconds is {seconds}: {e}")))?;
        let other = self.copy(py, None)?;
        let times = py.detach(|| {
            let tensors: Vec<&Tensor> = tensors.iter().collect();
            other.compute(&tensors)?;
            let begin = Instant::now();
            let mut times = Vec::new();
            while times.is_empty() || begin.elapsed() < budget && times.len() < 1_000_000 {
                let start = Instant::now();
                other.compute(&tensors)?;
                times.push(start.elapsed().as_secs_f64());
            }
            times.sort_by(f64::total_cmp);
            Ok(times)
        });
        let times: Vec<f64> = times.map_err(|e| errors::run(py, &e))?;
        let at = |position: usize| times.get(position).copied().unwrap_or(f64::NAN);
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let class = named_tuple(py, "Bench", ["best", "median", "mean", "calls"].into_iter())?;
        class.bind(py).call1((at(0), at(times.len() / 2), mean, times.len()))
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<CompiledModel> {
        self.with_state(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<CompiledModel> {
        self.with_state(py)
    }

    /// The code with its weights, and the current values of variables that the model updates.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let whole = py.detach(|| self.whole().map(|whole| whole.to_bytes()));
        let whole = whole.map_err(|e| errors::run(py, &e))?;
        let device = self.compiled.device.to_string();
        let arguments = (PyBytes::new(py, &whole), self.name(), self.threads, device, self.values(py)?);
        Ok((pickles::restore(py)?, arguments.into_pyobject(py)?))
    }

    fn __repr__(&self) -> String {
        let ports = |groups: &[Group]| {
            let texts: Vec<String> = groups.iter().map(|g| g.port.text()).collect();
            texts.join(", ")
        };
        let (inputs, outputs) = (ports(&self.compiled.inputs), ports(&self.compiled.outputs.groups));
        let name = &self.compiled.name;
        format!("<compiled model {name}({inputs}) -> ({outputs}), for {}>", self.target())
    }
}

impl CompiledModel {
    /// The current values of the variables that the model updates, by name.
    ///
    /// # Errors
    /// A numpy exception.
    pub fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = py.detach(|| self.locked().variables.clone());
        let values_by_name = PyDict::new(py);
        for (at, (port, value)) in self.artifact().variables.iter().zip(values).enumerate() {
            if self.is_updated(at) {
                values_by_name.set_item(&port.name, arrays::read_only(py, value)?)?;
            }
        }
        Ok(values_by_name)
    }

    /// Sets variables by name.
    ///
    /// # Errors
    /// KeyError for an unknown name, and the exceptions for unsuitable arrays.
    pub fn set_values(&self, py: Python<'_>, values: &Bound<'_, PyDict>) -> PyResult<()> {
        for (name, value) in values {
            self.set_variable(py, &name.extract::<String>()?, &value)?;
        }
        Ok(())
    }

    fn random_inputs(&self) -> PyResult<Vec<Tensor>> {
        let tensors = self.artifact().inputs.iter().map(|port| {
            let shape: Vec<u64> = port.shape.iter().map(|e| e.bound()).collect();
            random::fill(port.element, &shape, 1, &port.name, Purpose::Input)
                .map_err(|e| PyValueError::new_err(e.to_string()))
        });
        tensors.collect()
    }
}

/// Returns an error unless the path has the suffix of compiled models: `load` selects the format by it.
pub fn named_as_compiled(path: &Path) -> PyResult<()> {
    if path.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("skm")) {
        return Ok(());
    }
    let renamed = path.with_extension("skm");
    Err(PyValueError::new_err(format!(
        "`save` writes a compiled model, whose name must end in .skm: pass {1} instead of {0}",
        path.display(),
        renamed.display()
    )))
}
