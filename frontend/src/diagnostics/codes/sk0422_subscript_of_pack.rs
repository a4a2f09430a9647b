// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A pack takes one index, one pack of indices, or one range; several indices, guards and trailing commas are
/// for tensors (2.4).
pub static SUBSCRIPT_OF_PACK: Code = Code {
    id: "SK0422",
    title: "the brackets do not fit a pack",
    explanation: "\
A pack takes one index, one pack of indices, or one range; several indices, guards and trailing commas are for
tensors (2.4).

    v = p[0, 1];   # wrong
    v = p[[0, 1]];   # right
",
};

pub(super) use SUBSCRIPT_OF_PACK as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&SUBSCRIPT_OF_PACK, &in_using("v = p[0, 1];"));
    }

    #[test]
    fn fires_for_guards_and_says_so() {
        let document = "operator o { @input { xs: real[n]..(k); } @output { y: real[n]; } \
            @lower { y[i,] += xs[|j - 1|][i,], i < n, j < k; } }";
        let found = check(&in_module(document));
        let [one] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!(one.code.id, SUBSCRIPT_OF_PACK.id);
        assert!(one.message.contains("bars guard"), "{}", one.message);
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_using("v = p[[0, 1]]; u = p[0:1];"));
    }
}
