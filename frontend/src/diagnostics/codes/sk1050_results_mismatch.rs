// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The number of results, and the lengths of result packs, must agree with the left side of `=` (2.10).
pub static RESULTS_MISMATCH: Code = Code {
    id: "SK1050",
    title: "the results do not fit the left-hand side",
    explanation: "The number of results, and the lengths of result packs, must agree with the left side of `=` (2.10).\n\
        \n    a, b = op(x);   # op has one output\n    # rather\n    a = op(x);\n",
};

pub(super) use RESULTS_MISMATCH as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&RESULTS_MISMATCH, &with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y, r = f(x);"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = f(x);"));
    }
}
