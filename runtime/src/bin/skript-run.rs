//! `skript-run MODEL.skm [--weights DIR|FILE] [--input NAME=FILE.npy]... [--output-dir DIR]
//! [--intrinsic NAME=SYMBOL@LIBRARY]...`: runs a compiled model.
//!
//! A compiled model holds native code: it is trusted. Needs neither the compiler nor the model's text. Items of a pack are inputs `xs:1`, `xs:2`, …; outputs are written as
//! `<name>.npy`, items of a pack as `<pack>_0.npy`, …. Exit status: 0 done, 1 something is wrong, 2 an unknown flag.

use skript_host::printable;
use skript_runtime::artifact::Port;
use skript_runtime::{Artifact, run};
use skript_tensor::{MissingWeights, Tensor, VariableRequest, WeightStore, load_variables, npy};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Bytes of a compiled model, which holds code and no weights.
const ARTIFACT: u64 = 1 << 30;
/// Bytes that a packed file of weights may unpack to.
const UNPACKED: u64 = 2 << 30;

struct Arguments {
    model: PathBuf,
    weights: Option<PathBuf>,
    inputs: Vec<(String, PathBuf)>,
    output_dir: Option<PathBuf>,
    /// Operator, symbol, library.
    intrinsics: Vec<(String, String, PathBuf)>,
}

const USAGE: &str = "usage: skript-run MODEL.skm [--weights DIR|FILE] [--input NAME=FILE.npy]... [--output-dir DIR] \
     [--intrinsic NAME=SYMBOL@LIBRARY]...";

const TRUSTED: &str = "A compiled model holds native code, which runs with all rights of this process: run only those that \
     you compiled, or whose origin you trust. The checksum in the file finds damage, not intent.";

/// `None`: only the usage is asked for.
fn arguments() -> Result<Option<Arguments>, String> {
    let mut model = None;
    let (mut weights, mut inputs, mut output_dir) = (None, Vec::new(), None);
    let mut intrinsics = Vec::new();
    let mut rest = std::env::args_os().skip(1);
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| USAGE.to_owned());
        match argument.to_str() {
            Some("--weights") => weights = Some(PathBuf::from(value()?)),
            Some("--output-dir") => output_dir = Some(PathBuf::from(value()?)),
            Some("--input") => {
                let text = value()?;
                let pair = text.to_str().and_then(|t| t.split_once('='));
                let (name, file) = pair.ok_or_else(|| USAGE.to_owned())?;
                if inputs.iter().any(|(known, _)| known == name) {
                    return Err(format!("--input gives `{name}` more than once\n{USAGE}"));
                }
                inputs.push((name.to_owned(), PathBuf::from(file)));
            }
            Some("--intrinsic") => {
                let text = value()?;
                let parts = text.to_str().and_then(|t| t.split_once('='));
                let parts = parts.and_then(|(name, rest)| Some((name, rest.split_once('@')?)));
                let (name, (symbol, library)) = parts.ok_or_else(|| USAGE.to_owned())?;
                intrinsics.push((name.to_owned(), symbol.to_owned(), PathBuf::from(library)));
            }
            Some("--help" | "-h") => return Ok(None),
            Some(flag) if flag.starts_with('-') => return Err(format!("{flag}?\n{USAGE}")),
            _ if model.is_none() => model = Some(PathBuf::from(argument)),
            _ => return Err(USAGE.to_owned()),
        }
    }
    Ok(Some(Arguments {
        model: model.ok_or_else(|| USAGE.to_owned())?,
        weights,
        inputs,
        output_dir,
        intrinsics,
    }))
}

fn compute(arguments: &Arguments) -> Result<(), Vec<String>> {
    let model = &arguments.model;
    let one = |error: String| vec![format!("{}: error: {error}", model.display())];
    let bytes = skript_host::file::read(model, ARTIFACT).map_err(|e| one(e.to_string()))?;
    let artifact = Artifact::from_bytes(&bytes).map_err(|e| one(e.to_string()))?;
    let mut errors = Vec::new();
    for (name, symbol, library) in &arguments.intrinsics {
        if let Err(error) = skript_intrinsics::user::bind(name, symbol, library) {
            errors.extend(one(error.to_string()));
        }
    }
    let mut inputs = Vec::new();
    for (name, _) in &arguments.inputs {
        if !artifact.inputs.iter().any(|port| port.name == *name) {
            let known: Vec<&str> = artifact.inputs.iter().map(|p| p.name.as_str()).collect();
            errors.extend(one(format!(
                "the model has no input `{name}`; there is {}",
                known.join(", ")
            )));
        }
    }
    for port in &artifact.inputs {
        match input(port, &arguments.inputs) {
            Ok(tensor) => inputs.push(tensor),
            Err(error) => errors.extend(one(error)),
        }
    }
    let requests: Vec<VariableRequest> = artifact
        .variables
        .iter()
        .map(|port| VariableRequest {
            name: &port.name,
            aliases: &port.aliases,
            element: port.element,
            shape: port.shape.iter().map(|e| e.bound()).collect(),
        })
        .collect();
    let beside = model.parent().map(Path::to_path_buf);
    let place = arguments.weights.clone().or(beside).unwrap_or_default();
    let weights = WeightStore::open(&place, UNPACKED).map_err(|e| one(e.to_string()))?;
    let variables = load_variables(&weights, &requests, MissingWeights::Error);
    let variables = variables.unwrap_or_else(|found| {
        errors.extend(found.iter().flat_map(|e| one(e.to_string())));
        Vec::new()
    });
    if !errors.is_empty() {
        return Err(errors);
    }
    let inputs: Vec<&Tensor> = inputs.iter().collect();
    let variables: Vec<&Tensor> = variables.iter().collect();
    let outputs = run(&artifact, &inputs, &variables).map_err(|e| one(e.to_string()))?;
    let folder = arguments.output_dir.as_deref().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .map_err(|e| vec![format!("{}: error: {e}", folder.display())])?;
    let updated = |n: usize| {
        artifact
            .updates
            .iter()
            .any(|(_, o)| usize::try_from(*o) == Ok(n))
    };
    for (n, (port, tensor)) in artifact.outputs.iter().zip(&outputs).enumerate() {
        if !updated(n) {
            store(folder, port, tensor).map_err(|e| vec![e])?;
        }
    }
    Ok(())
}

fn input(port: &Port, given: &[(String, PathBuf)]) -> Result<Tensor, String> {
    let name = &port.name;
    let file = given.iter().rev().find(|(n, _)| n == name);
    let (_, path) = file.ok_or_else(|| {
        format!("input `{name}` has no value; give one with --input {name}=FILE.npy")
    })?;
    let tensor = npy::read(path, &|_, _| Ok(())).map_err(|e| e.to_string())?;
    let what = format!("input `{name}`");
    tensor
        .into_run_time(&what, port.element)
        .map_err(|e| e.to_string())
}

fn store(folder: &Path, port: &Port, tensor: &Tensor) -> Result<(), String> {
    let name = match &port.pack {
        Some(pack) => format!("{}_{}", pack.name, pack.position),
        None => port.name.clone(),
    };
    let path = folder.join(format!("{name}.npy"));
    let failed = |e: String| format!("{}: error: {e}", path.display());
    let mut file = std::fs::File::create(&path).map_err(|e| failed(e.to_string()))?;
    npy::write(&path, tensor, &mut file).map_err(|e| failed(e.to_string()))
}

fn main() -> ExitCode {
    let arguments = match arguments() {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            println!("{USAGE}\n{TRUSTED}");
            return ExitCode::SUCCESS;
        }
        Err(message) => {
            eprintln!("{}", printable(&message));
            return ExitCode::from(2);
        }
    };
    match compute(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(errors) => {
            for error in errors {
                eprintln!("{}", printable(&error));
            }
            ExitCode::FAILURE
        }
    }
}
