// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Optional values are resolved on the right side of a formula (2.12).
pub static FORMULA_OPTIONAL: Code = Code {
    id: "SK1206",
    title: "the value of a formula may be null",
    explanation: "\
Optional values are resolved on the right side of a formula (2.12).

    y[i,] = z[i,], i < n;   # wrong: z: optional real[n]
    y[i,] = z[i,] ?? 0.0, i < n;   # right
",
};

pub(super) use FORMULA_OPTIONAL as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&FORMULA_OPTIONAL, &in_lower("y[i,] = maybe[i,], i < a;"));
    }

    /// A test that refutes a name makes what reads it null.
    #[test]
    fn s2_4_fires_where_the_branch_of_a_failed_test_is_null() {
        assert_fires(
            &FORMULA_OPTIONAL,
            &in_lower("y[i,] = ?maybe ? maybe[i,] : maybe[i,], i < a;"),
        );
        assert_silent(&in_lower("y[i,] = ?maybe ? maybe[i,] : line[i,], i < a;"));
        assert_silent(&in_lower(
            "y[i,] = ?maybe ? maybe[i,] : (?maybe ? maybe[i,] : 0.0), i < a;",
        ));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_lower("y[i,] = maybe[i,] ?? 0.0, i < a;"));
    }
}
