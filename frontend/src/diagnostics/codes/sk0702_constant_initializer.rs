// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A constant has a value of its type: one for all elements, a flat list of all elements, or an expression of
/// index symbols. A pack of constants has a stated length and a list with one value per constant (2.7).
pub static CONSTANT_INITIALIZER: Code = Code {
    id: "SK0702",
    title: "the value of a constant does not fit",
    explanation: "\
A constant has a value of its type: one for all elements, a flat list of all elements, or an expression of
index symbols. A pack of constants has a stated length and a list with one value per constant (2.7).

    @constant { c: real[3] = [1.0, 2.0]; }   # wrong
    @constant { c: real[3] = [1.0, 2.0, 3.0]; }   # right
",
};

pub(super) use CONSTANT_INITIALIZER as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&CONSTANT_INITIALIZER, &in_document("operator o { @constant { c: real[3] = [1.0, 2.0]; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("operator o { @constant { c: real[3] = [1.0, 2.0, 3.0]; d: real[2,2] = i == j ? 1 : 0, i < 2, j < 2; e: real[2]..(2) = [1.0, 2.0]; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }
}
