// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The branches of `if` have the same number of results, of the same types (2.10.1).
pub static BRANCHES_DIFFER: Code = Code {
    id: "SK1018",
    title: "branches have different results",
    explanation: "\
The branches of `if` have the same number of results, of the same types (2.10.1).

    y = if c then id(x) else less(x);   # wrong
    y = if c then id(x) else x;   # right
",
};

pub(super) use BRANCHES_DIFFER as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&BRANCHES_DIFFER, &in_compose("y = if b then id(x) else less(x);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("y = if b then id(x) else scale{k=2.0}(x);"));
    }
}
