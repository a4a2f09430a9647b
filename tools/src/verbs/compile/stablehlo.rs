// SPDX-License-Identifier: Apache-2.0
//! `skript compile --emit=stablehlo`: the program, its manifest, and the report of forms.

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{COMMAND_LINE_NAME, LIMIT_EXCEEDED, WEIGHTS};
use skript_frontend::model::Model;
use skript_stablehlo::{ExportError, Exported, Placement, PlacementError, Weights as Inside, export_model};
use skript_tensor::{Tensor, TensorError};

use super::write;
use crate::command_line::CompileArguments;
use crate::engine::not_exported;
use crate::program_weights::{
    self, PUT_ELSEWHERE, WeightsLocation, beside, in_file, manifest, safetensors, too_large,
};
use crate::session::{Session, Stopped};

/// Writes the program to the output file, with the manifest beside it and the variables in or beside it if requested;
/// or prints the program.
pub fn make(
    arguments: &CompileArguments,
    session: &Session,
    model: &Model,
    variables: Option<&[Tensor]>,
) -> Result<(), Stopped> {
    let location = arguments.weights.location();
    let mut inside = Inside::new();
    if let Some(tensors) = variables.filter(|_| location == WeightsLocation::Inline) {
        let most = arguments.reading.limits.in_force().inline_bytes;
        if let Some(message) = too_large(tensors.iter(), most) {
            let wrong = Diagnostic::without_location(&LIMIT_EXCEEDED, message);
            return Err(wrong.with_help(PUT_ELSEWHERE).into());
        }
        let names = model.variables.iter().map(|v| v.name.clone());
        inside.extend(names.zip(tensors.iter().cloned()));
    }
    let exported = exported(arguments, session, model, &inside)?;
    let beside_it = variables.filter(|_| in_file(&exported.ports, location));
    let arrays = beside_it.map(|tensors| {
        let names = model.variables.iter().map(|v| v.name.as_str());
        let arguments = program_weights::arguments(&exported.ports, names.zip(tensors));
        safetensors(arguments)
    });
    // Mapped files may have changed while they were read.
    for tensor in variables.into_iter().flatten() {
        let wrong = |e: TensorError| Diagnostic::without_location(&WEIGHTS, e.to_string());
        tensor.unchanged().map_err(wrong)?;
    }
    if let Some(path) = &arguments.report {
        write(path, exported.report.to_string().as_bytes())?;
    }
    let Some(path) = arguments.output() else {
        crate::stdout::print(&exported.text);
        return Ok(());
    };
    write(path, exported.text.as_bytes())?;
    if let Some(bytes) = arrays {
        write(&beside(path, ".safetensors"), &bytes)?;
    }
    let placement = placement(arguments);
    let manifest = manifest(&exported.ports, &model.defaults, placement.as_ref(), location, path);
    write(&beside(path, ".json"), manifest.as_bytes())?;
    Ok(())
}

/// The program without manifest and weights.
pub fn text(arguments: &CompileArguments, session: &Session, model: &Model) -> Result<String, Stopped> {
    Ok(exported(arguments, session, model, &Inside::new())?.text)
}

fn exported(
    arguments: &CompileArguments,
    session: &Session,
    model: &Model,
    inside: &Inside,
) -> Result<Exported, Stopped> {
    let sources = &session.program.sources;
    let placement = placement(arguments);
    match export_model(model, sources, placement.as_ref(), inside) {
        Err(ExportError::Placement(error)) => {
            let diagnostic = Diagnostic::without_location(&COMMAND_LINE_NAME, error.to_string());
            Err(advised(diagnostic, &error).into())
        }
        result => result.map_err(|e| not_exported(&e, model, sources)),
    }
}

fn placement(arguments: &CompileArguments) -> Option<Placement> {
    let mesh = arguments.mesh.clone()?;
    Some(Placement { mesh, shardings: arguments.shardings.clone() })
}

fn advised(diagnostic: Diagnostic, error: &PlacementError) -> Diagnostic {
    match error {
        PlacementError::Tensor { name, known } => {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            diagnostic.with_names(name, "there is", &known)
        }
        PlacementError::Axis { .. } => diagnostic.with_help("--mesh names the axes"),
        PlacementError::Repeated { .. } => {
            diagnostic.with_help("use one --shard for each tensor, with all its dimensions")
        }
        PlacementError::Twice { .. } => {
            diagnostic.with_help("an axis splits one dimension of a tensor: remove the others")
        }
        PlacementError::Rank { .. } => diagnostic.with_help("write at most one item for each dimension"),
        PlacementError::Uneven { .. } => diagnostic
            .with_help("split another dimension, or by an axis whose number of devices divides this one"),
    }
}
