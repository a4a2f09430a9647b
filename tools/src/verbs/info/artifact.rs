// SPDX-License-Identifier: Apache-2.0
//! `skript info model.skm`: prints the interface, processor and memory of a compiled model.

use std::path::Path;

use serde_json::{Value as Json, json};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::UNREADABLE;
use skript_runtime::Artifact;
use skript_runtime::artifact::{Port, PortExtent};

use crate::command_line::InfoArguments;
use crate::console::{Console, Status};
use crate::stablehlo_program::{model_flags, perform};

/// Whether the path names a compiled model, by its extension.
pub fn is_artifact(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "skm")
}

pub fn run(arguments: &InfoArguments, console: &mut Console) -> Status {
    let wrong = model_flags(&arguments.reading, &[("--variables", arguments.variables)]);
    perform(&arguments.reading, wrong, console, |_| print(arguments).map_err(|error| vec![*error]))
}

fn print(arguments: &InfoArguments) -> Result<(), Box<Diagnostic>> {
    let wrong = |error: String| {
        let text = format!("cannot read {}: {error}", arguments.model.display());
        Box::new(Diagnostic::without_location(&UNREADABLE, text))
    };
    let artifact = Artifact::open(&arguments.model).map_err(|e| wrong(e.to_string()))?;
    crate::stdout::print(&if arguments.json {
        format!("{}\n", json(&artifact))
    } else {
        skript_host::printable(&text(&artifact)).into_owned()
    });
    Ok(())
}

/// The inputs, the variables, and the outputs of the graph, without the updates of variables.
fn roles(artifact: &Artifact) -> [(&'static str, &[Port]); 3] {
    let updates = artifact.updates.len();
    let outputs = artifact.outputs.len().saturating_sub(updates);
    [
        ("inputs", &artifact.inputs),
        ("variables", &artifact.variables),
        ("outputs", artifact.outputs.split_at(outputs).0),
    ]
}

/// The features that the code may use.
fn features(artifact: &Artifact) -> Vec<&str> {
    let features = artifact.target.features.split(',');
    features.filter_map(|feature| feature.strip_prefix('+')).collect()
}

fn kind(port: &Port) -> String {
    let extents = port.shape.iter().map(|extent| match extent {
        PortExtent::Fixed(n) => n.to_string(),
        PortExtent::Dynamic(bound) => format!("≤{bound}"),
    });
    format!("{}[{}]", port.element, extents.collect::<Vec<_>>().join(","))
}

/// The size of embedded weights.
fn weight_bytes(artifact: &Artifact) -> Option<usize> {
    artifact.embedded.as_ref().map(|e| e.data().len())
}

fn text(artifact: &Artifact) -> String {
    let mut text = format!(
        "processor   {} ({})\nfeatures    {}\n",
        artifact.target.cpu,
        artifact.target.triple,
        features(artifact).join(", ")
    );
    for (title, ports) in roles(artifact) {
        text += &format!("{title}\n");
        for port in ports {
            text += &format!("    {}: {}\n", port.name, kind(port));
        }
    }
    let weights = match weight_bytes(artifact) {
        Some(bytes) => format!("weights     {bytes} bytes, embedded\n"),
        None => String::new(),
    };
    let kernels = match &artifact.kernels {
        Some(kernels) => format!(
            "kernels     {} in {}, {} bytes\n",
            kernels.names.len(),
            kernels.language.name(),
            kernels.code.len()
        ),
        None => String::new(),
    };
    text + &format!(
        "code        {} bytes\n{kernels}{weights}memory      {} bytes of arena\n",
        artifact.object.len(),
        artifact.arena.size
    )
}

fn json(artifact: &Artifact) -> Json {
    let mut object = json!({
        "triple": artifact.target.triple,
        "cpu": artifact.target.cpu,
        "features": features(artifact),
        "code_bytes": artifact.object.len(),
        "weight_bytes": weight_bytes(artifact),
        "arena_bytes": artifact.arena.size,
        "kernels": artifact.kernels.as_ref().map(|kernels| json!({
            "language": kernels.language.name(),
            "names": kernels.names,
            "bytes": kernels.code.len(),
        })),
    });
    for (title, ports) in roles(artifact) {
        let types = ports.iter().map(|port| json!({"name": port.name, "type": kind(port)}));
        if let Some(object) = object.as_object_mut() {
            object.insert(title.to_owned(), types.collect());
        }
    }
    object
}
