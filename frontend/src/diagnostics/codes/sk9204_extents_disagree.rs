// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Extents that must agree are different in this run (2.6, 3.1).
pub static EXTENTS_DISAGREE: Code = Code {
    id: "SK9204",
    title: "dynamic extents that must agree are different",
    explanation: r#"If several extents have one name, or an expression declares an extent, and some of them are dynamic, they are compared
at run time.

    x: real[n|10]; y: real[m|10];
    z = add(x, y);            # needs n == m: pass arrays of one length
"#,
};

pub(super) use EXTENTS_DISAGREE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use crate::compose::testing::*;

    fn checks(second: &str) -> usize {
        let text = format!(
            "operator add {{ @input {{ a: real[n]; b: real[n]; }} @output {{ c: real[n]; }} \
             @lower {{ c[i,] = a[i,] + b[i,], i < n; }} }} \
             graph G {{ @input {{ x: real[s|10]; y: real[{second}]; }} @output {{ z: real[s]; }} \
             @compose {{ z = add(x, y); }} }}"
        );
        let model = composed(&text).unwrap();
        model.functions.iter().map(|f| f.checks.len()).sum()
    }

    #[test]
    fn fires() {
        assert_eq!(checks("t|10"), 1);
    }

    #[test]
    fn near_miss() {
        assert_eq!(checks("s"), 0);
    }
}
