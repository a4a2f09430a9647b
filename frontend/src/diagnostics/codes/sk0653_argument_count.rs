// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Every input that is not optional and has no default needs an argument, and every argument needs an input (2.6).
pub static ARGUMENT_COUNT: Code = Code {
    id: "SK0653",
    title: "an invocation has too many or too few arguments",
    explanation: "Every input that is not optional and has no default needs an argument, and every argument needs an input (2.6).\n\
        \n    y = add(x);\n    # rather\n    y = add(x, z);\n",
};

pub(super) use ARGUMENT_COUNT as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&ARGUMENT_COUNT, &with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = f(x, z);"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = f(x);"));
    }
}
