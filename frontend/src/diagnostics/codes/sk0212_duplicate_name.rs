// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Attributes, inputs, helpers, constants, variables, outputs and types of one definition have different
/// names (2.2).
pub static DUPLICATE_NAME: Code = Code {
    id: "SK0212",
    title: "a name is declared twice",
    explanation: "\
Attributes, inputs, helpers, constants, variables, outputs and types of one definition have different names
(2.2).

    @attrib { n: int; } @input { n: real[2]; }   # wrong
    @attrib { n: int; } @input { x: real[2]; }   # right
",
};

pub(super) use DUPLICATE_NAME as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&DUPLICATE_NAME, &in_document("operator o { @attrib { n: int; } @input { n: real[2]; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("operator o { @attrib { n: int; } @input { x: real[n]; y: real[n]; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }
}
