// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// An index or extent that becomes a value must fit the storage type of ints.
pub static MACHINE_INT: Code = Code {
    id: "SK3004",
    title: "an int does not fit the storage type",
    explanation: "`--int=i8|i16|i32|i64` selects the storage type of ints. Indices and extents that an operator returns are known\n\
        at compile time, or bounded, and must fit; ints that depend on elements of tensors wrap.\n\
        \n    at[k,] = i, i < 300 | x[i,] > 0.0;    # with --int=i8, whose maximum is 127\n",
};

pub(super) use MACHINE_INT as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::ComposeOptions;
    use crate::compose::testing::composed_with;
    use crate::limits::Limits;
    use skript_semantics::{IntType, Numbers};

    fn codes(extent: u64) -> Vec<&'static str> {
        let text = format!(
            "operator f {{ @input {{ a: real[n]; }} @output {{ b: int[n]; }} @lower {{ b[i,] = i, i < n; }} }} \
             graph G {{ @input {{ x: real[{extent}]; }} @output {{ y: int[{extent}]; }} @compose {{ y = f(x); }} }}"
        );
        let numbers = Numbers {
            int: IntType::I8,
            ..Numbers::default()
        };
        let options = ComposeOptions {
            numbers,
            ..ComposeOptions::default()
        };
        match composed_with(&text, &options, &Limits::default()) {
            Ok(_) => Vec::new(),
            Err(found) => found.iter().map(|d| d.code.id).collect(),
        }
    }

    #[test]
    fn fires() {
        assert_eq!(codes(129), [MACHINE_INT.id]);
    }

    #[test]
    fn near_miss() {
        assert!(codes(128).is_empty());
    }
}
