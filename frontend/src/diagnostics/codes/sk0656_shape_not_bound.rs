// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A declared shape may have at most one part of unknown length, and an unknown name must occur in an affine expression (2.6.1).
pub static SHAPE_NOT_BOUND: Code = Code {
    id: "SK0656",
    title: "a shape cannot be bound to its names",
    explanation: "A declared shape may have at most one part of unknown length, and an unknown name must occur in an affine expression (2.6.1).\n\
        \n    x: real[s..,t..];\n    # rather\n    x: real[s..(r),t..];   # r is an attribute\n",
};

pub(super) use SHAPE_NOT_BOUND as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&SHAPE_NOT_BOUND, &with_operator("@input { a: real[s..,t..]; } @output { b: real[4]; } @lower { b[i,] = 0.0, i < 4; }", "y = f(x);"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@input { a: real[s..(1),t..]; } @output { b: real[4]; } @lower { b[i,] = 0.0, i < 4; }", "y = f(x);"));
    }
}
