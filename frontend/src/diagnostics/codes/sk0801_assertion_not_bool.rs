// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The condition of an assertion is a bool or a pack of bools (2.8).
pub static ASSERTION_NOT_BOOL: Code = Code {
    id: "SK0801",
    title: "an assertion is not a bool",
    explanation: "\
The condition of an assertion is a bool or a pack of bools (2.8).

    @assert { n + 1; }   # wrong
    @assert { n + 1 > 0; }   # right
",
};

pub(super) use ASSERTION_NOT_BOOL as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&ASSERTION_NOT_BOOL, &in_document("operator o { @attrib { n: int; } @assert { n + 1; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document(r#"operator o { @attrib { n: int; p: int..; } @assert { n + 1 > 0: "got {n}", n; p > 0; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"#));
    }
}
