// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The condition of `?` and `?:` is a bool or a pack of bools (2.4).
pub static CONDITION_NOT_BOOL: Code = Code {
    id: "SK0411",
    title: "the condition of `?` is not a bool",
    explanation: "\
The condition of `?` and `?:` is a bool or a pack of bools (2.4).

    v = n ? 1 : 2;   # wrong
    v = n != 0 ? 1 : 2;   # right
",
};

pub(super) use CONDITION_NOT_BOOL as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&CONDITION_NOT_BOOL, &in_using("v = n ? 1 : 2;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_using("v = n > 0 ? 1 : 2; u = m ? p : 0;"));
    }
}
