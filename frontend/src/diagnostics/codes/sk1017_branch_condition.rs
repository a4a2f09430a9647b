// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A condition is one bool: a compile-time one, or a tensor with a single element (2.10.1).
pub static BRANCH_CONDITION: Code = Code {
    id: "SK1017",
    title: "the condition of `if` is not a bool",
    explanation: "\
A condition is one bool: a compile-time one, or a tensor with a single element (2.10.1).

    y = if n then x else z;   # wrong: n: int
    y = if n != 0 then x else z;   # right
",
};

pub(super) use BRANCH_CONDITION as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&BRANCH_CONDITION, &in_compose("y = if i then id(x) else x;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("y = if b then id(x) else x;"));
    }
}
