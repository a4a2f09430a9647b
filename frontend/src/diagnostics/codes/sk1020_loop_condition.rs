// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The condition after `while` is one bool tensor with a single element (2.10.1).
pub static LOOP_CONDITION: Code = Code {
    id: "SK1020",
    title: "the condition of a loop is not a bool",
    explanation: "\
The condition after `while` is one bool tensor with a single element (2.10.1).

    y = with u = x while id(u) do id(u);   # wrong
    y = with u = x while less(u) do id(u);   # right
",
};

pub(super) use LOOP_CONDITION as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&LOOP_CONDITION, &in_compose("y = with u = x while id(u) do id(u);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("y = with u = x while less(u) do id(u);"));
    }
}
