// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// `@lower` computes every output (2.12).
pub static OUTPUT_WITHOUT_FORMULA: Code = Code {
    id: "SK1209",
    title: "an output has no formula",
    explanation: "\
`@lower` computes every output (2.12).

    @output { y: real[n]; z: real[n]; } @lower { y[i,] = 1.0, i < n; }   # wrong
    @output { y: real[n]; z: real[n]; } @lower { y[i,] = 1.0, i < n; z[i,] = 2.0, i < n; }   # right
",
};

pub(super) use OUTPUT_WITHOUT_FORMULA as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&OUTPUT_WITHOUT_FORMULA, &in_document("operator o { @output { y: real[2]; z: real[2]; } @lower { y[i,] = 1.0, i < 2; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("operator o { @output { y: real[2]; z: real[2]; } @lower { y[i,] = 1.0, i < 2; z[i,] = y[i,], i < 2; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }
}
