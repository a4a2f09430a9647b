// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A loop that runs at run time scans tensors of one type (2.10.1).
pub static SCAN_TYPES: Code = Code {
    id: "SK1058",
    title: "a loop scans tensors of different types",
    explanation: r#"The body of a loop with a condition or a dynamic count is compiled once: the items that it scans have one element type
and one shape. Loops with a compile-time count and no condition are unrolled where shapes differ.

    y = with s = 0.0 for x : [a, b] do..(k) op(s, x);    # a: real[2], b: real[3], k: int[]
    # rather
    y = with s = 0.0 for x : [a, b] do op(s, x);
"#,
};

pub(super) use SCAN_TYPES as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    const TOTAL: &str = "@input { s: real[]; a: real[n]; } @output { b: real[]; } \
        @lower { b[] = s[]; b[] += a[i,], i < n; }";

    fn document(pack: &str, count: &str) -> String {
        with_operator(
            TOTAL,
            &format!("t = with s = 0.0 for i : [{pack}] do{count} f(s, i); y = x;"),
        )
        .replace("flag: bool[];", "flag: bool[]; k: int[];")
    }

    #[test]
    fn fires() {
        assert_fires(&SCAN_TYPES, &document("x, z", "..(k)"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&document("x, z", ""));
        assert_composes(&document("x, x", "..(k)"));
    }
}
