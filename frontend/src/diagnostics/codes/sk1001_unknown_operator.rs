// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// An invoked operator is defined in the same file, or in an imported module and written with the name of the
/// module (2.10, 2.15).
pub static UNKNOWN_OPERATOR: Code = Code {
    id: "SK1001",
    title: "an operator is not known",
    explanation: "\
An invoked operator is defined in the same file, or in an imported module and written with the name of the
module (2.10, 2.15).

    y = rleu(x);   # wrong
    y = nn.relu(x);   # right
",
};

pub(super) use UNKNOWN_OPERATOR as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&UNKNOWN_OPERATOR, &in_compose("y = nothing(x);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("y = id(x);"));
    }
}
