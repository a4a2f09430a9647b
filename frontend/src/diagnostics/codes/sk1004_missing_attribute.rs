// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// An invocation must set attributes that are not optional and have no default (2.10).
pub static MISSING_ATTRIBUTE: Code = Code {
    id: "SK1004",
    title: "a required attribute is missing",
    explanation: "\
An invocation must set attributes that are not optional and have no default (2.10).

    y = scale(x);   # wrong
    y = scale{k=2.0}(x);   # right
",
};

pub(super) use MISSING_ATTRIBUTE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&MISSING_ATTRIBUTE, &in_compose("y = scale{n=2}(x);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("y = scale{k=2.0}(x);"));
    }
}
