// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// An extent like `2 * k` determines k only if the actual extent is of that form (2.6).
pub static AFFINE_EXTENT: Code = Code {
    id: "SK0652",
    title: "no integer solves a declared extent",
    explanation: "An extent like `2 * k` determines k only if the actual extent is of that form (2.6), with a k that is not negative.\n\
        \n    x: real[2 * k] invoked with a tensor of shape [5]\n    # rather\n    x: real[2 * k] invoked with a tensor of shape [6]\n",
};

pub(super) use AFFINE_EXTENT as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&AFFINE_EXTENT, &with_operator("@input { a: real[3 * n]; } @output { b: real[4]; } @lower { b[i,] = 0.0, i < 4; }", "y = f(x);"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@input { a: real[2 * n]; } @output { b: real[4]; } @lower { b[i,] = 0.0, i < 4; }", "y = f(x);"));
    }
}
