//! `skript compile --emit=stablehlo`: the program, its manifest, and the report of forms.

use skript_frontend::model::Model;
use skript_passes::stablehlo::Port;
use skript_passes::{Exported, export_model};

use super::write;
use crate::command_line::CompileArguments;
use crate::engine::refused;
use crate::session::{Session, Stopped};

/// Writes the program to the output file, with the manifest beside it, or prints the program.
pub fn make(arguments: &CompileArguments, session: &Session, model: &Model) -> Result<(), Stopped> {
    let exported = exported(session, model)?;
    if let Some(path) = &arguments.report {
        write(path, exported.report.to_string().as_bytes())?;
    }
    match &arguments.output {
        Some(path) => {
            write(path, exported.text.as_bytes())?;
            let mut beside = path.clone().into_os_string();
            beside.push(".json");
            write(beside.as_ref(), manifest(&exported).as_bytes())?;
            Ok(())
        }
        None => {
            crate::verbs::print(&exported.text);
            Ok(())
        }
    }
}

/// The program alone.
pub fn text(session: &Session, model: &Model) -> Result<String, Stopped> {
    Ok(exported(session, model)?.text)
}

fn exported(session: &Session, model: &Model) -> Result<Exported, Stopped> {
    let sources = &session.program.sources;
    export_model(model, sources).map_err(|e| refused(&e, model, sources))
}

/// What a caller of `@main` must know: arguments and results in order, with name, role, shape and element type.
fn manifest(exported: &Exported) -> String {
    let ports = |list: &[Port]| -> serde_json::Value {
        list.iter()
            .map(|port| {
                serde_json::json!({
                    "name": port.name,
                    "role": port.role,
                    "shape": port.shape,
                    "dtype": port.dtype,
                })
            })
            .collect()
    };
    let manifest = serde_json::json!({
        "entry": "main",
        "arguments": ports(&exported.ports.arguments),
        "results": ports(&exported.ports.results),
    });
    format!("{manifest:#}\n")
}
