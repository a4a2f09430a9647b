// SPDX-License-Identifier: Apache-2.0
//! `skript bench --profile`: the steps of the timed calls, in code of its own.

use skript_runtime::profile::{self, Step};
use skript_runtime::{Artifact, Instance, LoadError, Program, RunError};
use skript_tensor::Tensor;

use crate::engine::compiled::prepare;
use crate::profile::Recorded;

/// Records so many calls, after two without.
pub fn record(
    artifact: Artifact,
    steps: Vec<Step>,
    model: String,
    calls: u32,
    inputs: &[&Tensor],
    variables: &[&Tensor],
) -> Result<Recorded, RunError> {
    let load = |e: LoadError| RunError::Load(e.to_string());
    let program = Program::load(artifact).map_err(load)?;
    let mut instance = Instance::new(&program).map_err(load)?;
    let prepared = prepare(&mut instance, variables)?;
    let mut outputs = skript_runtime::run::slots(program.artifact())?;
    let mut several = |calls: u32| -> Result<(), RunError> {
        for _ in 0..calls {
            instance.call(inputs, variables, &mut outputs)?;
        }
        Ok(())
    };
    several(2)?;
    let (done, profile) = profile::record(steps.len(), || several(calls));
    done?;
    Ok(Recorded { steps, profile, calls, prepared, model })
}
