// SPDX-License-Identifier: Apache-2.0
//! Measures the times of the kernels of two builds, by key.

use std::collections::HashMap;
use std::time::Duration;

use skript::{Instance, RunError, Tensor};
use skript_runtime::profile::{self, Step};

use crate::verbs::compare::difference;

/// Number of untimed calls before the timed calls. The first call faults in the pages.
const WARM_UP: u32 = 2;

/// The result of the comparison of the outputs of two builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// The outputs have the same bytes.
    Same,
    /// The outputs differ by rounding.
    Rounded,
    /// An output is wrong: how it differs.
    Wrong(String),
}

/// Code that was compiled for a profile, loaded into this process.
pub struct Build {
    pub steps: Vec<Step>,
    instance: Instance,
}

/// The minimum times of several calls.
#[derive(Clone, Debug, Default)]
pub struct Timings {
    /// The time of a whole call.
    pub call: Duration,
    /// The time of all steps of equal kernels, by key.
    pub kernels: HashMap<String, Duration>,
}

impl Build {
    pub fn new(instance: Instance, steps: Vec<Step>) -> Self {
        Build { steps, instance }
    }

    /// Compares the outputs of the last call with the outputs of another build, with relative and absolute tolerances for rounding.
    pub fn agreement(&self, other: &Build, (rtol, atol): (f64, f64)) -> Agreement {
        let mut both = self.instance.trial_outputs().iter().zip(other.instance.trial_outputs());
        if both.all(|(own, other)| own.shape() == other.shape() && own.bytes() == other.bytes()) {
            return Agreement::Same;
        }
        let mut pairs = self.instance.trial_outputs().iter().zip(other.instance.trial_outputs());
        let wrong = pairs.find_map(|(expected, found)| {
            let (agrees, text) = difference(expected, found, rtol, atol);
            (!agrees).then_some(text)
        });
        match wrong {
            None => Agreement::Rounded,
            Some(text) => Agreement::Wrong(text),
        }
    }

    /// Executes one call and returns its times.
    fn call(&mut self, inputs: &[&Tensor]) -> Result<Timings, RunError> {
        let (done, profile) = profile::record(self.steps.len(), || self.instance.trial(inputs));
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

/// The minimum times over `calls` alternating calls of each build.
pub fn alternate(
    mut builds: [&mut Build; 2],
    calls: u32,
    inputs: &[&Tensor],
) -> Result<[Timings; 2], RunError> {
    let mut least: [Option<Timings>; 2] = [None, None];
    for call in 0..WARM_UP.saturating_add(calls) {
        for (build, least) in builds.iter_mut().zip(&mut least) {
            let times = build.call(inputs)?;
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
    /// Replaces each time by the minimum of the two.
    fn lower(&mut self, other: &Timings) {
        self.call = self.call.min(other.call);
        for (key, time) in &other.kernels {
            let least = self.kernels.entry(key.clone()).or_insert(*time);
            *least = (*least).min(*time);
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
