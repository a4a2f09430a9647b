// SPDX-License-Identifier: Apache-2.0
//! Compares the tensors of a graph with arrays that another program saved.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use skript::{Model, Tensor};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::INPUT;
use skript_import::names::valid;
use skript_tensor::weights::is_array_file;
use skript_tensor::{TensorError, WeightStore, npy};

use super::{Line, compiler, difference, first_difference, spans, tolerances};
use crate::command_line::CompareArguments;
use crate::engine::Job;
use crate::outputs;
use crate::session::Stopped;

/// Arrays by name.
enum Saved {
    File(WeightStore),
    /// The `.npy` files of a folder.
    Folder(PathBuf),
}

impl Saved {
    fn open(path: &Path, max_bytes: u64) -> Result<(Saved, Vec<String>), Box<Diagnostic>> {
        let wrong = |text: String| Box::new(Diagnostic::without_location(&INPUT, text));
        if path.is_dir() {
            let entries = std::fs::read_dir(path).map_err(|e| wrong(format!("{}: {e}", path.display())))?;
            let files = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
            let mut names: Vec<String> =
                files.filter_map(|file| file.strip_suffix(".npy").map(str::to_owned)).collect();
            names.sort_unstable();
            return Ok((Saved::Folder(path.to_owned()), names));
        }
        if !is_array_file(path) {
            let text = format!("{} is neither a folder nor a file with arrays", path.display());
            return Err(Box::new(
                wrong(text).with_help("--with names a .npz or .safetensors file, or a folder of .npy files"),
            ));
        }
        let store = WeightStore::open(path, max_bytes).map_err(|error| wrong(error.to_string()))?;
        let names = store.contents().into_iter().flat_map(|c| c.arrays).map(|array| array.name).collect();
        Ok((Saved::File(store), names))
    }

    fn get(&self, name: &str) -> Result<Option<Tensor>, TensorError> {
        match self {
            Saved::File(store) => store.array(name),
            Saved::Folder(folder) => npy::read(&folder.join(format!("{name}.npy")), &|_, _| Ok(())).map(Some),
        }
    }
}

/// Compares each tensor of the graph that has an array of its name, in the order of computation.
pub(super) fn compare(
    arguments: &CompareArguments,
    job: &Job,
    path: &Path,
    max_bytes: u64,
) -> Result<String, Stopped> {
    let (saved, arrays) = Saved::open(path, max_bytes)?;
    let exposed = job.model.with_intermediates();
    let names = outputs::names(exposed.ir());
    let pairs = Pairs::new(&names, &arrays, job.model);
    if pairs.of_tensor.is_empty() {
        let text = format!("{}: no array has the name of a tensor", path.display());
        let known = |names: &[String]| names.iter().take(20).cloned().collect::<Vec<_>>().join(", ");
        let diagnostic = Diagnostic::without_location(&INPUT, text)
            .with_note(None, format!("tensors: {}", known(&names)))
            .with_note(None, format!("arrays: {}", known(&arrays)));
        return Err(diagnostic.into());
    }
    let computed = Job { model: &exposed, ..*job }.compute(&compiler(arguments), super::ONCE)?.outputs;
    let (rtol, atol) = tolerances(exposed.ir());
    let (rtol, atol) = (arguments.rtol.unwrap_or(rtol), arguments.atol.unwrap_or(atol));
    let mut lines = Vec::new();
    for ((name, span), tensor) in names.iter().zip(spans(exposed.ir())).zip(&computed) {
        let Some(array) = pairs.of_tensor.get(name.as_str()) else { continue };
        let expected = saved.get(array);
        let expected = expected.map_err(|error| Diagnostic::without_location(&INPUT, error.to_string()))?;
        let Some(expected) = expected else { continue };
        let (agrees, text) = difference(&expected, tensor, rtol, atol);
        lines.push(Line { name: (*array).to_owned(), agrees, text, span: Some(span) });
    }
    first_difference(&lines, true)?;
    let mut report: String = lines.iter().map(|line| format!("{} {}\n", line.name, line.text)).collect();
    let outputs = outputs::names(job.model.ir());
    let missing: Vec<String> =
        outputs.into_iter().filter(|name| !pairs.of_tensor.contains_key(name.as_str())).collect();
    if !missing.is_empty() {
        report += &format!("outputs without an array, not compared: {}\n", missing.join(", "));
    }
    if !pairs.others.is_empty() {
        report += &format!("without a tensor of this name: {}\n", pairs.others.join(", "));
    }
    Ok(report)
}

/// The arrays by tensors, and the other arrays that are not inputs.
struct Pairs<'n> {
    of_tensor: HashMap<&'n str, &'n str>,
    others: Vec<&'n str>,
}

impl<'n> Pairs<'n> {
    fn new(tensors: &'n [String], arrays: &'n [String], model: &Model) -> Self {
        let known: HashMap<&str, &'n str> =
            tensors.iter().map(|name| (name.as_str(), name.as_str())).collect();
        let outputs = model.origin().into_iter().flat_map(|origin| &origin.outputs);
        let imported: HashMap<&str, &str> = outputs.map(|o| (o.onnx.as_str(), o.name.as_str())).collect();
        let imported_inputs = model.origin().into_iter().flat_map(|origin| &origin.inputs);
        let inputs: HashSet<String> = imported_inputs
            .map(|input| input.onnx.clone())
            .chain(model.inputs().into_iter().map(|port| port.name))
            .collect();
        let mut pairs = Pairs { of_tensor: HashMap::new(), others: Vec::new() };
        for array in arrays {
            let output = imported.get(array.as_str()).and_then(|name| known.get(name));
            let tensor =
                output.or_else(|| known.get(array.as_str())).or_else(|| known.get(valid(array, "").as_str()));
            match tensor {
                Some(tensor) => {
                    pairs.of_tensor.entry(tensor).or_insert(array);
                }
                None if inputs.contains(array) => {}
                None => pairs.others.push(array),
            }
        }
        pairs
    }
}
