// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Extents of one name agree, so they have one upper bound (2.6).
pub static BOUNDS_DIFFER: Code = Code {
    id: "SK0605",
    title: "one name has two upper bounds",
    explanation: "\
Extents of one name agree, so they have one upper bound (2.6).

    @input { x: real[s|10]; y: real[s|8]; }   # wrong
    @input { x: real[s|10]; y: real[s]; }   # right
",
};

pub(super) use BOUNDS_DIFFER as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&BOUNDS_DIFFER, &in_document("graph G { @input { x: real[s|10]; z: real[s|8]; } @output { y: real[s]; } @compose { y = x; } }"));
    }

    #[test]
    fn s2_6_fires_for_outputs() {
        let outputs = |outputs: &str| {
            in_document(&format!(
                "operator o {{ @input {{ x: real[n]; }} @output {{ {outputs} }} }} \
                 graph Main {{ @input {{ x: real[1]; }} @output {{ y: real[1]; }} @compose {{ y = x; }} }}"
            ))
        };
        assert_fires(&BOUNDS_DIFFER, &outputs("y: real[k|n]; z: real[k|n + 1];"));
        assert_silent(&outputs("y: real[k|2 * n]; z: real[k|n + n]; w: real[k]; v: real[n|n];"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("graph G { @input { x: real[s|10]; z: real[s]; } @output { y: real[s]; } @compose { y = x; } }"));
    }
}
