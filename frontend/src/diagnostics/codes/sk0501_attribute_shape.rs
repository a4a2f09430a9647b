// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Attributes are compile-time values and packs of them, not tensors (2.5).
pub static ATTRIBUTE_SHAPE: Code = Code {
    id: "SK0501",
    title: "an attribute has a shape",
    explanation: "\
Attributes are compile-time values and packs of them, not tensors (2.5).

    @attrib { a: int[3]; }   # wrong
    @attrib { a: int..(3); }   # right
",
};

pub(super) use ATTRIBUTE_SHAPE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&ATTRIBUTE_SHAPE, &in_document("operator o { @attrib { a: int[3]; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("operator o { @attrib { a: int..(3); } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }
}
