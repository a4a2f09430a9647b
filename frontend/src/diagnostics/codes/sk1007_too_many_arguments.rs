// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// There is one argument per input; attributes are written in braces (2.10).
pub static TOO_MANY_ARGUMENTS: Code = Code {
    id: "SK1007",
    title: "an invocation has too many arguments",
    explanation: "\
There is one argument per input; attributes are written in braces (2.10).

    y = id(x, x);   # wrong
    y = id(x);   # right
",
};

pub(super) use TOO_MANY_ARGUMENTS as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&TOO_MANY_ARGUMENTS, &in_compose("y = id(x, x);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("y = add(x, x, x);"));
    }
}
