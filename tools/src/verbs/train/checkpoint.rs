// SPDX-License-Identifier: Apache-2.0
//! The state of a training in one file, which a new one replaces at once.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use skript::Model;
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::TRAINING;
use skript_host::Sync;
use skript_tensor::{
    ElementType, MissingWeights, Tensor, TensorError, VariableRequest, WeightStore, load_variables,
    safetensors,
};

use crate::written::unwritten;

/// The file of the state in the folder of a training.
pub const FILE: &str = "checkpoint.safetensors";

/// Hashes of the training step, of the options, and of the data.
pub type Fingerprint = [[u8; 32]; 3];

/// The names of the parts of a fingerprint.
const PARTS: [&str; 3] = ["the model or the optimizer", "--batch or --seed", "--data or --validation"];

/// How far a training is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// The number of steps in the current epoch.
    pub position: usize,
    /// The epoch with the smallest output.
    pub best: Option<usize>,
    /// For each completed epoch, the means of the outputs.
    pub rows: Vec<Vec<f64>>,
    /// The sums of the outputs in the current epoch; as many as a row has values.
    pub sums: Vec<f64>,
}

/// Replaces a file by what `write` writes.
///
/// # Errors
/// The file cannot be written; the old one remains.
pub fn replace(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<(), Box<Diagnostic>> {
    skript_host::replace(path, Sync::Disk, write).map_err(|error| unwritten(path, error))
}

/// Writes arrays to a `.safetensors` file.
///
/// # Errors
/// As for [`replace`].
pub fn save_arrays<'t>(
    path: &Path,
    arrays: impl Iterator<Item = (&'t str, &'t Tensor)> + Clone,
) -> Result<(), Box<Diagnostic>> {
    replace(path, |stream| safetensors::write(arrays, stream))
}

/// Writes the state.
///
/// # Errors
/// As for [`replace`].
pub fn save(
    folder: &Path,
    model: &Model,
    variables: &[Tensor],
    progress: &Progress,
    fingerprint: &Fingerprint,
) -> Result<(), Box<Diagnostic>> {
    let unfit = |error: TensorError| unwritten(&folder.join(FILE), error);
    let counts =
        [progress.rows.len(), progress.sums.len(), progress.position, progress.best.map_or(0, |b| b + 1)];
    let counts = counts.map(|count| count as i64);
    let rows = progress.rows.iter().chain([&progress.sums]).flatten();
    let rows: Vec<u8> = rows.flat_map(|value| value.to_le_bytes()).collect();
    let shape = [progress.rows.len() as u64 + 1, progress.sums.len() as u64];
    let hashes = fingerprint.concat();
    let state = [
        ("training.counts", Tensor::from_i64(&[4], &counts).map_err(unfit)?),
        ("training.rows", Tensor::from_bytes(ElementType::F64, &shape, &rows).map_err(unfit)?),
        ("training.fingerprint", Tensor::from_bytes(ElementType::I64, &[12], &hashes).map_err(unfit)?),
    ];
    let progressed = state.iter().map(|(name, tensor)| (*name, tensor));
    let named = model.ir().variables.iter().map(|variable| variable.name.as_str()).zip(variables);
    save_arrays(&folder.join(FILE), progressed.chain(named))
}

/// Reads the state: the variables of the training step, and the progress.
///
/// # Errors
/// The file cannot be read, or its state is that of another training.
pub fn load(
    folder: &Path,
    model: &Model,
    fingerprint: &Fingerprint,
) -> Result<(Vec<Tensor>, Progress), Box<Diagnostic>> {
    let path = folder.join(FILE);
    let wrong = |text: String| Box::new(Diagnostic::without_location(&TRAINING, text));
    if !path.is_file() {
        let text = format!("{} has no {FILE}, so there is nothing to continue", folder.display());
        return Err(Box::new(
            (*wrong(text)).with_help("train without --resume, or name the folder of a training by -o"),
        ));
    }
    let unread = |error: String| wrong(format!("{}: {error}", path.display()));
    let store = WeightStore::open(&path, u64::MAX).map_err(|error| unread(error.to_string()))?;
    let state = |name, element, shape: &[u64]| -> Result<Tensor, Box<Diagnostic>> {
        let request = VariableRequest { name, aliases: &[], element, shape: shape.to_vec() };
        let loaded = load_variables(&store, &[request], MissingWeights::Error);
        let loaded = loaded.map_err(|errors| unread(joined(&errors)))?;
        loaded.into_iter().next().ok_or_else(|| unread(format!("it lacks the array {name}")))
    };
    let hashes = state("training.fingerprint", ElementType::I64, &[12])?;
    for ((found, wanted), part) in hashes.bytes().chunks(32).zip(fingerprint).zip(PARTS) {
        if found != wanted {
            let text = format!("{} is the state of another training: {part} differs", path.display());
            let help =
                "--resume needs the same model, data and options; only --epochs and --patience may differ";
            return Err(Box::new((*wrong(text)).with_help(help)));
        }
    }
    let counts = state("training.counts", ElementType::I64, &[4])?;
    let counts: Option<Vec<usize>> =
        counts.as_i64().and_then(|counts| counts.iter().map(|count| usize::try_from(*count).ok()).collect());
    let counts = counts.as_deref();
    let Some([epochs, columns, position, best]) = counts.filter(|counts| counts.get(1) > Some(&0)) else {
        return Err(unread("its counts are not those of a training".to_owned()));
    };
    let rows = state("training.rows", ElementType::F64, &[*epochs as u64 + 1, *columns as u64])?;
    let mut rows: Vec<Vec<f64>> =
        rows.as_f64().unwrap_or(&[]).chunks(*columns).map(<[f64]>::to_vec).collect();
    let sums = rows.pop().ok_or_else(|| unread("it lacks sums of the epoch".to_owned()))?;
    let variables = load_variables(&store, &model.requests(), MissingWeights::Error);
    let variables = variables.map_err(|errors| unread(joined(&errors)))?;
    Ok((variables, Progress { position: *position, best: best.checked_sub(1), rows, sums }))
}

fn joined(errors: &[TensorError]) -> String {
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    errors.join("; ")
}

/// The file with the weights of the best epoch.
pub fn best(folder: &Path) -> PathBuf {
    folder.join("best.safetensors")
}
