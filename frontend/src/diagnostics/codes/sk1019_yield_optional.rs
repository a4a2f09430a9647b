// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Yielded results are never optional (2.10.1).
pub static YIELD_OPTIONAL: Code = Code {
    id: "SK1019",
    title: "a block yields something that may be null",
    explanation: "\
Yielded results are never optional (2.10.1), nor is an expression that is a branch or the body of a loop.

    y = { yield z; };   # wrong: z: an optional input
    y = if ?z then { yield z; } else { yield x; };   # right
",
};

pub(super) use YIELD_OPTIONAL as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&YIELD_OPTIONAL, &in_document("operator o { @input { x: real[n]; z: optional real[n]; } @output { y: real[n]; } @compose { y = { yield z; }; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }

    /// What stands alone as a branch or as a loop's body is yielded as well.
    #[test]
    fn s2_10_1_fires_where_branches_may_be_null() {
        let optional = |statement: &str| {
            in_document(&format!(
                "operator o {{ @input {{ x: real[n]; z: optional real[n]; }} @output {{ y: real[n]; }} @compose {{ {statement} }} }} \
                 graph Main {{ @input {{ x: real[1]; }} @output {{ y: real[1]; }} @compose {{ y = x; }} }}"
            ))
        };
        for statement in [
            "y = if ?z then x else z;",
            "y = if ?z then x elif x.rank == 1 then z else x;",
            "y = with s = x do..(2) z;",
        ] {
            assert_fires(&YIELD_OPTIONAL, &optional(statement));
        }
        assert_silent(&optional("y = if ?z then z else x;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("operator o { @input { x: real[n]; z: optional real[n]; } @output { y: real[n]; } @compose { y = if ?z then { yield z; } else { yield x; }; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }
}
