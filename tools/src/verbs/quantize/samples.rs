// SPDX-License-Identifier: Apache-2.0
//! Reads calibration data: arrays with a leading axis of samples for each input of the graph.

use std::path::{Path, PathBuf};

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{CALIBRATION, INPUT};
use skript_frontend::model::{Extent, Function, Port, PortTensors, TensorType};
use skript_semantics::{Numbers, Scalar};
use skript_tensor::{ElementType, Tensor, npy};

use crate::inputs;
use crate::session::Session;
use crate::stopped::Stopped;

/// The samples, each with one tensor for each input.
#[derive(Debug, Default)]
pub struct Samples {
    batches: Vec<Batch>,
}

/// The samples of one file, or of the `.npy` files of a folder.
#[derive(Debug)]
struct Batch {
    count: usize,
    inputs: Vec<Stacked>,
}

/// The samples of one input, one after the other.
#[derive(Debug)]
struct Stacked {
    array: Tensor,
    /// The shape of one sample.
    shape: Vec<u64>,
    /// The element type in calls.
    element: ElementType,
}

/// An input of the graph.
struct Wanted<'m> {
    port: &'m Port,
    tensor: &'m TensorType,
    numbers: Numbers,
    ints: Option<ElementType>,
    /// The name in the imported model, for messages.
    shown: &'m str,
}

/// The arrays of one file or folder by name.
struct Arrays {
    origin: PathBuf,
    named: Vec<(String, Tensor)>,
}

impl Samples {
    /// Reads the files and folders in order.
    ///
    /// # Errors
    /// All files that cannot be read, inputs without arrays or with unsuitable ones, and data without samples.
    pub fn read(session: &Session, entry: &Function, paths: &[PathBuf]) -> Result<Self, Vec<Diagnostic>> {
        let wanted = wanted(session, entry)?;
        let (mut samples, mut wrong) = (Samples::default(), Vec::new());
        for path in paths {
            let read = files(path).map_err(Stopped::into_diagnostics);
            match read.and_then(|files| arrays(session, path, files)) {
                Ok(all) => {
                    for arrays in all {
                        match batch(&arrays, &wanted) {
                            Ok(batch) => samples.batches.push(batch),
                            Err(messages) => wrong.extend(messages),
                        }
                    }
                }
                Err(messages) => wrong.extend(messages),
            }
        }
        if wrong.is_empty() && samples.count() == 0 {
            let text = "the data has no samples";
            wrong.push(Diagnostic::without_location(&CALIBRATION, text).with_help(
                "--data names a .npz file, or a folder with .npz files or NAME.npy for each input, whose arrays have samples along their first axis",
            ));
        }
        if wrong.is_empty() { Ok(samples) } else { Err(wrong) }
    }

    pub fn count(&self) -> usize {
        self.batches.iter().map(|batch| batch.count).sum()
    }

    /// The tensors of one sample in the order of the inputs, in storage types.
    pub fn get(&self, position: usize) -> Result<Vec<Tensor>, Stopped> {
        let mut position = position;
        for batch in &self.batches {
            if position < batch.count {
                return batch.inputs.iter().map(|input| input.sample(position)).collect();
            }
            position -= batch.count;
        }
        Err(crate::session::internal("a sample beyond the data").into())
    }

    /// The shapes of the inputs, if all samples have the same.
    pub fn shapes(&self) -> Option<Vec<&[u64]>> {
        let shapes = |batch: &'_ Batch| batch.inputs.iter().map(|i| i.shape.clone()).collect::<Vec<_>>();
        let first = self.batches.first()?;
        let is_same = self.batches.iter().all(|batch| shapes(batch) == shapes(first));
        is_same.then(|| first.inputs.iter().map(|input| input.shape.as_slice()).collect())
    }
}

impl Stacked {
    fn sample(&self, position: usize) -> Result<Tensor, Stopped> {
        let wrong = |error: &dyn std::fmt::Display| Diagnostic::without_location(&INPUT, error.to_string());
        let volume: u64 = self.shape.iter().product();
        let size = volume as usize * self.array.element().size();
        let bytes = self.array.bytes().get(position * size..(position + 1) * size);
        let bytes = bytes.ok_or_else(|| wrong(&"an array is shorter than its shape"))?;
        let tensor = Tensor::from_bytes(self.array.element(), &self.shape, bytes).map_err(|e| wrong(&e))?;
        Ok(tensor.into_run_time("a sample", self.element).map_err(|e| wrong(&e))?)
    }
}

/// The inputs of the graph. Packs have no single array.
fn wanted<'m>(session: &'m Session, entry: &'m Function) -> Result<Vec<Wanted<'m>>, Vec<Diagnostic>> {
    let (mut all, mut wrong) = (Vec::new(), Vec::new());
    for port in &entry.inputs {
        let id = match &port.tensors {
            PortTensors::Single(id) => *id,
            PortTensors::Null => continue,
            PortTensors::Pack(_) | PortTensors::Stack(_) => {
                let text = format!("input `{}` is a pack, and calibration data is for tensors", port.name);
                wrong.push(Diagnostic::error(&CALIBRATION, port.span, text));
                continue;
            }
        };
        if let Some(value) = entry.values.get(id.0 as usize) {
            all.push(Wanted {
                port,
                tensor: &value.tensor,
                numbers: entry.numbers_of(value),
                ints: session.ints(&port.name),
                shown: session.imported_name(&port.name),
            });
        }
    }
    if wrong.is_empty() { Ok(all) } else { Err(wrong) }
}

/// The files of a path: itself, or the arrays in a folder in the order of their names.
fn files(path: &Path) -> Result<Vec<PathBuf>, Stopped> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let wrong = |reason: String| {
        Diagnostic::without_location(&INPUT, format!("cannot read {}: {reason}", path.display()))
    };
    let entries = std::fs::read_dir(path).map_err(|e| wrong(e.to_string()))?;
    let mut files = Vec::new();
    for entry in entries {
        files.push(entry.map_err(|e| wrong(e.to_string()))?.path());
    }
    files.retain(|file| has_extension(file, "npz") || has_extension(file, "npy"));
    files.sort();
    Ok(files)
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|e| e == extension)
}

/// The arrays of each `.npz` file, and those of all `.npy` files together.
fn arrays(session: &Session, path: &Path, files: Vec<PathBuf>) -> Result<Vec<Arrays>, Vec<Diagnostic>> {
    let unread = |error: &dyn std::fmt::Display| Diagnostic::without_location(&INPUT, error.to_string());
    let (mut all, mut wrong) = (Vec::new(), Vec::new());
    let mut single = Arrays { origin: path.to_path_buf(), named: Vec::new() };
    for file in files {
        if has_extension(&file, "npy") {
            let stem = file.with_extension("");
            let stem = stem.file_name().map_or_else(Default::default, |stem| stem.to_string_lossy());
            let mut names = session.imported_names().into_iter();
            let name =
                names.find(|(imported, _)| *imported == stem).map_or(stem.into_owned(), |(_, own)| own);
            match npy::read(&file, &|_, _| Ok(())) {
                Ok(tensor) => single.named.push((name, tensor)),
                Err(error) => wrong.push(unread(&error)),
            }
            continue;
        }
        match inputs::open(session, &file) {
            Ok(archive) => {
                let mut named = Vec::new();
                for name in archive.names() {
                    match archive.get(name, &|_, _| Ok(())) {
                        Ok(tensor) => named.extend(tensor.map(|tensor| (name.clone(), tensor))),
                        Err(error) => wrong.push(unread(&error)),
                    }
                }
                all.push(Arrays { origin: file, named });
            }
            Err(error) => wrong.push(unread(&error)),
        }
    }
    if !single.named.is_empty() {
        all.push(single);
    }
    if wrong.is_empty() { Ok(all) } else { Err(wrong) }
}

/// Checks that there is one array for each input, and that all have the same number of samples.
fn batch(arrays: &Arrays, wanted: &[Wanted]) -> Result<Batch, Vec<Diagnostic>> {
    let origin = arrays.origin.display();
    let mut wrong = Vec::new();
    for (name, _) in &arrays.named {
        if !wanted.iter().any(|wanted| wanted.port.name == *name) {
            let known: Vec<&str> = wanted.iter().map(|wanted| wanted.shown).collect();
            let text = format!("{origin}: `{name}` is not an input of the graph");
            wrong.push(Diagnostic::without_location(&INPUT, text).with_names(name, "inputs", &known));
        }
    }
    let mut batch = Batch { count: 0, inputs: Vec::new() };
    let mut counts = Vec::new();
    for wanted in wanted {
        let array = arrays.named.iter().find(|(name, _)| *name == wanted.port.name);
        let stacked = match array {
            Some((_, array)) => wanted.stacked(array),
            None => Err(format!("input `{}` has no array", wanted.shown)),
        };
        match stacked {
            Ok((count, stacked)) => {
                counts.push((wanted.shown, count));
                batch.inputs.push(stacked);
            }
            Err(text) => {
                wrong.push(Diagnostic::error(&INPUT, wanted.port.span, format!("{origin}: {text}")));
            }
        }
    }
    if let Some((first, count)) = counts.first() {
        batch.count = *count;
        for (name, other) in counts.iter().filter(|(_, other)| other != count) {
            let text = format!("{origin}: `{first}` has {count} samples, and `{name}` has {other}");
            wrong.push(Diagnostic::without_location(&INPUT, text));
        }
    }
    if wrong.is_empty() { Ok(batch) } else { Err(wrong) }
}

impl Wanted<'_> {
    /// The number of samples of an array, and the samples. Each sample has the rank of the input; without a separate axis of samples,
    /// the first axis is split.
    fn stacked(&self, array: &Tensor) -> Result<(usize, Stacked), String> {
        let declared = &self.tensor.shape;
        let (count, shape) = match array.shape() {
            [count, shape @ ..] if shape.len() == declared.len() => (*count, shape.to_vec()),
            [all, rest @ ..] if rest.len() + 1 == declared.len() => {
                // A sample has one row along a dynamic dimension.
                let extent = declared.first().and_then(Extent::fixed).map_or(1, |extent| extent.max(1));
                if all % extent != 0 {
                    return Err(format!(
                        "the first axis of `{}` has {all} elements, which is not a multiple of {extent}, the extent of a sample",
                        self.shown
                    ));
                }
                (all / extent, [&[extent], rest].concat())
            }
            other => {
                return Err(format!(
                    "`{}` has the shape {other:?}, but samples of rank {} need an array of rank {}",
                    self.shown,
                    declared.len(),
                    declared.len() + 1
                ));
            }
        };
        let element = ElementType::for_kind(self.tensor.kind, self.numbers);
        let count = usize::try_from(count).map_err(|_| "too many samples".to_owned())?;
        let stacked = Stacked { array: array.clone().into_shared(), shape, element };
        if count > 0 {
            let first = stacked.sample_as_stored()?;
            inputs::fit(first, self.shown, self.tensor, self.ints, self.numbers)?;
        }
        self.check_finite(&stacked)?;
        Ok((count, stacked))
    }

    fn check_finite(&self, stacked: &Stacked) -> Result<(), String> {
        let volume = stacked.shape.iter().product::<u64>().max(1) as usize;
        let array = &stacked.array;
        let unfit = match array.as_f32() {
            Some(elements) => elements.iter().position(|element| !element.is_finite()),
            None => (0..array.volume())
                .find(|at| matches!(array.get(*at), Some(Scalar::Real(value)) if !value.is_finite())),
        };
        match unfit.and_then(|at| Some((at, array.get(at)?))) {
            Some((at, Scalar::Real(value))) => {
                Err(format!("`{}` has the element {value} in sample {}", self.shown, at / volume))
            }
            _ => Ok(()),
        }
    }
}

impl Stacked {
    /// The first sample in the element type of the array.
    fn sample_as_stored(&self) -> Result<Tensor, String> {
        let unconverted =
            Stacked { element: self.array.element(), array: self.array.clone(), shape: self.shape.clone() };
        unconverted.sample(0).map_err(|stopped| stopped.message().to_owned())
    }
}
