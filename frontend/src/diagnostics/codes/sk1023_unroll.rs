// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// `unroll` needs a count that is known at compile time, and no condition (2.10.1).
pub static UNROLL: Code = Code {
    id: "SK1023",
    title: "a loop cannot be unrolled",
    explanation: "\
`unroll` needs a count that is known at compile time, and no condition (2.10.1).

    y = with u = x unroll..(k) id(u);   # wrong: k: int[]
    y = with u = x do..(k) id(u);   # right
",
};

pub(super) use UNROLL as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&UNROLL, &in_compose("y = with u = x unroll..(i) id(u);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("y = with u = x unroll..(n) id(u);"));
    }
}
