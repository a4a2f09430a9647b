// SPDX-License-Identifier: Apache-2.0
//! The class `CompiledModel`.

use std::borrow::Cow;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use skript_runtime::artifact::{self, Artifact};
use skript_runtime::device::{DeviceArray, DeviceChoice};
use skript_runtime::{DeviceInstance, Instance, Prepared, Program, RunError, embed, run};
use skript_tensor::Tensor;
use skript_tensor::random::{self, Purpose};

use crate::arguments::Inputs;
use crate::device::{self, Passed};
use crate::pickles::{self, Reduced};
use crate::ports::{Group, Port, groups};
use crate::results::{Outputs, named_tuple};
use crate::{arrays, errors, options};

/// What does not change: the code, its interface, the first values of its variables.
struct Compiled {
    name: String,
    program: Program,
    variables: Vec<Tensor>,
    /// The results of preparation with the first values, shared by all copies.
    prepared: Mutex<Option<Prepared>>,
    inputs: Vec<Group>,
    outputs: Outputs,
    device: DeviceChoice,
}

impl Compiled {
    /// Whether these are the first values of all variables.
    fn is_first(&self, variables: &[&Tensor]) -> bool {
        let mut both = self.variables.iter().zip(variables);
        both.all(|(own, other)| own.bytes().as_ptr() == other.bytes().as_ptr())
    }

    fn prepared(&self) -> MutexGuard<'_, Option<Prepared>> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives an instance what another one prepared of the same values.
    fn share(&self, instance: &mut Instance, variables: &[&Tensor]) {
        if instance.prepared().is_none()
            && self.is_first(variables)
            && let Some(prepared) = &*self.prepared()
        {
            instance.set_prepared(prepared.clone());
        }
    }

    /// Keeps what an instance prepared for others.
    fn keep(&self, instance: &Instance, variables: &[&Tensor]) {
        let mut prepared = self.prepared();
        if prepared.is_none() && self.is_first(variables) {
            *prepared = instance.prepared().cloned();
        }
    }
}

/// What calls change.
struct State {
    place: Place,
    variables: Vec<Tensor>,
}

/// Gives variables new values, by their positions.
fn keep(variables: &mut [Tensor], updates: Vec<(usize, Tensor)>) {
    for (position, value) in updates {
        if let Some(slot) = variables.get_mut(position) {
            *slot = value.into_shared();
        }
    }
}

/// Where calls compute.
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
/// Inputs are arrays in the order of the graph, or keyword arguments with its names; a pack is a list of arrays. Arrays of
/// numpy that are contiguous, and objects with `__dlpack__` in memory of the CPU (torch, jax), are read where they are; do
/// not write to them meanwhile. Numbers in lists are converted. One output is returned as an array, several as a named tuple.
///
/// Variables that the model updates keep their values between calls; `variables`, `set_variable` and `reset` show and change
/// them, `copy` has its own. Calls release the GIL. Calls of one object from several threads run one after the other: give
/// each thread its `copy`.
///
/// A model on a GPU takes arrays of numpy, which it copies, and arrays in memory of the GPU, which it uses where they are: those of
/// `upload`, its own outputs, and with CUDA those of torch, jax and cupy. If there is one on the GPU, outputs are a `DeviceArray` each.
///
/// Raises
/// ------
/// TypeError
///     an unknown, missing or repeated input, or an array with elements of another type
/// ValueError
///     an array with another shape
/// skript.Error
///     a run-time check of the model fails; variables then keep their values
#[pyclass(frozen, module = "skript")]
pub struct CompiledModel {
    compiled: Arc<Compiled>,
    state: Mutex<State>,
    threads: usize,
}

impl CompiledModel {
    /// Loads code. `variables` are values for all variables; those of code that embeds them are in it. Code for a GPU is loaded on
    /// `device`.
    ///
    /// # Errors
    /// The exception `Error` if the code does not run on this machine, or there is no such device.
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
        CompiledModel::of(py, Arc::new(compiled), threads)
    }

    fn of(py: Python<'_>, compiled: Arc<Compiled>, threads: usize) -> PyResult<CompiledModel> {
        let (place, variables) = (Place::open(py, &compiled, threads)?, compiled.variables.clone());
        Ok(CompiledModel { compiled, state: Mutex::new(State { place, variables }), threads })
    }

    fn artifact(&self) -> &Artifact {
        self.compiled.program.artifact()
    }

    /// The code with the first values of its variables.
    fn whole(&self) -> Result<Cow<'_, Artifact>, RunError> {
        let artifact = self.artifact();
        if artifact.embedded.is_some() || artifact.variables.is_empty() {
            return Ok(Cow::Borrowed(artifact));
        }
        let variables: Vec<&Tensor> = self.compiled.variables.iter().collect();
        Ok(Cow::Owned(embed(artifact.clone(), &variables, self.threads)?))
    }

    /// Whether calls give a variable new values.
    fn is_updated(&self, variable: usize) -> bool {
        let mut updates = self.artifact().updates.iter();
        updates.any(|(n, _)| usize::try_from(*n) == Ok(variable))
    }

    /// A copy with the present values of variables.
    ///
    /// # Errors
    /// An exception for a device without memory.
    pub fn with_state(&self, py: Python<'_>) -> PyResult<CompiledModel> {
        let copy = CompiledModel::of(py, Arc::clone(&self.compiled), self.threads)?;
        let present = py.detach(|| self.locked().variables.clone());
        copy.locked().variables = present;
        Ok(copy)
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What calls pass.
    fn call_inputs(&self) -> Inputs<'_> {
        Inputs { groups: &self.compiled.inputs, ports: &self.artifact().inputs }
    }

    /// The tensors of a call, in the order of the graph.
    ///
    /// # Errors
    /// TypeError or ValueError for arguments that do not fit.
    fn arguments(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<Tensor>> {
        self.call_inputs().tensors(py, args, kwargs)
    }

    /// Computes the outputs and keeps the new values of variables.
    fn compute(&self, inputs: &[&Tensor]) -> Result<Vec<Tensor>, RunError> {
        let mut state = self.locked();
        let State { place, variables } = &mut *state;
        let current: Vec<&Tensor> = variables.iter().collect();
        let mut values = place.compute(&self.compiled, inputs, &current)?;
        if let Place::Processor(instance) = place {
            self.compiled.keep(instance, &current);
        }
        let updates = run::updates(self.artifact(), &mut values);
        keep(variables, updates);
        Ok(values)
    }

    /// The same with outputs on the device.
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

    /// A call of a model on a GPU.
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
        let values = values.map_err(|e| errors::run(py, &e))?.into_iter();
        let values = values.map(|array| device::object(py, array));
        self.compiled.outputs.grouped(py, &values.collect::<PyResult<Vec<_>>>()?)
    }

    /// The position of a variable.
    fn variable(&self, name: &str) -> PyResult<(usize, &artifact::Port)> {
        let mut found = self.artifact().variables.iter().enumerate().filter(|(_, port)| port.is_named(name));
        let missing = || PyKeyError::new_err(format!("the model has no variable `{name}`"));
        found.next().ok_or_else(missing)
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
        let values = py.detach(|| {
            let tensors: Vec<&Tensor> = tensors.iter().collect();
            self.compute(&tensors)
        });
        self.compiled.outputs.results(py, values.map_err(|e| errors::run(py, &e))?)
    }

    /// The device that calls run on: 'cpu', 'cuda:0', 'vulkan:0'.
    #[getter]
    fn device(&self) -> String {
        match &self.locked().place {
            Place::Processor(_) => DeviceChoice::Cpu.to_string(),
            Place::Device(instance) => instance.device().to_string(),
        }
    }

    /// A copy of an array in memory of the GPU that the model is on.
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

    /// The processor that the code is for, in LLVM's words.
    #[getter]
    fn target(&self) -> &str {
        &self.artifact().target.cpu
    }

    /// The number of threads of a call; 0 stands for all CPUs of this process, or SKRIPT_NUM_THREADS.
    #[getter]
    fn threads(&self) -> usize {
        self.threads
    }

    /// Bytes of working memory of each copy.
    #[getter]
    fn memory(&self) -> u64 {
        self.artifact().arena.size
    }

    /// The present values of all variables, by their full names: arrays that cannot be written to.
    #[getter]
    fn variables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = py.detach(|| self.locked().variables.clone());
        let found = PyDict::new(py);
        for (at, (port, value)) in self.artifact().variables.iter().zip(values).enumerate() {
            if self.artifact().embedded.is_none() || self.is_updated(at) {
                found.set_item(&port.name, arrays::read_only(py, value)?)?;
            }
        }
        Ok(found)
    }

    /// Gives a variable another value, which is copied. In code that embeds its weights, only variables that the model
    /// updates have values.
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
            // Others may be at the address of the former value.
            state.place.forget();
            if let Some(slot) = state.variables.get_mut(at) {
                *slot = copy;
            }
        });
        Ok(())
    }

    /// Gives all variables the values that they had at first.
    fn reset(&self, py: Python<'_>) {
        py.detach(|| {
            let mut state = self.locked();
            state.place.forget();
            state.variables = self.compiled.variables.clone();
        });
    }

    /// The same code with working memory and variables of its own, which begin with the values that they had at first.
    #[pyo3(signature = (*, threads = None))]
    fn copy(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = options::other_threads)] threads: Option<usize>,
    ) -> PyResult<CompiledModel> {
        let threads = threads.unwrap_or(self.threads);
        CompiledModel::of(py, Arc::clone(&self.compiled), threads)
    }

    /// Writes a compiled model (.skm), with its weights: `load` and the package skript-runtime read it.
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
                Ok(write(&whole, &path))
            } else {
                Ok(write(self.artifact(), &path))
            }
        });
        let written = saved.map_err(|e| errors::run(py, &e))?;
        written.map_err(|e| errors::written(&path, &e))
    }

    /// Measures calls for `seconds`, after one that is not counted; without arrays, with random ones. Returns a named tuple of
    /// the times of a call in seconds: `best`, `median`, `mean`, and `calls`, their number. Variables keep their values.
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

    /// The code with its weights, and the present values of variables that the model updates.
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
    /// The present values of the variables that the model updates, by name.
    ///
    /// # Errors
    /// NumPy's exceptions.
    pub fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = py.detach(|| self.locked().variables.clone());
        let found = PyDict::new(py);
        for (at, (port, value)) in self.artifact().variables.iter().zip(values).enumerate() {
            if self.is_updated(at) {
                found.set_item(&port.name, arrays::read_only(py, value)?)?;
            }
        }
        Ok(found)
    }

    /// Sets variables by name.
    ///
    /// # Errors
    /// KeyError for an unknown name, and those of arrays that do not fit.
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
    let suffix = path.extension().unwrap_or_default();
    if suffix.eq_ignore_ascii_case("skm") {
        return Ok(());
    }
    let own = path.with_extension("skm");
    Err(PyValueError::new_err(format!(
        "{} is not the name of a compiled model, which is what `save` writes: the name ends in .skm, as {} does",
        path.display(),
        own.display()
    )))
}

/// Writes a file beside the path, then renames it: code that is in use may be mapped from a file of this name.
fn write(artifact: &Artifact, path: &Path) -> std::io::Result<()> {
    let (head, data) = artifact.to_parts();
    let beside = path.with_extension("skm.part");
    let mut file = File::create(&beside)?;
    file.write_all(&head)?;
    file.write_all(data)?;
    std::fs::rename(&beside, path)
}
