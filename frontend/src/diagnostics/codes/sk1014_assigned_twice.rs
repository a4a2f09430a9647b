// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Outputs and intermediate tensors are assigned once; their names are unique (2.10).
pub static ASSIGNED_TWICE: Code = Code {
    id: "SK1014",
    title: "a tensor is assigned twice",
    explanation: "\
Outputs and intermediate tensors are assigned once; their names are unique (2.10).

    z = id(x); z = id(x); y = z;   # wrong
    z = id(x); u = id(z); y = u;   # right
",
};

pub(super) use ASSIGNED_TWICE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&ASSIGNED_TWICE, &in_compose("y = id(x); y = id(x);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("z = id(x); y = { z = id(x); yield z; };"));
    }
}
