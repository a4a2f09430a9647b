// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Packs are indexed by an int, a pack of ints, or a mask of bools; tensors and strings by ints (2.4).
pub static INDEX_TYPE: Code = Code {
    id: "SK0408",
    title: "an index has the wrong type",
    explanation: "\
Packs are indexed by an int, a pack of ints, or a mask of bools; tensors and strings by ints (2.4).
In a formula an index of a tensor is one position: write partial slices as loops (2.12).

    v = p[1.5];   # wrong
    v = p[1];   # right
    y[i,1:] = x[i,1:], i < n;   # wrong
    y[i,j + 1] = x[i,j + 1], i < n, j < m - 1;   # right
",
};

pub(super) use INDEX_TYPE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&INDEX_TYPE, &in_using("v = p[r];"));
    }

    /// A slice of a part of a dimension is not an index of a tensor; one of packs and strings is.
    #[test]
    fn s2_12_slices_of_dimensions_are_refused() {
        for access in ["x[i,1:]", "x[i,::-1]", "x[i,:2]"] {
            assert_fires(&INDEX_TYPE, &in_lower(&format!("y[i,] += {access}, i < a;")));
        }
        assert_fires(&INDEX_TYPE, &in_lower("y[1:,] = 1.0;"));
        assert_silent(&in_lower("y[i,] += ps[1:] + .., i < a;"));
    }

    /// They would be zipped: the elements of a diagonal.
    #[test]
    fn s2_12_two_whole_dimensions_are_refused_on_the_right() {
        assert_fires(&INDEX_TYPE, &in_lower("y[i,] = x[:,:] + .., i < a;"));
        assert_silent(&in_lower("y[i,] = x[i,:] + .., i < a;"));
        assert_silent(&in_lower("y[:,] = 0.0;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_using("v = p[n]; u = p[m]; z = p[q];"));
    }
}
