// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The declared shape has more or fewer dimensions than the tensor, or an access more or fewer indices (2.6).
pub static RANK_MISMATCH: Code = Code {
    id: "SK0650",
    title: "a tensor has the wrong rank",
    explanation: "The declared shape has more or fewer dimensions than the tensor, or an access more or fewer indices (2.6).\n\
        \n    x: real[m,n] invoked with a tensor of shape [2,3,4]\n    # rather\n    x: real[m,n] invoked with a tensor of shape [2,3]\n",
};

pub(super) use RANK_MISMATCH as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&RANK_MISMATCH, &with_operator("@input { a: real[n,m]; } @output { b: real[n]; } @lower { b[i,] = 0.0, i < n; }", "y = f(x);"));
    }

    #[test]
    fn s2_3_tensors_of_a_pack_have_one_rank() {
        let operator = "@input { a: real[s..]; } @output { b: real[s..]; } @lower { b[i..] = a[i..], i < s; }";
        let graph = |components: &str| {
            with_operator(operator, components).replace("z: real[3];", "z: real[3]; m: real[2,3];")
        };
        for components in [
            "p.. = [x, m]; y = x;",
            "p..(2) = [z, m]; y = x;",
            "p..(2) = for e : [x, m] do f(e); y = x;",
            "p..(2) = with e = [x, m] do..(2) [x, x]; y = x;",
        ] {
            assert_fires(&RANK_MISMATCH, &graph(components));
        }
        assert_composes(&graph("p..(2) = [x, z]; q..(2) = for e : p do f(e); y = q[0];"));
        // Nothing is named a pack here.
        assert_composes(&graph("[y, w] = [x, m];"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = f(x);"));
    }
}
