// SPDX-License-Identifier: Apache-2.0
//! `load` and `from_text`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::exceptions::{PyFileNotFoundError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use skript::{Code, Document, Edition, ImportOptions, Limits, Target, Tensor, Weights};
use skript_host::format::is_onnx_model;
use skript_python_runtime::errors::plain;
use skript_python_runtime::options::threads;
use skript_python_runtime::{CompiledModel, arrays};
use skript_runtime::device::DeviceChoice;

use crate::choices::Choices;
use crate::interruptible::interruptible;
use crate::model::{Calls, Model, compiler};
use crate::options;
use crate::pickles::Call;
use crate::problems::{exception, explained};
use crate::program::Program;
use crate::shaped::ShapedCalls;
use crate::sources::{IN_MEMORY, Source};

/// The seed of random weights.
const SEED: u64 = 1;

/// Reads a model. Returns a Model, or a CompiledModel for a StableHLO program or a compiled model.
///
/// Parameters
/// ----------
/// path
///     a model folder with a main.sknd, a .sknd file, an ONNX model (.onnx), a StableHLO program as text (.mlir), or a
///     compiled model (.skm), which contains native code: load only those that you would execute as a program; or an ONNX model in
///     memory, as bytes or onnx.ModelProto
/// graph
///     the graph of the document; the default is the first one
/// attributes
///     values for attributes of the graph, by name
/// shapes
///     shapes of inputs with dynamic dimensions, by name; a list of shapes for a pack; in an ONNX model, whose
///     inputs have both names, None or -1 leaves a dimension dynamic
/// bounds
///     upper bounds of dynamic dimensions of an ONNX model, by their names; the default is 1024
/// constants
///     inputs of an ONNX model that become constants, such as shapes: a dict of arrays by ONNX names
/// structure
///     whether repeated blocks of an ONNX model, such as the layers of a transformer, become one operator, which `graph` and
///     messages then show
/// trainable
///     whether all real weights of an ONNX model become variables, as their gradients need; otherwise weights of equal elements become
///     constants, and operations on weights alone are computed by the import
/// real, int
///     the element types of real tensors ('f16', 'bf16', 'f32', 'f64') and of int tensors ('i8' to 'i64'), also of inputs and
///     outputs; the defaults are 'f32', or the type of the ONNX model, and 'i64'
/// given, absent
///     inputs with a default that are passed, and optional inputs that are not
/// quantize
///     'simulate' applies the operators of `@quantize` to its tensors, 'integer' also computes sums of products of quantized tensors in
///     8-bit integers; if it is not set, `@quantize` is kept as information, and an ONNX model is computed in integers
/// weights
///     a folder of .dat files, a .safetensors, .npz or .gguf file, a dict of arrays by the names of variables, or 'random'; the
///     default are the weights beside the model
/// threads
///     the number of threads of calls; 0 stands for all CPUs of this process, or SKRIPT_NUM_THREADS
/// cache
///     whether compiled code is stored in and loaded from the user's cache, `~/.cache/skript`, which the command line shares
/// specialize
///     whether a model with dynamic dimensions compiles specialized code for each of the first sixteen shapes; later shapes, and
///     models that update variables, use the code for all shapes
///
/// Raises
/// ------
/// FileNotFoundError
///     the path does not exist
/// skript.Error
///     the model has errors, which `diagnostics` lists with their locations
/// ValueError
///     an option contradicts the model
///
/// Examples
/// --------
/// >>> model = skript.load("mobilenet.onnx", bounds={"batch": 8})
/// >>> model.inputs
/// >>> y = model(x)
#[pyfunction]
#[pyo3(signature = (path, /, *, graph = None, attributes = None, shapes = None, bounds = None, constants = None, structure = false, trainable = false, real = None, int = None, given = vec![], absent = vec![], quantize = None, weights = None, threads = 0, cache = true, specialize = false))]
#[allow(clippy::too_many_arguments)]
pub fn load<'py>(
    py: Python<'py>,
    path: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = options::graph)] graph: Option<String>,
    #[pyo3(from_py_with = options::attributes)] attributes: Option<Py<PyDict>>,
    #[pyo3(from_py_with = options::shapes)] shapes: Option<Py<PyDict>>,
    #[pyo3(from_py_with = options::bounds)] bounds: Option<Py<PyDict>>,
    #[pyo3(from_py_with = options::constants)] constants: Option<Py<PyDict>>,
    #[pyo3(from_py_with = options::structure)] structure: bool,
    #[pyo3(from_py_with = options::trainable)] trainable: bool,
    #[pyo3(from_py_with = options::real)] real: Option<String>,
    #[pyo3(from_py_with = options::int)] int: Option<String>,
    #[pyo3(from_py_with = options::given)] given: Vec<String>,
    #[pyo3(from_py_with = options::absent)] absent: Vec<String>,
    #[pyo3(from_py_with = options::quantize)] quantize: Option<String>,
    weights: Option<Bound<'py, PyAny>>,
    #[pyo3(from_py_with = threads)] threads: usize,
    #[pyo3(from_py_with = options::cache)] cache: bool,
    #[pyo3(from_py_with = options::specialize)] specialize: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let choices = Choices { graph, attributes, shapes, real, int, given, absent, quantize };
    let import = Import { bounds, constants, structure, trainable };
    let calls = choices.calls(threads, cache, specialize)?;
    let source = Source::from_python(path)?;
    let Source::File(path) = &source else {
        let model = loaded_model(py, source, &choices, &import, weights, calls)?;
        return Ok(Bound::new(py, model)?.into_any());
    };
    if !path.exists() {
        let text = format!("there is no file or folder {}", path.display());
        return Err(PyFileNotFoundError::new_err(text));
    }
    let is_compiled = has_extension(path, "skm");
    if is_compiled || has_extension(path, "mlir") {
        if !choices.are_none() || !import.is_none() || weights.is_some() {
            let text = "a compiled model and a StableHLO program have no options except threads";
            return Err(PyValueError::new_err(text));
        }
        if !is_compiled {
            return program(py, path, calls);
        }
        let compiled = skript_python_runtime::load(py, path.clone(), threads, "auto".to_owned())?;
        return Ok(Bound::new(py, compiled)?.into_any());
    }
    let model = loaded_model(py, source, &choices, &import, weights, calls)?;
    Ok(Bound::new(py, model)?.into_any())
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(wanted)) && path.is_file()
}

/// The options for ONNX models.
struct Import {
    bounds: Option<Py<PyDict>>,
    constants: Option<Py<PyDict>>,
    structure: bool,
    trainable: bool,
}

impl Import {
    fn is_none(&self) -> bool {
        self.bounds.is_none() && self.constants.is_none() && !self.structure && !self.trainable
    }

    /// Adds the options as keyword arguments.
    fn add_to(&self, py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<()> {
        for (name, dict) in [("bounds", &self.bounds), ("constants", &self.constants)] {
            if let Some(dict) = dict {
                options.set_item(name, dict.bind(py).copy()?)?;
            }
        }
        options.set_item("trainable", self.trainable)?;
        options.set_item("structure", self.structure)
    }

    /// Returns an error if options for ONNX models are set.
    fn refused(&self) -> PyResult<()> {
        let text = if self.bounds.is_some() {
            "bounds are for ONNX models: a model in SkriptND declares upper bounds, as in `real[n|8]`"
        } else if !self.is_none() {
            "constants, structure and trainable are for ONNX models"
        } else {
            return Ok(());
        };
        Err(PyValueError::new_err(text))
    }

    /// The options of the import, with the shapes of inputs.
    fn options(&self, py: Python<'_>, shapes: Option<&Py<PyDict>>) -> PyResult<ImportOptions> {
        let mut options = ImportOptions::default();
        for (name, shape) in shapes.iter().flat_map(|dict| dict.bind(py)) {
            let name: String = name.extract()?;
            options = options.input_extents(&name, &extents(&name, &shape)?);
        }
        for (name, bound) in self.bounds.iter().flat_map(|dict| dict.bind(py)) {
            let name: String = name.extract()?;
            let bound = bound.extract().or_else(|_| {
                let bound = bound.repr()?;
                Err(PyValueError::new_err(format!(
                    "the upper bound of the dynamic dimension `{name}` is {bound}: it must be an int of at least 1"
                )))
            })?;
            options = options.bound(&name, bound);
        }
        for (name, array) in self.constants.iter().flat_map(|dict| dict.bind(py)) {
            let name: String = name.extract()?;
            let tensor = arrays::any_tensor(py, &format!("the constant `{name}`"), &array)?;
            options = options.constant(&name, tensor);
        }
        options = if self.trainable { options.trainable() } else { options };
        Ok(if self.structure { options.structured() } else { options })
    }
}

/// The model of a document, or of an ONNX model.
fn loaded_model<'py>(
    py: Python<'py>,
    source: Source,
    choices: &Choices,
    import: &Import,
    weights: Option<Bound<'py, PyAny>>,
    calls: Calls,
) -> PyResult<Model> {
    let options = choices.to_python(py, weights.as_ref(), calls)?;
    import.add_to(py, &options)?;
    let call = Call::of_load(py, &source, options)?;
    let given = weights.map(|w| given_weights(py, &w)).transpose()?;
    let is_imported = match &source {
        Source::Bytes(_) => true,
        Source::File(path) => is_onnx_model(path),
    };
    if !is_imported {
        import.refused()?;
    } else if choices.int.is_some() {
        let text = "int does not apply to ONNX models, whose ints wrap around at the widths of their types";
        return Err(PyValueError::new_err(text));
    }
    let imported = if is_imported { Some(import.options(py, choices.shapes.as_ref())?) } else { None };
    let stem = match &source {
        Source::File(path) => path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        Source::Bytes(_) => String::new(),
    };
    let open = move || match (source, imported) {
        (Source::Bytes(bytes), options) => {
            Document::import_bytes(IN_MEMORY, bytes, options.unwrap_or_default(), &Limits::default())
        }
        (Source::File(path), Some(options)) => Document::import(&path, options, &Limits::default()),
        (Source::File(path), None) => Document::open(&path, None::<Edition>, &Limits::default()),
    };
    let options = choices.options(py, is_imported)?;
    let weights = given.map_or(WeightSource::Document, WeightSource::Given);
    let model = composed(py, open, options, weights, calls, &stem)?;
    Ok(model.made_by(call))
}

/// Reads a model from text.
///
/// Parameters
/// ----------
/// text
///     the document
/// name
///     the name of the text in messages; imported modules are resolved beside this path, then in the standard library
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
#[pyo3(signature = (text, /, *, name = "text.sknd".to_owned(), graph = None, attributes = None, shapes = None, real = None, int = None, given = vec![], absent = vec![], quantize = None, weights = None, threads = 0, cache = true, specialize = false))]
#[allow(clippy::too_many_arguments)]
pub fn from_text<'py>(
    py: Python<'py>,
    text: &str,
    #[pyo3(from_py_with = options::name)] name: String,
    #[pyo3(from_py_with = options::graph)] graph: Option<String>,
    #[pyo3(from_py_with = options::attributes)] attributes: Option<Py<PyDict>>,
    #[pyo3(from_py_with = options::shapes)] shapes: Option<Py<PyDict>>,
    #[pyo3(from_py_with = options::real)] real: Option<String>,
    #[pyo3(from_py_with = options::int)] int: Option<String>,
    #[pyo3(from_py_with = options::given)] given: Vec<String>,
    #[pyo3(from_py_with = options::absent)] absent: Vec<String>,
    #[pyo3(from_py_with = options::quantize)] quantize: Option<String>,
    weights: Option<Bound<'py, PyAny>>,
    #[pyo3(from_py_with = threads)] threads: usize,
    #[pyo3(from_py_with = options::cache)] cache: bool,
    #[pyo3(from_py_with = options::specialize)] specialize: bool,
) -> PyResult<Model> {
    let choices = Choices { graph, attributes, shapes, real, int, given, absent, quantize };
    let calls = choices.calls(threads, cache, specialize)?;
    let kept = choices.to_python(py, weights.as_ref(), calls)?;
    kept.set_item("name", &name)?;
    let call = Call::of_text(py, text, kept)?;
    let given = weights.map(|w| given_weights(py, &w)).transpose()?;
    let text = text.to_owned();
    let open = move || Document::parse(&name, &text, &Limits::default());
    let options = choices.options(py, false)?;
    let weights = WeightSource::Given(given.unwrap_or_else(Weights::none));
    let model = composed(py, open, options, weights, calls, "")?;
    Ok(model.made_by(call))
}

/// A shape of an input of an ONNX model; `None` and -1 keep the dimension of the model.
fn extents(name: &str, shape: &Bound<'_, PyAny>) -> PyResult<Vec<Option<u64>>> {
    let wrong = || {
        PyValueError::new_err(format!(
            "the shape of `{name}` is {shape}: it must be a list of extents, with None or -1 for those of the model"
        ))
    };
    let items: Vec<Option<i64>> = shape.extract().map_err(|_| wrong())?;
    items
        .into_iter()
        .map(|item| match item {
            None | Some(-1) => Ok(None),
            Some(extent) => u64::try_from(extent).map(Some).map_err(|_| wrong()),
        })
        .collect()
}

/// The weights of a document.
enum WeightSource {
    Given(Weights),
    /// The weights that belong to the document.
    Document,
}

/// The model of the document that `open` returns.
fn composed(
    py: Python<'_>,
    open: impl FnOnce() -> Document + Send + 'static,
    options: skript::ComposeOptions,
    weights: WeightSource,
    calls: Calls,
    stem: &str,
) -> PyResult<Model> {
    let composed = interruptible(py, move || {
        let document = open();
        let model = document.compose(&options);
        let (given, weights) = match weights {
            WeightSource::Given(weights) => (Some(weights.clone()), weights),
            WeightSource::Document => (None, document.weights()?),
        };
        let warnings = document.problems().to_vec();
        let shaped = ShapedCalls::new(document, options, given);
        Ok::<_, skript::Error>((model, shaped, weights, warnings))
    })?;
    let (model, shaped, weights, warnings) = composed.map_err(|e| exception(py, &e))?;
    let name = match &model {
        Ok(model) if !model.name().is_empty() => model.name(),
        _ => stem,
    };
    let name = name.to_owned();
    let model = model.map_err(Arc::new);
    Model::new(py, model, shaped, weights, warnings, name, calls)
}

/// Whether code computes sums of products of quantized tensors in integers, by the value of `quantize`; `None`: the model decides.
pub fn computes_integers(quantize: Option<&str>) -> PyResult<Option<bool>> {
    match quantize {
        None => Ok(None),
        Some("simulate") => Ok(Some(false)),
        Some("integer") => Ok(Some(true)),
        Some(other) => {
            Err(PyValueError::new_err(format!("quantize is 'simulate' or 'integer', not {other:?}")))
        }
    }
}

/// The code of a StableHLO program, or the program itself if it has symbolic dimensions.
fn program<'py>(py: Python<'py>, path: &Path, calls: Calls) -> PyResult<Bound<'py, PyAny>> {
    let max_bytes = Limits::default().program_bytes;
    let file = path.to_path_buf();
    let compiler = compiler(py, &Target::host(), calls.cache);
    let chosen = compiler.clone();
    let read = interruptible(py, move || {
        let text = skript_host::file::read(&file, max_bytes)
            .map_err(|e| format!("cannot read {}: {e}", file.display()))?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let mut is_symbolic = false;
        let code = Code::of_stablehlo_for(&text, &chosen, |_| {
            is_symbolic = true;
            None
        });
        Ok((text, is_symbolic, code))
    })?;
    let (text, is_symbolic, code) = read.map_err(|text: String| plain(py, text))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    if is_symbolic {
        return Ok(Bound::new(py, Program::new(&name, text, calls.threads, compiler))?.into_any());
    }
    let code = code.map_err(|e| exception(py, &e))?;
    let model = loaded(py, &name, code, Vec::new(), calls.threads, DeviceChoice::Cpu)?;
    Ok(Bound::new(py, model)?.into_any())
}

/// Loads code into this process.
pub fn loaded(
    py: Python<'_>,
    name: &str,
    code: Code,
    variables: Vec<Tensor>,
    threads: usize,
    device: DeviceChoice,
) -> PyResult<CompiledModel> {
    CompiledModel::new(py, name, code.into_artifact(), variables, threads, device)
        .map_err(|e| explained(py, e))
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
    if given.cast::<PyString>().is_ok_and(|text| text.to_string_lossy() == "random") {
        return Ok(Weights::random(SEED));
    }
    let path: PathBuf = given.extract().map_err(|_| {
        let given = skript_python_runtime::options::shown(given);
        PyTypeError::new_err(format!(
            "weights is {given}: weights must be a path, a dict of arrays, or 'random'"
        ))
    })?;
    py.detach(|| Weights::open(&path)).map_err(|e| exception(py, &e))
}
