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
