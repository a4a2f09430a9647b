// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The left side of `??` is optional, the right side is not (2.4).
pub static COALESCE_OPTIONALITY: Code = Code {
    id: "SK0412",
    title: "`??` is used on the wrong side",
    explanation: "\
The left side of `??` is optional, the right side is not (2.4).

    v = 3 ?? 4;   # wrong
    v = o ?? 4;   # right: o: optional int
",
};

pub(super) use COALESCE_OPTIONALITY as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&COALESCE_OPTIONALITY, &in_using("v = n ?? 4;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_using("v = o ?? 4; u = (p >> ..) ?? 0;"));
    }
}
