// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The types are int, real, bool, str and the names that `@dtype` declares (2.3).
pub static UNKNOWN_TYPE: Code = Code {
    id: "SK0301",
    title: "a type is not known",
    explanation: "\
The types are int, real, bool, str and the names that `@dtype` declares (2.3).

    @attrib { n: integer; }   # wrong
    @attrib { n: int; }   # right
",
};

pub(super) use UNKNOWN_TYPE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&UNKNOWN_TYPE, &in_document("operator o { @attrib { n: integer; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("operator o { @dtype { T: num; } @attrib { n: T; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }
}
