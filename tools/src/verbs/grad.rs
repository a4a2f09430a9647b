// SPDX-License-Identifier: Apache-2.0
//! `skript grad`: writes the derivatives of a model as a model folder.

use std::path::Path;

use skript::{Gradient, Mode, Model};

use crate::command_line::GradArguments;
use crate::console::{Console, Status};
use crate::onnx_model::{IMPORT_FILE, write_arrays};
use crate::session::{Session, Stopped, Weights};
use crate::written::{check_folder, unwritten, write};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::COMMAND_LINE_NAME;

pub fn run(arguments: &GradArguments, console: &mut Console) -> Status {
    let mut reading = arguments.reading.clone();
    reading.import.trainable = true;
    let mut session = Session::open(&arguments.model, &reading);
    if session.status() == Status::Done {
        session.check_names(std::iter::empty());
    }
    if session.status() == Status::Done
        && let Some(model) = session.compose()
        && let Err(stopped) = differentiate(arguments, &session, &model, console)
    {
        session.report_all(stopped);
    }
    session.close(console)
}

fn differentiate(
    arguments: &GradArguments,
    session: &Session,
    model: &Model,
    console: &mut Console,
) -> Result<(), Stopped> {
    if let (None, Some(flag)) = (&arguments.train, arguments.steps.first()) {
        let text = format!("{flag} is for a step of training; --train names the optimizer");
        return Err(Diagnostic::without_location(&COMMAND_LINE_NAME, text).into());
    }
    let mode = match &arguments.train {
        Some(optimizer) => Mode::Training(arguments.steps.training(optimizer)),
        None if arguments.forward => Mode::Tangents,
        None => Mode::Gradients,
    };
    let wrt: Vec<&str> = arguments.wrt.iter().map(String::as_str).collect();
    let wrt = if wrt.is_empty() { vec!["variables"] } else { wrt };
    let of: Vec<&str> = arguments.of.iter().map(String::as_str).collect();
    let gradient = model.derivatives_or_reasons(&of, &wrt, &mode)?;
    let Some(folder) = &arguments.output else {
        crate::stdout::print(&gradient.text);
        return Ok(());
    };
    check_folder(folder, &arguments.model, arguments.force)?;
    save(arguments, session, model, &gradient, folder)?;
    if let Some(seed) = &gradient.seed {
        console.write(&format!(
            "note: the input {seed} scales the gradients, because the output is not a scalar\n"
        ));
    }
    if !gradient.tangents.is_empty() {
        console.write(&format!("note: inputs with tangents: {}\n", gradient.tangents.join(", ")));
    }
    Ok(())
}

/// Writes the document, its element types, and the weights.
fn save(
    arguments: &GradArguments,
    session: &Session,
    model: &Model,
    gradient: &Gradient,
    folder: &Path,
) -> Result<(), Stopped> {
    write_document(model, gradient, folder)?;
    let arrays = gradient.initial(model, &session.weights(Weights::from_model_folder())?)?;
    write_arrays(
        arrays.iter().map(|(name, tensor)| (name.as_str(), tensor)),
        folder,
        arguments.weights_format,
    )?;
    Ok(())
}

/// Writes the document, the modules that it imports, and its element types.
///
/// # Errors
/// A file cannot be written.
pub fn write_document(model: &Model, gradient: &Gradient, folder: &Path) -> Result<(), Box<Diagnostic>> {
    std::fs::create_dir_all(folder).map_err(|error| unwritten(folder, error))?;
    write(&folder.join("main.sknd"), &[gradient.text.as_bytes()])?;
    for (path, text) in &gradient.modules {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(|error| unwritten(parent, error))?;
        write(&path, &[text.as_bytes()])?;
    }
    let types = folder.join(IMPORT_FILE);
    match gradient.origin(model) {
        Some(origin) => write(&types, &[origin.types_json().as_bytes()]),
        // That of a model written before would be wrong.
        None if types.is_file() => std::fs::remove_file(&types).map_err(|error| unwritten(&types, error)),
        None => Ok(()),
    }
}
