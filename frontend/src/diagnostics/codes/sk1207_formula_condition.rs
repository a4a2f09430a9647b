// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The condition after `|` is a bool (2.12).
pub static FORMULA_CONDITION: Code = Code {
    id: "SK1207",
    title: "the condition of a formula is not a bool",
    explanation: "\
The condition after `|` is a bool (2.12).

    y[i,] = 1.0, i < n | x[i,];   # wrong
    y[i,] = 1.0, i < n | x[i,] > 0.0;   # right
",
};

pub(super) use FORMULA_CONDITION as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&FORMULA_CONDITION, &in_lower("y[i,] = 1.0, i < a | line[i,];"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_lower("y[i,] = 1.0, i < a | line[i,] > 0.0;"));
    }
}
