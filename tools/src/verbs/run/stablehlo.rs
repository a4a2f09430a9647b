//! `skript run program.mlir`: a StableHLO program on arrays that are named by their position.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use skript_frontend::diagnostics::codes::{
    COMMAND_LINE_NAME, INPUT, NOT_COMPILED, RUN_FAILED, STABLEHLO_TEXT, UNREADABLE,
};
use skript_frontend::diagnostics::{Diagnostic, Severity};
use skript_frontend::source::{SourceMap, Span};
use skript_passes::stablehlo::import::{self, Element, Float, Program, Refusal};
use skript_runtime::cache::Cache;
use skript_runtime::{Instance, Program as Loaded};
use skript_semantics::{IntType, RealType};
use skript_tensor::npz::Npz;
use skript_tensor::random::{self, Purpose};
use skript_tensor::{ElementType, Tensor, TensorError, npy};

use crate::command_line::{EngineName, InputArgument, Pipeline, RunArguments};
use crate::console::{Console, Status};
use crate::engine::Spent;
use crate::engine::compiled::program_key;
use crate::session::{repeated, twice};
use crate::{inputs, measure, outputs};

/// Whether a path names a StableHLO program.
pub fn is_program(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "mlir")
}

pub fn run(path: &Path, arguments: &RunArguments, console: &mut Console) -> Status {
    let mut sources = SourceMap::default();
    let done = usage(arguments).and_then(|()| {
        let said = compute(path, arguments, &mut sources);
        said.map_err(|diagnostics| (Status::Wrong, diagnostics))
    });
    let (status, diagnostics) = match done {
        Ok(()) => return Status::Done,
        Err(said) => said,
    };
    let format = arguments.reading.message_format;
    crate::render::render(&diagnostics, &sources, format, console);
    let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error);
    if format == crate::command_line::MessageFormat::Human {
        console.write(&match errors.count() {
            1 => "1 error\n".to_owned(),
            n => format!("{n} errors\n"),
        });
    }
    status
}

/// Flags that are about models in SkriptND, and arguments that are given twice.
fn usage(arguments: &RunArguments) -> Result<(), (Status, Vec<Diagnostic>)> {
    let reading = &arguments.reading;
    let flags = [
        (
            "--engine=reference",
            arguments.engine == EngineName::Reference,
        ),
        ("--edition", reading.edition.is_some()),
        ("--graph", reading.graph.is_some()),
        ("--quantize", reading.quantize.is_some()),
        ("--real", reading.real.0 != RealType::F32),
        ("--int", reading.int.0 != IntType::I64),
        ("--set", !reading.attributes.is_empty()),
        ("--input-shape", !reading.input_shapes.is_empty()),
        ("--intrinsic", !reading.intrinsics.is_empty()),
        ("--pipeline", arguments.pipeline != Pipeline::Linalg),
        ("--weights", arguments.weights.is_some()),
        ("--variables", arguments.variables.is_some()),
        ("--save-variables", arguments.save_variables.is_some()),
    ];
    let given = flags.iter().filter(|(_, given)| *given);
    let mut wrong: Vec<Diagnostic> = given
        .map(|(flag, _)| {
            let text = format!("{flag} is for models in SkriptND, not for StableHLO programs");
            Diagnostic::without_place(&COMMAND_LINE_NAME, text)
        })
        .collect();
    let several = repeated(inputs::named(&arguments.inputs));
    wrong.extend(several.into_iter().map(|name| twice("--input", name)));
    match wrong.is_empty() {
        true => Ok(()),
        false => Err((Status::Usage, wrong)),
    }
}

fn compute(
    path: &Path,
    arguments: &RunArguments,
    sources: &mut SourceMap,
) -> Result<(), Vec<Diagnostic>> {
    let most = arguments.reading.limits.in_force().program_bytes;
    let text = skript_host::file::read(path, most).map_err(|e| {
        let text = format!("cannot read {}: {e}", path.display());
        vec![Diagnostic::without_place(&UNREADABLE, text)]
    })?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let file = sources.add(path, text.as_str());
    let begun = Instant::now();
    let target = skript_runtime::program::host();
    let cache = Cache::of_user().filter(|_| !arguments.no_cache);
    let key = program_key(&text, &target);
    let mut cached = false;
    let program = import::compile_unless(&text, &target, |interface| {
        let kept = cache.as_ref()?.get(&key)?;
        if !interface.is_of(&kept) {
            return None;
        }
        cached = true;
        Some(kept)
    });
    let program = program.map_err(|refusals| {
        let said = |refusal: &Refusal| {
            let code = match refusal.malformed {
                true => &STABLEHLO_TEXT,
                false => &NOT_COMPILED,
            };
            let source = sources.get(file);
            let offset = refusal.place.and_then(|(l, c)| source?.offset(l, c));
            match offset {
                Some(at) => Diagnostic::error(code, Span::new(file, at, at), &refusal.message),
                None => Diagnostic::without_place(
                    code,
                    format!("{}: {}", path.display(), refusal.message),
                ),
            }
        };
        refusals.iter().map(said).collect::<Vec<_>>()
    })?;
    if let Some(cache) = cache.filter(|_| !cached) {
        // A cache that cannot be written costs time only.
        let _ = cache.put(&key, &program.artifact);
    }
    let most = arguments.reading.limits.in_force().unpacked_bytes;
    let tensors = gather(&program, &arguments.inputs, most)?;
    let failed = |text: String| vec![Diagnostic::without_place(&RUN_FAILED, text)];
    let loaded = Loaded::load(program.artifact.clone()).map_err(|e| failed(e.to_string()))?;
    let mut instance = Instance::new(&loaded).map_err(|e| failed(e.to_string()))?;
    let mut spent = Spent {
        compile: begun.elapsed(),
        cached,
        arena: program.artifact.arena.size,
        ..Spent::default()
    };
    let read: Vec<&Tensor> = tensors.iter().collect();
    let mut results = Vec::new();
    for _ in 0..arguments.repeat.max(1) {
        let begun = Instant::now();
        results = skript_runtime::run::compute(&mut instance, &read, &[])
            .map_err(|e| failed(e.to_string()))?;
        spent.run = begun.elapsed();
    }
    if let Some(path) = &arguments.stats {
        measure::write_stats(path, &spent).map_err(|e| vec![*e])?;
    }
    let names: Vec<String> = (0..results.len()).map(|n| n.to_string()).collect();
    match &arguments.output_dir {
        Some(folder) => {
            let pairs = |n: usize| {
                let tensor = program.results.get(n);
                tensor.is_some_and(|t| matches!(t.element, Element::Complex(_)))
            };
            for (n, (name, tensor)) in names.iter().zip(&results).enumerate() {
                let write: outputs::Writer = match pairs(n) {
                    true => npy::write_pairs,
                    false => npy::write,
                };
                outputs::write_one(name, tensor, folder, write).map_err(|e| vec![*e])?;
            }
        }
        None => {
            let shared: Vec<Arc<Tensor>> = results.into_iter().map(Arc::new).collect();
            crate::verbs::print(&outputs::summary(&names, &shared));
        }
    }
    Ok(())
}

/// One array per argument, of its type and shape; all that is wrong otherwise. `most` bounds the bytes that a
/// compressed array unpacks to.
fn gather(
    program: &Program,
    given: &[InputArgument],
    most: u64,
) -> Result<Vec<Tensor>, Vec<Diagnostic>> {
    let count = program.arguments.len();
    let mut wrong = Vec::new();
    let mut say = |text: String| wrong.push(Diagnostic::without_place(&INPUT, text));
    let mut archives = Vec::new();
    for argument in given {
        if let InputArgument::Archive(path) = argument {
            match Npz::open(path, most) {
                Ok(archive) => archives.push(archive),
                Err(error) => say(error.to_string()),
            }
        }
    }
    let is_argument = |name: &str| (0..count).any(|n| n.to_string() == name);
    let archived = archives.iter().flat_map(Npz::names).map(String::as_str);
    for name in inputs::named(given).chain(archived) {
        if !is_argument(name) {
            let last = count.saturating_sub(1);
            say(match count {
                0 => format!("there is no argument `{name}`: the program takes none"),
                _ => format!("there is no argument `{name}`: they are numbered from 0 to {last}"),
            });
        }
    }
    let mut tensors = Vec::new();
    for n in 0..count {
        let read = one(program, n, given, &archives).and_then(|t| fit(program, n, t));
        match read {
            Ok(tensor) => tensors.push(tensor),
            Err(text) => say(text),
        }
    }
    match wrong.is_empty() {
        true => Ok(tensors),
        false => Err(wrong),
    }
}

/// What the command line gives for argument `n`.
fn one(
    program: &Program,
    n: usize,
    given: &[InputArgument],
    archives: &[Npz],
) -> Result<Tensor, String> {
    let own = n.to_string();
    let admits = |element, shape: &[u64]| {
        let said = admitted(program, n, element, shape);
        said.map_err(|reason| TensorError::Unwanted { reason })
    };
    let text = |error: TensorError| match error {
        // It says which argument.
        TensorError::Unwanted { reason } => reason,
        error => format!("argument {n}: {error}"),
    };
    let named = given.iter().find(|a| match a {
        InputArgument::Files { name, .. } | InputArgument::Random { name, .. } => *name == own,
        InputArgument::Archive(_) => false,
    });
    match named {
        Some(InputArgument::Files { files, .. }) => match files.as_slice() {
            [file] => npy::read_wider(file, &admits).map_err(text),
            _ => Err(format!(
                "argument {n} is one array, {} files are given",
                files.len()
            )),
        },
        Some(InputArgument::Random { seed, .. }) => {
            let port = program.artifact.inputs.get(n).ok_or("no such argument")?;
            let shape: Vec<u64> = port.shape.iter().map(|e| e.bound()).collect();
            let made = random::fill(port.element, &shape, *seed, &own, Purpose::Input);
            made.map_err(text)
        }
        Some(InputArgument::Archive(_)) | None => {
            let found = inputs::archived(archives, &own, &admits).map_err(text)?;
            found.ok_or_else(|| {
                format!("argument {n} has no value; give one with --input {n}=FILE.npy or --input {n}=random:SEED")
            })
        }
    }
}

/// What is wrong with the type or shape of an array for argument `n`.
fn admitted(
    program: &Program,
    n: usize,
    element: ElementType,
    shape: &[u64],
) -> Result<(), String> {
    let (Some(port), Some(wanted)) = (program.artifact.inputs.get(n), program.arguments.get(n))
    else {
        return Err(format!("there is no argument {n}"));
    };
    // Every bf16 is an f32.
    let half = wanted.element == Element::Float(Float::BF16) && element == ElementType::BF16;
    let extents: Vec<u64> = port.shape.iter().map(|e| e.bound()).collect();
    if shape != extents || element != port.element && !half {
        return Err(format!(
            "argument {n} is {}, for which the array must be {}{extents:?}, but it is {element}{shape:?}",
            wanted.text(),
            port.element,
        ));
    }
    Ok(())
}

/// The array as the code takes it.
fn fit(program: &Program, n: usize, tensor: Tensor) -> Result<Tensor, String> {
    admitted(program, n, tensor.element(), tensor.shape())?;
    let Some(wanted) = program.arguments.get(n) else {
        return Err(format!("there is no argument {n}"));
    };
    let tensor = match tensor.element() {
        ElementType::BF16 => tensor.with_element(ElementType::F32),
        _ => tensor,
    };
    let fits = |byte: &u8| match wanted.element {
        Element::Signed(4) => (-8..8).contains(&byte.cast_signed()),
        Element::Unsigned(4) => *byte < 16,
        _ => true,
    };
    match tensor.bytes().iter().position(|b| !fits(b)) {
        Some(at) => Err(format!(
            "argument {n} is {}, but element {at} does not fit into 4 bits",
            wanted.text()
        )),
        None => Ok(tensor),
    }
}
