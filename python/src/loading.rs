// SPDX-License-Identifier: Apache-2.0
//! `load` and `from_text`.

use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyFileNotFoundError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use skript::{
    Code, ComposeOptions, Document, Edition, ImportOptions, Limits, Target, Tensor, Value, Weights,
};
use skript_python_runtime::errors::plain;
use skript_python_runtime::{CompiledModel, arrays};
use skript_runtime::Artifact;
use skript_runtime::device::DeviceChoice;

use crate::model::{Calls, Model};
use crate::problems::{exception, explained};
use crate::program::Program;
use crate::shaped::ShapedCalls;

/// The seed of random weights.
const SEED: u64 = 1;

/// What a graph is composed for.
pub struct Choices<'py> {
    pub graph: Option<String>,
    pub attributes: Option<Bound<'py, PyDict>>,
    pub shapes: Option<Bound<'py, PyDict>>,
    pub real: Option<String>,
    pub int: Option<String>,
    pub given: Vec<String>,
    pub absent: Vec<String>,
    pub quantize: Option<String>,
}

/// Reads a model. The result is a Model; of a StableHLO program or a compiled model it is a CompiledModel.
///
/// Parameters
/// ----------
/// path
///     a model folder with a main.sknd, a .sknd file, an ONNX model (.onnx), a StableHLO program as text (.mlir), or a
///     compiled model (.skm), which contains native code: load only those that you would execute as a program
/// graph
///     the graph of the document; the first one if it is not set
/// attributes
///     values for attributes of the graph, by name
/// shapes
///     shapes of inputs that the document leaves open, by name; a list of shapes for a pack; None or -1 in those of an ONNX
///     model, whose inputs have both names, stands for a dimension that stays dynamic
/// bounds
///     upper bounds of dynamic dimensions of an ONNX model, by their names; 1024 if they are not set
/// constants
///     inputs of an ONNX model that become constants, such as shapes: a dict of arrays by the names of ONNX
/// structure
///     whether blocks of an ONNX model that repeat, such as the layers of a transformer, become one operator, which `graph` and
///     messages then show
/// real, int
///     the types of elements of real tensors ('f16', 'bf16', 'f32', 'f64') and of int tensors ('i8' to 'i64'); 'f32', or that
///     of the ONNX model, and 'i64' if they are not set
/// given, absent
///     inputs with a default that are passed, and optional ones that are not
/// quantize
///     'simulate' applies the operators of `@quantize` to its tensors, 'integer' also computes sums of products of quantized tensors in
///     integers of 8 bits; `@quantize` is kept as information if it is not set
/// weights
///     a folder of .dat files, a .safetensors or .npz file, a dict of arrays by the names of variables, or 'random'; those
///     beside the model if it is not set
/// threads
///     the number of threads of calls; 0 stands for all CPUs of this process, or SKRIPT_NUM_THREADS
/// cache
///     whether compiled code is kept in the user's cache, `~/.cache/skript`, which the command line shares, and taken from there
/// specialize
///     whether the shapes of a call, if the model has dynamic dimensions, get code of their own when they occur first; those
///     after the sixteenth, and models that update variables, use the code for all shapes
///
/// Raises
/// ------
/// FileNotFoundError
///     there is nothing at the path
/// skript.Error
///     the model has errors, which `diagnostics` lists with their positions
/// ValueError
///     an option does not fit the model
///
/// Examples
/// --------
/// >>> model = skript.load("mobilenet.onnx", bounds={"batch": 8})
/// >>> model.inputs
/// >>> y = model(x)
#[pyfunction]
#[pyo3(signature = (path, /, *, graph = None, attributes = None, shapes = None, bounds = None, constants = None, structure = false, real = None, int = None, given = vec![], absent = vec![], quantize = None, weights = None, threads = 0, cache = true, specialize = false))]
#[allow(clippy::too_many_arguments)]
pub fn load<'py>(
    py: Python<'py>,
    path: PathBuf,
    graph: Option<String>,
    attributes: Option<Bound<'py, PyDict>>,
    shapes: Option<Bound<'py, PyDict>>,
    bounds: Option<Bound<'py, PyDict>>,
    constants: Option<Bound<'py, PyDict>>,
    structure: bool,
    real: Option<String>,
    int: Option<String>,
    given: Vec<String>,
    absent: Vec<String>,
    quantize: Option<String>,
    weights: Option<Bound<'py, PyAny>>,
    threads: usize,
    cache: bool,
    specialize: bool,
) -> PyResult<Bound<'py, PyAny>> {
    if !path.exists() {
        let text = format!("there is no file or folder {}", path.display());
        return Err(PyFileNotFoundError::new_err(text));
    }
    let extension = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default();
    let is = |wanted: &str| extension.eq_ignore_ascii_case(wanted) && path.is_file();
    let mut choices = Choices {
        graph,
        attributes,
        shapes,
        real,
        int,
        given,
        absent,
        quantize,
    };
    if is("skm") || is("mlir") {
        let for_onnx = bounds.is_some() || constants.is_some() || structure;
        if !choices.are_none() || for_onnx || weights.is_some() {
            let text = "a compiled model and a StableHLO program have no options except threads";
            return Err(PyValueError::new_err(text));
        }
        if is("mlir") {
            return program(py, &path, threads);
        }
        let compiled = skript_python_runtime::load(py, path, threads, "auto")?;
        return Ok(Bound::new(py, compiled)?.into_any());
    }
    if bounds.is_some() && !is("onnx") {
        let text = "bounds are for ONNX models: a model in SkriptND declares upper bounds, as in `real[n|8]`";
        return Err(PyValueError::new_err(text));
    }
    if (constants.is_some() || structure) && !is("onnx") {
        let text = "constants and structure are for ONNX models";
        return Err(PyValueError::new_err(text));
    }
    let weights = weights.map(|w| given_weights(py, &w)).transpose()?;
    let document = match is("onnx") {
        true => {
            let mut options = ImportOptions::default();
            for (name, shape) in choices.shapes.take().into_iter().flatten() {
                let name: String = name.extract()?;
                options = options.input_extents(&name, &extents(&name, &shape)?);
            }
            for (name, bound) in bounds.into_iter().flatten() {
                let name: String = name.extract()?;
                let bound = bound.extract().or_else(|_| {
                    let bound = bound.repr()?;
                    Err(PyValueError::new_err(format!(
                        "the upper bound of the dynamic dimension `{name}` is {bound}: it must be an int of at least 1"
                    )))
                })?;
                options = options.bound(&name, bound);
            }
            for (name, array) in constants.into_iter().flatten() {
                let name: String = name.extract()?;
                let tensor = arrays::any_tensor(py, &format!("the constant `{name}`"), &array)?;
                options = options.constant(&name, tensor);
            }
            if structure {
                options = options.structured();
            }
            py.detach(|| Document::import(&path, options, &Limits::default()))
        }
        false => py.detach(|| Document::open(&path, None::<Edition>, &Limits::default())),
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let calls = Calls {
        threads,
        cache,
        specialize,
        computes_integers: computes_integers(choices.quantize.as_deref())?,
    };
    let model = composed(py, document, &choices, weights, false, calls, &stem)?;
    Ok(Bound::new(py, model)?.into_any())
}

/// Reads a model from text.
///
/// Parameters
/// ----------
/// text
///     the document
/// name
///     the name of the text in messages; modules that it imports are looked up beside this path, then in the standard library
///
/// The other parameters and the exceptions are those of `load`. Without `weights`, the model must have no variables.
///
/// Examples
/// --------
/// >>> model = skript.from_text('''
/// ... import math;
/// ... graph Root {
/// ...     @input { x: real[n|8]; }
/// ...     @output { y: real[n]; }
/// ...     @compose { y = math.sqrt(x); }
/// ... }''')
/// >>> model([1.0, 4.0])
/// array([1., 2.], dtype=float32)
#[pyfunction]
#[pyo3(signature = (text, /, *, name = "text.sknd", graph = None, attributes = None, shapes = None, real = None, int = None, given = vec![], absent = vec![], quantize = None, weights = None, threads = 0, cache = true, specialize = false))]
#[allow(clippy::too_many_arguments)]
pub fn from_text<'py>(
    py: Python<'py>,
    text: &str,
    name: &str,
    graph: Option<String>,
    attributes: Option<Bound<'py, PyDict>>,
    shapes: Option<Bound<'py, PyDict>>,
    real: Option<String>,
    int: Option<String>,
    given: Vec<String>,
    absent: Vec<String>,
    quantize: Option<String>,
    weights: Option<Bound<'py, PyAny>>,
    threads: usize,
    cache: bool,
    specialize: bool,
) -> PyResult<Model> {
    let calls = Calls {
        threads,
        cache,
        specialize,
        computes_integers: computes_integers(quantize.as_deref())?,
    };
    let choices = Choices {
        graph,
        attributes,
        shapes,
        real,
        int,
        given,
        absent,
        quantize,
    };
    let weights = weights.map(|w| given_weights(py, &w)).transpose()?;
    let document = py.detach(|| Document::parse(name, text, &Limits::default()));
    composed(py, document, &choices, weights, true, calls, "")
}

/// A shape of an input of an ONNX model; `None` and -1 stand for what the model has.
fn extents(name: &str, shape: &Bound<'_, PyAny>) -> PyResult<Vec<Option<u64>>> {
    let wrong = || {
        PyValueError::new_err(format!(
            "the shape of `{name}` is {shape}: it must be a list of extents, with None or -1 for those that stay as in the model"
        ))
    };
    let items: Vec<Option<i64>> = shape.extract().map_err(|_| wrong())?;
    let items = items.into_iter().map(|item| match item {
        None | Some(-1) => Ok(None),
        Some(extent) => u64::try_from(extent).map(Some).map_err(|_| wrong()),
    });
    items.collect()
}

fn composed(
    py: Python<'_>,
    document: Document,
    choices: &Choices<'_>,
    weights: Option<Weights>,
    is_text: bool,
    calls: Calls,
    stem: &str,
) -> PyResult<Model> {
    let options = choices.options()?;
    let composed = py.detach(|| document.compose(&options));
    let own = match &weights {
        Some(weights) => Ok(weights.clone()),
        None if is_text => Ok(Weights::none()),
        None => py.detach(|| document.weights()),
    };
    let own = own.map_err(|e| exception(py, &e))?;
    let name = match &composed {
        Ok(model) if !model.name().is_empty() => model.name(),
        _ => stem,
    };
    let name = name.to_owned();
    let warnings = document.problems().to_vec();
    let shaped = ShapedCalls::new(document, options, weights);
    Model::new(py, composed, shaped, own, warnings, name, calls)
}

/// Whether code computes sums of products of quantized tensors in integers, by a value of `quantize`.
pub fn computes_integers(quantize: Option<&str>) -> PyResult<bool> {
    match quantize {
        None | Some("simulate") => Ok(false),
        Some("integer") => Ok(true),
        Some(other) => Err(PyValueError::new_err(format!(
            "quantize is 'simulate' or 'integer', not {other:?}"
        ))),
    }
}

/// Code of a StableHLO program, or the program itself if it has symbolic dimensions.
fn program<'py>(py: Python<'py>, path: &Path, threads: usize) -> PyResult<Bound<'py, PyAny>> {
    let most = Limits::default().program_bytes;
    let text = skript_host::file::read(path, most).map_err(|e| {
        let text = format!("cannot read {}: {e}", path.display());
        plain(py, text)
    })?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut is_symbolic = false;
    let code = py.detach(|| {
        Code::of_stablehlo_for(&text, &Target::host(), |_| {
            is_symbolic = true;
            None
        })
    });
    if is_symbolic {
        return Ok(Bound::new(py, Program::new(&name, text, threads))?.into_any());
    }
    let code = code.map_err(|e| exception(py, &e))?;
    let model = loaded(py, &name, &code, Vec::new(), threads, DeviceChoice::Cpu)?;
    Ok(Bound::new(py, model)?.into_any())
}

/// Code in this process.
pub fn loaded(
    py: Python<'_>,
    name: &str,
    code: &Code,
    variables: Vec<Tensor>,
    threads: usize,
    device: DeviceChoice,
) -> PyResult<CompiledModel> {
    let artifact = py.detach(|| Artifact::from_bytes(&code.to_bytes()));
    let artifact = artifact.map_err(|e| plain(py, e.to_string()))?;
    CompiledModel::new(py, name, artifact, variables, threads, device).map_err(|e| explained(py, e))
}

/// The argument `weights`.
fn given_weights(py: Python<'_>, given: &Bound<'_, PyAny>) -> PyResult<Weights> {
    if let Ok(arrays) = given.cast::<PyDict>() {
        let mut tensors = Vec::new();
        for (name, array) in arrays {
            let name: String = name.extract()?;
            let tensor = arrays::any_tensor(py, &format!("the array `{name}`"), &array)?;
            tensors.push((name, tensor));
        }
        return Ok(Weights::arrays(tensors));
    }
    if given
        .cast::<PyString>()
        .is_ok_and(|text| text.to_string_lossy() == "random")
    {
        return Ok(Weights::random(SEED));
    }
    let path: PathBuf = given.extract().map_err(|_| {
        PyTypeError::new_err("weights must be a path, a dict of arrays, or 'random'")
    })?;
    py.detach(|| Weights::open(&path))
        .map_err(|e| exception(py, &e))
}

impl Choices<'_> {
    fn are_none(&self) -> bool {
        self.graph.is_none()
            && self.attributes.is_none()
            && self.shapes.is_none()
            && self.real.is_none()
            && self.int.is_none()
            && self.given.is_empty()
            && self.absent.is_empty()
            && self.quantize.is_none()
    }

    fn options(&self) -> PyResult<ComposeOptions> {
        let mut options = ComposeOptions::default();
        if let Some(graph) = &self.graph {
            options = options.graph(graph);
        }
        for (name, value) in self.attributes.iter().flatten() {
            options = options.attribute(name.extract()?, attribute(&value)?);
        }
        for (name, shape) in self.shapes.iter().flatten() {
            let name: String = name.extract()?;
            let shapes = match shape.extract::<Vec<u64>>() {
                Ok(shape) => Ok(vec![shape]),
                Err(_) => shape.extract::<Vec<Vec<u64>>>(),
            };
            let shapes = shapes.map_err(|_| {
                PyValueError::new_err(format!(
                    "the shape of `{name}` is {shape}: it must be a list of all extents, or of such lists for a pack"
                ))
            })?;
            options = options.pack_shapes(&name, &shapes);
        }
        for name in &self.given {
            options = options.given(name);
        }
        for name in &self.absent {
            options = options.absent(name);
        }
        if self.quantize.is_some() {
            options = options.quantize();
        }
        if self.real.is_some() || self.int.is_some() {
            let (real, int) = (self.real.as_deref(), self.int.as_deref());
            let typed = options.element_types(real.unwrap_or("f32"), int.unwrap_or("i64"));
            options = typed.map_err(|e| PyValueError::new_err(e.to_string()))?;
        }
        Ok(options)
    }
}

/// A value of an attribute.
fn attribute(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_instance_of::<PyBool>() {
        return Ok(Value::from(value.extract::<bool>()?));
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(Value::from(value.extract::<i64>()?));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Value::from(value.extract::<f64>()?));
    }
    if let Ok(text) = value.extract::<String>() {
        return Ok(Value::from(text.as_str()));
    }
    let items = value.try_iter().map_err(|_| {
        PyTypeError::new_err("an attribute is a bool, an int, a float, a str, or a list of these")
    })?;
    let items = items
        .map(|item| attribute(&item?))
        .collect::<PyResult<Vec<Value>>>()?;
    Ok(Value::from(items))
}
