// SPDX-License-Identifier: Apache-2.0
//! The time limit of the commands that call a model.

use std::time::Duration;

use clap::Args;

#[derive(Clone, Copy, Debug, Args)]
pub struct StopArguments {
    /// Stop after this time, which includes compilation
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<Duration>,
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "write a number of seconds".to_owned())?;
    let duration = Duration::try_from_secs_f64(seconds).ok().filter(|d| !d.is_zero());
    duration.ok_or_else(|| "the time must be positive".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_positive_numbers() {
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        for text in ["", "x", "0", "-1", "nan", "inf", "1e300", "1e-300"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
