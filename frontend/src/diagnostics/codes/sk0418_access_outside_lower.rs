// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Only formulas of `@lower` read elements of tensors (2.4).
pub static ACCESS_OUTSIDE_LOWER: Code = Code {
    id: "SK0418",
    title: "elements of tensors are read outside of formulas",
    explanation: "\
Only formulas of `@lower` read elements of tensors (2.4).

    @using { v = x[0,]; }   # wrong
    @lower { y[i,] = x[0,], i < n; }   # right
",
};

pub(super) use ACCESS_OUTSIDE_LOWER as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&ACCESS_OUTSIDE_LOWER, &in_using("v = x[0,1];"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_lower("y[i,] = x[i,0], i < a;"));
    }
}
