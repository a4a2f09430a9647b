// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A default value has the declared type (an int is converted to a real); a pack takes one value for all items,
/// a single value accepts no pack (2.5).
pub static DEFAULT_TYPE: Code = Code {
    id: "SK0503",
    title: "a default value does not fit",
    explanation: "\
A default value has the declared type (an int is converted to a real). A pack accepts one value for all items; a
single value accepts no pack (2.5).

    @attrib { a: int = 1.5; }   # wrong
    @attrib { a: real = 1.5; }   # right
",
};

pub(super) use DEFAULT_TYPE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&DEFAULT_TYPE, &in_document("operator o { @attrib { a: int = 1.5; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("operator o { @attrib { a: real = 1; b: int..(2) = 0; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }
}
