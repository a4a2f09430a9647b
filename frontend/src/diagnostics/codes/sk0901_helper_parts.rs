// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// `a..` on the left receives a pack; of the parts of `[a, b..] = c` at most one may have an unknown length
/// (2.9).
pub static HELPER_PARTS: Code = Code {
    id: "SK0901",
    title: "the left side of a helper does not fit its value",
    explanation: "\
`a..` on the left receives a pack; of the parts of `[a, b..] = c` at most one may have an unknown length (2.9).

    @using { [a.., b..] = c; }   # wrong
    @using { [a..(2), b..] = c; }   # right
",
};

pub(super) use HELPER_PARTS as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&HELPER_PARTS, &in_using("[g.., h..] = p;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_using("[g..(2), h..] = p; [(e, j)..] = q; z..(k) = p + 1;"));
    }
}
