// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The value must have the declared type, and be a pack where a pack is declared (2.5).
pub static ATTRIBUTE_VALUE: Code = Code {
    id: "SK0551",
    title: "an attribute's value does not fit its declaration",
    explanation: "The value must have the declared type, and be a pack where a pack is declared (2.5).\n\
        \n    relu{alpha='big'}(x)\n    # rather\n    relu{alpha=0.5}(x)\n",
};

pub(super) use ATTRIBUTE_VALUE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&ATTRIBUTE_VALUE, &with_operator("@attrib { s: real; } @input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = f{s='a'}(x);"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@attrib { s: real; } @input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = f{s=1}(x);"));
    }
}
