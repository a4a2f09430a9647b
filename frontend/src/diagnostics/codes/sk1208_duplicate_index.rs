// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Indices and intermediates of a formula have a name each, and an index one bound (2.12).
pub static DUPLICATE_INDEX: Code = Code {
    id: "SK1208",
    title: "two indices or intermediates of a formula have one name",
    explanation: "\
Indices and intermediates of a formula have a name each, and an index one bound (2.12).

    y[i,] = 1.0, i < n, i < n;   # wrong
    y[i,] = 1.0, i < n;   # right
",
};

pub(super) use DUPLICATE_INDEX as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&DUPLICATE_INDEX, &in_lower("y[i,] = 1.0, i < a, i < a;"));
        assert_fires(&DUPLICATE_INDEX, &in_lower("k = 1.0, k = 2.0, y[i,] = k, i < a;"));
        assert_fires(&DUPLICATE_INDEX, &in_lower("i = 0, y[i,] = 1.0, i < a;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_lower("y[i,] += 1.0, i < a, j < a;"));
        assert_silent(&in_lower("k = 1.0, y[i,] = k, i < a; k = 2.0, y[i,] += k, i < a;"));
    }
}
