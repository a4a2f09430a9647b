// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Every output that is not optional is assigned in `@compose` (2.10).
pub static OUTPUT_NOT_ASSIGNED: Code = Code {
    id: "SK1013",
    title: "an output is not assigned",
    explanation: "\
Every output that is not optional is assigned in `@compose` (2.10).

    @output { y: real[2]; z: real[2]; } @compose { y = id(x); }   # wrong
    @output { y: real[2]; z: real[2]; } @compose { y = id(x); z = id(y); }   # right
",
};

pub(super) use OUTPUT_NOT_ASSIGNED as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&OUTPUT_NOT_ASSIGNED, &in_compose("z = id(x);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("z = id(x); y = id(z);"));
    }
}
