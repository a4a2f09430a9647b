// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// `|i|` says which positions a tensor is read at; it stands in an index, or in an intermediate that does (2.12).
pub static GUARD_AS_VALUE: Code = Code {
    id: "SK0423",
    title: "a guard is not a value",
    explanation: "\
`|i|` and `|i <> a : b|` select the elements of a tensor that are read. They occur in an index, or in an intermediate that an index uses
(2.12), alone: write computations between the bars.

    @lower { y[i,] = |i - 1|, i < n; }   # wrong
    @lower { y[i,] = x[|i - 1|,], i < n; }   # right
    @lower { k = |i - 1|, y[i,] = x[k,], i < n; }   # right
    @lower { y[i,] = x[2 * |i|,], i < n; }   # wrong
    @lower { y[i,] = x[|2 * i|,], i < n; }   # right
",
};

pub(super) use GUARD_AS_VALUE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&GUARD_AS_VALUE, &in_lower("y[i,] = x[i,0], i < a | |i| > 1;"));
        assert_fires(&GUARD_AS_VALUE, &in_lower("y[i,] = x[i,0] + real(|i|), i < a;"));
        let remap = in_lower("y[i,] = x[i,0], i < a | |i <> 0 : 1| > 1;");
        assert_fires(&GUARD_AS_VALUE, &remap);
    }

    #[test]
    fn nothing_is_computed_of_a_guard() {
        use crate::compose::testing::{assert_composes, assert_fires, with_operator};
        let lower = |lines: &str| {
            let blocks = format!("@input {{ a: real[n]; }} @output {{ b: real[n]; }} @lower {{ {lines} }}");
            with_operator(&blocks, "y = f(x);")
        };
        for wrong in [
            "b[i,] = a[2 * |i|,], i < n;",
            "b[i,] = a[2 * |i <> 0 : 1|,], i < n;",
            "k = |i - 1 <> 0 : 1|, b[i,] = a[k,] + real(k + 1), i < n;",
            "b[i,] = a[i,], i < |n <> 0 : 1|;",
        ] {
            assert_fires(&GUARD_AS_VALUE, &lower(wrong));
        }
        assert_composes(&lower("b[i,] = a[|2 * i|,], i < n;"));
        assert_composes(&lower("k = |i - 1 <> 0 : 1|, b[i,] = a[k,], i < n;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_lower("y[i,] = x[|i - 1|,0], i < a;"));
        assert_silent(&in_lower("k = |i - 1|, y[i,] = x[k,0], i < a;"));
    }
}
