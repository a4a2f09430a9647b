// SPDX-License-Identifier: Apache-2.0
//! `--limit NAME=N`, an option of all commands that read documents.

use clap::Args;
use skript_frontend::limits::{LimitError, Limits};

#[derive(Clone, Debug, Default, Args)]
pub struct LimitArguments {
    /// Bound on what a document may ask for; `skript explain limits` lists them
    #[arg(long = "limit", value_name = "NAME=N", value_parser = limit_argument)]
    chosen: Vec<(String, u64)>,
    /// Maximum number of iterations of a loop that only a condition ends; the same as --limit loop_steps=N
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=1 << 62))]
    max_steps: Option<u64>,
}

impl LimitArguments {
    /// The limits in effect.
    pub fn in_force(&self) -> Limits {
        let mut limits = Limits::default();
        let steps = self.max_steps.map(|steps| ("loop_steps", steps));
        for (name, value) in self.chosen.iter().map(|(name, value)| (name.as_str(), *value)).chain(steps) {
            // Cannot fail: the parser of the flag rejects unknown names.
            let _ = limits.set(name, value);
        }
        limits
    }
}

/// Parses `NAME=N`; returns an error for an unknown limit or a value that is too large.
fn limit_argument(text: &str) -> Result<(String, u64), String> {
    let (name, value) = text
        .split_once('=')
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(|| "write NAME=N".to_string())?;
    let value: u64 = value.parse().map_err(|_| format!("`{value}` is not an integer"))?;
    Limits::default().set(name, value).map_err(|error| match error {
        LimitError::Unknown(_) => {
            let names: Vec<&str> = Limits::ALL.iter().map(|l| l.name).collect();
            format!("{error}; there is {}", names.join(", "))
        }
        LimitError::TooLarge { .. } => error.to_string(),
    })?;
    Ok((name.to_string(), value))
}
