// SPDX-License-Identifier: Apache-2.0
//! The models and instances that handles refer to.

use crate::failure::{Failure, c_string};
use crate::registry::Registry;
use crate::types;
use skript::{
    Code, ComposeOptions, DeviceChoice, Document, ImportOptions, Instance, Limits, Port, Severity,
    StopHandle, Target, Weights,
};
use std::ffi::CString;
use std::path::Path;
use std::sync::Mutex;

/// The stack size of compilations in bytes, for deeply nested documents.
const STACK_BYTES: usize = 256 << 20;

/// The ports of one role with their names as C strings.
type Ports = Vec<(Port, CString)>;

/// Compiled code with its weights.
pub(crate) struct Model {
    pub(crate) code: Code,
    pub(crate) weights: Weights,
    device: DeviceChoice,
    threads: usize,
    /// Inputs, variables and outputs.
    ports: [Ports; 3],
}

/// An instance, which executes one call at a time.
pub(crate) struct Running {
    pub(crate) inner: Mutex<Instance>,
    pub(crate) stop: Option<StopHandle>,
    pub(crate) inputs: Vec<String>,
    pub(crate) outputs: usize,
}

pub(crate) static MODELS: Registry<Model> = Registry::new("a model", 1);
pub(crate) static INSTANCES: Registry<Running> = Registry::new("an instance", 2);

/// A copy of `skc_options`.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) graph: Option<String>,
    pub(crate) cpu: Option<String>,
    pub(crate) features: Option<String>,
    pub(crate) real: Option<String>,
    pub(crate) integer: Option<String>,
    pub(crate) weights: Option<String>,
    pub(crate) bounds: Option<String>,
    pub(crate) shapes: Option<String>,
    pub(crate) device: Option<String>,
    pub(crate) threads: usize,
}

/// A text with its path in diagnostics.
pub(crate) struct Text {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Model {
    pub(crate) fn new(code: Code, weights: Weights, device: DeviceChoice, threads: usize) -> Self {
        let named = |ports: Vec<Port>| -> Ports {
            let named = ports.into_iter().map(|port| {
                let name = c_string(&port.name);
                (port, name)
            });
            named.collect()
        };
        let ports = [code.inputs(), code.variables(), code.outputs()].map(named);
        Model { code, weights, device, threads, ports }
    }

    /// The ports of a role, by its number in `skript.h`.
    pub(crate) fn ports(&self, role: u32) -> Result<&Ports, Failure> {
        let ports = usize::try_from(role).ok().and_then(|role| self.ports.get(role));
        ports.ok_or_else(|| Failure::argument(format!("{role} is not a role")))
    }
}

/// Compiles a file or a text on a thread with a large stack, for deeply nested documents.
pub(crate) fn compile(path: Option<String>, text: Option<Text>, options: Options) -> Result<Model, Failure> {
    let work = move || compile_here(path.as_deref(), text.as_ref(), &options);
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
    let thread = thread.map_err(|error| Failure::new(types::MEMORY, error.to_string()))?;
    match thread.join() {
        Ok(done) => done,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn compile_here(path: Option<&str>, text: Option<&Text>, options: &Options) -> Result<Model, Failure> {
    let limits = Limits::default();
    let shapes = shapes(options)?;
    let is_onnx = path.is_some_and(|path| path.ends_with(".onnx"));
    let document = match (text, path.map(Path::new)) {
        (Some(Text { name, text }), _) => Document::parse(name, text, &limits),
        (None, Some(path)) if is_onnx => {
            let import =
                shapes.iter().fold(bounds(options)?, |import, (name, shape)| import.input_shape(name, shape));
            Document::import(path, import, &limits)
        }
        (None, path) => Document::open(path.unwrap_or(Path::new("")), None, &limits),
    };
    let errors = document.problems().iter().filter(|p| p.severity == Severity::Error);
    if errors.count() > 0 {
        return Err(skript::Error::Document(document.problems().to_vec()).into());
    }
    let mut compose = ComposeOptions::default();
    if let Some(graph) = &options.graph {
        compose = compose.graph(graph);
    }
    if !is_onnx {
        for (name, shape) in &shapes {
            compose = compose.input_shape(name, shape);
        }
    }
    if let Some(real) = &options.real {
        compose = compose.real(real)?;
    }
    if let Some(integer) = &options.integer {
        compose = compose.int(integer)?;
    }
    let device = options.device.as_deref().unwrap_or("cpu");
    let device: DeviceChoice =
        device.parse().map_err(|e| Failure::argument(format!("options.device is {device:?}: {e}")))?;
    let target = match (&options.cpu, &options.features) {
        (None, None) if device != DeviceChoice::Cpu => Target::gpu(device, None)?,
        (None, None) => Target::host(),
        (_, _) if device != DeviceChoice::Cpu => {
            let text = "options.cpu and options.features do not apply to models on a GPU";
            return Err(Failure::argument(text));
        }
        (cpu, features) => {
            let cpu = cpu.as_deref().unwrap_or("native");
            Target::named(cpu, features.as_deref().unwrap_or(""))?
        }
    };
    let weights = match &options.weights {
        Some(path) => Weights::open(Path::new(path))?,
        None => document.weights()?,
    };
    let code = document.compose(&compose)?.compile(&target)?;
    Ok(Model::new(code, weights, device, options.threads))
}

/// The options of an import.
fn bounds(options: &Options) -> Result<ImportOptions, Failure> {
    let mut import = ImportOptions::default();
    let pairs = options.bounds.iter().flat_map(|text| text.split(','));
    for pair in pairs {
        let parsed = pair.split_once('=');
        let parsed = parsed.and_then(|(name, bound)| Some((name.trim(), bound.trim().parse().ok()?)));
        let wrong =
            || Failure::argument(format!("options.bounds contains {pair:?}, which is not NAME=NUMBER"));
        let (name, bound) = parsed.ok_or_else(wrong)?;
        import = import.bound(name, bound);
    }
    Ok(import)
}

/// The shapes of inputs.
fn shapes(options: &Options) -> Result<Vec<(String, Vec<u64>)>, Failure> {
    let Some(text) = &options.shapes else {
        return Ok(Vec::new());
    };
    let shapes = text.split(';').map(|pair| {
        let (name, extents) = pair.split_once('=')?;
        let extents = match extents.trim() {
            "" => Ok(Vec::new()),
            extents => extents.split(',').map(|n| n.trim().parse()).collect(),
        };
        Some((name.trim().to_owned(), extents.ok()?))
    });
    let shapes: Option<Vec<_>> = shapes.collect();
    shapes.ok_or_else(|| {
        Failure::argument(format!("options.shapes is {text:?}, but must be NAME=EXTENT,EXTENT;NAME=EXTENT"))
    })
}

/// Loads a compiled model.
pub(crate) fn load(path: &str, weights: Option<&str>) -> Result<Model, Failure> {
    let code = Code::open(Path::new(path))?;
    let weights = match weights {
        Some(path) => Weights::open(Path::new(path))?,
        None => Weights::none(),
    };
    let device = if code.is_for_gpu() { DeviceChoice::Auto } else { DeviceChoice::Cpu };
    Ok(Model::new(code, weights, device, 0))
}

/// Writes a compiled model.
pub(crate) fn save(model: &Model, path: &str, embed: bool) -> Result<(), Failure> {
    let embedded;
    let code = if embed {
        embedded = model.code.clone().embed(&model.weights)?;
        &embedded
    } else {
        &model.code
    };
    code.save(Path::new(path)).map_err(|error| Failure::new(types::FILE, format!("{path}: {error}")))
}

/// Loads the code of a model into this process.
pub(crate) fn create(model: &Model) -> Result<Running, Failure> {
    let mut inner = match model.device {
        DeviceChoice::Cpu => model.code.load(&model.weights)?,
        device => model.code.load_on(device, &model.weights)?,
    };
    inner.set_threads(model.threads);
    let inputs = model.ports(0)?.iter().map(|(port, _)| port.name.clone());
    Ok(Running {
        stop: inner.stop_handle(),
        inner: Mutex::new(inner),
        inputs: inputs.collect(),
        outputs: model.ports(2)?.len(),
    })
}
