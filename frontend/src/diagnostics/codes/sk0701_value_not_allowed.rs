// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The values of variables lie in data files; outputs are assigned in `@compose` or `@lower` (2.7).
pub static VALUE_NOT_ALLOWED: Code = Code {
    id: "SK0701",
    title: "a variable or output has a value",
    explanation: "\
The values of variables lie in data files; outputs are assigned in `@compose` or `@lower` (2.7).

    @variable { w: real[6] = 1.0; }   # wrong
    @constant { w: real[6] = 1.0; }   # right
",
};

pub(super) use VALUE_NOT_ALLOWED as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&VALUE_NOT_ALLOWED, &in_document("operator o { @variable { w: real[6] = 1.0; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("operator o { @constant { w: real[6] = 1.0; } @variable { v: real[6]; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }
}
