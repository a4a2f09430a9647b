// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Operators and graphs of one file have different names (2.15).
pub static DUPLICATE_DEFINITION: Code = Code {
    id: "SK1502",
    title: "an operator or graph is defined twice",
    explanation: "\
Operators and graphs of one file have different names (2.15).

    operator f { … }  operator f { … }   # wrong
    operator f { … }  operator g { … }   # right
",
};

pub(super) use DUPLICATE_DEFINITION as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&DUPLICATE_DEFINITION, &in_document("operator f { } operator f { } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("operator f { } operator g { } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }
}
