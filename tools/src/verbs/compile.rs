// SPDX-License-Identifier: Apache-2.0
//! `skript compile`: compiles a model to a file, or prints it after an intermediate stage.

mod c;
mod dump;
mod program;
mod shared_object;
mod stablehlo;
mod user_kernels;

use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use skript::{Compiler, Model, Tensor};
use skript_frontend::ast::Module;
use skript_frontend::diagnostics::codes::{COMMAND_LINE_NAME, OUTPUT, UNREADABLE};
use skript_frontend::diagnostics::{Code as Rule, Diagnostic};
use skript_passes::codegen::Form;
use skript_passes::target::Language;
use skript_passes::{Options, Stop, pipeline_text};
use skript_runtime::object_header::object_header;
use skript_runtime::{Artifact, RunError, embed};

use crate::command_line::{CompileArguments, EmitName, Pipeline};
use crate::console::{Console, Status};
use crate::program_weights::WeightsLocation;
use crate::session::{Session, Stopped, Weights, reporter, say};
use crate::stablehlo_program;
use crate::timings::Timings;
use crate::watch::Watch;
use crate::written::{unwritten, write};

pub fn run(arguments: &CompileArguments, console: &mut Console) -> Status {
    let _watch = Watch::begin(arguments.stop.timeout, reporter(arguments.reading.message_format));
    let timings = Timings::begin(console);
    let status = compile_model(arguments, console);
    timings.end(arguments.timings, console);
    status
}

fn compile_model(arguments: &CompileArguments, console: &mut Console) -> Status {
    if arguments.print_pipeline {
        return print_pipeline(arguments, console);
    }
    if stablehlo_program::is_program(arguments.model()) {
        return program::run(arguments, console);
    }
    let mut session = Session::open(arguments.model(), &arguments.reading);
    session.announce_bounds(console);
    for wrong in wrong_flags(arguments) {
        session.report_usage(wrong);
    }
    if session.status() == Status::Done {
        session.check_names(std::iter::empty());
    }
    if session.status() == Status::Done
        && let Some(model) = session.compose()
    {
        session.check_operators(&model, &arguments.keep);
        let variables = variables(arguments, &mut session, &model);
        if session.status() == Status::Done {
            match make(arguments, &session, &model, variables.as_deref()) {
                Ok(None) => {}
                Ok(Some(path)) => console.write(&format!("wrote {}\n", path.display())),
                Err(error) => session.report_all(error),
            }
        }
    }
    session.close(console)
}

/// Reads the variables if the output contains them. Returns `None` after it reports errors.
fn variables(arguments: &CompileArguments, session: &mut Session, model: &Model) -> Option<Vec<Tensor>> {
    if !reads_weights(arguments) || session.status() != Status::Done {
        return None;
    }
    let mut weights =
        Weights { folder: arguments.weights.variables.as_deref(), ..Weights::from_model_folder() };
    if arguments.embed_weights {
        weights.remedy = "weights are embedded from the model's folder; --variables DIR|FILE reads them from another folder, or from a .safetensors, .npz, .gguf or .tgz file";
    }
    session.variables(model, weights)
}

fn reads_weights(arguments: &CompileArguments) -> bool {
    arguments.weights.read() || arguments.embed_weights
}

/// The errors of flags that contradict each other.
fn wrong_flags(arguments: &CompileArguments) -> Vec<Diagnostic> {
    let emit = arguments.emit();
    let is_stablehlo = emit == EmitName::Stablehlo;
    let keeps = matches!(
        emit,
        EmitName::Skript
            | EmitName::Linalg
            | EmitName::LinalgNamed
            | EmitName::LinalgTensors
            | EmitName::Affine
            | EmitName::Scf
            | EmitName::Buffers
    );
    let embeds = matches!(emit, EmitName::Artifact | EmitName::So);
    let is_shared = arguments.target.target().gpu.is_some() && emit == EmitName::So;
    let wrong = |code: &'static Rule, text: &str, help: &str| {
        Diagnostic::without_location(code, text).with_help(help)
    };
    let extension = arguments.wrong_extension().map(|text| {
        let help = "use the extension `.skm`, `.so`, `.o`, `.s`, `.ll` or `.c`, for GPU kernels `.ptx` or `.spv`, or --emit, such as --emit=linalg";
        wrong(&OUTPUT, &text, help)
    });
    let unused = arguments.unused_flag().map(|text| {
        wrong(
            &COMMAND_LINE_NAME,
            &text,
            "leave it out, or write CPU code and GPU kernels to one file, -o model.skm",
        )
    });
    let output = |is_wrong: bool, text: &str, help: &str| is_wrong.then(|| wrong(&OUTPUT, text, help));
    let all = [
        output(
            !arguments.keep.is_empty() && !keeps,
            "operators listed in `--keep` are not compiled",
            "use --emit=skript, linalg, linalg-named, linalg-tensors, affine, scf or buffers with --keep",
        ),
        extension,
        unused,
        output(
            is_shared,
            "shared objects cannot contain GPU kernels",
            "use -o model.skm, -o model.ptx with --target=nvptx64, -o model.s with --target=amdgcn, -o model.spv with --target=vulkan",
        ),
        without_lines(arguments),
        output(
            arguments.report.is_some() && !is_stablehlo,
            "`--report` requires `--emit=stablehlo`",
            "use --emit=stablehlo with --report",
        ),
        output(
            arguments.mesh.is_some() && !is_stablehlo,
            "--mesh applies to StableHLO programs only",
            "use --emit=stablehlo with --mesh",
        ),
        output(
            arguments.weights.location.is_some() && !is_stablehlo && emit != EmitName::C,
            "--weights applies to StableHLO and C programs only",
            "use --emit=stablehlo or --emit=c with --weights",
        ),
        output(
            emit == EmitName::C && !arguments.target.is_default(),
            "C programs are for any processor",
            "leave the options of the target out here; the C compiler selects the processor",
        ),
        output(
            arguments.embed_weights && !embeds,
            "weights are embedded in artifacts and shared objects only",
            "use -o model.skm or -o model.so with --embed-weights",
        ),
        output(
            arguments.weights.location() == WeightsLocation::File && arguments.output().is_none(),
            "--weights=file writes the weights next to the program",
            "name the program's file with -o",
        ),
        (arguments.weights.variables.is_some() && !reads_weights(arguments)).then(|| unread_variables(emit)),
    ];
    all.into_iter().flatten().collect()
}

/// The error of `--line-tables` for output that cannot have them.
fn without_lines(arguments: &CompileArguments) -> Option<Diagnostic> {
    let is_spirv = arguments.target.target().gpu.is_some_and(|gpu| gpu.language == Language::SpirV);
    let (stop, _) = stop(arguments.emit(), arguments.pipeline);
    let is_code = matches!(stop, Stop::Code(_)) && arguments.emit() != EmitName::C;
    let (text, help) = match (is_code, is_spirv) {
        (true, false) => return None,
        (true, true) => (
            "SPIR-V has no line tables",
            "leave --line-tables out here, or compile for the processor, an Nvidia or an AMD GPU",
        ),
        (false, _) => (
            "only code has line tables",
            "use --emit=asm, llvm, llvm-unoptimized, obj, so or artifact with --line-tables",
        ),
    };
    arguments.line_tables.then(|| Diagnostic::without_location(&OUTPUT, text).with_help(help))
}

/// The error of `--variables` without an option that writes weights.
fn unread_variables(emit: EmitName) -> Diagnostic {
    let help = match emit {
        EmitName::Artifact => {
            "add --embed-weights to write the weights into the artifact, or leave --variables out here and run it with `skript-run MODEL.skm --weights DIR|FILE`"
        }
        EmitName::So => {
            "add --embed-weights to write the weights into the shared object, or leave --variables out here: its caller passes the folder of the weights"
        }
        EmitName::Stablehlo | EmitName::C => {
            "add --weights=file to write the weights beside the program, or --weights=inline to write them into it"
        }
        _ => "leave --variables out: the output has no weights; its caller passes them",
    };
    let text = "--variables reads weights, but the output contains no weights";
    Diagnostic::without_location(&COMMAND_LINE_NAME, text).with_help(help)
}

/// Compiles the model; returns the written file if the user did not name it.
fn make(
    arguments: &CompileArguments,
    session: &Session,
    model: &Model,
    variables: Option<&[Tensor]>,
) -> Result<Option<PathBuf>, Stopped> {
    if let Some(folder) = &arguments.dump_stages {
        dump::stages(arguments, session, model, folder)?;
    }
    if let Some(folder) = &arguments.dump_passes {
        dump::passes(arguments, model, folder)?;
    }
    let is_dumped = arguments.dump_stages.is_some() || arguments.dump_passes.is_some();
    if is_dumped && arguments.output().is_none() && arguments.emit() == EmitName::Artifact {
        return Ok(None);
    }
    if arguments.emit() == EmitName::So {
        return shared_object::make(arguments, model, variables);
    }
    if arguments.emit() == EmitName::Stablehlo {
        return stablehlo::make(arguments, model, variables).map(|()| None);
    }
    if arguments.emit() == EmitName::C {
        return c::make(arguments, model, variables).map(|()| None);
    }
    if arguments.emit() == EmitName::Artifact {
        let artifact = artifact(arguments, model, variables)?;
        let path = arguments.output().map(Path::to_path_buf);
        let named = default_path(model, "skm");
        let file = path.as_deref().unwrap_or(&named);
        artifact.save(file).map_err(|error| unwritten(file, error))?;
        return Ok(path.is_none().then_some(named));
    }
    if arguments.emit() == EmitName::Obj && arguments.target.target().gpu.is_none() {
        return object(arguments, model);
    }
    let bytes = after_stage(arguments, arguments.emit(), session, model)?;
    let binary = arguments.emit() == EmitName::Obj;
    match arguments.output() {
        Some(path) => {
            write(path, &[&bytes])?;
            Ok(None)
        }
        None if binary => {
            let path = default_path(model, kernel_extension(arguments));
            write(&path, &[&bytes])?;
            Ok(Some(path))
        }
        None => {
            crate::stdout::print(&String::from_utf8_lossy(&bytes));
            Ok(None)
        }
    }
}

/// Writes an object file and, next to it, the header that C programs include.
fn object(arguments: &CompileArguments, model: &Model) -> Result<Option<PathBuf>, Stopped> {
    let artifact = artifact(arguments, model, None)?;
    let path = arguments.output().map(Path::to_path_buf);
    let named = default_path(model, "o");
    let written = path.as_deref().unwrap_or(&named);
    write(written, &[&artifact.object])?;
    if written.extension().is_some_and(|extension| extension == "o") {
        let header = object_header(&artifact, model.name());
        write(&written.with_extension("h"), &[header.as_bytes()])?;
    }
    Ok(path.is_none().then_some(named))
}

/// The compiled model, with its weights if they are embedded.
fn artifact(
    arguments: &CompileArguments,
    model: &Model,
    variables: Option<&[Tensor]>,
) -> Result<Artifact, Stopped> {
    let compiler = compiler(arguments, arguments.pipeline);
    let compiled = compiler.for_this_executable(false).compile(model)?;
    let artifact = model.with_names(compiled.artifact).into_artifact();
    let Some(variables) = variables.filter(|_| arguments.embed_weights) else {
        return Ok(artifact);
    };
    let variables = model.captured(variables);
    embed(artifact, &variables.iter().collect::<Vec<_>>(), 0).map_err(|error| {
        let message = format!("cannot embed the weights: {error}");
        let wrong = Diagnostic::without_location(&OUTPUT, message);
        Stopped::from(match error {
            RunError::Load(_) => wrong.with_help(
                "embedding runs the compiled code, which computes values that depend on weights alone: embed weights on the processor that --cpu names",
            ),
            _ => wrong,
        })
    })
}

/// Prints the passes that compilation would run.
fn print_pipeline(arguments: &CompileArguments, console: &mut Console) -> Status {
    let format = arguments.reading.message_format;
    let path = arguments.model();
    if path != Path::new("") && !path.exists() {
        let text = format!("{}: there is no such file or folder", path.display());
        say(Diagnostic::without_location(&UNREADABLE, text), format, console);
        return Status::Wrong;
    }
    if stablehlo_program::is_program(arguments.model()) {
        return program::print_pipeline(arguments, console);
    }
    let emit = arguments.emit();
    let without = match emit {
        EmitName::Ast => Some("the syntax tree, which exists before the first pass"),
        EmitName::Model => Some("the composed model, which exists before the first pass"),
        EmitName::Skript if arguments.keep.is_empty() => Some("the module that the passes start from"),
        EmitName::Stablehlo => Some("a StableHLO program, which is not written by a pass pipeline"),
        EmitName::C => Some("a C program, which is written from loops of a separate pipeline"),
        _ => None,
    };
    if let Some(what) = without {
        let name = emit.to_possible_value();
        let name = name.as_ref().map_or("", |name| name.get_name());
        let text = format!("--emit={name} runs no passes: it writes {what}");
        let wrong = Diagnostic::without_location(&COMMAND_LINE_NAME, text);
        let help = "use --print-pipeline with a later stage, such as --emit=linalg or --emit=llvm-dialect";
        say(wrong.with_help(help), format, console);
        return Status::Usage;
    }
    let (stop, compiler) = stage(arguments, emit);
    let session = (path != Path::new("")).then(|| Session::open(path, &arguments.reading));
    let origin = session.as_ref().and_then(|session| session.document.origin());
    match pipeline_text(&compiler.options_for(origin), stop) {
        Ok(text) => {
            crate::stdout::print(&format!("{text}\n"));
            Status::Done
        }
        Err(error) => {
            console.write(&format!("{error}\n"));
            Status::Wrong
        }
    }
}

/// The last stage of compilation for an output format, and its lowering. Object code requires all stages.
fn stop(emit: EmitName, pipeline: Pipeline) -> (Stop, Pipeline) {
    match emit {
        EmitName::Ast | EmitName::Model | EmitName::Stablehlo | EmitName::Skript => (Stop::Skript, pipeline),
        EmitName::Linalg => (Stop::Lowered, Pipeline::Linalg),
        EmitName::LinalgNamed => (Stop::Lowered, Pipeline::LinalgNamed),
        EmitName::LinalgTensors => (Stop::Lowered, Pipeline::LinalgTensors),
        EmitName::Affine => (Stop::Lowered, Pipeline::Affine),
        EmitName::Scf => (Stop::Lowered, Pipeline::Scf),
        EmitName::Buffers => (Stop::Buffers, pipeline),
        EmitName::Scheduled => (Stop::Scheduled, pipeline),
        EmitName::LlvmDialect => (Stop::LlvmDialect, pipeline),
        EmitName::LlvmUnoptimized => (Stop::Code(Form::Unoptimized), pipeline),
        EmitName::Llvm => (Stop::Code(Form::Llvm), pipeline),
        EmitName::Asm => (Stop::Code(Form::Assembly), pipeline),
        EmitName::Obj | EmitName::So | EmitName::Artifact | EmitName::C => {
            (Stop::Code(Form::Object), pipeline)
        }
    }
}

/// The compiler for a lowering.
fn compiler(arguments: &CompileArguments, pipeline: Pipeline) -> Compiler {
    arguments.target.compiler(pipeline, &arguments.reading).with_line_tables(arguments.line_tables)
}

/// The last stage for an output, and the compiler for it.
fn stage(arguments: &CompileArguments, emit: EmitName) -> (Stop, Compiler) {
    let (stop, pipeline) = stop(emit, arguments.pipeline);
    let compiler = compiler(arguments, pipeline);
    let options = Options { keep: arguments.keep.clone(), ..compiler.options().clone() };
    (stop, compiler.with_options(options).for_this_executable(false))
}

/// The model after a stage.
fn after_stage(
    arguments: &CompileArguments,
    emit: EmitName,
    session: &Session,
    model: &Model,
) -> Result<Vec<u8>, Stopped> {
    match emit {
        EmitName::Ast => return Ok(tree(session.document.program().main_module())),
        EmitName::Model => return Ok(model.ir().to_text().into_bytes()),
        EmitName::Artifact => return Ok(artifact(arguments, model, None)?.to_bytes()),
        EmitName::So => return Ok(shared_object::object(arguments, model, None)?.0),
        EmitName::Stablehlo => return Ok(stablehlo::text(arguments, model)?.into_bytes()),
        _ => {}
    }
    let (stop, compiler) = stage(arguments, emit);
    let mut bytes = compiler.stage(model, stop, !arguments.no_locations)?;
    if !matches!(stop, Stop::Code(Form::Object)) && bytes.last() != Some(&b'\n') {
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// The syntax tree as JSON; positions are byte offsets `start..end` in the module's file.
fn tree(module: Option<&Module>) -> Vec<u8> {
    let text = serde_json::to_vec_pretty(&module);
    let mut text = text.unwrap_or_else(|error| unreachable!("internal compiler error: {error}"));
    text.push(b'\n');
    text
}

/// The graph's name with the extension of the output, in the working folder.
fn default_path(model: &Model, extension: &str) -> PathBuf {
    PathBuf::from(format!("{}.{extension}", model.name()))
}

/// The file extension of GPU kernels.
fn kernel_extension(arguments: &CompileArguments) -> &'static str {
    match arguments.target.target().gpu.map(|gpu| gpu.language) {
        None => "o",
        Some(Language::Ptx) => "ptx",
        Some(Language::SpirV) => "spv",
        Some(Language::Amdgcn) => "s",
    }
}
