// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Variables have a static shape (2.7), because files hold their values.
pub static VARIABLE_EXTENT: Code = Code {
    id: "SK0607",
    title: "the shape of a variable is dynamic",
    explanation: "\
Variables have a static shape (2.7), because files hold their values.

    @input { x: real[s|4]; } @variable { w: real[s]; }   # wrong
    @input { x: real[s|4]; } @variable { w: real[4]; }   # right
",
};

pub(super) use VARIABLE_EXTENT as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    fn with(extent: &str, input: &str) -> String {
        format!(
            "graph Main {{ @input {{ x: real[{input}]; }} @output {{ y: real[s]; }} @variable {{ w: real[{extent}]; }} @compose {{ y = x; }} }}"
        )
    }

    #[test]
    fn fires() {
        assert_fires(&VARIABLE_EXTENT, &with("s", "s|4"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with("4", "s|4"));
    }
}
