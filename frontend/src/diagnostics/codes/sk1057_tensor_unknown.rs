// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Names must be declared before they are used; every output must be assigned (2.10).
pub static TENSOR_UNKNOWN: Code = Code {
    id: "SK1057",
    title: "a tensor, output or operator is not known here",
    explanation: "Names must be declared before they are used; every output must be assigned (2.10).\n\
        \n    y = add(x, w);   # no w\n    # rather\n    y = add(x, x);\n",
};

pub(super) use TENSOR_UNKNOWN as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&TENSOR_UNKNOWN, &with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = nothing(x);"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = pass(x);"));
    }
}
