// SPDX-License-Identifier: Apache-2.0
//! `skript compile`: compiles a model to a file, or prints it at an intermediate stage.

mod program;
mod shared_object;
mod stablehlo;
mod user_kernels;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use skript_frontend::ast::Module;
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{COMMAND_LINE_NAME, OUTPUT, UNREADABLE};
use skript_frontend::model::Model;
use skript_passes::codegen::Form;
use skript_passes::target::Language;
use skript_passes::{Options, Stop, model_after, pipeline_text};
use skript_runtime::object_header::object_header;
use skript_runtime::{Artifact, RunError, embed};
use skript_tensor::Tensor;

use crate::command_line::{CompileArguments, EmitName, Pipeline};
use crate::console::{Console, Status};
use crate::engine::compiled::{captured, compile, options, tuned};
use crate::engine::refused;
use crate::program_weights::WeightsLocation;
use crate::session::{Session, Stopped, Weights, say};
use crate::stablehlo_program;
use crate::timings::Timings;

pub fn run(arguments: &CompileArguments, console: &mut Console) -> Status {
    let timings = Timings::begin(console);
    let status = compile_model(arguments, console);
    timings.end(arguments.timings, console);
    status
}

fn compile_model(arguments: &CompileArguments, console: &mut Console) -> Status {
    let text = [
        EmitName::Skript,
        EmitName::Linalg,
        EmitName::LinalgNamed,
        EmitName::Affine,
        EmitName::Scf,
        EmitName::Buffers,
    ];
    if arguments.print_pipeline {
        return print_pipeline(arguments, console);
    }
    if stablehlo_program::is_program(arguments.model()) {
        return program::run(arguments, console);
    }
    let mut session = Session::open(arguments.model(), &arguments.reading);
    session.announce_bounds(console);
    if !arguments.keep.is_empty() && !text.contains(&arguments.emit()) {
        session.report_usage(
            Diagnostic::without_location(&OUTPUT, "an operator that is kept has no code of ours")
                .with_help("use --emit=skript, linalg, linalg-named, affine, scf or buffers with --keep"),
        );
    }
    if let Some(text) = arguments.wrong_extension() {
        session.report_usage(Diagnostic::without_location(&OUTPUT, text).with_help(
            "use the extension `.skm`, `.so`, `.o`, `.s` or `.ll`, of kernels of GPUs `.ptx` or `.spv`, or --emit, such as --emit=linalg",
        ));
    }
    if let Some(text) = arguments.unused_flag() {
        session.report_usage(
            Diagnostic::without_location(&COMMAND_LINE_NAME, text)
                .with_help("leave it out, or write both into one file, -o model.skm"),
        );
    }
    if arguments.target.target().gpu.is_some() && arguments.emit() == EmitName::So {
        session.report_usage(
            Diagnostic::without_location(
                &OUTPUT,
                "there are no shared objects with kernels of GPUs",
            )
            .with_help("use -o model.skm, -o model.ptx with --target=nvptx64, -o model.s with --target=amdgcn, -o model.spv with --target=vulkan"),
        );
    }
    if arguments.report.is_some() && arguments.emit() != EmitName::Stablehlo {
        session.report_usage(
            Diagnostic::without_location(&OUTPUT, "there is a report of the forms of StableHLO only")
                .with_help("use --emit=stablehlo with --report"),
        );
    }
    if arguments.mesh.is_some() && arguments.emit() != EmitName::Stablehlo {
        session.report_usage(
            Diagnostic::without_location(&OUTPUT, "a mesh is for StableHLO programs only")
                .with_help("use --emit=stablehlo with --mesh"),
        );
    }
    if arguments.weights.location.is_some() && arguments.emit() != EmitName::Stablehlo {
        session.report_usage(
            Diagnostic::without_location(&OUTPUT, "--weights applies to StableHLO programs only")
                .with_help("use --emit=stablehlo with --weights"),
        );
    }
    if arguments.embed_weights && !matches!(arguments.emit(), EmitName::Artifact | EmitName::So) {
        session.report_usage(
            Diagnostic::without_location(
                &OUTPUT,
                "weights are embedded in artifacts and shared objects only",
            )
            .with_help("use -o model.skm or -o model.so with --embed-weights"),
        );
    }
    if arguments.weights.location() == WeightsLocation::File && arguments.output().is_none() {
        session.report_usage(
            Diagnostic::without_location(&OUTPUT, "weights are written to a file next to the program")
                .with_help("name the program's file with -o"),
        );
    }
    let is_reading = arguments.weights.read() || arguments.embed_weights;
    if arguments.weights.variables.is_some() && !is_reading {
        session.report_usage(unread_variables(arguments.emit()));
    }
    if session.status() == Status::Done {
        session.check_names(std::iter::empty());
    }
    if session.status() == Status::Done
        && let Some(model) = session.compose()
    {
        session.check_operators(&model, &arguments.keep);
        let own = Weights::of_the_model();
        let weights = Weights {
            folder: arguments.weights.variables.as_deref(),
            remedy: if arguments.embed_weights {
                "weights are embedded from the model's folder; --variables DIR|FILE reads them from another folder, or from a .safetensors, .npz or .tgz file"
            } else {
                own.remedy
            },
            ..own
        };
        let variables = if is_reading && session.status() == Status::Done {
            session.variables(&model, weights)
        } else {
            None
        };
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

/// `--variables` without an option that writes weights.
fn unread_variables(emit: EmitName) -> Diagnostic {
    let help = match emit {
        EmitName::Artifact => {
            "add --embed-weights to write the weights into the artifact, or leave --variables out here and run it with `skript-run MODEL.skm --weights DIR|FILE`"
        }
        EmitName::So => {
            "add --embed-weights to write the weights into the shared object, or leave --variables out here: its caller passes the folder of the weights"
        }
        EmitName::Stablehlo => {
            "add --weights=file to write the weights beside the program, or --weights=inline to write them into it"
        }
        _ => "leave --variables out: what is written has no weights, its caller passes them",
    };
    let text = "--variables reads weights, but none are written";
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
        dump(arguments, session, model, folder)?;
        if arguments.output().is_none() && arguments.emit() == EmitName::Artifact {
            return Ok(None);
        }
    }
    if arguments.emit() == EmitName::So {
        return shared_object::make(arguments, session, model, variables);
    }
    if arguments.emit() == EmitName::Stablehlo {
        return stablehlo::make(arguments, session, model, variables).map(|()| None);
    }
    if arguments.emit() == EmitName::Artifact {
        let artifact = artifact(arguments, session, model, variables)?;
        let (code, weights) = artifact.to_parts();
        let path = arguments.output().map(Path::to_path_buf);
        let named = named(model, "skm");
        write_parts(path.as_deref().unwrap_or(&named), &[&code, weights])?;
        return Ok(path.is_none().then_some(named));
    }
    if arguments.emit() == EmitName::Obj && arguments.target.target().gpu.is_none() {
        return object(arguments, session, model);
    }
    let bytes = after_stage(arguments, arguments.emit(), session, model)?;
    let binary = arguments.emit() == EmitName::Obj;
    match arguments.output() {
        Some(path) => {
            write(path, &bytes)?;
            Ok(None)
        }
        None if binary => {
            let path = named(model, kernels(arguments));
            write(&path, &bytes)?;
            Ok(Some(path))
        }
        None => {
            crate::stdout::print(&String::from_utf8_lossy(&bytes));
            Ok(None)
        }
    }
}

/// Writes an object file, and the header beside it that C programs call it by.
fn object(
    arguments: &CompileArguments,
    session: &Session,
    model: &Model,
) -> Result<Option<PathBuf>, Stopped> {
    let artifact = artifact(arguments, session, model, None)?;
    let path = arguments.output().map(Path::to_path_buf);
    let named = named(model, "o");
    let written = path.as_deref().unwrap_or(&named);
    write(written, &artifact.object)?;
    if written.extension().is_some_and(|extension| extension == "o") {
        let header = object_header(&artifact, graph(model));
        write(&written.with_extension("h"), header.as_bytes())?;
    }
    Ok(path.is_none().then_some(named))
}

/// The compiled model, with its weights if they are embedded.
fn artifact(
    arguments: &CompileArguments,
    session: &Session,
    model: &Model,
    variables: Option<&[Tensor]>,
) -> Result<Artifact, Stopped> {
    let sources = &session.program.sources;
    let target = arguments.target.target_of(&arguments.reading);
    let mut artifact = compile(model, sources, arguments.pipeline, target)?;
    session.add_origin(&mut artifact);
    let Some(variables) = variables.filter(|_| arguments.embed_weights) else {
        return Ok(artifact);
    };
    let variables: Vec<&Tensor> = variables.iter().collect();
    embed(artifact, &captured(model, &variables), 0).map_err(|error| {
        let message = format!("weights are not embedded: {error}");
        let wrong = Diagnostic::without_location(&OUTPUT, message);
        Stopped::from(match error {
            RunError::Load(_) => wrong.with_help(
                "what is computed of weights alone is computed by the compiled code: embed weights on the processor that --cpu names",
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
    let (stop, pipeline) = stop(arguments.emit(), arguments.pipeline);
    let options = Options {
        keep: arguments.keep.clone(),
        ..options(pipeline, arguments.target.target_of(&arguments.reading))
    };
    match pipeline_text(&options, stop) {
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

/// The last stage of compilation for an output, and the lowering that leads there. Object code needs all stages.
fn stop(emit: EmitName, pipeline: Pipeline) -> (Stop, Pipeline) {
    match emit {
        EmitName::Ast | EmitName::Model | EmitName::Stablehlo | EmitName::Skript => (Stop::Skript, pipeline),
        EmitName::Linalg => (Stop::Lowered, Pipeline::Linalg),
        EmitName::LinalgNamed => (Stop::Lowered, Pipeline::LinalgNamed),
        EmitName::Affine => (Stop::Lowered, Pipeline::Affine),
        EmitName::Scf => (Stop::Lowered, Pipeline::Scf),
        EmitName::Buffers => (Stop::Buffers, pipeline),
        EmitName::Scheduled => (Stop::Scheduled, pipeline),
        EmitName::LlvmDialect => (Stop::LlvmDialect, pipeline),
        EmitName::LlvmUnoptimized => (Stop::Code(Form::Unoptimized), pipeline),
        EmitName::Llvm => (Stop::Code(Form::Llvm), pipeline),
        EmitName::Asm => (Stop::Code(Form::Assembly), pipeline),
        EmitName::Obj | EmitName::So | EmitName::Artifact => (Stop::Code(Form::Object), pipeline),
    }
}

/// The model after a stage.
fn after_stage(
    arguments: &CompileArguments,
    emit: EmitName,
    session: &Session,
    model: &Model,
) -> Result<Vec<u8>, Stopped> {
    let sources = &session.program.sources;
    match emit {
        EmitName::Ast => return Ok(tree(session.program.main_module())),
        EmitName::Model => return Ok(model.to_text().into_bytes()),
        EmitName::Artifact => {
            return Ok(artifact(arguments, session, model, None)?.to_bytes());
        }
        EmitName::So => return Ok(shared_object::object(arguments, session, model, None)?.0),
        EmitName::Stablehlo => return Ok(stablehlo::text(arguments, session, model)?.into_bytes()),
        _ => {}
    }
    let (stop, pipeline) = stop(emit, arguments.pipeline);
    let options = Options {
        keep: arguments.keep.clone(),
        ..options(pipeline, arguments.target.target_of(&arguments.reading))
    };
    let options = tuned(model, sources, options);
    let mut bytes = model_after(model, sources, &options, stop, !arguments.no_locations)
        .map_err(|e| refused(&e, model, sources))?;
    if !matches!(stop, Stop::Code(Form::Object)) && bytes.last() != Some(&b'\n') {
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// The syntax tree as JSON; positions are byte offsets `start..end` in the module's file.
fn tree(module: Option<&Module>) -> Vec<u8> {
    // The tree has names and numbers only, which can always be written.
    let mut text = serde_json::to_vec_pretty(&module).unwrap_or_default();
    text.push(b'\n');
    text
}

/// Writes the text after every stage to files numbered in order.
fn dump(
    arguments: &CompileArguments,
    session: &Session,
    model: &Model,
    folder: &Path,
) -> Result<(), Stopped> {
    std::fs::create_dir_all(folder).map_err(|error| {
        let message = format!("{}: {error}", folder.display());
        Box::new(Diagnostic::without_location(&OUTPUT, message))
    })?;
    let lowered = match arguments.pipeline {
        Pipeline::Linalg => (EmitName::Linalg, "linalg.mlir"),
        Pipeline::LinalgNamed => (EmitName::LinalgNamed, "linalg-named.mlir"),
        Pipeline::Affine => (EmitName::Affine, "affine.mlir"),
        Pipeline::Scf => (EmitName::Scf, "scf.mlir"),
    };
    let stages = [
        (EmitName::Ast, "ast.json"),
        (EmitName::Model, "model.txt"),
        (EmitName::Skript, "skript.mlir"),
        lowered,
        (EmitName::Buffers, "buffers.mlir"),
        (EmitName::Scheduled, "scheduled.mlir"),
        (EmitName::LlvmDialect, "llvm-dialect.mlir"),
        (EmitName::Llvm, "llvm.ll"),
        (EmitName::Asm, "asm.s"),
    ];
    for (number, (emit, name)) in stages.into_iter().enumerate() {
        let bytes = after_stage(arguments, emit, session, model)?;
        write(&folder.join(format!("{}-{name}", number + 1)), &bytes)?;
    }
    Ok(())
}

/// The unqualified name of the graph.
fn graph(model: &Model) -> &str {
    let graph = model.function(model.entry).map_or("model", |f| &f.name);
    graph.rsplit('.').next().unwrap_or(graph)
}

/// The graph's name with the extension of the output, in the working folder.
fn named(model: &Model, extension: &str) -> PathBuf {
    let graph = graph(model);
    PathBuf::from(format!("{graph}.{extension}"))
}

/// The extension of files with kernels of the GPU.
fn kernels(arguments: &CompileArguments) -> &'static str {
    match arguments.target.target().gpu.map(|gpu| gpu.language) {
        None => "o",
        Some(Language::Ptx) => "ptx",
        Some(Language::SpirV) => "spv",
        Some(Language::Amdgcn) => "s",
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Box<Diagnostic>> {
    write_parts(path, &[bytes])
}

/// Writes a file with these parts.
fn write_parts(path: &Path, parts: &[&[u8]]) -> Result<(), Box<Diagnostic>> {
    let written = std::fs::File::create(path).and_then(|mut file| {
        let mut parts = parts.iter();
        parts.try_for_each(|part| file.write_all(part))
    });
    written.map_err(|error| {
        let message = format!("{}: {error}", path.display());
        Box::new(Diagnostic::without_location(&OUTPUT, message))
    })
}
