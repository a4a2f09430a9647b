// SPDX-License-Identifier: Apache-2.0
//! The flags and arguments of `skript`.

mod call;
mod diff;
mod generate;
mod grad;
mod import;
mod output;
mod playground;
mod quantize;
mod stop;
mod threads;
mod train;
mod tune;
mod upkeep;
mod values;
mod view;

pub use call::{CallArguments, WeightsArguments};
pub use diff::DiffArguments;
pub use generate::{ActivationType, ChatArguments, GenerateArguments, LanguageArguments};
pub use grad::{GradArguments, StepArguments};
pub use import::{ImportArguments, ImportOptions, WeightsFormat};
pub use playground::{PlaygroundArguments, ValuesArguments};
pub use quantize::{MethodName, QuantizeArguments};
pub use stop::StopArguments;
pub use threads::ThreadArguments;
pub use train::TrainArguments;
pub use tune::TuneArguments;
pub use upkeep::{CacheAction, CacheArguments, ManualArguments};
pub use values::{
    EmitName, EngineName, InputArgument, InputShape, IntName, IntrinsicArgument, MessageFormat, Pipeline,
    QuantizeArgument, WeightsArgument,
};
pub use view::ViewArguments;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use skript_stablehlo::{Mesh, Sharding};

use crate::limit_arguments::LimitArguments;
use crate::profile;
use crate::program_weights::{ProgramWeights, READING};
use crate::target_arguments::TargetArguments;
use values::{
    EditionName, RealName, input_argument, input_shape_argument, intrinsic_argument, mesh_argument,
    name_and_value, shard_argument, tolerance,
};

/// Checks, runs and compiles models in SkriptND, the language of NNEF 2.0.
#[derive(Debug, Parser)]
#[command(name = "skript", version, long_version = crate::version::text(), args_override_self = true)]
pub struct CommandLine {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Check a model without running it
    Check(CheckArguments),
    /// Run a model on arrays
    Run(RunArguments),
    /// Convert an ONNX model to a model folder in SkriptND
    Import(ImportArguments),
    /// Continue a text with the language model of a GGUF file
    Generate(GenerateArguments),
    /// Talk to the language model of a GGUF file; each line of stdin is a message
    Chat(ChatArguments),
    /// Write the gradient of a model as a model folder
    Grad(GradArguments),
    /// Train the variables of a model on arrays
    Train(TrainArguments),
    /// Compile a model, or print it at an intermediate stage
    Compile(CompileArguments),
    /// Compare compiled code with the evaluator, and print the first tensor that differs
    Compare(CompareArguments),
    /// Show how two models differ: operations, attributes, types, formulas, weights
    Diff(DiffArguments),
    /// Measure latency, memory and arithmetic rate
    Bench(BenchArguments),
    /// Measure plans of the kernels of a model on this machine, and keep the fastest for later compilations
    Tune(TuneArguments),
    /// Select scales for 8-bit integers from samples, and write the model with @quantize
    Quantize(QuantizeArguments),
    /// Format files in the style of the standard library
    Fmt(FormatArguments),
    /// Print a model's interface, parameters, memory and arithmetic operations
    Info(InfoArguments),
    /// Write a page that shows a model as a graph, with formulas, weights and times
    View(ViewArguments),
    /// Serve a page on this machine that edits a model, checks it, and shows its graph, stages, code and values
    Playground(PlaygroundArguments),
    /// Print the arrays of a call as JSON
    #[command(hide = true)]
    PlaygroundValues(ValuesArguments),
    /// List the operators of the standard library and of a model
    Ops(OpsArguments),
    /// Explain a diagnostic or an operator: `skript explain SK0201`, `skript explain nn.conv`
    Explain(ExplainArguments),
    /// Print the folder and size of the cache of compiled models, or clean it
    Cache(CacheArguments),
    /// Print a completion script for a shell
    Completions(CompletionArguments),
    /// Print the manual page of skript or of one command, or write all pages to a folder
    Man(ManualArguments),
}

impl Verb {
    /// The target flags of commands that generate code.
    pub fn target(&self) -> Option<&TargetArguments> {
        match self {
            Verb::Run(arguments) => Some(&arguments.target),
            Verb::Compile(arguments) => Some(&arguments.target),
            Verb::Compare(arguments) => Some(&arguments.call.target),
            Verb::Bench(arguments) => Some(&arguments.call.target),
            Verb::Tune(arguments) => Some(&arguments.call.target),
            Verb::Quantize(arguments) => Some(&arguments.target),
            Verb::Train(arguments) => Some(&arguments.target),
            _ => None,
        }
    }
}

/// Options for reading a model.
#[derive(Clone, Debug, Args)]
pub struct ModelArguments {
    /// Edition of the language; the default follows from the syntax of each module
    #[arg(long, value_enum)]
    pub edition: Option<EditionName>,
    /// Graph of the main module; the default is the first one
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    /// How to compute quantized tensors; by default `@quantize` is kept as information, and an imported model is computed
    /// in integers
    #[arg(long, value_enum, value_name = "HOW")]
    pub quantize: Option<QuantizeArgument>,
    /// Element type of `real` tensors; f16 and bf16 are computed in f32 (docs/numerics.md) [default: f32, or that of the
    /// imported model]
    #[arg(long, value_enum, value_name = "TYPE")]
    pub real: Option<RealName>,
    /// Element type of `int` tensors; formulas compute 64-bit ints
    #[arg(long, value_enum, value_name = "TYPE", default_value = "i64")]
    pub int: IntName,
    /// Value of a graph attribute, as JSON
    #[arg(long = "set", value_name = "NAME=JSON", value_parser = name_and_value)]
    pub attributes: Vec<(String, String)>,
    /// Shape of an input with dynamic dimensions: `x=4,3`; of a pack `xs=4,3;2,3`; in an ONNX model, -1 or ? leaves a
    /// dimension dynamic; in a StableHLO program, `0=4,3` is for the first argument
    #[arg(long = "input-shape", value_name = "NAME=SHAPE", value_parser = input_shape_argument)]
    pub input_shapes: Vec<InputShape>,
    #[command(flatten)]
    pub import: ImportOptions,
    /// An optional input of the graph that is absent: it is null
    #[arg(long = "absent", value_name = "NAME")]
    pub absent_inputs: Vec<String>,
    /// An input of the graph that is passed in place of its default
    #[arg(long = "given", value_name = "NAME")]
    pub given_inputs: Vec<String>,
    #[command(flatten)]
    pub limits: LimitArguments,
    /// A kernel for an operator without a body: a function of a shared library (docs/intrinsics.md)
    #[arg(long = "intrinsic", value_name = "NAME=SYMBOL@LIBRARY", value_parser = intrinsic_argument)]
    pub intrinsics: Vec<IntrinsicArgument>,
    /// Print what the model was specialized to, such as the shapes of the inputs
    #[arg(short, long)]
    pub verbose: bool,
    /// Format of diagnostics
    #[arg(long, value_enum, default_value_t = MessageFormat::Human)]
    pub message_format: MessageFormat,
}

#[derive(Debug, Args)]
pub struct CheckArguments {
    /// Model folder with a main.sknd, the same packed as .tgz, a single file, or a StableHLO program (.mlir)
    pub model: PathBuf,
    #[command(flatten)]
    pub reading: ModelArguments,
    /// Also check the types and shapes of the weights
    #[arg(long)]
    pub weights: bool,
}

#[derive(Debug, Args)]
pub struct RunArguments {
    /// Model folder with a main.sknd, the same packed as .tgz, a single file, or a StableHLO program (.mlir); all are treated
    /// as untrusted
    #[arg(required_unless_present = "batch")]
    pub model: Option<PathBuf>,
    /// Run once per line, a JSON list of arguments that select a model, its inputs, and a folder for outputs below that of
    /// --output-dir; prints a JSON object with exit and stderr for each
    #[arg(long, value_name = "FILE.jsonl", conflicts_with = "model")]
    pub batch: Option<PathBuf>,
    #[command(flatten)]
    pub reading: ModelArguments,
    /// Execution engine
    #[arg(long, value_enum, default_value_t = EngineName::Compiled)]
    pub engine: EngineName,
    /// Lowering of formulas in the compiled engine
    #[arg(long, value_enum, default_value_t = Pipeline::Linalg)]
    pub pipeline: Pipeline,
    #[command(flatten)]
    pub target: TargetArguments,
    #[command(flatten)]
    pub threads: ThreadArguments,
    #[command(flatten)]
    pub stop: StopArguments,
    /// Compile without the cache of compiled code in $XDG_CACHE_HOME/skript
    #[arg(long)]
    pub no_cache: bool,
    /// Compile for the shapes of the inputs instead of for all that dynamic dimensions allow
    #[arg(long)]
    pub specialize: bool,
    /// An input: NAME=FILE.npy, NAME=A.npy,B.npy for a pack, NAME=random:SEED, or FILE.npz with all inputs
    #[arg(long = "input", value_name = "NAME=FILE.npy", value_parser = input_argument)]
    pub inputs: Vec<InputArgument>,
    #[command(flatten)]
    pub weights: WeightsArguments,
    /// Folder for the values of all variables after the run, one .dat each; `--variables DIR` reads them again
    #[arg(long, value_name = "DIR")]
    pub save_variables: Option<PathBuf>,
    /// Number of calls on the same inputs, each with the updated variables of the previous one; prints the last outputs
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub repeat: u32,
    /// Folder for the outputs, one .npy each; by default a summary is printed
    #[arg(long, value_name = "DIR")]
    pub output_dir: Option<PathBuf>,
    /// File for the cost of the run as one JSON object: times in ms, memory in bytes
    #[arg(long, value_name = "FILE.json")]
    pub stats: Option<PathBuf>,
    /// Print the time of each stage from the text to the results, as a table on stderr; code from the cache has no stages
    #[arg(long)]
    pub timings: bool,
    /// Print the time of each step of the last call by operator, or write it: as FILE.json, FILE.trace.json for Chrome's
    /// tracer, or FILE.svg, a flame graph (docs/profile.md)
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = profile::Output::from_name)]
    pub profile: Option<profile::Output>,
}

#[derive(Debug, Args)]
pub struct CompareArguments {
    /// Model folder with a main.sknd, the same packed as .tgz, or a single file
    pub model: PathBuf,
    #[command(flatten)]
    pub call: CallArguments,
    /// Differences up to rtol * |expected| + atol are accepted; the defaults depend on --real: 1e-4 and 1e-5 for f32,
    /// plus one step of a quantized tensor where products are computed in integers
    #[arg(long, value_parser = tolerance, allow_negative_numbers = true)]
    pub rtol: Option<f64>,
    /// The absolute part of the accepted difference: see --rtol
    #[arg(long, value_parser = tolerance, allow_negative_numbers = true)]
    pub atol: Option<f64>,
    /// Compare every tensor of the graph even if the outputs agree
    #[arg(long)]
    pub keep_intermediates: bool,
    /// Compare with the arrays of a .npz or .safetensors file, or with the .npy files of a folder, in place of the evaluator.
    /// Arrays have the names of tensors, in SkriptND or in the ONNX model: `--input x=all.npz --with all.npz`
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::AnyPath)]
    pub with: Option<PathBuf>,
    /// For tests: lower the first op like the second
    #[arg(long, value_name = "OP=OP", value_parser = name_and_value, hide = true)]
    pub break_lowering: Option<(String, String)>,
}

#[derive(Debug, Args)]
pub struct BenchArguments {
    /// Model folder with a main.sknd, the same packed as .tgz, a single file, a StableHLO program (.mlir), or a language model
    /// in a GGUF file
    pub model: PathBuf,
    #[command(flatten)]
    pub call: CallArguments,
    /// Number of timed iterations, after two warm-up iterations
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub calls: u32,
    /// File for the results as one JSON object
    #[arg(long, value_name = "FILE.json")]
    pub json: Option<PathBuf>,
    /// Print the time of each step of a call by operator, or write it: as FILE.json, FILE.trace.json for Chrome's tracer,
    /// or FILE.svg, a flame graph (docs/profile.md)
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = profile::Output::from_name)]
    pub profile: Option<profile::Output>,
    /// Type of the values that low-bit matrices of a language model multiply (docs/numerics.md)
    #[arg(long, value_enum, value_name = "TYPE", default_value_t = ActivationType::Real)]
    pub activations: ActivationType,
}

#[derive(Debug, Args)]
pub struct CompileArguments {
    /// Model folder with a main.sknd, the same packed as .tgz, a single file, or a StableHLO program (.mlir), for
    /// an artifact or an object file
    #[arg(required_unless_present = "print_pipeline")]
    model: Option<PathBuf>,
    #[command(flatten)]
    pub reading: ModelArguments,
    /// Stage or format to write; the default follows from the extension of -o: .skm, .so, .o, .s, .ll or .c, of kernels .ptx or .spv
    #[arg(long, value_enum)]
    pub emit: Option<EmitName>,
    /// Lowering of formulas
    #[arg(long, value_enum, default_value_t = Pipeline::Linalg)]
    pub pipeline: Pipeline,
    #[command(flatten)]
    pub target: TargetArguments,
    /// An operator not to lower, for a backend with its own kernel; with --emit=skript, linalg, linalg-named, linalg-tensors, affine, scf or buffers
    #[arg(long, value_name = "OPERATOR")]
    pub keep: Vec<String>,
    /// File to write; the default, or `-`, is stdout for text, and a file named after the graph for code
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// File for the form of each formula, one per line; with --emit=stablehlo
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Device mesh of a StableHLO program, as named axes: `data=2,model=4`
    #[arg(long, value_name = "AXIS=N,…", value_parser = mesh_argument)]
    pub mesh: Option<Mesh>,
    /// Mesh axes that split the dimensions of an input, variable or output: `x=data,_`, `w=_,data+model`
    #[arg(long = "shard", value_name = "NAME=AXES", value_parser = shard_argument, requires = "mesh")]
    pub shardings: Vec<Sharding>,
    #[command(flatten)]
    pub weights: ProgramWeights,
    /// Write the weights into the .skm or .so file, which then needs no other file and contains the results of
    /// computations on weights alone, for this machine
    #[arg(long, group = READING)]
    pub embed_weights: bool,
    /// Write the model after every stage to a folder
    #[arg(long, value_name = "DIR")]
    pub dump_stages: Option<PathBuf>,
    /// Write the MLIR text after each pass that changes it to a folder
    #[arg(long, value_name = "DIR")]
    pub dump_passes: Option<PathBuf>,
    /// Print the time of each stage from the text to the code, as a table on stderr
    #[arg(long)]
    pub timings: bool,
    /// Print the passes from the skript dialect to the stage of --emit, as skript-opt --pass-pipeline accepts them
    #[arg(long)]
    pub print_pipeline: bool,
    /// Print MLIR without source locations
    #[arg(long)]
    pub no_locations: bool,
    /// Add line tables to code: debuggers, profilers and assembly text then state the line of the model for each instruction
    #[arg(short = 'g', long)]
    pub line_tables: bool,
    #[command(flatten)]
    pub stop: StopArguments,
}

#[derive(Debug, Args)]
pub struct FormatArguments {
    /// Files; folders with .sknd files; `-` for standard input, written to standard output
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Do not write: list files that are not formatted, and exit with 1 if there are any
    #[arg(long)]
    pub check: bool,
    /// Format of diagnostics
    #[arg(long, value_enum, default_value_t = MessageFormat::Human)]
    pub message_format: MessageFormat,
}

#[derive(Debug, Args)]
pub struct InfoArguments {
    /// Model folder with a main.sknd, the same packed as .tgz, a single file, a StableHLO program (.mlir), or a
    /// compiled model (.skm)
    pub model: PathBuf,
    #[command(flatten)]
    pub reading: ModelArguments,
    /// Print all variables in the order of the graph, and the arrays in the files of weights
    #[arg(long)]
    pub variables: bool,
    /// A file with weights whose arrays are listed, too
    #[arg(long, value_name = "FILE", requires = "variables")]
    pub weights: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct OpsArguments {
    /// Part of the name: `pool`, `nn.`
    pub pattern: Option<String>,
    /// Operators of one module
    #[arg(long, value_name = "NAME")]
    pub module: Option<String>,
    /// List the operators of this model's modules as well
    #[arg(long, value_name = "MODEL")]
    pub model: Option<PathBuf>,
    /// Print a JSON list, with comments and examples
    #[arg(long)]
    pub json: bool,
    /// Print a Markdown document, with comments and examples
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Format of diagnostics
    #[arg(long, value_enum, default_value_t = MessageFormat::Human)]
    pub message_format: MessageFormat,
}

#[derive(Debug, Args)]
pub struct ExplainArguments {
    /// A code such as SK0201, an operator such as nn.conv, or `limits`; by default all codes are listed
    pub subject: Option<String>,
    /// Include the operators of this model's modules
    #[arg(long, value_name = "MODEL")]
    pub model: Option<PathBuf>,
    /// Format of diagnostics
    #[arg(long, value_enum, default_value_t = MessageFormat::Human)]
    pub message_format: MessageFormat,
    /// Print the explanations of all codes, as one page of Markdown
    #[arg(long, conflicts_with = "subject")]
    pub all: bool,
}

#[derive(Debug, Args)]
pub struct CompletionArguments {
    pub shell: clap_complete::Shell,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn the_last_of_a_repeated_flag_counts_and_lists_grow() {
        let line = "skript run --engine=compiled m --engine=reference --set a=1 --set b=2";
        let Ok(CommandLine { verb: Verb::Run(run) }) = CommandLine::try_parse_from(line.split(' ')) else {
            panic!("parses");
        };
        assert_eq!(run.engine, EngineName::Reference);
        assert_eq!(run.reading.attributes.len(), 2);
    }
}
