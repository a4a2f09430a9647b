// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Every input that is not optional and has no default needs an argument; `~` skips only the others (2.10).
pub static MISSING_ARGUMENT: Code = Code {
    id: "SK1008",
    title: "a required input is missing",
    explanation: "\
Every input that is not optional and has no default needs an argument; `~` skips only the others (2.10).

    y = add(x);   # wrong
    y = add(x, x);   # right
",
};

pub(super) use MISSING_ARGUMENT as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&MISSING_ARGUMENT, &in_compose("y = add(~, x);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("y = add(x, x, ~);"));
    }
}
