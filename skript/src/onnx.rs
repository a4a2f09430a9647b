// SPDX-License-Identifier: Apache-2.0
//! Imports ONNX models as documents.

use crate::document::{Document, Files};
use skript_frontend::diagnostics::codes::{COMMAND_LINE_NAME, ONNX};
use skript_frontend::diagnostics::{Diagnostic, Sink};
use skript_frontend::format::format;
use skript_frontend::limits::Limits;
use skript_frontend::source::SourceMap;
use skript_frontend::source_files::load_program_with;
use skript_import::{Declaration, DeclaredExtent, ImportError, Imported, ModelFile, Origin};
use skript_runtime::artifact::{self, PortExtent};
use skript_tensor::{HeldArrays, Tensor};
use std::path::Path;
use std::rc::Rc;

/// The options of an import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    inner: skript_import::Options,
}

impl ImportOptions {
    /// Fixes the shape of an input, by its name in ONNX or SkriptND.
    pub fn input_shape(self, name: &str, shape: &[u64]) -> Self {
        let extents: Vec<Option<u64>> = shape.iter().copied().map(Some).collect();
        self.input_extents(name, &extents)
    }

    /// Fixes some dimensions of an input; `None` keeps the dimension of the model.
    pub fn input_extents(mut self, name: &str, extents: &[Option<u64>]) -> Self {
        self.inner.shapes.push((name.to_owned(), extents.to_vec()));
        self
    }

    /// Sets the upper bound of a dynamic dimension with this name in the model; otherwise it is 1024.
    pub fn bound(mut self, name: &str, bound: u64) -> Self {
        self.inner.bounds.push((name.to_owned(), bound));
        self
    }

    /// Makes an input, such as a shape, a constant.
    pub fn constant(mut self, name: &str, value: Tensor) -> Self {
        self.inner.constants.push((name.to_owned(), value));
        self
    }

    /// Converts repeated blocks of equal structure, such as the layers of a transformer, to one operator of the document.
    pub fn structured(mut self) -> Self {
        self.inner.structured = true;
        self
    }

    /// Converts all real weights with dimensions to variables with their names, as training needs; otherwise weights of equal elements become
    /// constants, and operations on weights alone, such as transpositions, are computed by the import.
    pub fn trainable(mut self) -> Self {
        self.inner.trainable = true;
        self
    }
}

/// An ONNX model, which is converted to a document for all shapes, for the shapes of a call, or for shapes within upper bounds.
#[derive(Debug)]
pub struct OnnxModel {
    file: ModelFile,
    options: skript_import::Options,
}

impl OnnxModel {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, or is not an ONNX model.
    pub fn open(path: &Path, options: ImportOptions) -> Result<Self, ImportError> {
        Ok(OnnxModel { file: ModelFile::open(path)?, options: options.inner })
    }

    /// Like [`OnnxModel::open`] for a model in memory without external data; messages refer to it by `name`.
    ///
    /// # Errors
    /// The bytes are not an ONNX model.
    pub fn from_bytes(name: &str, bytes: Vec<u8>, options: ImportOptions) -> Result<Self, ImportError> {
        Ok(OnnxModel { file: ModelFile::from_bytes(Path::new(name), bytes)?, options: options.inner })
    }

    /// The inputs that callers pass.
    pub fn inputs(&self) -> Vec<Declaration> {
        self.file.inputs()
    }

    /// The model in SkriptND, with its weights.
    ///
    /// # Errors
    /// All reasons for its refusal.
    pub fn convert(&self) -> Result<Imported, ImportError> {
        self.file.convert(self.options.clone())
    }

    /// The document for all shapes.
    ///
    /// # Errors
    /// The errors of [`OnnxModel::convert`].
    pub fn document(&self, limits: &Limits) -> Result<Document, ImportError> {
        Ok(document(self.file.path(), self.convert()?, limits))
    }

    /// The document for the arrays of a call, by the names of inputs. It is specialized to their shapes, unless the options contain upper
    /// bounds, and to the values of small arrays that decide shapes or branches.
    ///
    /// # Errors
    /// The errors of [`OnnxModel::convert`].
    pub fn document_for(
        &self,
        arrays: &[(String, Tensor)],
        limits: &Limits,
    ) -> Result<Document, ImportError> {
        let is_bounded = !self.options.bounds.is_empty();
        let options = if is_bounded { self.options.clone() } else { self.file.fixed(&self.options, arrays) };
        let converted = self.file.convert_for(options, arrays)?;
        let is_open = !self.file.undetermined(&self.options).is_empty();
        let mut document = document(self.file.path(), converted.imported, limits);
        document.is_for_call = !is_bounded && (is_open || !converted.constants.is_empty());
        document.constants = converted.constants;
        Ok(document)
    }

    /// The document for all shapes up to `bounds`, by the names of inputs.
    ///
    /// # Errors
    /// The errors of [`OnnxModel::convert`].
    pub fn document_within(
        &self,
        bounds: &[(String, Vec<u64>)],
        limits: &Limits,
    ) -> Result<Document, ImportError> {
        Ok(document(self.file.path(), self.file.convert_within(&self.options, bounds)?, limits))
    }

    /// The document for these shapes, by the names of inputs, and for all shapes of other inputs.
    pub(crate) fn document_shaped(
        &self,
        shapes: &[(String, Vec<u64>)],
        limits: &Limits,
    ) -> Result<Document, ImportError> {
        let mut options = self.options.clone();
        let fixed =
            |(name, shape): &(String, Vec<u64>)| (name.clone(), shape.iter().copied().map(Some).collect());
        options.shapes.extend(shapes.iter().map(fixed));
        Ok(document(self.file.path(), self.file.convert(options)?, limits))
    }

    /// Messages about arrays whose shapes contradict the inputs.
    pub fn misfits(&self, arrays: &[(String, Tensor)]) -> Vec<String> {
        self.file.misfits(arrays)
    }

    /// The inputs with dimensions that neither the options nor these arrays decide.
    pub fn undetermined(&self, arrays: &[(String, Tensor)]) -> Vec<Declaration> {
        self.file.undetermined(&self.file.fixed(&self.options, arrays))
    }

    /// Whether each call composes a model. `refused` is the error of the conversion for all shapes, if the conversion failed.
    pub(crate) fn is_dynamic(&self, refused: Option<&ImportError>) -> bool {
        let is_decided =
            matches!(refused, Some(ImportError::Refused { deciding, .. }) if !deciding.is_empty());
        let is_refused = !matches!(refused, None | Some(ImportError::Refused { .. }));
        let is_open = is_decided || !self.file.undetermined(&self.options).is_empty();
        is_open && !is_refused && self.options.bounds.is_empty()
    }

    /// The declarations of the inputs that calls pass.
    pub(crate) fn declared_inputs(&self) -> impl Iterator<Item = Declaration> {
        self.file.inputs().into_iter().filter(|input| !self.options.is_constant(input))
    }

    pub(crate) fn declared_outputs(&self) -> Vec<Declaration> {
        self.file.outputs()
    }
}

/// The diagnostics of a refused import, one for each reason.
pub fn import_refused(error: ImportError) -> Vec<Diagnostic> {
    match error {
        ImportError::Refused { path, refusals, .. } => {
            let name = path.display();
            refusals.iter().map(|r| Diagnostic::without_location(&ONNX, format!("{name}: {r}"))).collect()
        }
        ImportError::Name(text) => vec![Diagnostic::without_location(&COMMAND_LINE_NAME, text)],
        other => vec![Diagnostic::without_location(&ONNX, other.to_string())],
    }
}

/// Formats the text of an imported model. A text with errors is unchanged; reading it reports the errors.
pub fn formatted(text: &str) -> String {
    let (mut sources, mut sink) = (SourceMap::default(), Sink::default());
    let file = sources.add(Path::new("main.sknd"), text);
    format(file, text, &Limits::default(), &mut sink).unwrap_or_else(|| text.to_owned())
}

/// The document of an imported model, with its arrays in memory.
pub(crate) fn document(path: &Path, imported: Imported, limits: &Limits) -> Document {
    let mut sink = Sink::default();
    for warning in &imported.warnings {
        let text = format!("{}: {warning}", path.display());
        sink.report(Diagnostic::warning_without_location(&ONNX, text));
    }
    let main = path.join("main.sknd");
    let mut texts = vec![(main.clone(), formatted(&imported.main))];
    texts.extend(imported.onnx.iter().map(|onnx| (path.join("onnx.sknd"), formatted(onnx))));
    let open = |wanted: &Path| {
        let text = texts.iter().find(|(path, _)| path == wanted);
        text.map(|(_, text)| text.as_bytes().to_vec())
    };
    let program = load_program_with(&main, None, limits, &mut sink, &open);
    let arrays = imported.weights.into_iter().map(|w| (w.name, Rc::unwrap_or_clone(w.tensor).into_shared()));
    let files = Files::Held(HeldArrays::new(path, arrays.collect()));
    let origin = Origin::from_json(imported.json.as_bytes());
    let mut document = Document::checked(program, limits, sink, files, origin);
    document.notes = imported.notes;
    document
}

/// The port of a declared input or output.
pub(crate) fn declared_port(declaration: &Declaration) -> artifact::Port {
    let extent = |extent: &DeclaredExtent| match extent {
        DeclaredExtent::Static(n) => PortExtent::Fixed(*n),
        DeclaredExtent::Dynamic(_) => PortExtent::Dynamic(artifact::LARGEST),
    };
    let is_renamed = declaration.onnx != declaration.name;
    artifact::Port {
        name: declaration.name.clone(),
        aliases: is_renamed.then(|| declaration.onnx.clone()).into_iter().collect(),
        element: declaration.element,
        imported: None,
        shape: declaration.shape.iter().flatten().map(extent).collect(),
        pack: None,
    }
}
