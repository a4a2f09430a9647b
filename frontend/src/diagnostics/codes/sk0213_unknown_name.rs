// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Names must be declared in the same operator or graph: as attribute, extent, helper, tensor or index (2.2).
pub static UNKNOWN_NAME: Code = Code {
    id: "SK0213",
    title: "a name is not declared",
    explanation: "\
Names must be declared in the same operator or graph: as attribute, extent, helper, tensor or index (2.2).

    @attrib { stride: int; } @using { s = strid + 1; }   # wrong
    @attrib { stride: int; } @using { s = stride + 1; }   # right
",
};

pub(super) use UNKNOWN_NAME as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&UNKNOWN_NAME, &in_using("v = nn + 1;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_using("v = n + 1;"));
    }
}
