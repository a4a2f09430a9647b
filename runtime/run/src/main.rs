// SPDX-License-Identifier: Apache-2.0
//! `skript-run MODEL.skm`: runs a compiled model, without the compiler or the text of the model.
//!
//! A compiled model contains native code, so it must be trusted.
//! Exit status: 0 for success, 1 for errors in a file, a value or the run, 2 for errors in the command line.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::LazyLock;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser};
use skript_host::printable;
use skript_runtime::artifact::{Kernels, Port};
use skript_runtime::device::DeviceChoice;
use skript_runtime::{Artifact, DeviceInstance, Program, files, run};
use skript_tensor::{Tensor, WeightStore, summary};

/// Maximum unpacked size in bytes of a packed file of weights.
const MAX_UNPACKED_BYTES: u64 = 2 << 30;

const TRUSTED: &str = "A compiled model holds native code, which runs with all rights of this process: run only models that you compiled, or whose origin you trust. The checksum in the file detects damage, not intent, and does not cover embedded weights.";

/// Runs a compiled model
#[derive(Debug, Parser)]
#[command(name = "skript-run", version = version(), args_override_self = true, after_help = TRUSTED)]
struct Arguments {
    /// Compiled model, as `skript compile -o MODEL.skm` writes it
    #[arg(value_name = "MODEL.skm")]
    model: PathBuf,
    /// Folder of the weights, or a .safetensors, .npz, .gguf or .tgz file; the model's own folder if not given. Not for a model
    /// that was compiled with --embed-weights
    #[arg(long, value_name = "DIR|FILE")]
    weights: Option<PathBuf>,
    /// An input; items of a pack are the inputs xs:1, xs:2, …
    #[arg(long = "input", value_name = "NAME=FILE.npy", value_parser = input_argument)]
    inputs: Vec<(String, PathBuf)>,
    /// Folder for the outputs, one .npy each; without it they are summarized
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
    /// Number of threads; by default, the number of CPUs of this process. Results do not depend on it
    #[arg(long, env = "SKRIPT_NUM_THREADS", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Device for the kernels of a model that was compiled for a GPU: auto for the first one, cuda:N, or vulkan:N
    #[arg(long, value_name = "NAME", default_value = "auto")]
    device: DeviceChoice,
    /// Repeats the computation N times with the arrays on the device, and prints the times as the last line: one JSON object. For
    /// models that were compiled for a GPU
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    repeat: Option<u32>,
    /// A kernel for an operator without a body: a function of a shared library
    #[arg(long = "intrinsic", value_name = "NAME=SYMBOL@LIBRARY", value_parser = intrinsic_argument)]
    intrinsics: Vec<(String, String, PathBuf)>,
}

/// The version of this program, the version of the compiled models that it runs, and the processor.
fn version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let host = skript_runtime::program::host();
        format!(
            "{}\ncompiled models: version {}\nCPU: {}",
            env!("CARGO_PKG_VERSION"),
            skript_runtime::artifact::VERSION,
            host.cpu,
        )
    });
    &TEXT
}

fn input_argument(text: &str) -> Result<(String, PathBuf), String> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, file) = pair.ok_or("write NAME=FILE.npy")?;
    Ok((name.to_owned(), PathBuf::from(file)))
}

/// Parses `OPERATOR=SYMBOL@LIBRARY`.
fn intrinsic_argument(text: &str) -> Result<(String, String, PathBuf), String> {
    let parts = text.split_once('=');
    let parts = parts.and_then(|(name, rest)| Some((name, rest.split_once('@')?)));
    let (name, (symbol, library)) = parts.ok_or("write NAME=SYMBOL@LIBRARY")?;
    Ok((name.to_owned(), symbol.to_owned(), PathBuf::from(library)))
}

/// The parsed arguments, or clap's message in place of a run.
fn arguments() -> Result<Arguments, clap::Error> {
    let arguments = Arguments::try_parse()?;
    let inputs = &arguments.inputs;
    for (position, (name, _)) in inputs.iter().enumerate() {
        if inputs.iter().take(position).any(|(other, _)| other == name) {
            let message = format!("--input gives `{name}` more than once");
            return Err(Arguments::command().error(ErrorKind::ArgumentConflict, message));
        }
    }
    Ok(arguments)
}

fn compute(arguments: &Arguments) -> Result<(), Vec<String>> {
    if let Some(threads) = arguments.threads {
        skript_runtime::threads::set_default_threads(threads.into());
    }
    let model = &arguments.model;
    let one = |error: String| vec![format!("{}: error: {error}", model.display())];
    let artifact = Artifact::open(model).map_err(|e| one(e.to_string()))?;
    let mut errors = Vec::new();
    for (name, symbol, library) in &arguments.intrinsics {
        if let Err(error) = skript_intrinsics::user::bind(name, symbol, library) {
            errors.extend(one(error.to_string()));
        }
    }
    let mut inputs = Vec::new();
    for (name, _) in &arguments.inputs {
        if !artifact.inputs.iter().any(|port| port.is_named(name)) {
            let known: Vec<&str> = artifact.inputs.iter().map(|p| p.name.as_str()).collect();
            errors.extend(one(format!("the model has no input `{name}`; there is {}", known.join(", "))));
        }
    }
    for port in &artifact.inputs {
        let given = arguments.inputs.iter().map(|(name, _)| name);
        let names: Vec<&str> = given.filter(|n| port.is_named(n)).map(String::as_str).collect();
        if names.len() > 1 {
            let names = names.join("` and `");
            errors.extend(one(format!("`{names}` are the same input")));
        }
        match input(port, &arguments.inputs) {
            Ok(tensor) => inputs.push(tensor),
            Err(error) => errors.extend(one(error)),
        }
    }
    let variables = match &artifact.embedded {
        None => variables(&artifact, arguments),
        Some(embedded) if arguments.weights.is_none() => Ok(embedded.variables().to_vec()),
        Some(_) => Err(one(
            "the compiled model embeds its weights: remove --weights, or compile it without --embed-weights"
                .to_owned(),
        )),
    };
    let variables = variables.unwrap_or_else(|wrong| {
        errors.extend(wrong);
        Vec::new()
    });
    if !errors.is_empty() {
        return Err(errors);
    }
    let inputs: Vec<&Tensor> = inputs.iter().collect();
    let variables: Vec<&Tensor> = variables.iter().collect();
    if arguments.repeat.is_some() && artifact.kernels.is_none() {
        return Err(one(
            "the model was compiled for a processor: --repeat is for models that were compiled for a GPU"
                .to_owned(),
        ));
    }
    let mut times = String::new();
    let outputs = match &artifact.kernels {
        None if matches!(arguments.device, DeviceChoice::Auto | DeviceChoice::Cpu) => {
            run(&artifact, &inputs, &variables).map_err(|e| one(e.to_string()))
        }
        None => Err(one(
            "the model was compiled for a processor: compile it with --target=nvptx64 or --target=vulkan for a GPU".to_owned(),
        )),
        Some(kernels) => {
            let run = on_device(&artifact, kernels, arguments, &inputs, &variables);
            let (outputs, measured) = run.map_err(one)?;
            times = measured;
            Ok(outputs)
        }
    }?;
    let results = files::outputs(&artifact).filter_map(|(n, name)| {
        let (port, tensor) = (artifact.outputs.get(n)?, outputs.get(n)?);
        let converted = port.imported.and_then(|e| files::converted(tensor, e));
        Some((name, converted.unwrap_or_else(|| tensor.clone())))
    });
    let Some(folder) = &arguments.output_dir else {
        let lines: String = results.map(|(name, t)| summary::line(&name, &t)).collect();
        return print(&(lines + &times)).map_err(|e| vec![e]);
    };
    std::fs::create_dir_all(folder).map_err(|e| vec![format!("{}: error: {e}", folder.display())])?;
    for (name, tensor) in results {
        files::write(folder, &name, &tensor).map_err(|e| vec![e])?;
    }
    print(&times).map_err(|e| vec![e])
}

/// Computes the outputs on a device. Returns the outputs, and the times of repeated calls as JSON.
fn on_device(
    artifact: &Artifact,
    kernels: &Kernels,
    arguments: &Arguments,
    inputs: &[&Tensor],
    variables: &[&Tensor],
) -> Result<(Vec<Tensor>, String), String> {
    let device = skript_gpu::open(kernels, arguments.device).map_err(|e| e.to_string())?;
    let program = Program::load(artifact.clone()).map_err(|e| e.to_string())?;
    let instance = DeviceInstance::new(&program, device);
    let mut instance = instance.map_err(|e| e.to_string())?;
    let outputs = run::compute_on_device(&mut instance, inputs, variables);
    let outputs = outputs.map_err(|e| e.to_string())?;
    let Some(count) = arguments.repeat else {
        return Ok((outputs, String::new()));
    };
    let mut times = Vec::new();
    for _ in 0..count {
        let begun = std::time::Instant::now();
        instance.repeat().map_err(|e| e.to_string())?;
        times.push(1e3 * begun.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    let at = |n: usize| times.get(n).copied().unwrap_or_default();
    let (minimum, median) = (at(0), at(times.len() / 2));
    let times = format!("{{\"call_ms\": {minimum:.6}, \"median_ms\": {median:.6}, \"calls\": {count}}}\n");
    Ok((outputs, times))
}

/// The variables, from files.
fn variables(artifact: &Artifact, arguments: &Arguments) -> Result<Vec<Tensor>, Vec<String>> {
    let model = &arguments.model;
    let one = |error: String| vec![format!("{}: error: {error}", model.display())];
    let beside = model.parent().map(Path::to_path_buf);
    let index = arguments.weights.clone().or(beside).unwrap_or_default();
    let weights = WeightStore::open(&index, MAX_UNPACKED_BYTES).map_err(|e| one(e.to_string()))?;
    files::variables(artifact, &weights).map_err(|unread| {
        let errors = unread.errors.iter().flat_map(|e| one(e.to_string()));
        errors.chain(unread.remarks).collect()
    })
}

/// Writes to stdout; a closed pipe is not an error.
fn print(text: &str) -> Result<(), String> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(format!("error: cannot write to standard output: {e}"))
        }
        _ => Ok(()),
    }
}

fn input(port: &Port, given: &[(String, PathBuf)]) -> Result<Tensor, String> {
    let name = &port.name;
    let file = given.iter().rev().find(|(n, _)| port.is_named(n));
    let (_, path) =
        file.ok_or_else(|| format!("input `{name}` has no value; pass --input {name}=FILE.npy"))?;
    files::input(port, path).map_err(|e| e.to_string())
}

fn main() -> ExitCode {
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(answer) => {
            // A closed terminal receives no output.
            let _ = answer.print();
            return ExitCode::from(u8::try_from(answer.exit_code()).unwrap_or(2));
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
