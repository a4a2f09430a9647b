// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The computed tensor must have the declared type, rank and extents of the output (2.10).
pub static OUTPUT_MISMATCH: Code = Code {
    id: "SK0655",
    title: "a result does not fit the declared output",
    explanation: "The computed tensor must have the declared type, rank and extents of the output (2.10).\n\
        \n    y: real[2] computed as a tensor of shape [3]\n    # rather\n    y: real[3]\n",
};

pub(super) use OUTPUT_MISMATCH as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&OUTPUT_MISMATCH, &with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = f(z);"));
    }

    /// The shape that is written for a result holds; so does an extent that it names.
    #[test]
    fn s2_16_fires_for_shapes_written_at_results() {
        let f = "@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }";
        for wrong in [
            "t: real[3] = f(x); y = t;",
            "t: real[2,2] = f(x); y = t;",
            "y: real[3] = f(x);",
            "[y, t: real[3]] = [x, x];",
            "ts: real[3]..(2) = [x, x]; y = ts[0];",
            "t: real[3] = if flag then f(x) else f(x); y = x;",
        ] {
            assert_fires(&OUTPUT_MISMATCH, &with_operator(f, wrong));
        }
        for right in [
            "t: real[4] = f(x); y = t;",
            "t: real[~] = f(x); y = t;",
            "y: real[4] = f(x);",
            "[y, t: real[3]] = [x, z];",
            "ts: real[4]..(2) = [x, x]; y = ts[0];",
            "t: real[s|8] = f(x); u: real[s] = f(t); y = u;",
            "t: real[] = 1; y = x;",
        ] {
            assert_composes(&with_operator(f, right));
        }
    }

    #[test]
    fn s2_10_loop_variables_start_as_they_are_declared() {
        let operator = "@input { a: real[s..]; } @output { b: real[s..]; } @lower { b[i..] = a[i..], i < s; }";
        let graph = |components: &str| {
            with_operator(operator, components).replace("z: real[3];", "z: real[3]; m: real[2,4]; c: real[];")
        };
        for start in [
            "real[4,4] = x",
            "real[3] = x",
            "real[2,3] = m",
            "real[4] = c",
        ] {
            for steps in ["do..(2)", "unroll..(2)", "while flag do", "do..(200)"] {
                assert_fires(&OUTPUT_MISMATCH, &graph(&format!("r = with a: {start} {steps} f(a); y = x;")));
            }
        }
        assert_fires(&OUTPUT_MISMATCH, &graph("r..(2) = with a: real[3]..(2) = [z, x] do..(2) [z, z]; y = x;"));
        assert_composes(&graph("y = with a: real[4] = x do..(2) f(a);"));
        assert_composes(&graph("y = with a: real[4] = 0.0 do..(2) f(a);"));
        assert_composes(&graph("r..(2) = with a: real[~]..(2) = [z, x] do..(2) [z, x]; y = x;"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = f(x);"));
    }
}
