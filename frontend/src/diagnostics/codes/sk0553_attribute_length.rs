// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The declared length of a pack must equal the length of the value (2.5, 2.6.1).
pub static ATTRIBUTE_LENGTH: Code = Code {
    id: "SK0553",
    title: "a pack does not have the declared length",
    explanation: "The declared length of a pack must equal the length of the value (2.5, 2.6.1).\n\
        \n    a: int..(2) given as [1, 2, 3]\n    # rather\n    a: int..(2) given as [1, 2]\n",
};

pub(super) use ATTRIBUTE_LENGTH as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&ATTRIBUTE_LENGTH, &with_operator("@input { a: real[n]; } @variable { w: real[n]..; } @output { b: real[n]; } @compose { b = pass(a); }", "y = f(x);"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@input { a: real[n]; } @variable { w: real[n]..(2); } @output { b: real[n]; } @compose { b = pass(a); }", "y = f(x);"));
    }
}
