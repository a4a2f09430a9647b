// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// All packs after `for` must have one length, and a loop count must not exceed it (2.10.1).
pub static SCAN_LENGTHS: Code = Code {
    id: "SK1053",
    title: "packs that are scanned together have different lengths",
    explanation: "All packs after `for` must have one length, and a loop count must not exceed it (2.10.1).\n\
        \n    for x : [a, b], y : [c] do …\n    # rather\n    for x : [a, b], y : [c, d] do …\n",
};

pub(super) use SCAN_LENGTHS as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&SCAN_LENGTHS, &with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "r = for p : [x, x], q : [x] do f(p); y = f(x);"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "r = for p : [x, x], q : [x, x] do f(p); y = f(x);"));
    }
}
