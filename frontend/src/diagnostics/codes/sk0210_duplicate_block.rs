// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// An operator or graph has at most one block of each kind (2.2).
pub static DUPLICATE_BLOCK: Code = Code {
    id: "SK0210",
    title: "a block occurs twice",
    explanation: "\
An operator or graph has at most one block of each kind (2.2).

    @attrib { a: int; } @attrib { b: int; }   # wrong
    @attrib { a: int; b: int; }   # right
",
};

pub(super) use DUPLICATE_BLOCK as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&DUPLICATE_BLOCK, &in_document("operator o { @attrib { a: int; } @attrib { b: int; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("operator o { @attrib { a: int; b: int; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }
}
