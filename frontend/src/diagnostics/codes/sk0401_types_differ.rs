// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Operands of one operator, branches of `?:`, the sides of `??` and of `in` have the same type; int and real
/// never mix in an expression (2.4).
pub static TYPES_DIFFER: Code = Code {
    id: "SK0401",
    title: "two parts of an expression have different types",
    explanation: "\
Operands of one operator, branches of `?:`, the sides of `??` and of `in` have the same type; int and real
never mix in an expression (2.4).

    v = 1 + 1.5;   # wrong
    v = 1.0 + 1.5;   # right
",
};

pub(super) use TYPES_DIFFER as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&TYPES_DIFFER, &in_using("v = n + 1.5;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_using("v = real(n) + 1.5; u = f ? 1.0 : r;"));
    }
}
