// SPDX-License-Identifier: Apache-2.0
//! Plans that a kernel has in place of the one that the cost model selects.
//!
//! A kernel has a key, which follows from its code with the first of [`Plan::candidates`]. A list of keys and numbers says which
//! candidate a kernel has; the key `*` is that of all kernels. The plan of each kernel is then an attribute of its function.

use super::plan::Plan;
use crate::ir::attribute_names::PLAN;
use skript_dialect::PassOption;
use skript_runtime::cache::Key;
use std::collections::HashMap;
use std::str::FromStr;

/// Digits of a key.
const KEY_LENGTH: usize = 12;

/// The key of every kernel.
const ALL: &str = "*";

/// Which candidate kernels have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices(HashMap<String, usize>);

impl Choices {
    /// The option that they are the value of.
    pub(super) const OPTION: PassOption = PassOption {
        name: "plans",
        summary: "plans of kernels by key, as KEY:NUMBER,…; the key of all kernels is *",
        default: "",
    };

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of a kernel's candidate.
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
            choice.ok_or_else(|| format!("`{item}` is no KEY:NUMBER"))
        });
        Ok(Choices(choices.collect::<Result<_, _>>()?))
    }
}

/// The key of a kernel with this code.
pub(super) fn key(code: &str) -> String {
    let mut key = Key::default();
    key.add("kernel", code.as_bytes());
    let mut key = key.finish();
    key.truncate(KEY_LENGTH);
    key
}

/// The attribute of a function that says its key, which one of how many candidates it has, and that plan.
pub(super) fn attribute(key: &str, number: usize, count: usize, plan: &Plan) -> String {
    format!("{PLAN} = [\"{key}\", \"{number}\", \"{count}\", \"{plan}\"]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_more_than_all() {
        let choices: Choices = "*:2,0123456789ab:1".parse().unwrap();
        assert_eq!(choices.number("0123456789ab"), 1);
        assert_eq!(choices.number("0123456789ac"), 2);
        assert!(Choices::from_str("").unwrap().is_empty());
    }

    #[test]
    fn what_is_no_choice_is_refused() {
        for wrong in ["*", "x:1", "0123456789ab:", "*:-1", "*:1;*:2"] {
            assert!(Choices::from_str(wrong).is_err(), "{wrong}");
        }
    }
}
