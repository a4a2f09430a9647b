// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Arithmetic is for int and real, logic for bool; comparisons and `!= ..`, `== ..`, `:= ..` for every type.
/// A generic type must support the operator for all types that it admits (2.4, 2.13).
pub static OPERAND_TYPE: Code = Code {
    id: "SK0402",
    title: "an operator does not support this type",
    explanation: "\
Arithmetic supports int and real, logic supports bool; comparisons and `!= ..`, `== ..`, `:= ..` support every type. A
generic type must support the operator for all types that it admits (2.4, 2.13).

    v = !n;   # wrong
    v = !(n == 0);   # right
",
};

pub(super) use OPERAND_TYPE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&OPERAND_TYPE, &in_using("v = -f;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_using("v = -n; u = s == S(); z = t * t;"));
    }
}
