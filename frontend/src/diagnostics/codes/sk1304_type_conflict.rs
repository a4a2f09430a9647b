// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// All arguments declared with one generic type have one type (2.13).
pub static TYPE_CONFLICT: Code = Code {
    id: "SK1304",
    title: "a generic type has conflicting types",
    explanation: "\
All arguments declared with one generic type have one type (2.13).

    y = same(x, k);   # wrong: x: real[4], k: int[]
    y = same(x, 2);   # right
",
};

pub(super) use TYPE_CONFLICT as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&TYPE_CONFLICT, &in_compose("z = same(x, i); y = x;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("y = same(x, 2);"));
    }
}
