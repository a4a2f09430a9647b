// SPDX-License-Identifier: Apache-2.0
//! Names of a document that are valid and unique.

use std::collections::HashMap;

/// Keywords and constants of the language, modules, and prefixes of names that this crate makes.
const RESERVED: &[&str] = &[
    "optional", "operator", "import", "public", "unroll", "graph", "yield", "while", "false", "elif", "else",
    "then", "with", "real", "bool", "true", "for", "inf", "int", "str", "if", "in", "is", "do", "pi",
    "static", "dynamic", "type", "arith", "num", "math", "main", "optim",
];

/// The names in use.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// The names, each with the suffix to try next.
    used: HashMap<String, u64>,
}

impl Names {
    /// A name like `wanted` that is not in use yet: characters other than letters, digits and `_` are replaced.
    pub fn fresh(&mut self, wanted: &str) -> String {
        let mut name = String::new();
        for character in wanted.chars() {
            match character {
                c if c.is_ascii_alphanumeric() => name.push(c),
                _ if name.ends_with('_') => {}
                _ => name.push('_'),
            }
        }
        let is_valid =
            name.starts_with(|c: char| c.is_ascii_alphabetic()) && !RESERVED.contains(&name.as_str());
        let name = if is_valid { name } else { format!("t{name}") };
        let Some(mut suffix) = self.used.get(&name).copied() else {
            self.used.insert(name.clone(), 2);
            return name;
        };
        let mut other = format!("{name}_{suffix}");
        while self.used.contains_key(&other) {
            suffix += 1;
            other = format!("{name}_{suffix}");
        }
        self.used.insert(name, suffix + 1);
        self.used.insert(other.clone(), 2);
        other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_valid_and_unique() {
        let mut names = Names::default();
        let all = ["x", "x", "xs:1", "i.0", "for", "2", "x_2", "_a"].map(|name| names.fresh(name));
        assert_eq!(all, ["x", "x_2", "xs_1", "i_0", "tfor", "t2", "x_2_2", "t_a"]);
    }

    /// 200,000 equal names would take 20 billion attempts if each began with the suffix 2.
    #[test]
    fn equal_names_take_linear_time() {
        let mut names = Names::default();
        names.fresh("x_3");
        let last = (0..200_000).map(|_| names.fresh("x")).last().unwrap();
        assert_eq!(last, "x_200001");
    }
}
