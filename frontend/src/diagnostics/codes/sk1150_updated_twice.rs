// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// One run gives a variable one new value (2.11).
pub static UPDATED_TWICE: Code = Code {
    id: "SK1150",
    title: "a variable is updated more than once",
    explanation: r#"Updates happen after the graph has been computed, each from the old values. If two invocations share a
variable, or an invocation stands in a loop, there would be several new values.

    a = n: norm(x);  b = n: norm(y);     # both update `n.mean`
    # rather
    a = n: norm(x);  b = m: norm(y);     # each has its own
"#,
};

pub(super) use UPDATED_TWICE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    fn document(components: &str) -> String {
        format!(
            "operator neg {{ @input {{ x: real[n]; }} @output {{ y: real[n]; }} @lower {{ y[i,] = -x[i,], i < n; }} }} \
             operator keep {{ @input {{ x: real[n]; }} @output {{ y: real[n]; }} @variable {{ w: real[n]; }} \
             @compose {{ y = neg(x); }} @update {{ w = y; }} }} \
             graph G {{ @input {{ x: real[4]; k: int[]; }} @output {{ y: real[4]; }} @compose {{ {components} }} }}"
        )
    }

    #[test]
    fn fires() {
        assert_fires(&UPDATED_TWICE, &document("a = one: keep(x); y = one: keep(a);"));
        assert_fires(&UPDATED_TWICE, &document("y = with a = x do..(k) keep(a);"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&document("a = one: keep(x); y = two: keep(a);"));
    }
}
