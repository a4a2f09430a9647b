// SPDX-License-Identifier: Apache-2.0
//! Exports a composed model.

use crate::sharding::annotate;
use crate::{ExportError, Interface as Ports, Placement, Report, Weights, export};
use skript_frontend::model::Model;
use skript_frontend::source::SourceMap;
use skript_passes::emit::emit;

/// A model that was exported as StableHLO.
pub struct Exported {
    /// The module's text.
    pub text: String,
    /// Arguments and results of `@main`.
    pub ports: Ports,
    /// The form of each formula.
    pub report: Report,
}

/// Exports the entry of a model as StableHLO. With a placement, annotates the program for its devices. Variables that
/// `weights` names become constants.
///
/// # Errors
/// [`ExportError`]: constructs without a StableHLO form, with their location; a placement that does not fit.
pub fn export_model(
    model: &Model,
    sources: &SourceMap,
    placement: Option<&Placement>,
    weights: &Weights,
) -> Result<Exported, ExportError> {
    let context = crate::context();
    let source = emit(model, sources, &context)?;
    let exported = export(&source, &context, weights)?;
    if let Some(placement) = placement {
        let Ports { arguments, results } = &exported.interface;
        placement.check(arguments.iter().chain(results))?;
        annotate(&exported.module, &context, placement, arguments, results)?;
    }
    Ok(Exported {
        text: exported.module.as_operation().to_string(),
        ports: exported.interface,
        report: exported.report,
    })
}
