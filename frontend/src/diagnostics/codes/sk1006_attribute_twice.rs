// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Every attribute has one value (2.10).
pub static ATTRIBUTE_TWICE: Code = Code {
    id: "SK1006",
    title: "an attribute is set twice",
    explanation: "\
Every attribute has one value (2.10).

    y = scale{k=1.0, k=2.0}(x);   # wrong
    y = scale{k=2.0}(x);   # right
",
};

pub(super) use ATTRIBUTE_TWICE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&ATTRIBUTE_TWICE, &in_compose("y = scale{k=1.0, k=2.0}(x);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("y = scale{k=1.0, n=2}(x);"));
    }
}
