// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// `num` admits int and real, `arith` also bool, `type` every type (2.13).
pub static TYPE_OUTSIDE_BOUND: Code = Code {
    id: "SK1302",
    title: "a type is not admitted",
    explanation: "\
`num` admits int and real, `arith` also bool, `type` every type (2.13).

    @dtype { T: num = bool; }   # wrong
    @dtype { T: arith = bool; }   # right
",
};

pub(super) use TYPE_OUTSIDE_BOUND as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&TYPE_OUTSIDE_BOUND, &in_compose("z = same(b, b); y = x;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("y = same(x, x);"));
    }
}
