// SPDX-License-Identifier: Apache-2.0
//! Parsed and checked text.

use crate::compose::ComposeOptions;
use crate::error::Error;
use crate::model::{Context, Model};
use crate::onnx::{ImportOptions, OnnxModel, declared_port, document, import_refused};
use crate::problem::{Locations, Problem, Severity};
use crate::weights::Weights;
use skript_frontend::ast::{Definition, DefinitionKind};
use skript_frontend::check::check_program;
use skript_frontend::diagnostics::codes::UNREADABLE;
use skript_frontend::diagnostics::{Diagnostic, Sink};
use skript_frontend::foreign;
use skript_frontend::limits::Limits;
use skript_frontend::program::{Edition, Program};
use skript_frontend::source_files::{load_program, load_program_with, load_text};
use skript_import::{Declaration, DeclaredExtent, GgufOptions, ImportError, Origin, convert_gguf};
use skript_runtime::artifact;
use skript_semantics::{Numbers, ScalarKind};
use skript_tensor::{Archive, ElementType, HeldArrays, Tensor, WeightStore, archive};
use std::path::Path;
use std::sync::Arc;

/// A main module and all modules that it imports, checked.
#[derive(Debug)]
pub struct Document {
    program: Arc<Program>,
    limits: Limits,
    problems: Vec<Problem>,
    files: Files,
    /// The model that the document was imported from.
    origin: Option<Arc<Origin>>,
    /// An ONNX model that is imported for the shapes of each call.
    onnx: Option<Arc<OnnxModel>>,
    pub(crate) constants: Vec<Declaration>,
    pub(crate) is_for_call: bool,
    pub(crate) notes: Vec<String>,
}

/// A model for the arrays of a call.
#[derive(Debug)]
pub struct CallModel {
    /// The model. The shapes of its inputs are static if [`Document::compose_for`] composed it.
    pub model: Model,
    /// The weights of the model.
    pub weights: Weights,
    /// The inputs whose values became constants when the model was specialized, by their names in the imported model; they are
    /// not inputs of `model`.
    pub constants: Vec<String>,
}

/// The location of a document's files and weights.
#[derive(Debug)]
pub(crate) enum Files {
    Folder,
    Packed(Archive),
    /// In memory: the document was imported.
    Held(HeldArrays),
}

impl Document {
    /// Reads a model folder with a `main.sknd`, a packed folder, or a single file, and checks it. Imports are resolved in the folder,
    /// then in the standard library. All errors, including files that cannot be read, are in [`Document::problems`].
    pub fn open(path: &Path, edition: Option<Edition>, limits: &Limits) -> Self {
        let mut sink = Sink::default();
        if let Some(refusal) = foreign::refusal(path) {
            return Self::refused(vec![refusal], limits);
        }
        let packed = archive::is_packed(path) && !path.is_dir();
        let (program, files) = match packed.then(|| Archive::open(path, limits.unpacked_bytes)) {
            None => (load_program(path, edition, limits, &mut sink), Files::Folder),
            Some(Ok(files)) => {
                let open = |path: &Path| files.read(path).map(<[u8]>::to_vec);
                let main = path.join("main.sknd");
                let program = load_program_with(&main, edition, limits, &mut sink, &open);
                (program, Files::Packed(files))
            }
            Some(Err(error)) => {
                let refusal = Diagnostic::without_location(&UNREADABLE, error.to_string());
                return Self::refused(vec![refusal], limits);
            }
        };
        let origin = Origin::from_folder(&program.folder);
        Self::checked(program, limits, sink, files, origin)
    }

    /// Imports an ONNX model: its graph as a document, whose weights are in memory ([`Document::weights`]). All reasons
    /// why a model is refused are in [`Document::problems`]; a model with dynamic dimensions may still be called
    /// ([`Document::compose_for`]).
    pub fn import(path: &Path, options: ImportOptions, limits: &Limits) -> Self {
        Self::imported(OnnxModel::open(path, options), limits)
    }

    /// Like [`Document::import`] for a model in memory without external data; messages refer to it by `name`.
    pub fn import_bytes(name: &str, bytes: Vec<u8>, options: ImportOptions, limits: &Limits) -> Self {
        Self::imported(OnnxModel::from_bytes(name, bytes, options), limits)
    }

    fn imported(model: Result<OnnxModel, ImportError>, limits: &Limits) -> Self {
        let model = match model {
            Ok(model) => model,
            Err(error) => return Self::refused(import_refused(error), limits),
        };
        let converted = model.document(limits);
        let is_dynamic = model.is_dynamic(converted.as_ref().err());
        let document = converted.unwrap_or_else(|error| Self::refused(import_refused(error), limits));
        Document { onnx: is_dynamic.then(|| Arc::new(model)), ..document }
    }

    /// Imports the language model of a GGUF file as a document. Its weights without the arrays of the file, which [`Weights::open`]
    /// maps, are in memory. The reasons why a model is refused are in [`Document::problems`].
    pub fn import_gguf(path: &Path, options: GgufOptions, limits: &Limits) -> Self {
        match convert_gguf(path, options) {
            // The text does not depend on the name of the file, and neither does the key of its code in the cache.
            Ok(imported) => document(Path::new("model.gguf"), imported, limits),
            Err(error) => Self::refused(import_refused(error), limits),
        }
    }

    /// Parses a text and checks it. Locations of problems have `name` as their path; imports are resolved in its folder.
    pub fn parse(name: &str, text: &str, limits: &Limits) -> Self {
        let mut sink = Sink::default();
        let program = load_text(text, Path::new(name), None, limits, &mut sink);
        Self::checked(program, limits, sink, Files::Folder, None)
    }

    /// A document without text and with these problems.
    pub fn refused(reasons: Vec<Diagnostic>, limits: &Limits) -> Self {
        let mut sink = Sink::default();
        reasons.into_iter().for_each(|reason| sink.report(reason));
        Self::checked(Program::default(), limits, sink, Files::Folder, None)
    }

    pub(crate) fn checked(
        program: Program,
        limits: &Limits,
        mut sink: Sink,
        files: Files,
        origin: Option<Origin>,
    ) -> Self {
        if program.main_module().is_some() {
            check_program(&program, &mut sink);
        }
        let mut document = Document {
            program: Arc::new(program),
            limits: limits.clone(),
            problems: Vec::new(),
            files,
            origin: origin.map(Arc::new),
            onnx: None,
            constants: Vec::new(),
            is_for_call: false,
            notes: Vec::new(),
        };
        document.problems = document.problems_of(sink);
        document
    }

    fn problems_of(&self, sink: Sink) -> Vec<Problem> {
        Problem::all(sink.into_sorted(), &self.program.sources, self.locations())
    }

    fn locations(&self) -> Locations {
        match (&self.files, &self.origin) {
            (Files::Held(_), _) => Locations::Nodes,
            (_, Some(_)) => Locations::LinesAndNodes,
            (_, None) => Locations::Lines,
        }
    }

    /// All errors and warnings in the order of the text.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The modules. This interface is for the compiler's crates, and changes without notice.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The model that the document was imported from.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_deref()
    }

    /// Whether the text is only in memory, because it was imported.
    pub fn is_in_memory(&self) -> bool {
        matches!(self.files, Files::Held(_))
    }

    /// Whether the document is a packed folder.
    pub fn is_packed(&self) -> bool {
        matches!(self.files, Files::Packed(_))
    }

    /// The diagnostic for users: it refers to nodes of an imported model instead of, or in addition to, lines of the document.
    pub fn shown(&self, diagnostic: Diagnostic) -> Diagnostic {
        self.locations().shown(diagnostic, &self.program.sources)
    }

    /// Notes of the import, such as default upper bounds.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether the document is for the shapes of a call ([`OnnxModel::document_for`]).
    pub fn is_for_call(&self) -> bool {
        self.is_for_call
    }

    /// The inputs whose values became constants when the document was specialized; they are not inputs of the document.
    pub fn constants(&self) -> &[Declaration] {
        &self.constants
    }

    /// The inputs that an imported model declares, if each call composes a model ([`Document::compose_for`]) because dynamic
    /// dimensions have no upper bounds or elements of inputs decide shapes. These dimensions have no upper bound in the ports, either.
    pub fn declared_inputs(&self) -> Option<Vec<artifact::Port>> {
        Some(self.onnx.as_ref()?.declared_inputs().map(|input| declared_port(&input)).collect())
    }

    /// The outputs that an imported model declares, as [`Document::declared_inputs`].
    pub fn declared_outputs(&self) -> Option<Vec<artifact::Port>> {
        Some(self.onnx.as_ref()?.declared_outputs().iter().map(declared_port).collect())
    }

    /// The names of the dimensions of [`Document::declared_inputs`]; `None` for static and unnamed dimensions.
    pub fn declared_dimensions(&self) -> Option<Vec<Vec<Option<String>>>> {
        let name = |extent: DeclaredExtent| match extent {
            DeclaredExtent::Dynamic(name) if !name.is_empty() => Some(name),
            _ => None,
        };
        let inputs = self.onnx.as_ref()?.declared_inputs();
        Some(inputs.map(|input| input.shape.into_iter().flatten().map(name).collect()).collect())
    }

    /// Whether an imported model declares the rank of an input.
    pub fn has_rank(&self, name: &str) -> bool {
        let inputs = self.onnx.iter().flat_map(|onnx| onnx.inputs());
        inputs.into_iter().any(|input| input.has_name(name) && input.shape.is_some())
    }

    /// Specializes a graph of an imported model to the arrays of a call, by the names of inputs: their shapes, and the values of
    /// small arrays that decide shapes or branches. `None` without [`Document::declared_inputs`].
    ///
    /// # Errors
    /// [`Error::Document`] if the model cannot be imported for these arrays; the errors of [`Document::compose`] and
    /// [`Document::weights`].
    pub fn compose_for(
        &self,
        options: &ComposeOptions,
        arrays: &[(String, Tensor)],
    ) -> Option<Result<CallModel, Error>> {
        let document = self.onnx.as_ref()?.document_for(arrays, &self.limits);
        Some(self.call_model(document, options))
    }

    /// Composes a graph of an imported model for all shapes up to `bounds`, by the names of inputs. `None` without
    /// [`Document::declared_inputs`].
    ///
    /// # Errors
    /// [`Error::Document`] if the model cannot be imported for these bounds; the errors of [`Document::compose`] and
    /// [`Document::weights`].
    pub fn compose_within(
        &self,
        options: &ComposeOptions,
        bounds: &[(String, Vec<u64>)],
    ) -> Option<Result<CallModel, Error>> {
        let document = self.onnx.as_ref()?.document_within(bounds, &self.limits);
        Some(self.call_model(document, options))
    }

    /// Composes a graph of an imported model for these shapes, by the names of inputs, and for all shapes of other inputs. `None`
    /// without [`Document::declared_inputs`].
    ///
    /// # Errors
    /// [`Error::Document`] if the model cannot be imported for these shapes; the errors of [`Document::compose`] and
    /// [`Document::weights`].
    pub fn compose_shaped(
        &self,
        options: &ComposeOptions,
        shapes: &[(String, Vec<u64>)],
    ) -> Option<Result<CallModel, Error>> {
        let document = self.onnx.as_ref()?.document_shaped(shapes, &self.limits);
        Some(self.call_model(document, options))
    }

    fn call_model(
        &self,
        document: Result<Document, ImportError>,
        options: &ComposeOptions,
    ) -> Result<CallModel, Error> {
        let document = document
            .map_err(|error| Error::Document(Self::refused(import_refused(error), &self.limits).problems))?;
        Ok(CallModel {
            model: document.compose(options)?,
            weights: document.weights()?,
            constants: document.constants.into_iter().map(|input| input.onnx).collect(),
        })
    }

    /// The values of variables that belong to the document: files in its folder, or imported arrays.
    ///
    /// # Errors
    /// [`Error::Arrays`] if a file with arrays cannot be read.
    pub fn weights(&self) -> Result<Weights, Error> {
        Ok(Weights::new(match &self.files {
            Files::Folder => {
                let folder = self.program.folder.as_path();
                let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
                WeightStore::folder(folder, &self.program.main, self.limits.unpacked_bytes)?
            }
            Files::Packed(files) => WeightStore::packed(files.clone()),
            Files::Held(arrays) => WeightStore::held(arrays.clone()),
        }))
    }

    /// Names of the graphs of the main module, in its order.
    pub fn graphs(&self) -> Vec<&str> {
        self.graph_definitions().map(|graph| graph.name.name.as_str()).collect()
    }

    /// The graphs of the main module, in its order. This interface is for the compiler's crates, and changes without notice.
    pub fn graph_definitions(&self) -> impl Iterator<Item = &Definition> {
        let definitions = self.program.main_module().into_iter().flat_map(|module| &module.definitions);
        definitions.filter(|definition| definition.kind == DefinitionKind::Graph)
    }

    /// Specializes a graph and everything that it invokes to attribute values, types and shapes.
    ///
    /// # Errors
    /// [`Error::Document`] if the document has errors or composition reports errors; [`Error::Name`] if the graph does not exist.
    pub fn compose(&self, options: &ComposeOptions) -> Result<Model, Error> {
        let errors: Vec<Problem> =
            self.problems.iter().filter(|p| p.severity == Severity::Error).cloned().collect();
        if !errors.is_empty() {
            return Err(Error::Document(errors));
        }
        let known = self.graphs();
        let wanted = options.selected_graph();
        if known.is_empty() || wanted.is_some_and(|name| !known.contains(&name)) {
            return Err(Error::Name(match wanted {
                Some(name) => format!("the main module has no graph `{name}`"),
                None => "the main module has no graph".to_owned(),
            }));
        }
        let mut sink = Sink::default();
        let model = self.compose_into(options, &mut sink);
        model.filter(|_| !sink.has_errors()).ok_or_else(|| Error::Document(self.problems_of(sink)))
    }

    /// Composes a graph even if the document has errors elsewhere. Reports errors to `sink`, unless `sink` contains them already.
    /// The model may be erroneous.
    pub fn compose_into(&self, options: &ComposeOptions, sink: &mut Sink) -> Option<Model> {
        let origin = self.origin.clone().map(|origin| match options.selected_real() {
            Some(real) => {
                let numbers = Numbers { real, ..Numbers::default() };
                let real = ElementType::for_kind(ScalarKind::Real, numbers);
                Arc::new(Origin::clone(&origin).with_real(real))
            }
            None => origin,
        });
        let context = Context {
            program: Arc::clone(&self.program),
            locations: self.locations(),
            options: options.resolved(origin.as_deref()),
            origin,
            limits: self.limits.clone(),
        };
        Model::compose(context, sink)
    }
}
