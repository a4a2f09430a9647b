// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The count is a compile-time int or an int tensor of rank 0 (2.10.1).
pub static LOOP_COUNT: Code = Code {
    id: "SK1022",
    title: "the count of a loop is not an int",
    explanation: "\
The count is a compile-time int or an int tensor of rank 0 (2.10.1).

    y = with u = x do..(1.5) id(u);   # wrong
    y = with u = x do..(2) id(u);   # right
",
};

pub(super) use LOOP_COUNT as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&LOOP_COUNT, &in_compose("y = with u = x do..(1.5) id(u);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("y = with u = x do..(i) id(u);"));
    }
}
