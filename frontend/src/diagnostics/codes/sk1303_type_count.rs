// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The types in `< >` are those of `@dtype`, in their order (2.13).
pub static TYPE_COUNT: Code = Code {
    id: "SK1303",
    title: "more types are given than declared",
    explanation: "\
The types in `< >` are those of `@dtype`, in their order (2.13).

    y = id<real, int>(x);   # wrong
    y = id<real>(x);   # right
",
};

pub(super) use TYPE_COUNT as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&TYPE_COUNT, &in_compose("y = id<real, int>(x);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("y = id<real>(x);"));
    }
}
