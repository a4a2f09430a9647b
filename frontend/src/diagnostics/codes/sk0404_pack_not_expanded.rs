// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Packs have one dimension: a pack in a list, a shape or the indices of a tensor is expanded with `..`
/// (2.4).
pub static PACK_NOT_EXPANDED: Code = Code {
    id: "SK0404",
    title: "a pack is not expanded to its items",
    explanation: "\
Packs have one dimension: a pack in a list, a shape or the indices of a tensor is expanded with `..` (2.4).

    v = [1, p];   # wrong
    v = [1, p..];   # right
",
};

pub(super) use PACK_NOT_EXPANDED as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&PACK_NOT_EXPANDED, &in_using("v = [1, p];"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_using("v = [1, p..];"));
    }
}
