// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A loop needs a `for` clause, a count or a condition, and the pack of its results a bound (2.10, 2.10.1).
pub static LOOP_WITHOUT_END: Code = Code {
    id: "SK1055",
    title: "the number of iterations of a loop is unknown",
    explanation: "\
A loop needs a `for` clause, a count or a condition (2.10.1).

    with a = x do f(a)
    # rather
    with a = x do..(3) f(a)

Packed results have a declared length (2.10). If a condition or a tensor ends the loop, memory is allocated for the
largest number of results: by a `for` clause, a count, or the length of the pack.

    ~, ys.. = with a = x do { b = f(a); yield b, b; } while c(a);
    # rather, for exactly 3, or up to 8
    ~, ys..(3) = with a = x do { b = f(a); yield b, b; } while c(a);
    ~, ys..(n|8) = with a = x do { b = f(a); yield b, b; } while c(a);
",
};

pub(super) use LOOP_WITHOUT_END as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&LOOP_WITHOUT_END, &with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = with p = x do f(p);"));
    }

    #[test]
    fn s2_10_packed_results_have_a_bound() {
        let text = |length: &str| {
            with_operator(
                "@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }",
                &format!("y, ys..{length} = with p = x do {{ q = f(p); yield q, q; }} while flag;"),
            )
        };
        assert_fires(&LOOP_WITHOUT_END, &text(""));
        assert_composes(&text("(3)"));
        assert_composes(&text("(n|8)"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = with p = x do..(2) f(p);"));
    }
}
