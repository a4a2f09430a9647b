// SPDX-License-Identifier: Apache-2.0
//! The class `CompiledModel`.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use skript_runtime::artifact::{self, Artifact};
use skript_runtime::device::{DeviceArray, DeviceChoice};
use skript_runtime::{DeviceInstance, Instance, Program, RunError, embed, run};
use skript_tensor::Tensor;
use skript_tensor::random::{self, Purpose};

use crate::device::{self, Passed};
use crate::ports::{Group, Port, groups};
use crate::{arrays, errors};

/// What does not change: the code, its interface, the first values of its variables.
struct Compiled {
    name: String,
    program: Program,
    variables: Vec<Tensor>,
    inputs: Vec<Group>,
    outputs: Vec<Group>,
    /// The class of several outputs.
    tuple: Option<Py<PyAny>>,
    device: DeviceChoice,
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
        inputs: &[&Tensor],
        variables: &[&Tensor],
    ) -> Result<Vec<Tensor>, RunError> {
        match self {
            Place::Processor(instance) => run::compute(instance, inputs, variables),
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
        let count = artifact
            .outputs
            .len()
            .saturating_sub(artifact.updates.len());
        let (inputs, outputs) = (
            groups(&artifact.inputs),
            groups(artifact.outputs.get(..count).unwrap_or(&[])),
        );
        let tuple = match outputs.len() {
            0 | 1 => None,
            _ => Some(outputs_class(py, &outputs)?),
        };
        let program = Program::load(artifact).map_err(|e| errors::load(py, &e))?;
        let compiled = Compiled {
            name: name.to_owned(),
            program,
            variables: variables.into_iter().map(Tensor::into_shared).collect(),
            inputs,
            outputs,
            tuple,
            device,
        };
        CompiledModel::of(py, Arc::new(compiled), threads)
    }

    fn of(py: Python<'_>, compiled: Arc<Compiled>, threads: usize) -> PyResult<CompiledModel> {
        let (place, variables) = (
            Place::open(py, &compiled, threads)?,
            compiled.variables.clone(),
        );
        Ok(CompiledModel {
            compiled,
            state: Mutex::new(State { place, variables }),
            threads,
        })
    }

    fn artifact(&self) -> &Artifact {
        self.compiled.program.artifact()
    }

    /// Whether calls give variables new values.
    pub fn updates_variables(&self) -> bool {
        !self.artifact().updates.is_empty()
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tensors of a call, in the order of the graph.
    ///
    /// # Errors
    /// TypeError or ValueError for arguments that do not fit.
    pub fn arguments(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<Tensor>> {
        self.converted(args, kwargs, |what, value, port| {
            arrays::tensor_of(py, what, value, port)
        })
    }

    /// What `convert` makes of the arrays of a call, with their names, in the order of the graph.
    fn converted<T>(
        &self,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
        mut convert: impl FnMut(&str, &Bound<'_, PyAny>, &artifact::Port) -> PyResult<T>,
    ) -> PyResult<Vec<T>> {
        let inputs = &self.compiled.inputs;
        if args.len() > inputs.len() {
            return Err(PyTypeError::new_err(format!(
                "the model has {}, but {} were passed",
                counted(inputs.len()),
                args.len()
            )));
        }
        let mut values: Vec<Option<Bound<'_, PyAny>>> = args.iter().map(Some).collect();
        values.resize(inputs.len(), None);
        for (key, value) in kwargs.into_iter().flatten() {
            let key: String = key.extract()?;
            let is_named = |input: &Group| input.port.aliases.contains(&key);
            let at = inputs.iter().position(|input| input.port.name == key);
            let at = at.or_else(|| inputs.iter().position(is_named));
            let slot = at.and_then(|at| values.get_mut(at)).ok_or_else(|| {
                let names: Vec<&str> = inputs.iter().map(|i| i.port.name.as_str()).collect();
                PyTypeError::new_err(format!(
                    "the model has no input `{key}`: it has {}",
                    listed(&names)
                ))
            })?;
            if slot.replace(value).is_some() {
                return Err(PyTypeError::new_err(format!(
                    "input `{key}` is passed twice"
                )));
            }
        }
        let mut tensors = Vec::with_capacity(self.artifact().inputs.len());
        let mut missing = Vec::new();
        for (input, value) in inputs.iter().zip(values) {
            match value {
                Some(value) => self.convert(input, &value, &mut convert, &mut tensors)?,
                None => missing.push(input.port.name.as_str()),
            }
        }
        match missing.is_empty() {
            true => Ok(tensors),
            false => Err(PyTypeError::new_err(format!(
                "no array for {}",
                listed(&missing)
            ))),
        }
    }

    /// Adds the tensors of one input.
    fn convert<T>(
        &self,
        input: &Group,
        value: &Bound<'_, PyAny>,
        convert: &mut impl FnMut(&str, &Bound<'_, PyAny>, &artifact::Port) -> PyResult<T>,
        tensors: &mut Vec<T>,
    ) -> PyResult<()> {
        let name = &input.port.name;
        let ports = self
            .artifact()
            .inputs
            .iter()
            .skip(input.first)
            .take(input.count);
        let Some(length) = input.port.pack else {
            for port in ports {
                tensors.push(convert(&format!("input `{name}`"), value, port)?);
            }
            return Ok(());
        };
        let items: Vec<Bound<'_, PyAny>> = value.extract().map_err(|_| {
            PyTypeError::new_err(format!("input `{name}` is a pack: pass a list of arrays"))
        })?;
        if items.len() != length {
            return Err(PyValueError::new_err(format!(
                "input `{name}` is a pack of {length}, but {} were passed",
                items.len()
            )));
        }
        for (at, (item, port)) in items.iter().zip(ports).enumerate() {
            tensors.push(convert(&format!("input `{name}[{at}]`"), item, port)?);
        }
        Ok(())
    }

    /// Computes the outputs and keeps the new values of variables.
    fn compute(&self, inputs: &[&Tensor]) -> Result<Vec<Tensor>, RunError> {
        let mut state = self.locked();
        let State { place, variables } = &mut *state;
        let current: Vec<&Tensor> = variables.iter().collect();
        let mut values = place.compute(inputs, &current)?;
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
        let updates = updates.map(|(n, array)| Ok((n, array.to_tensor()?)));
        keep(variables, updates.collect::<Result<_, RunError>>()?);
        Ok(values)
    }

    /// The outputs as Python returns them.
    ///
    /// # Errors
    /// An exception of numpy.
    pub fn results<'py>(
        &self,
        py: Python<'py>,
        values: Vec<Tensor>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let arrays = values
            .into_iter()
            .zip(&self.artifact().outputs)
            .map(|(tensor, port)| {
                let array = arrays::array(py, tensor)?;
                match port.imported {
                    None => Ok(array),
                    Some(element) => array.call_method1("astype", (arrays::dtype(py, element)?,)),
                }
            });
        self.grouped(py, &arrays.collect::<PyResult<Vec<_>>>()?)
    }

    /// One value for each output: packs are lists, several values a tuple.
    fn grouped<'py>(
        &self,
        py: Python<'py>,
        arrays: &[Bound<'py, PyAny>],
    ) -> PyResult<Bound<'py, PyAny>> {
        let grouped = self.compiled.outputs.iter().map(|output| {
            let items = arrays.iter().skip(output.first).take(output.count).cloned();
            match output.port.pack {
                None => Ok(items
                    .into_iter()
                    .next()
                    .unwrap_or_else(|| py.None().into_bound(py))),
                Some(_) => Ok(PyList::new(py, items.collect::<Vec<_>>())?.into_any()),
            }
        });
        let mut grouped = grouped.collect::<PyResult<Vec<_>>>()?;
        match (&self.compiled.tuple, grouped.len()) {
            (Some(class), _) => class.bind(py).call1(PyTuple::new(py, grouped)?),
            (None, 1) => Ok(grouped.remove(0)),
            (None, _) => Ok(PyTuple::new(py, grouped)?.into_any()),
        }
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
        let passed = self.converted(args, kwargs, |what, value, port| {
            device::passed(py, what, value, port, (device, stream))
        })?;
        let tensors: Vec<&Tensor> = passed.iter().filter_map(Passed::tensor).collect();
        if tensors.len() == passed.len() {
            let values = py.detach(|| self.compute(&tensors));
            return self.results(py, values.map_err(|e| errors::run(py, &e))?);
        }
        let values = py.detach(|| self.compute_on_device(&passed));
        let values = values.map_err(|e| errors::run(py, &e))?.into_iter();
        let values = values.map(|array| device::object(py, array));
        self.grouped(py, &values.collect::<PyResult<Vec<_>>>()?)
    }

    /// The position of a variable.
    fn variable(&self, name: &str) -> PyResult<(usize, &artifact::Port)> {
        let variables = self.artifact().variables.iter();
        let mut found = variables
            .enumerate()
            .filter(|(_, port)| port.is_named(name));
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
        self.results(py, values.map_err(|e| errors::run(py, &e))?)
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
    fn upload<'py>(
        &self,
        py: Python<'py>,
        array: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let tensor = arrays::any_tensor(py, "the array", array)?;
        let copied = py.detach(|| match &self.locked().place {
            Place::Processor(_) => None,
            Place::Device(instance) => Some(instance.upload(&tensor)),
        });
        let wrong =
            || PyValueError::new_err("the model is not on a GPU: `Model.to` compiles it for one");
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
        self.compiled
            .inputs
            .iter()
            .map(|group| group.port.clone())
            .collect()
    }

    /// The outputs, in the order of the graph.
    #[getter]
    fn outputs(&self) -> Vec<Port> {
        self.compiled
            .outputs
            .iter()
            .map(|group| group.port.clone())
            .collect()
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
            if self.artifact().embedded.is_none()
                || self
                    .artifact()
                    .updates
                    .iter()
                    .any(|(n, _)| usize::try_from(*n) == Ok(at))
            {
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
        let updated = self
            .artifact()
            .updates
            .iter()
            .any(|(n, _)| usize::try_from(*n) == Ok(at));
        if self.artifact().embedded.is_some() && !updated {
            return Err(PyValueError::new_err(format!(
                "variable `{name}` is embedded in the code"
            )));
        }
        let tensor = arrays::tensor_of(py, &format!("variable `{name}`"), value, port)?;
        let copy = Tensor::from_bytes(tensor.element(), tensor.shape(), tensor.bytes());
        let copy = copy
            .map_err(|e| PyValueError::new_err(e.to_string()))?
            .into_shared();
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
    fn copy(&self, py: Python<'_>, threads: Option<usize>) -> PyResult<CompiledModel> {
        let threads = threads.unwrap_or(self.threads);
        CompiledModel::of(py, Arc::clone(&self.compiled), threads)
    }

    /// Writes a compiled model (.skm), with its weights: `load` and the package skript-runtime read it.
    #[pyo3(signature = (path, /, *, weights = true))]
    pub fn save(&self, py: Python<'_>, path: PathBuf, weights: bool) -> PyResult<()> {
        let artifact = self.artifact();
        if artifact.embedded.is_some() && !weights {
            return Err(PyValueError::new_err("the code embeds its weights"));
        }
        let saved = py.detach(|| {
            let embeds = weights && artifact.embedded.is_none() && !artifact.variables.is_empty();
            let embedded = match embeds {
                true => {
                    let variables: Vec<&Tensor> = self.compiled.variables.iter().collect();
                    Some(embed(artifact.clone(), &variables, self.threads)?)
                }
                false => None,
            };
            Ok(write(embedded.as_ref().unwrap_or(artifact), &path))
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
        seconds: f64,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let none = args.is_empty() && kwargs.is_none_or(|k| k.is_empty());
        let tensors = match none {
            true => self.random_inputs()?,
            false => self.arguments(py, args, kwargs)?,
        };
        let budget = Duration::try_from_secs_f64(seconds)
            .map_err(|e| PyValueError::new_err(format!("seconds: {e}")))?;
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
        class
            .bind(py)
            .call1((at(0), at(times.len() / 2), mean, times.len()))
    }

    fn __repr__(&self) -> String {
        let ports = |groups: &[Group]| {
            let texts: Vec<String> = groups.iter().map(|g| g.port.text()).collect();
            texts.join(", ")
        };
        let (inputs, outputs) = (ports(&self.compiled.inputs), ports(&self.compiled.outputs));
        let name = &self.compiled.name;
        format!(
            "<compiled model {name}({inputs}) -> ({outputs}), for {}>",
            self.target()
        )
    }
}

impl CompiledModel {
    fn random_inputs(&self) -> PyResult<Vec<Tensor>> {
        let ports = self.artifact().inputs.iter();
        let tensors = ports.map(|port| {
            let shape: Vec<u64> = port.shape.iter().map(|e| e.bound()).collect();
            random::fill(port.element, &shape, 1, &port.name, Purpose::Input)
                .map_err(|e| PyValueError::new_err(e.to_string()))
        });
        tensors.collect()
    }
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

/// A class of named tuples; names that Python does not allow become `_0`, `_1`, ….
fn named_tuple<'n>(
    py: Python<'_>,
    name: &str,
    fields: impl Iterator<Item = &'n str>,
) -> PyResult<Py<PyAny>> {
    let options = PyDict::new(py);
    options.set_item("rename", true)?;
    options.set_item("module", "skript")?;
    let fields: Vec<&str> = fields.collect();
    let class = py.import("collections")?.getattr("namedtuple")?;
    Ok(class.call((name, fields), Some(&options))?.unbind())
}

/// The class of several outputs. An output of an imported model also has its name there, if Python allows that.
fn outputs_class(py: Python<'_>, outputs: &[Group]) -> PyResult<Py<PyAny>> {
    let names = outputs.iter().map(|output| output.port.name.as_str());
    let class = named_tuple(py, "Outputs", names)?;
    let getter = py.import("operator")?.getattr("itemgetter")?;
    let property = py.import("builtins")?.getattr("property")?;
    for (at, output) in outputs.iter().enumerate() {
        for alias in &output.port.aliases {
            if !alias.starts_with('_') && !class.bind(py).hasattr(alias.as_str())? {
                let item = property.call1((getter.call1((at,))?,))?;
                class.setattr(py, alias.as_str(), item)?;
            }
        }
    }
    Ok(class)
}

fn counted(inputs: usize) -> String {
    match inputs {
        1 => "1 input".to_owned(),
        n => format!("{n} inputs"),
    }
}

/// `` inputs `a`, `b` ``.
fn listed(names: &[&str]) -> String {
    match names {
        [] => "none".to_owned(),
        [one] => format!("input `{one}`"),
        all => format!("inputs `{}`", all.join("`, `")),
    }
}
