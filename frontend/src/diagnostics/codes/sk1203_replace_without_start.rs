// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// `:=` replaces elements that an earlier formula with `=` has set (2.12).
pub static REPLACE_WITHOUT_START: Code = Code {
    id: "SK1203",
    title: "`:=` has nothing to replace",
    explanation: "\
`:=` replaces elements that an earlier formula with `=` has set (2.12).

    y[i,] := x[i,], i < n;   # wrong
    y[i,] = 0.0, i < n; y[i,] := x[i,], i < n;   # right
",
};

pub(super) use REPLACE_WITHOUT_START as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&REPLACE_WITHOUT_START, &in_lower("y[i,] := line[i,], i < a;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_lower("y[i,] = 0.0, i < a; y[i,] := line[i,], i < a;"));
    }
}
