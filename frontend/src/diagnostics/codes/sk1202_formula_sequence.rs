// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// An output has one formula, or two: the first with `=`, the second with another operator (2.12).
pub static FORMULA_SEQUENCE: Code = Code {
    id: "SK1202",
    title: "an output has incompatible formulas",
    explanation: "\
An output has one formula, or two: the first with `=`, the second with another operator (2.12).

    y[i,] += x[i,], i < n; y[i,] = 1.0, i < n;   # wrong
    y[i,] = 1.0, i < n; y[i,] += x[i,], i < n;   # right
",
};

pub(super) use FORMULA_SEQUENCE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&FORMULA_SEQUENCE, &in_lower("y[i,] += line[i,], i < a; y[i,] = 1.0, i < a;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_lower("y[i,] = 1.0, i < a; y[i,] += line[i,], i < a;"));
    }
}
