// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A default value may use other attributes, but not in a cycle (2.5).
pub static DEFAULT_CYCLE: Code = Code {
    id: "SK0504",
    title: "default values depend on each other",
    explanation: "\
A default value may use other attributes, but not in a cycle (2.5).

    @attrib { a: int = b; b: int = a; }   # wrong
    @attrib { a: int = b; b: int = 1; }   # right
",
};

pub(super) use DEFAULT_CYCLE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&DEFAULT_CYCLE, &in_document("operator o { @attrib { a: int = b; b: int = a; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("operator o { @attrib { a: int = b; b: int = 1; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }
}
