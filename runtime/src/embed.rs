// SPDX-License-Identifier: Apache-2.0
//! Puts weights into an artifact: it runs without files of weights, and what depends on them alone is computed already.

use crate::artifact::{Artifact, Embedded};
use crate::error::RunError;
use crate::instance::{accept, count};
use crate::prepared::Prepared;
use crate::program::Program;
use skript_tensor::Tensor;

/// The artifact with the values of its variables: initial values for those that a call updates. Preparation runs on
/// `threads` threads; 0 for the default.
///
/// # Errors
/// [`RunError::Load`] if something is prepared and the code is not for this machine, [`RunError::Memory`] if there is not
/// enough memory or a variable has a dynamic shape, [`RunError::Changed`] if a mapped file was written to, and the errors of
/// [`crate::Instance::call`] for variables that do not match the interface.
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
    let bytes = prepared.as_ref().map(Prepared::bytes);
    let embedded = Embedded::new(&artifact, bytes.unwrap_or_default(), variables);
    let embedded = embedded.ok_or_else(|| RunError::Memory("embedded weights".to_owned()))?;
    for variable in variables {
        let unchanged = variable.unchanged();
        unchanged.map_err(|e| RunError::Changed(e.to_string()))?;
    }
    Ok(Artifact { embedded: Some(embedded), ..artifact })
}
