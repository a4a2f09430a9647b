// SPDX-License-Identifier: Apache-2.0
//! Times of the kernels of code, by key.

use std::collections::HashMap;
use std::time::Duration;

use skript_runtime::profile::{self, Step};
use skript_runtime::{Artifact, Instance, LoadError, Program, RunError};
use skript_tensor::Tensor;

use crate::engine::compiled::prepare;
use crate::verbs::compare::difference;

/// Calls before the timed ones: pages of memory are not there before a first call.
const WARM_UP: u32 = 2;

/// How outputs with two plans compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// They have the same bytes.
    Same,
    /// They differ by rounding.
    Rounded,
    /// One of them is wrong: how it differs.
    Wrong(String),
}

/// Code that was compiled for a profile, in this process.
pub struct Build {
    pub steps: Vec<Step>,
    /// Those of the last call.
    outputs: Vec<Tensor>,
    instance: Instance,
}

/// The least times of calls.
#[derive(Clone, Debug, Default)]
pub struct Timings {
    /// Of a whole call.
    pub call: Duration,
    /// By key: of all steps of equal kernels.
    pub kernels: HashMap<String, Duration>,
}

impl Build {
    pub fn new(artifact: Artifact, steps: Vec<Step>, variables: &[&Tensor]) -> Result<Self, RunError> {
        let load = |e: LoadError| RunError::Load(e.to_string());
        let program = Program::load(artifact).map_err(load)?;
        let mut instance = Instance::new(&program).map_err(load)?;
        prepare(&mut instance, variables)?;
        Ok(Build { steps, outputs: skript_runtime::run::slots(program.artifact())?, instance })
    }

    /// How the outputs of the last call differ from those of another build, with relative and absolute tolerances for rounding.
    pub fn agreement(&self, other: &Build, (rtol, atol): (f64, f64)) -> Agreement {
        let mut both = self.outputs.iter().zip(&other.outputs);
        if both.all(|(own, other)| own.shape() == other.shape() && own.bytes() == other.bytes()) {
            return Agreement::Same;
        }
        let mut pairs = self.outputs.iter().zip(&other.outputs);
        let wrong = pairs.find_map(|(expected, found)| {
            let (agrees, text) = difference(expected, found, rtol, atol);
            (!agrees).then_some(text)
        });
        match wrong {
            None => Agreement::Rounded,
            Some(text) => Agreement::Wrong(text),
        }
    }

    /// The times of one call.
    fn call(&mut self, inputs: &[&Tensor], variables: &[&Tensor]) -> Result<Timings, RunError> {
        let (done, profile) =
            profile::record(self.steps.len(), || self.instance.call(inputs, variables, &mut self.outputs));
        done?;
        let mut kernels: HashMap<String, Duration> = HashMap::new();
        for (step, sums) in self.steps.iter().zip(&profile.sums) {
            if let Some(plan) = &step.plan {
                *kernels.entry(plan.key.clone()).or_default() += sums.time;
            }
        }
        Ok(Timings { call: profile.total, kernels })
    }
}

/// The least times of so many calls of each build, in turn.
pub fn alternate(
    mut builds: [&mut Build; 2],
    calls: u32,
    inputs: &[&Tensor],
    variables: &[&Tensor],
) -> Result<[Timings; 2], RunError> {
    let mut least: [Option<Timings>; 2] = [None, None];
    for call in 0..WARM_UP.saturating_add(calls) {
        for (build, least) in builds.iter_mut().zip(&mut least) {
            let times = build.call(inputs, variables)?;
            if call >= WARM_UP {
                match least {
                    None => *least = Some(times),
                    Some(least) => least.lower(&times),
                }
            }
        }
    }
    Ok(least.map(Option::unwrap_or_default))
}

impl Timings {
    /// Takes the smaller one of each time.
    fn lower(&mut self, other: &Timings) {
        self.call = self.call.min(other.call);
        for (key, time) in &other.kernels {
            let own = self.kernels.entry(key.clone()).or_insert(*time);
            *own = (*own).min(*time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_times_of_kernels_are_of_different_calls() {
        let times = |call, first, second| Timings {
            call: Duration::from_micros(call),
            kernels: [("a", first), ("b", second)]
                .map(|(key, time)| (key.to_owned(), Duration::from_micros(time)))
                .into(),
        };
        let mut least = times(10, 3, 7);
        least.lower(&times(12, 2, 9));
        assert_eq!(least.call, Duration::from_micros(10));
        assert_eq!(least.kernels["a"], Duration::from_micros(2));
        assert_eq!(least.kernels["b"], Duration::from_micros(7));
    }
}
