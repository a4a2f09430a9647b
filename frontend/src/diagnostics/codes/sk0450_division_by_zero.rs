// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A compile-time expression divides an int by zero, or raises zero to a negative power (2.4).
pub static DIVISION_BY_ZERO: Code = Code {
    id: "SK0450",
    title: "an integer is divided by zero",
    explanation: "A compile-time expression divides an int by zero, or raises zero to a negative power (2.4).\n\
        \n    n = 10 / (k - k);\n    # rather\n    n = 10 / k;     # with an assertion that k is not zero\n",
};

pub(super) use DIVISION_BY_ZERO as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&DIVISION_BY_ZERO, &with_symbols("v = 1 / (k - 3);"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_symbols("v = 1 / (k - 2);"));
    }
}
