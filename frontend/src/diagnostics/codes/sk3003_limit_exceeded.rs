// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Limits keep a document from exhausting time and memory.
pub static LIMIT_EXCEEDED: Code = Code {
    id: "SK3003",
    title: "the model is larger than a limit",
    explanation: "Limits keep a document from exhausting time and memory; `skript explain limits` lists them,\n\
        `--limit unrolled=N` sets one.\n\
        \n    unroll..(100000000) …\n    # rather\n    do..(100000000) …\n",
};

pub(super) use LIMIT_EXCEEDED as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    fn unrolled(count: &str) -> String {
        with_operator(
            "@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }",
            &format!("y = with p = x unroll..({count}) f(p);"),
        )
    }

    #[test]
    fn fires() {
        assert_fires(&LIMIT_EXCEEDED, &unrolled("100000"));
    }

    #[test]
    fn nested_unrolling_fires_by_its_product() {
        let nested = |outer: u32, inner: u32| {
            with_operator(
                "@input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }",
                &format!(
                    "y = with p = x unroll..({outer}) {{ q = with r = p unroll..({inner}) f(r); yield q; }};"
                ),
            )
        };
        assert_fires(&LIMIT_EXCEEDED, &nested(500, 500));
        assert_fires(&LIMIT_EXCEEDED, &nested(2, 40000));
        assert_composes(&nested(20, 30));
    }

    /// Operators that each invoke the next one three times.
    fn chain(length: u32) -> String {
        let step = |n: u32| {
            format!(
                "operator f{n} {{ @input {{ a: real[]; }} @output {{ b: real[]; }} \
                 @compose {{ p = f{m}(a); q = f{m}(p); b = f{m}(q); }} }}",
                m = n + 1
            )
        };
        let steps: String = (0..length).map(step).collect();
        format!(
            "{steps} operator f{length} {{ @input {{ a: real[]; }} @output {{ b: real[]; }} @lower {{ b[] = a[]; }} }} \
             graph G {{ @input {{ x: real[]; }} @output {{ y: real[]; }} @compose {{ y = f0(x); }} }}"
        )
    }

    #[test]
    fn shared_instances_fire_by_how_often_they_are_reached() {
        assert_fires(&LIMIT_EXCEEDED, &chain(40));
        assert_fires(&LIMIT_EXCEEDED, &chain(13));
        assert_composes(&chain(10));
    }

    fn summed(terms: usize) -> String {
        with_operator(
            &format!(
                "@input {{ a: real[n]; }} @using {{ k = [0:{terms}]; }} @constant {{ c: int[{terms}] = i, i < {terms}; }} \
                 @output {{ b: real[n]; }} @lower {{ b[i,] = a[|c[k,] + ..|,], i < n; }}"
            ),
            "y = f(x);",
        )
    }

    #[test]
    fn long_sums_fire() {
        let most = crate::limits::Limits::default().polynomial_terms;
        assert_fires(&LIMIT_EXCEEDED, &summed(most + 1));
        assert_composes(&summed(200));
    }

    #[test]
    fn near_miss() {
        assert_composes(&unrolled("100"));
    }
}
