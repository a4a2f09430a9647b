// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// An access has one index per dimension; a pack of indices, `i..`, covers one per item (2.4).
pub static INDEX_COUNT: Code = Code {
    id: "SK0420",
    title: "the number of indices is not the rank",
    explanation: "\
An access has one index per dimension; a pack of indices, `i..`, covers one per item (2.4).

    @input { x: real[m,n]; } @lower { y[i,] = x[i,], i < m; }   # wrong
    @input { x: real[m,n]; } @lower { y[i,] = x[i,0], i < m; }   # right
",
};

pub(super) use INDEX_COUNT as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&INDEX_COUNT, &in_lower("y[i,] = x[i,], i < a;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_lower("y[i,] = x[i,0], i < a;"));
    }
}
