// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Extents that use one name must agree, and expressions of known names must equal the actual extent (2.6).
pub static EXTENT_MISMATCH: Code = Code {
    id: "SK0651",
    title: "an extent differs from its declaration",
    explanation: "Extents that use one name must agree, and expressions of known names must equal the actual extent (2.6).\n\
        \n    x: real[m,k], y: real[k,n] invoked with shapes [2,3] and [4,5]\n    # rather\n    x: real[m,k], y: real[k,n] invoked with shapes [2,3] and [3,5]\n",
};

pub(super) use EXTENT_MISMATCH as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&EXTENT_MISMATCH, &with_operator("@input { a: real[n]; c: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = f(x, z);"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@input { a: real[n]; c: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = f(x, x);"));
    }
}
