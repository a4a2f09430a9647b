// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The names in `{ }` are attributes that the operator declares (2.10).
pub static UNKNOWN_ATTRIBUTE: Code = Code {
    id: "SK1003",
    title: "an operator has no such attribute",
    explanation: "\
The names in `{ }` are attributes that the operator declares (2.10).

    y = scale{factor=2.0}(x);   # wrong: it is called k
    y = scale{k=2.0}(x);   # right
",
};

pub(super) use UNKNOWN_ATTRIBUTE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&UNKNOWN_ATTRIBUTE, &in_compose("y = scale{k=1.0, kk=2.0}(x);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("y = scale{k=1.0, n=2}(x);"));
    }
}
