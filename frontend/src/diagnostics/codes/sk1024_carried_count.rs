// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The first results of the body are the new values of the variables of `with` (2.10.1).
pub static CARRIED_COUNT: Code = Code {
    id: "SK1024",
    title: "the body has too few results",
    explanation: "\
The first results of the body are the new values of the variables of `with` (2.10.1).

    y, z = with u = x, v = x do..(2) id(u);   # wrong
    y, z = with u = x, v = x do..(2) two(u);   # right
",
};

pub(super) use CARRIED_COUNT as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&CARRIED_COUNT, &in_compose("y, z = with u = x, v = x do..(2) id(u);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("y, z = with u = x, v = x do..(2) two(u);"));
    }
}
