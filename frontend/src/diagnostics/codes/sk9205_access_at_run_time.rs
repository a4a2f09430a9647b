// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// An index leaves its tensor in this run (2.12).
pub static ACCESS_AT_RUN_TIME: Code = Code {
    id: "SK9205",
    title: "an index is out of bounds at run time",
    explanation: r#"An index that depends on dynamic extents is tested at run time.

    operator last { @input { x: real[n]; } @output { y: real[]; } @lower { y[] = x[n - 1,]; } }
    x: real[s|10]; y = last(x);   # needs s > 0

Guard the index, as in `x[|n - 1|,]`, to skip the step instead.
"#,
};

pub(super) use ACCESS_AT_RUN_TIME as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use crate::compose::testing::*;
    use crate::model::CheckKind;

    fn checks(index: &str) -> usize {
        let text = format!(
            "operator last {{ @input {{ x: real[n]; }} @output {{ y: real[]; }} @lower {{ y[] = x[{index},]; }} }} \
             graph G {{ @input {{ x: real[s|10]; }} @output {{ y: real[]; }} @compose {{ y = last(x); }} }}"
        );
        let model = composed(&text).unwrap();
        let all = model.functions.iter().flat_map(|f| &f.checks);
        all.filter(|c| c.kind == CheckKind::Access).count()
    }

    #[test]
    fn fires() {
        assert_eq!(checks("n - 1"), 1);
    }

    #[test]
    fn near_miss() {
        assert_eq!(checks("|n - 1|"), 0);
    }
}
