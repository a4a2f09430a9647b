// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// abs and sign support int and real, the others real (2.4).
pub static BUILTIN_ARGUMENT: Code = Code {
    id: "SK0416",
    title: "a built-in function does not support this type",
    explanation: "\
abs and sign support int and real, the others real (2.4).

    v = `sqrt`(2);   # wrong
    v = `sqrt`(2.0);   # right
",
};

pub(super) use BUILTIN_ARGUMENT as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&BUILTIN_ARGUMENT, &in_using("v = `sqrt`(n);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_using("v = `sqrt`(r); u = `abs`(n); z = `sign`(t);"));
    }
}
