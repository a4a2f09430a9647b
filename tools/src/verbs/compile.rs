//! `skript compile`: a model as a file of code, or as text at a station on the way.

mod own_kernels;
mod shared_object;
mod stablehlo;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use skript_frontend::ast::Module;
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::OUTPUT;
use skript_frontend::model::Model;
use skript_passes::codegen::Form;
use skript_passes::{Options, Station, model_at};
use skript_tensor::Tensor;

use crate::command_line::{CompileArguments, EmitName, Pipeline};
use crate::console::{Console, Status};
use crate::engine::compiled::{compile, options};
use crate::engine::refused;
use crate::program_weights::WeightsPlace;
use crate::session::{Session, Stopped, Weights};

pub fn run(arguments: &CompileArguments, console: &mut Console) -> Status {
    let text = [
        EmitName::Skript,
        EmitName::Linalg,
        EmitName::LinalgNamed,
        EmitName::Affine,
        EmitName::Scf,
        EmitName::Buffers,
    ];
    let mut session = Session::open(&arguments.model, &arguments.reading);
    if !arguments.keep.is_empty() && !text.contains(&arguments.emit()) {
        session.report_usage(
            Diagnostic::without_place(&OUTPUT, "an operator that is kept has no code of ours")
                .with_help(
                    "take --emit=skript, linalg, linalg-named, affine, scf or buffers with --keep",
                ),
        );
    }
    if arguments.report.is_some() && arguments.emit() != EmitName::Stablehlo {
        session.report_usage(
            Diagnostic::without_place(&OUTPUT, "there is a report of the forms of StableHLO only")
                .with_help("take --emit=stablehlo with --report"),
        );
    }
    if arguments.mesh.is_some() && arguments.emit() != EmitName::Stablehlo {
        session.report_usage(
            Diagnostic::without_place(&OUTPUT, "a mesh is for StableHLO programs only")
                .with_help("take --emit=stablehlo with --mesh"),
        );
    }
    if arguments.weights.place.is_some() && arguments.emit() != EmitName::Stablehlo {
        session.report_usage(
            Diagnostic::without_place(&OUTPUT, "weights of StableHLO programs only have a place")
                .with_help("take --emit=stablehlo with --weights"),
        );
    }
    if arguments.weights.place() == WeightsPlace::File && arguments.output().is_none() {
        session.report_usage(
            Diagnostic::without_place(&OUTPUT, "weights in a file stand beside the program")
                .with_help("name the program's file with -o"),
        );
    }
    if session.status() == Status::Done {
        session.check_names(std::iter::empty());
    }
    if session.status() == Status::Done
        && let Some(model) = session.compose()
    {
        session.check_operators(&model, &arguments.keep);
        let weights = Weights {
            folder: arguments.weights.variables.as_deref(),
            ..Weights::of_the_model()
        };
        let variables = match arguments.weights.read() && session.status() == Status::Done {
            true => session.variables(&model, weights),
            false => None,
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

/// Gives the file that was written if nobody named one.
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
        return shared_object::make(arguments, session, model);
    }
    if arguments.emit() == EmitName::Stablehlo {
        return stablehlo::make(arguments, session, model, variables).map(|()| None);
    }
    let bytes = station(arguments, arguments.emit(), session, model)?;
    let binary = matches!(arguments.emit(), EmitName::Obj | EmitName::Artifact);
    match arguments.output() {
        Some(path) => {
            write(path, &bytes)?;
            Ok(None)
        }
        None if binary => {
            let path = named(model, arguments.emit());
            write(&path, &bytes)?;
            Ok(Some(path))
        }
        None => {
            super::print(&String::from_utf8_lossy(&bytes));
            Ok(None)
        }
    }
}

/// What the model is at a station.
fn station(
    arguments: &CompileArguments,
    emit: EmitName,
    session: &Session,
    model: &Model,
) -> Result<Vec<u8>, Stopped> {
    let sources = &session.program.sources;
    let pipeline = arguments.pipeline;
    let station_of = |station, pipeline| {
        let options = Options {
            keep: arguments.keep.clone(),
            ..options(pipeline)
        };
        model_at(model, sources, &options, station).map_err(|e| refused(&e, model, sources))
    };
    let (station, pipeline) = match emit {
        EmitName::Ast => {
            let module = session.program.main_module();
            return Ok(tree(module));
        }
        EmitName::Model => return Ok(model.to_text().into_bytes()),
        EmitName::Artifact => return Ok(compile(model, sources, pipeline)?.to_bytes()),
        EmitName::So => return Ok(shared_object::object(arguments, session, model)?.0),
        EmitName::Stablehlo => return Ok(stablehlo::text(arguments, session, model)?.into_bytes()),
        EmitName::Skript => (Station::Skript, pipeline),
        EmitName::Linalg => (Station::Lowered, Pipeline::Linalg),
        EmitName::LinalgNamed => (Station::Lowered, Pipeline::LinalgNamed),
        EmitName::Affine => (Station::Lowered, Pipeline::Affine),
        EmitName::Scf => (Station::Lowered, Pipeline::Scf),
        EmitName::Buffers => (Station::Buffers, pipeline),
        EmitName::Llvm => (Station::Code(Form::Llvm), pipeline),
        EmitName::Asm => (Station::Code(Form::Assembly), pipeline),
        EmitName::Obj => (Station::Code(Form::Object), pipeline),
    };
    station_of(station, pipeline)
}

/// The syntax tree as JSON; places are byte offsets `start..end` in the module's file.
fn tree(module: Option<&Module>) -> Vec<u8> {
    // The tree has names and numbers only: nothing in it can fail to be written.
    let mut text = serde_json::to_vec_pretty(&module).unwrap_or_default();
    text.push(b'\n');
    text
}

/// Every station's text, in files numbered in order.
fn dump(
    arguments: &CompileArguments,
    session: &Session,
    model: &Model,
    folder: &Path,
) -> Result<(), Stopped> {
    std::fs::create_dir_all(folder).map_err(|error| {
        let message = format!("{}: {error}", folder.display());
        Box::new(Diagnostic::without_place(&OUTPUT, message))
    })?;
    let lowered = match arguments.pipeline {
        Pipeline::Linalg => (EmitName::Linalg, "linalg.mlir"),
        Pipeline::LinalgNamed => (EmitName::LinalgNamed, "linalg-named.mlir"),
        Pipeline::Affine => (EmitName::Affine, "affine.mlir"),
        Pipeline::Scf => (EmitName::Scf, "scf.mlir"),
    };
    let stations = [
        (EmitName::Ast, "ast.json"),
        (EmitName::Model, "model.txt"),
        (EmitName::Skript, "skript.mlir"),
        lowered,
        (EmitName::Buffers, "buffers.mlir"),
        (EmitName::Llvm, "llvm.ll"),
        (EmitName::Asm, "asm.s"),
    ];
    for (number, (emit, name)) in stations.into_iter().enumerate() {
        let bytes = station(arguments, emit, session, model)?;
        write(&folder.join(format!("{}-{name}", number + 1)), &bytes)?;
    }
    Ok(())
}

/// The graph's own name.
fn graph(model: &Model) -> &str {
    let graph = model.function(model.entry).map_or("model", |f| &f.name);
    graph.rsplit('.').next().unwrap_or(graph)
}

/// The graph's name with the ending of what it becomes, in the working folder.
fn named(model: &Model, emit: EmitName) -> PathBuf {
    let graph = graph(model);
    let ending = match emit {
        EmitName::Obj => "o",
        EmitName::So => "so",
        _ => "skm",
    };
    PathBuf::from(format!("{graph}.{ending}"))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Box<Diagnostic>> {
    let written = std::fs::File::create(path).and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| {
        let message = format!("{}: {error}", path.display());
        Box::new(Diagnostic::without_place(&OUTPUT, message))
    })
}
