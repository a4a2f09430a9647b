// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A single value is repeated to the length of the pack, which some attribute or input must determine (2.6.1).
pub static UNIFORM_LENGTH_UNKNOWN: Code = Code {
    id: "SK0552",
    title: "a single value is given for a pack of unknown length",
    explanation: "A single value is repeated to the length of the pack, which some attribute or input must determine (2.6.1).\n\
        \n    a: int..(q) = 0;   # nothing else determines q\n    # rather\n    a: int..(q) = [0, 0];\n",
};

pub(super) use UNIFORM_LENGTH_UNKNOWN as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&UNIFORM_LENGTH_UNKNOWN, &with_operator("@attrib { s: int..(q) = 0; } @input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = f(x);"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_operator("@attrib { s: int..(n) = 0; } @input { a: real[n]; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }", "y = f(x);"));
    }
}
