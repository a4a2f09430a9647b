// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The right side has the type of the output; nothing is converted by itself. A single tensor takes single
/// values (2.12).
pub static FORMULA_TYPE: Code = Code {
    id: "SK1205",
    title: "the value of a formula has another type than the output",
    explanation: "\
The right side has the type of the output; there are no implicit conversions. A single tensor receives single values
(2.12).

    y[i,] = i, i < n;   # wrong: y: real[n]
    y[i,] = real(i), i < n;   # right
",
};

pub(super) use FORMULA_TYPE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&FORMULA_TYPE, &in_lower("y[i,] = i, i < a;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_lower("y[i,] = real(i), i < a;"));
    }
}
