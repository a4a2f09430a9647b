// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A loop has a count, a `for` clause or a `while` condition (2.10.1).
pub static ENDLESS_LOOP: Code = Code {
    id: "SK1021",
    title: "nothing ends a loop",
    explanation: "\
A loop has a count, a `for` clause or a `while` condition (2.10.1).

    y = with u = x do id(u);   # wrong
    y = with u = x do..(3) id(u);   # right
",
};

pub(super) use ENDLESS_LOOP as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&ENDLESS_LOOP, &in_compose("y = with u = x do id(u);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("y = with u = x do..(3) id(u);"));
    }
}
