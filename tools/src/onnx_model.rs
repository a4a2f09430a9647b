// SPDX-License-Identifier: Apache-2.0
//! ONNX models: imports them, and reads what an import wrote about itself.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use skript_frontend::diagnostics::codes::{COMMAND_LINE_NAME, INPUT, ONNX, OUTPUT};
use skript_frontend::diagnostics::{Diagnostic, Sink};
use skript_frontend::format::format;
use skript_frontend::limits::Limits;
use skript_frontend::model::storage_types::{StorageType, StorageTypes};
use skript_frontend::source::SourceMap;
use skript_host::format::is_onnx_model;
use skript_import::{Declaration, ImportError, Imported, ModelFile, Options};
use skript_runtime::{Artifact, files};
use skript_semantics::RealType;
use skript_tensor::error::Admits;
use skript_tensor::npz::Npz;
use skript_tensor::{ElementType, HeldArrays, Tensor, TensorError, dat, npy, safetensors};

use crate::command_line::{ImportOptions, InputArgument, InputShape, WeightsFormat};
use crate::inputs;

/// The file of a model's folder that describes the model that it was imported from.
pub const IMPORT_FILE: &str = "import.json";

/// Imports a model; with `structured`, repeated blocks become operators.
///
/// # Errors
/// One diagnostic for each reason.
pub fn import(
    path: &Path,
    options: &ImportOptions,
    shapes: &[InputShape],
    structured: bool,
) -> Result<Imported, Vec<Diagnostic>> {
    let mut options = convert_options(options, shapes)?;
    options.structured = structured;
    skript_import::convert(path, options).map_err(diagnostics)
}

/// The options of the import, with the arrays of `--constant`.
///
/// # Errors
/// One diagnostic for each file that cannot be read.
fn convert_options(options: &ImportOptions, shapes: &[InputShape]) -> Result<Options, Vec<Diagnostic>> {
    let mut constants = Vec::new();
    let mut wrong = Vec::new();
    for (name, file) in &options.constants {
        match npy::read(file, &|_, _| Ok(())) {
            Ok(tensor) => constants.push((name.clone(), tensor)),
            Err(error) => wrong.push(Diagnostic::without_location(&INPUT, error.to_string())),
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let shapes = shapes.iter().filter_map(|(name, shapes)| Some((name.clone(), shapes.first()?.clone())));
    Ok(Options { shapes: shapes.collect(), bounds: options.bounds.clone(), constants, structured: false })
}

fn diagnostics(error: ImportError) -> Vec<Diagnostic> {
    match error {
        ImportError::Refused { path, refusals, .. } => {
            let name = path.display().to_string();
            refusals.iter().map(|r| Diagnostic::without_location(&ONNX, format!("{name}: {r}"))).collect()
        }
        ImportError::Name(text) => vec![Diagnostic::without_location(&COMMAND_LINE_NAME, text)],
        other => vec![Diagnostic::without_location(&ONNX, other.to_string())],
    }
}

/// Whether a path names an ONNX model.
pub fn is_model(path: &Path) -> bool {
    is_onnx_model(path)
}

/// Writes the files of a model folder.
///
/// # Errors
/// The system refuses.
pub fn write(imported: &Imported, folder: &Path, format: WeightsFormat) -> Result<(), Box<Diagnostic>> {
    let wrong = |path: &Path, error: std::io::Error| {
        let message = format!("cannot write {}: {error}", path.display());
        Box::new(Diagnostic::without_location(&OUTPUT, message))
    };
    std::fs::create_dir_all(folder).map_err(|e| wrong(folder, e))?;
    let text = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|e| wrong(&path, e))
    };
    text("main.sknd", &formatted(&imported.main))?;
    if let Some(onnx) = &imported.onnx {
        text("onnx.sknd", &formatted(onnx))?;
    }
    text(IMPORT_FILE, &imported.json)?;
    let path = folder.join("main.safetensors");
    let stream = |path: &Path| {
        let file = File::create(path).map_err(|e| wrong(path, e))?;
        Ok::<_, Box<Diagnostic>>(BufWriter::with_capacity(1 << 20, file))
    };
    match format {
        _ if imported.weights.is_empty() => {}
        WeightsFormat::Safetensors => {
            let arrays = imported.weights.iter().map(|w| (w.name.as_str(), &*w.tensor));
            let mut stream = stream(&path)?;
            safetensors::write(arrays, &mut stream).map_err(|e| wrong(&path, e))?;
            stream.flush().map_err(|e| wrong(&path, e))?;
        }
        WeightsFormat::Dat => {
            for weight in &imported.weights {
                let path = folder.join(format!("{}.dat", weight.name));
                let mut stream = stream(&path)?;
                let text = |e: TensorError| Diagnostic::without_location(&OUTPUT, e.to_string());
                dat::write(&path, &weight.tensor, &mut stream).map_err(|e| Box::new(text(e)))?;
                stream.flush().map_err(|e| wrong(&path, e))?;
            }
        }
    }
    Ok(())
}

/// The text in the style of the standard library; as it is, if it has errors, which are reported when it is read.
fn formatted(text: &str) -> String {
    let (mut sources, mut sink) = (SourceMap::default(), Sink::default());
    let file = sources.add(Path::new("main.sknd"), text);
    format(file, text, &Limits::default(), &mut sink).unwrap_or_else(|| text.to_owned())
}

/// A model that was imported when it was opened. Nothing of it is written.
pub struct Opened {
    /// The path that messages have: the model's, with the name of the module.
    pub main: PathBuf,
    texts: Vec<(PathBuf, String)>,
    pub weights: HeldArrays,
    pub origin: Option<Origin>,
    /// Inputs whose values the model was imported for.
    pub constants: Vec<Declaration>,
    /// Whether its dynamic dimensions have the extents of a call.
    is_for_call: bool,
    /// Upper bounds of dynamic dimensions that nobody set.
    pub default_bounds: Vec<String>,
    /// Contradictions in the model that do not affect its results.
    pub warnings: Vec<Diagnostic>,
}

impl Opened {
    /// The text of a module.
    pub fn text(&self, path: &Path) -> Option<Vec<u8>> {
        let found = self.texts.iter().find(|(known, _)| known == path);
        found.map(|(_, text)| text.clone().into_bytes())
    }

    /// Describes the shapes and values that the model was imported for, if it was imported for a call.
    pub fn note(&self) -> Option<String> {
        let values = match self.constants.as_slice() {
            [] => String::new(),
            inputs => {
                let names: Vec<&str> = inputs.iter().map(|input| input.onnx.as_str()).collect();
                format!(", and for the values of `{}`", names.join("`, `"))
            }
        };
        let text = "the model is imported for the shapes of the inputs";
        self.is_for_call.then(|| format!("{text}{values}"))
    }

    fn new(path: &Path, imported: Imported, constants: Vec<Declaration>) -> Opened {
        let warnings = imported.warnings.iter().map(|warning| {
            let text = format!("{}: {warning}", path.display());
            Diagnostic::warning_without_location(&ONNX, text)
        });
        let warnings = warnings.collect();
        let main = path.join("main.sknd");
        let mut texts = vec![(main.clone(), formatted(&imported.main))];
        if let Some(onnx) = &imported.onnx {
            texts.push((path.join("onnx.sknd"), formatted(onnx)));
        }
        let weights = imported.weights.into_iter().map(|w| (w.name, Rc::unwrap_or_clone(w.tensor)));
        Opened {
            main,
            texts,
            weights: HeldArrays::new(path, weights.collect()),
            origin: Origin::of_json(imported.json.as_bytes()),
            constants,
            is_for_call: false,
            default_bounds: imported.notes,
            warnings,
        }
    }
}

/// Imports a model for the command that reads it. For a call, its dynamic dimensions have the extents of the arrays, unless
/// the command line has upper bounds for them.
///
/// # Errors
/// As for [`import`].
pub fn open(
    path: &Path,
    options: &ImportOptions,
    shapes: &[InputShape],
    call: Option<&[InputArgument]>,
    most: u64,
) -> Result<Opened, Vec<Diagnostic>> {
    let options = convert_options(options, shapes)?;
    let file = ModelFile::open(path).map_err(diagnostics)?;
    let Some(inputs) = call else {
        let imported = file.convert(options).map_err(diagnostics)?;
        return Ok(Opened::new(path, imported, Vec::new()));
    };
    let (arrays, unread) = call_arrays(&file, inputs, most);
    if !options.bounds.is_empty() {
        let converted = file.convert_for(options, &arrays).map_err(diagnostics)?;
        return Ok(Opened::new(path, converted.imported, converted.constants));
    }
    let misfits = file.misfits(&arrays);
    if !misfits.is_empty() {
        return Err(misfits.into_iter().map(|text| Diagnostic::without_location(&INPUT, text)).collect());
    }
    let is_for_call = !file.undetermined(&options).is_empty();
    let options = file.fixed(&options, &arrays);
    let undetermined = file.undetermined(&options);
    if !undetermined.is_empty() {
        let unknown = unknown_inputs(&file, inputs);
        if !unknown.is_empty() {
            return Err(unknown);
        }
        return Err(if unread.is_empty() {
            undetermined.iter().map(without_shape).collect()
        } else {
            unread
        });
    }
    let converted = file.convert_for(options, &arrays).map_err(diagnostics)?;
    let opened = Opened::new(path, converted.imported, converted.constants);
    Ok(Opened { is_for_call: is_for_call || !opened.constants.is_empty(), ..opened })
}

/// The arrays that arguments have for the inputs of a model, and errors of those that cannot be read.
fn call_arrays(
    file: &ModelFile,
    inputs: &[InputArgument],
    most: u64,
) -> (Vec<(String, Tensor)>, Vec<Diagnostic>) {
    let any: Admits<'_> = &|_, _| Ok(());
    let (mut arrays, mut unread) = (Vec::new(), Vec::new());
    let wrong = |e: TensorError| Diagnostic::without_location(&INPUT, e.to_string());
    for argument in inputs {
        match argument {
            InputArgument::Files { name, files } => {
                let [path] = files.as_slice() else { continue };
                match inputs::file(path, most, name, any) {
                    Ok(tensor) => arrays.push((name.clone(), tensor)),
                    Err(error) => unread.push(wrong(error)),
                }
            }
            InputArgument::Archive(path) => {
                let archive = match Npz::open(path, most) {
                    Ok(archive) => archive,
                    Err(error) => {
                        unread.push(wrong(error));
                        continue;
                    }
                };
                for input in file.inputs() {
                    let mut names = [&input.onnx, &input.name].into_iter();
                    match names.find_map(|name| archive.get(name, any).transpose()) {
                        Some(Ok(tensor)) => arrays.push((input.onnx.clone(), tensor)),
                        Some(Err(error)) => unread.push(wrong(error)),
                        None => {}
                    }
                }
            }
            InputArgument::Random { .. } => {}
        }
    }
    (arrays, unread)
}

/// An error for each argument that is for none of the model's inputs.
fn unknown_inputs(file: &ModelFile, arguments: &[InputArgument]) -> Vec<Diagnostic> {
    let inputs = file.inputs();
    let known: Vec<String> = inputs.iter().map(|i| format!("`{}`", i.onnx)).collect();
    inputs::named(arguments)
        .filter(|name| !inputs.iter().any(|input| input.has_name(name)))
        .map(|name| {
            let text = format!("the model has no input `{name}`; there is {}", known.join(", "));
            Diagnostic::without_location(&COMMAND_LINE_NAME, text)
        })
        .collect()
}

/// The error for an input with dynamic dimensions for which neither an array nor a shape is passed.
fn without_shape(input: &Declaration) -> Diagnostic {
    let name = &input.onnx;
    let shape = input.shape_text();
    let text = match &shape {
        Some(shape) => format!(
            "the input `{name}` has dynamic dimensions, [{shape}], and no array or shape is passed for it"
        ),
        None => format!("the rank of the input `{name}` is dynamic, and no array or shape is passed for it"),
    };
    Diagnostic::without_location(&COMMAND_LINE_NAME, text)
        .with_help(format!("pass --input {name}=FILE.npy, or --input-shape {name}=… for random values"))
}

/// What `import.json` of a model folder says.
#[derive(Debug, Default)]
pub struct Origin {
    pub inner: skript_import::Origin,
    /// The storage type of reals that the command line sets.
    pub given_real: Option<ElementType>,
}

impl Origin {
    fn new(inner: skript_import::Origin) -> Origin {
        Origin { inner, given_real: None }
    }

    /// The origin with the types of the outputs that the command line asks for.
    pub fn typed(&self) -> skript_import::Origin {
        match self.given_real {
            Some(real) => self.inner.clone().with_real(real),
            None => self.inner.clone(),
        }
    }

    /// Reads `import.json`; `None` if the folder has none of this version.
    pub fn of(folder: &Path) -> Option<Origin> {
        skript_import::Origin::of_folder(folder).map(Origin::new)
    }

    fn of_json(text: &[u8]) -> Option<Origin> {
        skript_import::Origin::of_json(text).map(Origin::new)
    }

    /// Adds the names and element types to a compiled model.
    pub fn add_to(&self, artifact: &mut Artifact) {
        let origin = self.typed();
        artifact.add_import(
            origin.inputs.iter().map(|input| (input.name.as_str(), input.onnx.as_str(), input.ints)),
            origin.outputs.iter().map(|output| (output.name.as_str(), output.onnx.as_str(), output.element)),
        );
    }

    /// The storage type of reals.
    pub fn real(&self) -> Option<RealType> {
        self.inner.real.and_then(ElementType::real)
    }

    /// The storage types of tensors that have their own.
    pub fn storage(&self) -> StorageTypes {
        self.inner
            .storage
            .iter()
            .map(|(name, element)| (name.clone(), StorageType::of(element.real(), element.int())))
            .collect()
    }

    /// The arguments with the names of SkriptND.
    pub fn named(&self, arguments: &[InputArgument]) -> Vec<InputArgument> {
        let ours = |name: &str| self.inner.input(name).to_owned();
        arguments
            .iter()
            .cloned()
            .map(|argument| match argument {
                InputArgument::Files { name, files } => InputArgument::Files { name: ours(&name), files },
                InputArgument::Random { name, seed } => InputArgument::Random { name: ours(&name), seed },
                archive @ InputArgument::Archive(_) => archive,
            })
            .collect()
    }

    /// The outputs in the element types of the ONNX model.
    pub fn converted(&self, names: &[String], tensors: Vec<Arc<Tensor>>) -> Vec<Arc<Tensor>> {
        let origin = self.typed();
        let tensors = names.iter().zip(tensors);
        let converted = tensors.map(|(name, tensor)| {
            let wanted = origin.output(name);
            let converted = wanted.and_then(|element| files::converted(&tensor, element));
            converted.map_or(tensor, Arc::new)
        });
        converted.collect()
    }
}
