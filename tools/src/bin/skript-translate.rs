// SPDX-License-Identifier: Apache-2.0
//! `mlir-translate` with the `skript` dialect, `--sknd-to-mlir`, `--from-stablehlo` and `--to-stablehlo`. `--to-stablehlo` has
//! the options `--weights` and `--variables` of `skript compile --emit=stablehlo`; all translations have `--limit`.

#[path = "../limit_arguments.rs"]
mod limit_arguments;
#[path = "../program_weights.rs"]
mod program_weights;
#[allow(dead_code, reason = "only `skript` discards its output, and counts failed writes")]
#[path = "../stdout.rs"]
mod stdout;
#[path = "../version.rs"]
mod version;

use clap::{CommandFactory, Parser};
use limit_arguments::LimitArguments;
use program_weights::{PUT_ELSEWHERE, ProgramWeights, WeightsLocation};
use skript::{ComposeOptions, Document, Error, Problem, Severity};
use skript_dialect::PassError;
use skript_dialect::melior::Context;
use skript_dialect::melior::ir::{Location, Module};
use skript_frontend::source::{SourceMap, Span};
use skript_stablehlo::weights::element_type;
use skript_stablehlo::{Interface, Weights};
use skript_tensor::{MissingWeights, Tensor, VariableRequest, WeightStore, load_variables};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The options that `mlir-translate` does not have, and the file names.
#[derive(Debug, Parser)]
#[command(name = "skript-translate")]
struct Options {
    #[command(flatten)]
    weights: ProgramWeights,
    #[command(flatten)]
    limits: LimitArguments,
    #[arg(skip)]
    files: Files,
}

#[derive(Debug, Default)]
struct Files {
    input: Option<PathBuf>,
    output: Option<PathBuf>,
}

/// MLIR allocates through it too. It keeps the many small operations of a module close together.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

static OPTIONS: OnceLock<Options> = OnceLock::new();

fn main() {
    if version::is_asked(std::env::args().skip(1)) {
        stdout::print(&format!("skript-translate {}\n", version::text()));
        return;
    }
    let (options, rest) = divided(std::env::args());
    let mut options = Options::parse_from(options);
    if options.weights.location.is_some() && !rest.iter().any(|a| a.trim_matches('-') == EXPORT) {
        eprintln!("skript-translate: --weights is for --{EXPORT}");
        std::process::exit(2);
    }
    if options.weights.variables.is_some() && options.weights.location.is_none() {
        eprintln!("skript-translate: --variables needs --weights=file or --weights=inline");
        std::process::exit(2);
    }
    options.files = files(&rest);
    // Cannot fail: the options are set only here.
    let _ = OPTIONS.set(options);
    skript_dialect::tools::register_import(
        "sknd-to-mlir",
        "SkriptND text to the skript dialect: the first graph, attributes at their defaults; \
         --limit=NAME=N sets a bound of the language",
        import,
    );
    skript_dialect::tools::register_import(
        "from-stablehlo",
        "elementwise StableHLO to the skript dialect",
        import_stablehlo,
    );
    skript_dialect::tools::register_export(
        EXPORT,
        "the skript dialect to StableHLO; after --sknd-to-mlir, SkriptND text to StableHLO; \
         --weights=args|file|inline selects how it receives weights, --variables=DIR|FILE their source",
        export,
    );
    std::process::exit(skript_dialect::tools::translate_main(rest));
}

const EXPORT: &str = "to-stablehlo";

/// Splits the arguments after the program's name into this tool's options and all others.
fn divided(words: impl Iterator<Item = String>) -> (Vec<String>, Vec<String>) {
    let command = Options::command();
    let names: Vec<&str> = command.get_arguments().filter_map(|a| a.get_long()).collect();
    let mut words = words.peekable();
    let mut options: Vec<String> = words.peek().cloned().into_iter().collect();
    let mut rest: Vec<String> = words.next().into_iter().collect();
    while let Some(word) = words.next() {
        let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
        let ours = names.contains(&name.trim_start_matches('-'));
        if !ours || !word.starts_with('-') {
            rest.push(word);
            continue;
        }
        let alone = !word.contains('=');
        options.push(format!("--{}", word.trim_start_matches('-')));
        if alone {
            options.extend(words.next());
        }
    }
    (options, rest)
}

/// The files that `mlir-translate` reads and writes.
fn files(words: &[String]) -> Files {
    let mut files = Files::default();
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        let flag = word.trim_start_matches('-');
        if word == "-o" || word == "--o" {
            files.output = words.next().map(PathBuf::from);
        } else if let Some(path) = flag.strip_prefix("o=").filter(|_| word.starts_with('-')) {
            files.output = Some(PathBuf::from(path));
        } else if !word.starts_with('-') {
            files.input = Some(PathBuf::from(word));
        }
    }
    files.output = files.output.filter(|path| path.as_os_str() != "-");
    files
}

fn export<'c>(context: &'c Context, module: &Module<'c>) -> Result<String, PassError> {
    skript_stablehlo::add_to(context);
    let to_program =
        |weights: &Weights| skript_stablehlo::export(module, context, weights).map_err(|e| e.to_string());
    let mut exported = to_program(&Weights::new())?;
    if let Some(options) = OPTIONS.get()
        && let Some(location) = options.weights.location
    {
        let mut weights = Vec::new();
        if options.weights.read() {
            weights = variables(&exported.interface, options)?;
        }
        if location == WeightsLocation::Inline {
            let tensors = weights.iter().map(|(_, tensor)| tensor);
            if let Some(message) = program_weights::too_large(tensors, options.limits.in_force().inline_bytes)
            {
                return Err(format!("{message}; {PUT_ELSEWHERE}").into());
            }
            exported = to_program(&weights.iter().cloned().collect())?;
        }
        write_beside(&exported.interface, options, location, &weights)?;
    }
    Ok(exported.module.as_operation().to_string())
}

fn import_stablehlo<'c>(context: &'c Context, name: &str, text: &str) -> Result<Module<'c>, PassError> {
    skript_stablehlo::import::to_skript(context, text).map_err(|refusals| {
        let mut last = PassError::from("reported above");
        for refusal in refusals {
            let (line, column) = refusal.source_position.unwrap_or((1, 1));
            let location = Location::new(context, name, line, column);
            last = PassError::at_location(location, refusal.message);
        }
        last
    })
}

/// The values of the program's variables by name.
fn variables(ports: &Interface, options: &Options) -> Result<Vec<(String, Tensor)>, PassError> {
    let own = options.files.input.as_deref().and_then(Path::parent);
    let own = own.filter(|folder| !folder.as_os_str().is_empty());
    let folder = options.weights.variables.as_deref().or(own);
    let max_bytes = options.limits.in_force().unpacked_bytes;
    let store = WeightStore::open(folder.unwrap_or(Path::new(".")), max_bytes);
    let store = store.map_err(|e| e.to_string())?;
    let variables = ports.arguments.iter().filter(|p| p.role == "variable");
    let mut named = Vec::new();
    for port in variables {
        let element = element_type(&port.dtype)
            .ok_or_else(|| format!("variable {} has elements of {}", port.name, port.dtype))?;
        named.push((port, element, [port.name.replace(':', "_")]));
    }
    let requests = named.iter().map(|(port, element, aliases)| VariableRequest {
        name: &port.name,
        aliases,
        element: *element,
        shape: port.shape.iter().map(|e| e.unsigned_abs()).collect(),
    });
    let requests: Vec<_> = requests.collect();
    match load_variables(&store, &requests, MissingWeights::Error) {
        Ok(tensors) => Ok(named.iter().map(|(port, ..)| port.name.clone()).zip(tensors).collect()),
        Err(wrong) => {
            let wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
            Err(format!("{}; --variables names their folder", wrong.join("; ")).into())
        }
    }
}

/// Writes the manifest and, if requested, a file of weights.
fn write_beside(
    ports: &Interface,
    options: &Options,
    location: WeightsLocation,
    weights: &[(String, Tensor)],
) -> Result<(), PassError> {
    let Some(program) = &options.files.output else {
        return match location {
            WeightsLocation::File => {
                Err("--weights=file writes the weights next to the program: name the program's file with -o"
                    .into())
            }
            WeightsLocation::Args | WeightsLocation::Inline => Ok(()),
        };
    };
    let write = |ending: &str, bytes: &[u8]| {
        let path = program_weights::with_appended_extension(program, ending);
        std::fs::write(&path, bytes).map_err(|e| format!("cannot write {}: {e}", path.display()))
    };
    if program_weights::in_file(ports, location) {
        let arrays = weights.iter().map(|(name, tensor)| (name.as_str(), tensor));
        let arrays = program_weights::arguments(ports, arrays);
        write(".safetensors", &program_weights::safetensors(arrays))?;
    }
    let manifest = program_weights::manifest(ports, &[], None, location, program);
    write(".json", manifest.as_bytes())?;
    Ok(())
}

fn import<'c>(context: &'c Context, name: &str, text: &str) -> Result<Module<'c>, PassError> {
    for dialect in ["skript", "func", "arith", "math", "tensor", "scf"] {
        context.get_or_load_dialect(dialect);
    }
    let limits = OPTIONS.get().map(|options| options.limits.in_force());
    // The module is named after the stem of the file.
    let file = if name == "<stdin>" { "main.sknd" } else { name };
    let document = Document::parse(file, text, &limits.unwrap_or_default());
    let model = document.compose(&ComposeOptions::default()).map_err(|error| match error {
        Error::Document(problems) => {
            let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
            let reported: Vec<PassError> = errors.map(|problem| report(context, problem)).collect();
            reported.into_iter().next_back().unwrap_or_else(|| PassError::from("reported above"))
        }
        error => error.to_string().into(),
    })?;
    skript_passes::emit::emit(model.ir(), model.sources(), context).map_err(|error| {
        let location = source_position(context, model.sources(), error.span());
        PassError::at_location(location, error.to_string())
    })
}

fn report(context: &Context, problem: &Problem) -> PassError {
    let mut message = format!("[{}] {}", problem.code, problem.message);
    if let Some(help) = &problem.help {
        message.push_str("; ");
        message.push_str(help);
    }
    let location = match &problem.location {
        Some(at) => Location::new(context, &at.path, at.line, at.column),
        None => Location::unknown(context),
    };
    PassError::at_location(location, message)
}

fn source_position<'c>(context: &'c Context, sources: &SourceMap, span: Option<Span>) -> Location<'c> {
    let file = span.and_then(|span| Some((sources.get(span.file)?, span)));
    match file {
        Some((file, span)) => {
            let (line, column) = file.line_column(span.start);
            Location::new(context, &file.path.to_string_lossy(), line, column)
        }
        None => Location::unknown(context),
    }
}
