// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// All branches must yield tensors of one type, rank and fixed extents; loop-carried values must keep their type
/// (2.10.1).
pub static BRANCH_RESULTS: Code = Code {
    id: "SK1056",
    title: "branches or iterations give different results",
    explanation: "\
All branches must yield tensors of one type, rank and fixed extents; loop-carried values must keep their type (2.10.1).

    if c then x else floats_to_ints(x)
    # rather
    if c then x else neg(x)

The executed branch determines a dynamic extent, `x: real[n|8]`.
",
};

pub(super) use BRANCH_RESULTS as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&BRANCH_RESULTS, &with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = if flag then f(x) else z;"));
    }

    #[test]
    fn fires_where_fixed_extents_differ() {
        assert_fires(&BRANCH_RESULTS, &with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = if flag then x else z;"));
    }

    #[test]
    fn near_miss_where_the_run_decides() {
        assert_composes(
            "graph G { @input { x: real[n|4]; z: real[3]; flag: bool[]; } @output { y: real[~]; } @compose { y = if flag then x else z; } }",
        );
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = if flag then f(x) else x;"));
    }
}
