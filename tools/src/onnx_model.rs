// SPDX-License-Identifier: Apache-2.0
//! Imports ONNX models, and writes imported models as model folders.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use skript::{Document, OnnxModel, Tensor, formatted, import_refused};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{COMMAND_LINE_NAME, INPUT, OUTPUT};
use skript_frontend::limits::Limits;
use skript_import::{Declaration, Imported};
use skript_tensor::error::Admits;
use skript_tensor::npz::Npz;
use skript_tensor::{TensorError, dat, npy, safetensors};

use crate::command_line::{ImportOptions, InputArgument, InputShape, ModelArguments, WeightsFormat};
use crate::inputs;
use crate::written::unwritten;

/// The file of a model folder that describes the imported ONNX model.
pub const IMPORT_FILE: &str = "import.json";

/// Imports a model. With `structured`, repeated blocks become operators.
///
/// # Errors
/// One diagnostic for each reason.
pub fn import(
    path: &Path,
    options: &ImportOptions,
    shapes: &[InputShape],
    structured: bool,
) -> Result<Imported, Vec<Diagnostic>> {
    let options = import_options(options, shapes)?;
    let options = if structured { options.structured() } else { options };
    OnnxModel::open(path, options).and_then(|model| model.convert()).map_err(import_refused)
}

/// The options of the import, with the arrays of `--constant`.
///
/// # Errors
/// One diagnostic for each file that cannot be read.
fn import_options(
    given: &ImportOptions,
    shapes: &[InputShape],
) -> Result<skript::ImportOptions, Vec<Diagnostic>> {
    let mut options = skript::ImportOptions::default();
    let mut wrong = Vec::new();
    for (name, file) in &given.constants {
        match npy::read(file, &|_, _| Ok(())) {
            Ok(tensor) => options = options.constant(name, tensor),
            Err(error) => wrong.push(Diagnostic::without_location(&INPUT, error.to_string())),
        }
    }
    for (name, shapes) in shapes {
        options = shapes.iter().take(1).fold(options, |options, shape| options.input_extents(name, shape));
    }
    options = if given.trainable { options.trainable() } else { options };
    options = given.bounds.iter().fold(options, |options, (name, bound)| options.bound(name, *bound));
    if wrong.is_empty() { Ok(options) } else { Err(wrong) }
}

/// Writes the files of a model folder.
///
/// # Errors
/// A file cannot be written.
pub fn write(imported: &Imported, folder: &Path, format: WeightsFormat) -> Result<(), Box<Diagnostic>> {
    std::fs::create_dir_all(folder).map_err(|e| unwritten(folder, e))?;
    let text = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|e| unwritten(&path, e))
    };
    text("main.sknd", &formatted(&imported.main))?;
    if let Some(onnx) = &imported.onnx {
        text("onnx.sknd", &formatted(onnx))?;
    }
    text(IMPORT_FILE, &imported.json)?;
    let arrays = imported.weights.iter().map(|w| (w.name.as_str(), &*w.tensor));
    write_arrays(arrays, folder, format)
}

/// Writes arrays of weights into a model folder; no file without arrays.
///
/// # Errors
/// A file cannot be written.
pub fn write_arrays<'t>(
    arrays: impl ExactSizeIterator<Item = (&'t str, &'t Tensor)> + Clone,
    folder: &Path,
    format: WeightsFormat,
) -> Result<(), Box<Diagnostic>> {
    let path = folder.join("main.safetensors");
    let stream = |path: &Path| {
        let file = File::create(path).map_err(|e| unwritten(path, e))?;
        Ok::<_, Box<Diagnostic>>(BufWriter::with_capacity(1 << 20, file))
    };
    match format {
        _ if arrays.len() == 0 => {}
        WeightsFormat::Safetensors => {
            let mut stream = stream(&path)?;
            safetensors::write(arrays, &mut stream).map_err(|e| unwritten(&path, e))?;
            stream.flush().map_err(|e| unwritten(&path, e))?;
        }
        WeightsFormat::Dat => {
            for (name, tensor) in arrays {
                let path = folder.join(format!("{name}.dat"));
                let mut stream = stream(&path)?;
                let text = |e: TensorError| Diagnostic::without_location(&OUTPUT, e.to_string());
                dat::write(&path, tensor, &mut stream).map_err(|e| Box::new(text(e)))?;
                stream.flush().map_err(|e| unwritten(&path, e))?;
            }
        }
    }
    Ok(())
}

/// The note of a model that was imported for the shapes of inputs, and for the values of the inputs `constants`.
pub fn note(constants: &[Declaration]) -> String {
    let names: Vec<&str> = constants.iter().map(|input| input.onnx.as_str()).collect();
    let values = match names.as_slice() {
        [] => String::new(),
        names => format!(", and for the values of `{}`", names.join("`, `")),
    };
    format!("the model is imported for the shapes of the inputs{values}")
}

/// Imports a model for a command. For a call, dynamic dimensions have the extents of the arrays, unless the command line
/// sets upper bounds of these dimensions.
///
/// # Errors
/// As for [`import`].
pub fn open(
    path: &Path,
    arguments: &ModelArguments,
    call: Option<&[InputArgument]>,
    limits: &Limits,
) -> Result<Document, Vec<Diagnostic>> {
    let options = import_options(&arguments.import, &arguments.input_shapes)?;
    let model = OnnxModel::open(path, options).map_err(import_refused)?;
    let Some(inputs) = call else {
        return model.document(limits).map_err(import_refused);
    };
    let (arrays, unread) = call_arrays(&model.inputs(), inputs, limits.unpacked_bytes);
    if arguments.import.bounds.is_empty() {
        let misfits = model.misfits(&arrays);
        if !misfits.is_empty() {
            return Err(misfits.into_iter().map(|text| Diagnostic::without_location(&INPUT, text)).collect());
        }
        let undetermined = model.undetermined(&arrays);
        if !undetermined.is_empty() {
            let unknown = unknown_inputs(&model.inputs(), inputs);
            let causes = if unknown.is_empty() { unread } else { unknown };
            let without = undetermined.iter().map(without_shape);
            return Err(if causes.is_empty() { without.collect() } else { causes });
        }
    }
    model.document_for(&arrays, limits).map_err(import_refused)
}

/// The arrays of the arguments for the inputs of a model, and the errors of arrays that cannot be read.
fn call_arrays(
    declared: &[Declaration],
    inputs: &[InputArgument],
    max_bytes: u64,
) -> (Vec<(String, Tensor)>, Vec<Diagnostic>) {
    let any: Admits<'_> = &|_, _| Ok(());
    let (mut arrays, mut unread) = (Vec::new(), Vec::new());
    let wrong = |e: TensorError| Diagnostic::without_location(&INPUT, e.to_string());
    for argument in inputs {
        match argument {
            InputArgument::Files { name, files } => {
                let [path] = files.as_slice() else { continue };
                match inputs::file(path, max_bytes, name, any) {
                    Ok(tensor) => arrays.push((name.clone(), tensor)),
                    Err(error) => unread.push(wrong(error)),
                }
            }
            InputArgument::Archive(path) => {
                let archive = match Npz::open(path, max_bytes) {
                    Ok(archive) => archive,
                    Err(error) => {
                        unread.push(wrong(error));
                        continue;
                    }
                };
                for input in declared {
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

/// An error for each argument whose name is not an input of the model.
fn unknown_inputs(inputs: &[Declaration], arguments: &[InputArgument]) -> Vec<Diagnostic> {
    let known: Vec<String> = inputs.iter().map(|i| format!("`{}`", i.onnx)).collect();
    inputs::named(arguments)
        .filter(|name| !inputs.iter().any(|input| input.has_name(name)))
        .map(|name| {
            let text = format!("the model has no input `{name}`; its inputs are {}", known.join(", "));
            Diagnostic::without_location(&COMMAND_LINE_NAME, text)
        })
        .collect()
}

/// The error for an input with dynamic dimensions that has neither an array nor a shape.
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
