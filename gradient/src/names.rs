// SPDX-License-Identifier: Apache-2.0
//! Names of a document that are valid and unique.

use std::collections::HashSet;

/// Keywords and constants of the language, modules, and prefixes of names that this crate makes.
const RESERVED: &[&str] = &[
    "optional", "operator", "import", "public", "unroll", "graph", "yield", "while", "false", "elif", "else",
    "then", "with", "real", "bool", "true", "for", "inf", "int", "str", "if", "in", "is", "do", "pi",
    "static", "dynamic", "type", "arith", "num", "math", "main",
];

/// The names in use.
#[derive(Clone, Debug, Default)]
pub struct Names {
    used: HashSet<String>,
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
        if self.used.insert(name.clone()) {
            return name;
        }
        let mut suffix = 2_u64;
        loop {
            let other = format!("{name}_{suffix}");
            if self.used.insert(other.clone()) {
                return other;
            }
            suffix += 1;
        }
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
}
