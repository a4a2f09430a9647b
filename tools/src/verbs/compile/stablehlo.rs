//! `skript compile --emit=stablehlo`: the program, its manifest, and the report of forms.

use serde_json::{Value, json};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::COMMAND_LINE_NAME;
use skript_frontend::model::Model;
use skript_passes::stablehlo::{ExportError, Placement, PlacementError, Port};
use skript_passes::{CompileError, Exported, export_model};
use skript_tensor::Tensor;
use std::path::PathBuf;

use super::weights::safetensors;
use super::write;
use crate::command_line::CompileArguments;
use crate::engine::refused;
use crate::session::{Session, Stopped};

/// Writes the program to the output file, with the manifest beside it and the variables if they are given, or prints the
/// program.
pub fn make(
    arguments: &CompileArguments,
    session: &Session,
    model: &Model,
    variables: Option<&[Tensor]>,
) -> Result<(), Stopped> {
    let exported = exported(arguments, session, model)?;
    if let Some(path) = &arguments.report {
        write(path, exported.report.to_string().as_bytes())?;
    }
    match &arguments.output {
        Some(path) => {
            write(path, exported.text.as_bytes())?;
            let beside = |ending: &str| {
                let mut beside = path.clone().into_os_string();
                beside.push(ending);
                PathBuf::from(beside)
            };
            let mut manifest = manifest(&exported, placement(arguments).as_ref());
            if let Some(variables) = variables {
                let path = beside(".safetensors");
                write(&path, &safetensors(model, variables))?;
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                manifest["weights"] = json!(name);
            }
            write(&beside(".json"), format!("{manifest:#}\n").as_bytes())?;
            Ok(())
        }
        None => {
            crate::verbs::print(&exported.text);
            Ok(())
        }
    }
}

/// The program alone.
pub fn text(
    arguments: &CompileArguments,
    session: &Session,
    model: &Model,
) -> Result<String, Stopped> {
    Ok(exported(arguments, session, model)?.text)
}

fn exported(
    arguments: &CompileArguments,
    session: &Session,
    model: &Model,
) -> Result<Exported, Stopped> {
    let sources = &session.program.sources;
    let placement = placement(arguments);
    match export_model(model, sources, placement.as_ref()) {
        Err(CompileError::Export(ExportError::Placement(error))) => {
            let diagnostic = Diagnostic::without_place(&COMMAND_LINE_NAME, error.to_string());
            Err(advised(diagnostic, &error).into())
        }
        result => result.map_err(|e| refused(&e, model, sources)),
    }
}

fn placement(arguments: &CompileArguments) -> Option<Placement> {
    let mesh = arguments.mesh.clone()?;
    Some(Placement {
        mesh,
        shardings: arguments.shardings.clone(),
    })
}

fn advised(diagnostic: Diagnostic, error: &PlacementError) -> Diagnostic {
    match error {
        PlacementError::Tensor { name, known } => {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            diagnostic.with_names(name, "there is", &known)
        }
        PlacementError::Axis { .. } => diagnostic.with_help("--mesh names the axes"),
        PlacementError::Twice { .. } => {
            diagnostic.with_help("an axis splits one dimension of a tensor: leave one")
        }
        PlacementError::Rank { .. } => {
            diagnostic.with_help("give at most one item for each dimension")
        }
        PlacementError::Uneven { .. } => diagnostic.with_help(
            "split another dimension, or by an axis whose number of devices divides this one",
        ),
    }
}

/// What a caller of `@main` must know: arguments and results in order, with name, role, shape, element
/// type, and on a mesh the axes that split each dimension.
fn manifest(exported: &Exported, placement: Option<&Placement>) -> Value {
    let port = |port: &Port| -> Value {
        let mut entry = json!({
            "name": port.name,
            "role": port.role,
            "shape": port.shape,
            "dtype": port.dtype,
        });
        if let Some((tensor, dimension)) = &port.extent_of {
            entry["extent_of"] = json!(tensor);
            entry["dimension"] = json!(dimension);
        }
        if let Some(sharding) = placement.and_then(|p| p.of(&port.name)) {
            entry["sharding"] = json!(sharding.dimensions);
        }
        entry
    };
    let ports = |list: &[Port]| -> Value { list.iter().map(port).collect() };
    let mut manifest = json!({
        "entry": "main",
        "arguments": ports(&exported.ports.arguments),
        "results": ports(&exported.ports.results),
    });
    if let Some(placement) = placement {
        let axes = placement.mesh.axes.iter();
        let axes = axes.map(|(axis, devices)| json!({"axis": axis, "devices": devices}));
        manifest["mesh"] = axes.collect();
    }
    manifest
}
