// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A single name receives a single tensor; `a..(n)` and `[a, b]` receive a pack (2.10).
pub static TARGET_NOT_A_PACK: Code = Code {
    id: "SK1012",
    title: "one side is a pack and the other is not",
    explanation: "\
A single name receives a single tensor; `a..(n)` and `[a, b]` receive a pack (2.10).

    [y, z] = id(x);   # wrong
    y = id(x);   # right
",
};

pub(super) use TARGET_NOT_A_PACK as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&TARGET_NOT_A_PACK, &in_compose("[y, z] = id(x);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("[y, z] = split{n=2}(x);"));
    }
}
