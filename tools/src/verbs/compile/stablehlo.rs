// SPDX-License-Identifier: Apache-2.0
//! `skript compile --emit=stablehlo`: writes the program, its manifest, and the report of forms.

use skript::{Model, Tensor};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{COMMAND_LINE_NAME, LIMIT_EXCEEDED, NOT_COMPILED, WEIGHTS};
use skript_passes::diagnostics::{at_location, of_emission};
use skript_stablehlo::{
    ExportError, Exported, Placement, PlacementError, Weights as InlineWeights, export_model,
};
use skript_tensor::TensorError;

use crate::command_line::CompileArguments;
use crate::program_weights::{
    self, PUT_ELSEWHERE, WeightsLocation, in_file, manifest, safetensors, too_large, with_appended_extension,
};
use crate::stopped::{Stopped, other_engine};
use crate::written::write;

/// Writes the program to the output file, the manifest next to it, and the variables, if requested, into it or next to it.
/// Prints the program if no output file is given.
pub fn make(
    arguments: &CompileArguments,
    model: &Model,
    variables: Option<&[Tensor]>,
) -> Result<(), Stopped> {
    let location = arguments.weights.location();
    let mut inline_weights = InlineWeights::new();
    if let Some(tensors) = variables.filter(|_| location == WeightsLocation::Inline) {
        let max_bytes = arguments.reading.limits.in_force().inline_bytes;
        if let Some(message) = too_large(tensors.iter(), max_bytes) {
            let wrong = Diagnostic::without_location(&LIMIT_EXCEEDED, message);
            return Err(wrong.with_help(PUT_ELSEWHERE).into());
        }
        let names = model.ir().variables.iter().map(|v| v.name.clone());
        inline_weights.extend(names.zip(tensors.iter().cloned()));
    }
    let exported = exported(arguments, model, &inline_weights)?;
    let file_variables = variables.filter(|_| in_file(&exported.ports, location));
    let arrays = file_variables.map(|tensors| {
        let names = model.ir().variables.iter().map(|v| v.name.as_str());
        let arguments = program_weights::arguments(&exported.ports, names.zip(tensors));
        safetensors(arguments)
    });
    // Detects mapped files that changed while they were read.
    for tensor in variables.into_iter().flatten() {
        let wrong = |e: TensorError| Diagnostic::without_location(&WEIGHTS, e.to_string());
        tensor.unchanged().map_err(wrong)?;
    }
    if let Some(path) = &arguments.report {
        write(path, &[exported.report.to_string().as_bytes()])?;
    }
    let Some(path) = arguments.output() else {
        crate::stdout::print(&exported.text);
        return Ok(());
    };
    write(path, &[exported.text.as_bytes()])?;
    if let Some(bytes) = arrays {
        write(&with_appended_extension(path, ".safetensors"), &[&bytes])?;
    }
    let placement = placement(arguments);
    let manifest = manifest(&exported.ports, &model.ir().defaults, placement.as_ref(), location, path);
    write(&with_appended_extension(path, ".json"), &[manifest.as_bytes()])?;
    Ok(())
}

/// The program without manifest and weights.
pub fn text(arguments: &CompileArguments, model: &Model) -> Result<String, Stopped> {
    Ok(exported(arguments, model, &InlineWeights::new())?.text)
}

fn exported(
    arguments: &CompileArguments,
    model: &Model,
    inline_weights: &InlineWeights,
) -> Result<Exported, Stopped> {
    let placement = placement(arguments);
    let exported = export_model(model.ir(), model.sources(), placement.as_ref(), inline_weights);
    exported.map_err(|error| {
        Stopped::from(match error {
            ExportError::Placement(error) => {
                advised(Diagnostic::without_location(&COMMAND_LINE_NAME, error.to_string()), &error)
            }
            // The message for an operator without a StableHLO form contains the remedy.
            ExportError::Emit(error) if error.span().is_some() => of_emission(&error),
            ExportError::Emit(error) => of_emission(&error).with_help(other_engine(&[])),
            ExportError::Refused(message) => at_location(&message, model.ir(), model.sources()),
            error => Diagnostic::without_location(&NOT_COMPILED, error.to_string()),
        })
    })
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
            .with_help("split another dimension, or use an axis whose number of devices divides this extent"),
    }
}
