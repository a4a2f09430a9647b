// SPDX-License-Identifier: Apache-2.0
//! Embeds weights in an artifact, which then runs without weight files. Values that depend on weights alone are precomputed.

use crate::artifact::{Artifact, Embedded};
use crate::error::RunError;
use crate::instance::{accept, count};
use crate::prepared::Prepared;
use crate::program::Program;
use skript_tensor::Tensor;

/// Embeds the values of all variables in the artifact: the initial values of the variables that a call updates. Preparation
/// runs on `threads` threads; 0 for the default.
///
/// # Errors
/// [`RunError::Load`] if the artifact prepares values and its code is not for this machine, [`RunError::Memory`] if memory
/// is insufficient or a variable has a dynamic shape, [`RunError::Changed`] if a mapped file was written to, and the errors
/// of [`crate::Instance::call`] for variables that do not match the interface.
pub fn embed(artifact: Artifact, variables: &[&Tensor], threads: usize) -> Result<Artifact, RunError> {
    count("variables", artifact.variables.len(), variables.len())?;
    for (port, variable) in artifact.variables.iter().zip(variables) {
        accept("variable", port, variable)?;
    }
    let artifact = Artifact { embedded: None, ..artifact };
    let program = match artifact.prepared {
        0 => None,
        _ => Some(Program::load(artifact.clone()).map_err(|e| RunError::Load(e.to_string()))?),
    };
    let prepared = program.map(|program| Prepared::new(&program, variables, threads));
    let prepared = prepared.transpose()?;
    let bytes = prepared.as_ref().map_or(&[][..], Prepared::bytes);
    let embedded = Embedded::new(&artifact, bytes, variables);
    let embedded = embedded.ok_or_else(|| RunError::Memory("embedded weights".to_owned()))?;
    for variable in variables {
        let unchanged = variable.unchanged();
        unchanged.map_err(|e| RunError::Changed(e.to_string()))?;
    }
    Ok(Artifact { embedded: Some(embedded), ..artifact })
}
