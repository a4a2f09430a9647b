// SPDX-License-Identifier: Apache-2.0
//! Explicit plans of kernels, which override the plan that the cost model selects.
//!
//! The key of a kernel is a hash of its code for the first of [`Plan::candidates`]. A list of keys and numbers selects the candidate
//! of each kernel by its number; the key `*` applies to all kernels. The plan of each kernel becomes an attribute of its function.

use super::plan::Plan;
use skript_dialect::PassOption;
use skript_runtime::cache::Key;
use std::collections::HashMap;
use std::str::FromStr;

/// Number of hexadecimal digits of a key.
const KEY_LENGTH: usize = 12;

/// The key of every kernel.
const ALL: &str = "*";

/// The number of the selected candidate for each key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices(HashMap<String, usize>);

impl Choices {
    /// The pass option that lists the choices.
    pub(super) const OPTION: PassOption = PassOption {
        name: "plans",
        summary: "plans of kernels by key, as KEY:NUMBER,…; the key of all kernels is *",
        default: "",
    };

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of the candidate selected for a kernel; by default the first one, 0.
    pub(super) fn number(&self, key: &str) -> usize {
        let number = self.0.get(key).or_else(|| self.0.get(ALL));
        number.copied().unwrap_or(0)
    }
}

impl FromStr for Choices {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let items = text.split(',').filter(|item| !item.is_empty());
        let choices = items.map(|item| {
            let choice = item.split_once(':').and_then(|(key, number)| {
                let is_key = key.len() == KEY_LENGTH && key.bytes().all(|b| b.is_ascii_hexdigit());
                let number = number.parse().ok()?;
                (is_key || key == ALL).then(|| (key.to_owned(), number))
            });
            choice.ok_or_else(|| format!("`{item}` is not KEY:NUMBER"))
        });
        Ok(Choices(choices.collect::<Result<_, _>>()?))
    }
}

/// Computes the key of a kernel from its code.
pub(super) fn key(code: &str) -> String {
    let mut key = Key::default();
    key.add("kernel", code.as_bytes());
    let mut key = key.finish();
    key.truncate(KEY_LENGTH);
    key
}

/// The value of the attribute [`PLAN`] of a function: its key, the number of its candidate, the count of candidates, and the plan.
pub(super) fn choice(key: &str, number: usize, count: usize, plan: &Plan) -> [String; 4] {
    [key.to_owned(), number.to_string(), count.to_string(), plan.to_string()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_overrides_the_key_of_all_kernels() {
        let choices: Choices = "*:2,0123456789ab:1".parse().unwrap();
        assert_eq!(choices.number("0123456789ab"), 1);
        assert_eq!(choices.number("0123456789ac"), 2);
        assert!(Choices::from_str("").unwrap().is_empty());
    }

    #[test]
    fn malformed_choices_are_rejected() {
        for wrong in ["*", "x:1", "0123456789ab:", "*:-1", "*:1;*:2"] {
            assert!(Choices::from_str(wrong).is_err(), "{wrong}");
        }
    }
}
