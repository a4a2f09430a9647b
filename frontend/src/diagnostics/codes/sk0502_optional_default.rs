// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// An optional attribute is null if the invocation does not set it, so it cannot have another default (2.5).
pub static OPTIONAL_DEFAULT: Code = Code {
    id: "SK0502",
    title: "an optional attribute has a default value",
    explanation: "\
An optional attribute is null if the invocation does not set it, so it cannot have another default (2.5).

    @attrib { a: optional int = 3; }   # wrong
    @attrib { a: int = 3; }   # right
",
};

pub(super) use OPTIONAL_DEFAULT as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&OPTIONAL_DEFAULT, &in_document("operator o { @attrib { a: optional int = 3; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("operator o { @attrib { a: int = 3; b: optional int; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }
}
