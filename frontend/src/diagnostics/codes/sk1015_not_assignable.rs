// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// `@compose` assigns outputs, `@update` assigns variables, both may introduce intermediate tensors; inputs
/// and constants keep their values (2.10, 2.11).
pub static NOT_ASSIGNABLE: Code = Code {
    id: "SK1015",
    title: "a name cannot be assigned here",
    explanation: "\
`@compose` assigns outputs, `@update` assigns variables, both may introduce intermediate tensors; inputs and
constants keep their values (2.10, 2.11).

    @compose { w = id(x); y = w; }   # wrong: w: a variable
    @compose { y = id(x); } @update { w = id(x); }   # right
",
};

pub(super) use NOT_ASSIGNABLE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&NOT_ASSIGNABLE, &in_compose("x = id(x); y = id(x);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("z = id(x); y = id(z);"));
    }
}
