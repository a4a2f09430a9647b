// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The left side has at most as many names as the right side has results (2.10).
pub static RESULT_COUNT: Code = Code {
    id: "SK1010",
    title: "there are more names than results",
    explanation: "\
The left side has at most as many names as the right side has results (2.10).

    y, z = id(x);   # wrong
    y = id(x);   # right
",
};

pub(super) use RESULT_COUNT as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&RESULT_COUNT, &in_compose("y, z = id(x);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("y, ~ = two(x);"));
    }
}
