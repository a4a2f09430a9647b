// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Conditions of branches and loops are bool, and as tensors they have one element (2.10.1).
pub static CONTROL_CONDITION: Code = Code {
    id: "SK1054",
    title: "a condition is not a single bool",
    explanation: "Conditions of branches and loops are bool, and as tensors they have one element (2.10.1).\n\
        \n    if x then …   # x: real[3]\n    # rather\n    if c then …   # c: bool[]\n",
};

pub(super) use CONTROL_CONDITION as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&CONTROL_CONDITION, &with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = if x then f(x) else x;"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = if flag then f(x) else x;"));
    }
}
