// SPDX-License-Identifier: Apache-2.0
//! Reads times of boxes from a file that `skript run --profile=FILE.json` writes.

use crate::picture::Picture;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Measured times of one call.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Profile {
    /// The total time of all steps, in nanoseconds.
    pub total: u64,
    /// The time of steps at locations where the picture has no box, in nanoseconds.
    pub elsewhere: u64,
    /// Times by location.
    pub times: BTreeMap<String, Time>,
}

/// The time at a location.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Time {
    /// The time of all steps at the location, in nanoseconds.
    pub nanoseconds: u64,
    /// The number of boxes at the location, which share the time.
    pub boxes: u64,
    /// The operators of the steps, without duplicates.
    pub operators: Vec<String>,
}

/// The reason why a file is not a profile.
#[derive(Debug)]
pub struct ProfileError(String);

impl std::error::Error for ProfileError {}

impl std::fmt::Display for ProfileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "not a list of steps as --profile=FILE.json writes it: {}", self.0)
    }
}

#[derive(Deserialize)]
struct Step {
    operator: String,
    location: String,
    ns: u64,
}

impl Picture {
    /// Adds the times of a profile, by the locations of its steps.
    ///
    /// # Errors
    /// [`ProfileError`] if the text is not a profile.
    pub fn add_profile(&mut self, json: &str) -> Result<(), ProfileError> {
        let steps: Vec<Step> = serde_json::from_str(json).map_err(|e| ProfileError(e.to_string()))?;
        let mut boxes: BTreeMap<&str, u64> = BTreeMap::new();
        for node in self.scopes.iter().flat_map(|scope| &scope.nodes) {
            *boxes.entry(&node.location).or_default() += 1;
        }
        // The model may have been run from another folder.
        let any = steps.iter().any(|step| boxes.contains_key(step.location.as_str()));
        let known: BTreeMap<&str, &str> = if any {
            boxes.keys().map(|location| (*location, *location)).collect()
        } else {
            boxes.keys().map(|location| (name(location), *location)).collect()
        };
        let mut profile = Profile::default();
        for step in &steps {
            profile.total = profile.total.saturating_add(step.ns);
            let wanted = if any { step.location.as_str() } else { name(&step.location) };
            let Some(location) = known.get(wanted) else {
                profile.elsewhere = profile.elsewhere.saturating_add(step.ns);
                continue;
            };
            let time = profile.times.entry((*location).to_owned()).or_default();
            time.nanoseconds = time.nanoseconds.saturating_add(step.ns);
            time.boxes = boxes.get(location).map_or(1, |count| *count);
            if !time.operators.contains(&step.operator) {
                time.operators.push(step.operator.clone());
            }
        }
        self.profile = Some(profile);
        Ok(())
    }
}

/// The last part of a path, with line and column.
fn name(location: &str) -> &str {
    location.rsplit('/').next().unwrap_or(location)
}
