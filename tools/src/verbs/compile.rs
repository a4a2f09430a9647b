//! `skript compile`: a model as a file of code, or as text at a station on the way.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::OUTPUT;
use skript_frontend::model::Model;
use skript_passes::codegen::Form;
use skript_passes::{Station, model_at};

use crate::command_line::{CompileArguments, EmitName};
use crate::console::{Console, Status};
use crate::engine::compiled::{compile, options, refused};
use crate::session::Session;

pub fn run(arguments: &CompileArguments, console: &mut Console) -> Status {
    let mut session = Session::open(&arguments.model, &arguments.reading);
    if session.status() == Status::Done {
        session.check_names(std::iter::empty());
    }
    if session.status() == Status::Done
        && let Some(model) = session.compose()
        && let Err(error) = make(arguments, &session, &model)
    {
        session.report(*error);
    }
    session.close(console)
}

fn make(
    arguments: &CompileArguments,
    session: &Session,
    model: &Model,
) -> Result<(), Box<Diagnostic>> {
    let sources = &session.program.sources;
    let pipeline = arguments.pipeline;
    let station = match arguments.emit {
        EmitName::Skript => Some(Station::Skript),
        EmitName::Lowered => Some(Station::Lowered),
        EmitName::Buffers => Some(Station::Buffers),
        EmitName::Llvm => Some(Station::Code(Form::Llvm)),
        EmitName::Asm => Some(Station::Code(Form::Assembly)),
        EmitName::Obj => Some(Station::Code(Form::Object)),
        EmitName::Model => None,
    };
    let bytes = match station {
        Some(station) => model_at(model, sources, &options(pipeline), station)
            .map_err(|e| Box::new(refused(&e)))?,
        None => compile(model, sources, pipeline)?.to_bytes(),
    };
    let binary = matches!(arguments.emit, EmitName::Obj | EmitName::Model);
    match &arguments.output {
        Some(path) => write(path, &bytes),
        None if binary => write(&named(model, arguments.emit), &bytes),
        None => {
            super::print(&String::from_utf8_lossy(&bytes));
            Ok(())
        }
    }
}

/// The graph's name with the ending of what it becomes, in the working folder.
fn named(model: &Model, emit: EmitName) -> PathBuf {
    let graph = model.function(model.entry).map_or("model", |f| &f.name);
    let graph = graph.rsplit('.').next().unwrap_or(graph);
    let ending = if emit == EmitName::Obj { "o" } else { "skm" };
    PathBuf::from(format!("{graph}.{ending}"))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Box<Diagnostic>> {
    let written = std::fs::File::create(path).and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| {
        let message = format!("{}: {error}", path.display());
        Box::new(Diagnostic::without_place(&OUTPUT, message))
    })
}
