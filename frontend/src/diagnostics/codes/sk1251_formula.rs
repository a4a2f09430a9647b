// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Values, indices and conditions of a formula must have the types that the outputs and tensors require (2.12).
pub static FORMULA: Code = Code {
    id: "SK1251",
    title: "a formula is not well typed",
    explanation: "Values, indices and conditions of a formula must have the types that the outputs and tensors require (2.12).\n\
        \n    y[i,] = x[i,] && true, i < n;   # y: real[n]\n    # rather\n    y[i,] = x[i,], i < n;\n",
};

pub(super) use FORMULA as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&FORMULA, &with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = i, i < n; }", "y = f(x);"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = real(i), i < n; }", "y = f(x);"));
    }
}
