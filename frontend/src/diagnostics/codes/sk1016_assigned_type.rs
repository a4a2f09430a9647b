// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The assigned value must have the declared type (2.10).
pub static ASSIGNED_TYPE: Code = Code {
    id: "SK1016",
    title: "an output or variable is assigned another type",
    explanation: "\
The assigned value must have the declared type (2.10).

    @output { y: int[4]; } @compose { y = id(x); }   # wrong: x: real[4]
    @output { y: real[4]; } @compose { y = id(x); }   # right
",
};

pub(super) use ASSIGNED_TYPE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&ASSIGNED_TYPE, &in_compose("y = less(x);"));
    }

    /// The type that is written for a result holds.
    #[test]
    fn s2_16_fires_for_types_written_at_results() {
        assert_fires(&ASSIGNED_TYPE, &in_compose("t: int[4] = id(x); y = x;"));
        assert_fires(&ASSIGNED_TYPE, &in_compose("[s, t: bool[4], u] = xs; y = s;"));
    }

    /// An operator with the optional input z, and what it gives.
    fn optional(statement: &str) -> Document {
        in_document(&format!(
            "operator o {{ @input {{ x: real[n]; z: optional real[n]; }} @output {{ y: real[n]; }} @compose {{ {statement} }} }} \
             graph Main {{ @input {{ x: real[1]; }} @output {{ y: real[1]; }} @compose {{ y = x; }} }}"
        ))
    }

    #[test]
    fn s2_10_1_fires_where_outputs_may_be_null() {
        for statement in ["y = z;", "y = ?z ? x : z;"] {
            assert_fires(&ASSIGNED_TYPE, &optional(statement));
        }
        for statement in ["y = z ?? x;", "y = if ?z then z else x;", "y = ?z ? z : x;"] {
            assert_silent(&optional(statement));
        }
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("y = id(x);"));
        assert_silent(&in_compose("t: real[4] = id(x); y = t;"));
    }
}
