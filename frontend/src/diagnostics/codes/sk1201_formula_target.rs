// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The left side of a formula is an access of an output (2.12).
pub static FORMULA_TARGET: Code = Code {
    id: "SK1201",
    title: "a formula does not assign an output",
    explanation: "\
The left side of a formula is an access of an output (2.12).

    @lower { x[i,] = 1.0, i < n; }   # wrong: x: an input
    @lower { y[i,] = 1.0, i < n; }   # right
",
};

pub(super) use FORMULA_TARGET as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&FORMULA_TARGET, &in_lower("y[i,] = 0.0, i < a; line[i,] = 1.0, i < a;"));
    }

    /// What is left without a formula because of it is no error of its own.
    #[test]
    fn fires_alone_where_the_only_formula_is_of_something_else() {
        assert_fires(&FORMULA_TARGET, &in_lower("z[i,] = line[i,], i < a;"));
        assert_fires(&FORMULA_TARGET, &in_lower("line[i,] = line[i,], i < a;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_lower("y[i,] = 1.0, i < a;"));
    }
}
