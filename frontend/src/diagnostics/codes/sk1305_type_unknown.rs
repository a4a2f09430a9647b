// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A generic type is given in `< >`, deduced from arguments and attributes, or has a default (2.13).
pub static TYPE_UNKNOWN: Code = Code {
    id: "SK1305",
    title: "a generic type cannot be deduced",
    explanation: "\
A generic type is given in `< >`, deduced from arguments and attributes, or has a default (2.13).

    y = convert(x);   # wrong: its result type R is in no input
    y = convert<real>(x);   # right
",
};

pub(super) use TYPE_UNKNOWN as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&TYPE_UNKNOWN, &in_compose("z = convert(x); y = x;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("y = convert<real>(x);"));
    }
}
