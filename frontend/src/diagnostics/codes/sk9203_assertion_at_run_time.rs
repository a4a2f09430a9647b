// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// An assertion about dynamic extents (2.8, 3.1).
pub static ASSERTION_AT_RUN_TIME: Code = Code {
    id: "SK9203",
    title: "an assertion does not hold for the dynamic extents",
    explanation: r#"A condition of an `@assert` block over dynamic extents is tested at run time. The message shows the values; the notes
list the invocations that lead to it.

    x: real[n|10];            # n comes with the input
    y = pairs(x);             # asserts n % 2 == 0: pass an x of even length
"#,
};

pub(super) use ASSERTION_AT_RUN_TIME as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use crate::compose::testing::*;
    use crate::model::CheckKind;

    fn checks(condition: &str) -> usize {
        let text = format!(
            "operator f {{ @input {{ a: real[n]; }} @output {{ b: real[n]; }} @assert {{ {condition}: 'odd', n; }} \
             @lower {{ b[i,] = a[i,], i < n; }} }} \
             graph G {{ @input {{ x: real[s|10]; }} @output {{ y: real[s]; }} @compose {{ y = f(x); }} }}"
        );
        let model = composed(&text).unwrap();
        let all = model.functions.iter().flat_map(|f| &f.checks);
        all.filter(|c| c.kind == CheckKind::Assertion).count()
    }

    #[test]
    fn fires() {
        assert_eq!(checks("n % 2 == 0"), 1);
    }

    /// What the bound decides needs no test.
    #[test]
    fn near_miss() {
        assert_eq!(checks("n <= 10 && n >= 0"), 0);
    }
}
