// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A generic type is restricted to `type`, `arith` or `num` (2.13).
pub static TYPE_BOUND: Code = Code {
    id: "SK1301",
    title: "a generic type has no known restriction",
    explanation: "\
A generic type is restricted to `type`, `arith` or `num` (2.13).

    @dtype { T: number; }   # wrong
    @dtype { T: num; }   # right
",
};

pub(super) use TYPE_BOUND as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&TYPE_BOUND, &in_document("operator o { @dtype { T: number; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("operator o { @dtype { T: num; S: arith = bool; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }
}
