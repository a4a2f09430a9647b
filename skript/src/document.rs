// SPDX-License-Identifier: Apache-2.0
//! Parsed and checked text.

use crate::error::Error;
use crate::model::{Context, Model};
use crate::problem::{Problem, Severity};
use crate::weights::Weights;
use skript_frontend::check::check_program;
use skript_frontend::compose;
use skript_frontend::diagnostics::codes::{COMMAND_LINE_NAME, ONNX, UNREADABLE};
use skript_frontend::diagnostics::{Diagnostic, Sink};
use skript_frontend::foreign;
use skript_frontend::limits::Limits;
use skript_frontend::model::AttributeValue;
use skript_frontend::model::storage_types::StorageType;
use skript_frontend::program::{Edition, Program};
use skript_frontend::source_files::{load_program, load_program_with, load_text};
use skript_import::{Declaration, DeclaredExtent, ForCall, ImportError, Imported, ModelFile, Origin};
use skript_runtime::artifact;
use skript_semantics::{IntType, Numbers, RealType, ScalarKind};
use skript_tensor::{Archive, ElementType, Tensor, WeightStore, archive};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// A main module and all that it imports, checked.
#[derive(Debug)]
pub struct Document {
    program: Arc<Program>,
    limits: Limits,
    problems: Vec<Problem>,
    beside: Beside,
    origin: Arc<Origin>,
    onnx: Option<Arc<Onnx>>,
}

/// An ONNX model that calls import for their shapes.
#[derive(Debug)]
struct Onnx {
    file: ModelFile,
    options: skript_import::Options,
}

/// A model for the arrays of a call.
#[derive(Debug)]
pub struct CallModel {
    /// The model; its shapes are static.
    pub model: Model,
    /// The weights that belong to it.
    pub weights: Weights,
    /// Inputs whose values the model is for, by their names in the imported model; they are not inputs of it.
    pub constants: Vec<String>,
}

/// The weights that belong to a document.
#[derive(Debug)]
enum Beside {
    /// Files in its folder.
    Folder,
    Packed(Archive),
    Arrays(WeightStore),
}

/// How to import an ONNX model.
#[derive(Debug, Default)]
pub struct ImportOptions {
    inner: skript_import::Options,
}

impl ImportOptions {
    /// Fixes the shape of an input, by its name in ONNX or SkriptND.
    pub fn input_shape(self, name: &str, shape: &[u64]) -> Self {
        let extents: Vec<Option<u64>> = shape.iter().copied().map(Some).collect();
        self.input_extents(name, &extents)
    }

    /// Fixes some dimensions of an input; those that are `None` stay as they are in the model.
    pub fn input_extents(mut self, name: &str, extents: &[Option<u64>]) -> Self {
        self.inner.shapes.push((name.to_owned(), extents.to_vec()));
        self
    }

    /// Sets the upper bound of a dynamic dimension with this name in the model; otherwise it is 1024.
    pub fn bound(mut self, name: &str, bound: u64) -> Self {
        self.inner.bounds.push((name.to_owned(), bound));
        self
    }

    /// Makes an input a constant, such as one that is a shape.
    pub fn constant(mut self, name: &str, value: Tensor) -> Self {
        self.inner.constants.push((name.to_owned(), value));
        self
    }

    /// Makes blocks of equal structure, such as the layers of a transformer, one operator of the document.
    pub fn structured(mut self) -> Self {
        self.inner.structured = true;
        self
    }
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
    /// Whether the element types were set.
    typed: bool,
}

impl ComposeOptions {
    /// Selects the graph with this name; the default is the first one of the main module.
    pub fn graph(mut self, name: &str) -> Self {
        self.inner.graph = Some(name.to_owned());
        self
    }

    /// Sets an attribute of the graph; otherwise the attribute has its default.
    pub fn attribute(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.inner.attributes.insert(name.to_owned(), value.into().0);
        self
    }

    /// Fixes the shape of an input that the document leaves dynamic.
    pub fn input_shape(mut self, name: &str, shape: &[u64]) -> Self {
        self.inner.input_shapes.insert(name.to_owned(), vec![shape.to_vec()]);
        self
    }

    /// Fixes the shapes of the items of a pack.
    pub fn pack_shapes(mut self, name: &str, shapes: &[Vec<u64>]) -> Self {
        self.inner.input_shapes.insert(name.to_owned(), shapes.to_vec());
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

    /// Applies the operators of `@quantize` to its tensors; otherwise they are kept as information.
    pub fn quantize(mut self) -> Self {
        self.inner.simulate_quantization = true;
        self
    }

    /// Sets the element types of `real` tensors (f16, bf16, f32, f64) and of `int` tensors (i8, i16, i32, i64); the
    /// defaults are f32, or the type of the imported model, and i64.
    ///
    /// # Errors
    /// [`Error::Name`] for any other type.
    pub fn element_types(mut self, real: &str, int: &str) -> Result<Self, Error> {
        let unknown = |name: &str| Error::Name(format!("`{name}` is not an element type"));
        let reals = [RealType::F16, RealType::BF16, RealType::F32, RealType::F64];
        let ints = [IntType::I8, IntType::I16, IntType::I32, IntType::I64];
        self.inner.numbers = Numbers {
            real: *reals.iter().find(|t| t.name() == real).ok_or_else(|| unknown(real))?,
            int: *ints.iter().find(|t| t.name() == int).ok_or_else(|| unknown(int))?,
        };
        self.typed = true;
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
        Value(AttributeValue::List(items.into_iter().map(|item| item.into().0).collect()))
    }
}

impl Document {
    /// Reads a model folder with a `main.sknd`, a packed folder, or a single file, and checks it. Imports are resolved in the folder,
    /// then in the standard library. All errors, including files that cannot be read, are in [`Document::problems`].
    pub fn open(path: &Path, edition: Option<Edition>, limits: &Limits) -> Self {
        let mut sink = Sink::default();
        if let Some(refusal) = foreign::refusal(path) {
            sink.report(refusal);
            let (beside, origin) = (Beside::Folder, Origin::default());
            return Self::checked(Program::default(), limits, sink, beside, origin);
        }
        let packed = archive::is_packed(path) && !path.is_dir();
        let (program, beside) = match packed.then(|| Archive::open(path, limits.unpacked_bytes)) {
            None => {
                let program = load_program(path, edition, limits, &mut sink);
                (program, Beside::Folder)
            }
            Some(Ok(files)) => {
                let open = |path: &Path| files.read(path).map(<[u8]>::to_vec);
                let main = path.join("main.sknd");
                let program = load_program_with(&main, edition, limits, &mut sink, &open);
                (program, Beside::Packed(files))
            }
            Some(Err(error)) => {
                sink.report(Diagnostic::without_location(&UNREADABLE, error.to_string()));
                (Program::default(), Beside::Folder)
            }
        };
        let origin = Origin::of_folder(&program.folder).unwrap_or_default();
        Self::checked(program, limits, sink, beside, origin)
    }

    /// Imports an ONNX model: its graph as a document, whose weights are in memory ([`Document::weights`]). All reasons
    /// why a model is refused are in [`Document::problems`]; one with dynamic dimensions may still be called
    /// ([`Document::compose_for`]).
    pub fn import(path: &Path, options: ImportOptions, limits: &Limits) -> Self {
        match ModelFile::open(path) {
            Ok(file) => Self::import_file(file, options, limits),
            Err(error) => Self::refused(error, limits),
        }
    }

    /// As [`Document::import`] for a model in memory, whose tensors are all in it; `name` stands for its file in messages.
    pub fn import_bytes(name: &str, bytes: Vec<u8>, options: ImportOptions, limits: &Limits) -> Self {
        match ModelFile::from_bytes(Path::new(name), bytes) {
            Ok(file) => Self::import_file(file, options, limits),
            Err(error) => Self::refused(error, limits),
        }
    }

    fn import_file(file: ModelFile, options: ImportOptions, limits: &Limits) -> Self {
        let options = options.inner;
        let is_open = !file.undetermined(&options).is_empty();
        let (mut document, is_dynamic) = match file.convert(options.clone()) {
            Ok(imported) => (Self::imported(file.path(), imported, limits), is_open),
            Err(error) => {
                let is_dynamic = match &error {
                    ImportError::Refused { deciding, .. } => is_open || !deciding.is_empty(),
                    _ => false,
                };
                (Self::refused(error, limits), is_dynamic)
            }
        };
        if is_dynamic && options.bounds.is_empty() {
            document.onnx = Some(Arc::new(Onnx { file, options }));
        }
        document
    }

    fn refused(error: ImportError, limits: &Limits) -> Self {
        let mut sink = Sink::default();
        let (code, reasons) = match error {
            ImportError::Refused { path, refusals, .. } => {
                let name = path.display();
                let reasons = refusals.iter().map(|r| format!("{name}: {r}"));
                (&ONNX, reasons.collect())
            }
            ImportError::Name(text) => (&COMMAND_LINE_NAME, vec![text]),
            other => (&ONNX, vec![other.to_string()]),
        };
        for reason in reasons {
            sink.report(Diagnostic::without_location(code, reason));
        }
        let beside = Beside::Arrays(WeightStore::arrays([]));
        Self::checked(Program::default(), limits, sink, beside, Origin::default())
    }

    fn imported(path: &Path, imported: Imported, limits: &Limits) -> Self {
        let mut sink = Sink::default();
        for warning in &imported.warnings {
            let text = format!("{}: {warning}", path.display());
            sink.report(Diagnostic::warning_without_location(&ONNX, text));
        }
        let main = path.join("main.sknd");
        let files = [(path.join("onnx.sknd"), imported.onnx.as_ref()), (main.clone(), Some(&imported.main))];
        let open = |wanted: &Path| {
            let found = files.iter().find(|(path, _)| path == wanted);
            found.and_then(|(_, text)| Some(text.as_ref()?.as_bytes().to_vec()))
        };
        let program = load_program_with(&main, None, limits, &mut sink, &open);
        let arrays = imported.weights.into_iter().map(|weight| {
            let tensor = Rc::try_unwrap(weight.tensor).unwrap_or_else(|shared| (*shared).clone());
            (weight.name, tensor)
        });
        let beside = Beside::Arrays(WeightStore::arrays(arrays));
        let origin = Origin::of_json(imported.json.as_bytes()).unwrap_or_default();
        Self::checked(program, limits, sink, beside, origin)
    }

    /// The inputs that an imported model declares, if each call composes a model ([`Document::compose_for`]): it has dynamic
    /// dimensions without upper bounds, or elements of inputs decide shapes. Dynamic dimensions have no upper bound here.
    pub fn declared_inputs(&self) -> Option<Vec<artifact::Port>> {
        let onnx = self.onnx.as_ref()?;
        Some(
            onnx.file
                .inputs()
                .into_iter()
                .filter(|input| !onnx.options.is_constant(input))
                .map(|input| declared_port(&input))
                .collect(),
        )
    }

    /// The outputs, likewise.
    pub fn declared_outputs(&self) -> Option<Vec<artifact::Port>> {
        let outputs = self.onnx.as_ref()?.file.outputs();
        Some(outputs.iter().map(declared_port).collect())
    }

    /// The names of the dimensions of [`Document::declared_inputs`]; `None` for a static one, and for one without a name.
    pub fn declared_dimensions(&self) -> Option<Vec<Vec<Option<String>>>> {
        let onnx = self.onnx.as_ref()?;
        let inputs = onnx.file.inputs().into_iter().filter(|input| !onnx.options.is_constant(input));
        let name = |extent: DeclaredExtent| match extent {
            DeclaredExtent::Dynamic(name) if !name.is_empty() => Some(name),
            _ => None,
        };
        Some(inputs.map(|input| input.shape.into_iter().flatten().map(name).collect()).collect())
    }

    /// Whether an imported model declares the rank of an input.
    pub fn has_rank(&self, name: &str) -> bool {
        let onnx = self.onnx.iter().flat_map(|onnx| onnx.file.inputs());
        onnx.into_iter().any(|input| input.has_name(name) && input.shape.is_some())
    }

    /// Specializes a graph of an imported model to the arrays of a call, by the names of inputs: their shapes, and the values of
    /// small arrays that decide shapes or branches. `None` without [`Document::declared_inputs`].
    ///
    /// # Errors
    /// [`Error::Document`] with all reasons why there is no such model.
    pub fn compose_for(
        &self,
        options: &ComposeOptions,
        arrays: &[(String, Tensor)],
    ) -> Option<Result<CallModel, Error>> {
        let onnx = self.onnx.as_ref()?;
        let fixed = onnx.file.fixed(&onnx.options, arrays);
        Some(match onnx.file.convert_for(fixed, arrays) {
            Ok(ForCall { imported, constants }) => Self::imported(onnx.file.path(), imported, &self.limits)
                .into_call_model(options, constants.into_iter().map(|c| c.onnx).collect()),
            Err(error) => Err(Error::Document(Self::refused(error, &self.limits).problems)),
        })
    }

    /// Composes a graph of an imported model whose dynamic dimensions have the upper bounds of these shapes, by the names of inputs.
    ///
    /// # Errors
    /// [`Error::Document`] with all reasons why there is no such model.
    pub fn compose_within(
        &self,
        options: &ComposeOptions,
        bounds: &[(String, Vec<u64>)],
    ) -> Option<Result<CallModel, Error>> {
        let onnx = self.onnx.as_ref()?;
        Some(match onnx.file.convert_within(&onnx.options, bounds) {
            Ok(imported) => {
                Self::imported(onnx.file.path(), imported, &self.limits).into_call_model(options, Vec::new())
            }
            Err(error) => Err(Error::Document(Self::refused(error, &self.limits).problems)),
        })
    }

    fn into_call_model(self, options: &ComposeOptions, constants: Vec<String>) -> Result<CallModel, Error> {
        Ok(CallModel { model: self.compose(options)?, weights: self.weights()?, constants })
    }

    /// The values of variables that belong to the document: files in its folder, or what was imported.
    ///
    /// # Errors
    /// [`Error::Arrays`] if a file with arrays cannot be read.
    pub fn weights(&self) -> Result<Weights, Error> {
        let own = &self.program.folder;
        let store = match &self.beside {
            Beside::Folder => {
                let folder = if own.as_os_str().is_empty() { Path::new(".") } else { own };
                WeightStore::folder(folder, &self.program.main, self.limits.unpacked_bytes)?
            }
            Beside::Packed(files) => WeightStore::packed(files.clone()),
            Beside::Arrays(store) => store.clone(),
        };
        Ok(Weights::of(store))
    }

    /// Parses a text and checks it. Locations of problems have `name` as their path; imports are resolved beside it.
    pub fn parse(name: &str, text: &str, limits: &Limits) -> Self {
        let mut sink = Sink::default();
        let program = load_text(text, Path::new(name), None, limits, &mut sink);
        Self::checked(program, limits, sink, Beside::Folder, Origin::default())
    }

    fn checked(program: Program, limits: &Limits, mut sink: Sink, beside: Beside, origin: Origin) -> Self {
        if program.main_module().is_some() {
            check_program(&program, &mut sink);
        }
        let in_memory = matches!(beside, Beside::Arrays(_));
        let problems = Problem::all(sink, &program.sources, in_memory);
        Document {
            program: Arc::new(program),
            limits: limits.clone(),
            problems,
            beside,
            origin: Arc::new(origin),
            onnx: None,
        }
    }

    /// All errors and warnings in the order of the text.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Names of the graphs of the main module, in its order.
    pub fn graphs(&self) -> Vec<&str> {
        use skript_frontend::ast::DefinitionKind;
        let graphs = self
            .program
            .main_module()
            .into_iter()
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
        let errors: Vec<Problem> =
            self.problems.iter().filter(|p| p.severity == Severity::Error).cloned().collect();
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
        let mut options = options.clone();
        let shapes = std::mem::take(&mut options.inner.input_shapes).into_iter();
        options.inner.input_shapes =
            shapes.map(|(name, shapes)| (self.origin.input(&name).to_owned(), shapes)).collect();
        if let Some(real) = self.origin.real.and_then(ElementType::real).filter(|_| !options.typed) {
            options.inner.numbers.real = real;
        }
        options.inner.storage = self
            .origin
            .storage
            .iter()
            .map(|(name, element)| (name.clone(), StorageType::of(element.real(), element.int())))
            .collect();
        let origin = if options.typed {
            let real = ElementType::run_time(ScalarKind::Real, options.inner.numbers);
            Arc::new(Origin::clone(&self.origin).with_real(real))
        } else {
            Arc::clone(&self.origin)
        };
        Model::compose(Context {
            program: Arc::clone(&self.program),
            in_memory: matches!(self.beside, Beside::Arrays(_)),
            origin,
            options: options.inner,
            limits: self.limits.clone(),
        })
    }
}

/// A port for an input or output as an ONNX model declares it.
fn declared_port(declaration: &Declaration) -> artifact::Port {
    let extent = |extent: &DeclaredExtent| match extent {
        DeclaredExtent::Static(n) => artifact::PortExtent::Fixed(*n),
        DeclaredExtent::Dynamic(_) => artifact::PortExtent::Dynamic(artifact::LARGEST),
    };
    let mut aliases = Vec::new();
    if declaration.onnx != declaration.name {
        aliases.push(declaration.onnx.clone());
    }
    artifact::Port {
        name: declaration.name.clone(),
        aliases,
        element: declaration.element,
        imported: None,
        shape: declaration.shape.iter().flatten().map(extent).collect(),
        pack: None,
    }
}
