// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A formula reads other outputs only when their own formulas are done (2.12).
pub static OUTPUT_READ_EARLY: Code = Code {
    id: "SK1210",
    title: "an output is read before it is computed",
    explanation: "\
Formulas are computed one after the other; a formula reads its own output as of that step, and other outputs only
after the formulas that assign them (2.12).

    @lower { z[] += y[i,], i < n; y[i,] = x[i,] * 2.0, i < n; }   # wrong
    @lower { y[i,] = x[i,] * 2.0, i < n; z[] += y[i,], i < n; }   # right
",
};

pub(super) use OUTPUT_READ_EARLY as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    fn with(lower: &str) -> Document {
        in_document(&format!("operator o {{ @input {{ x: real[n]; }} @output {{ y: real[n]; z: real[]; ts: real[n]..(2); }} @lower {{ {lower} }} }} graph Main {{ @input {{ x: real[1]; }} @output {{ y: real[1]; }} @compose {{ y = x; }} }}"))
    }

    #[test]
    fn fires() {
        let packs = "ts[0][i,] = 1.0, i < n; ts[1][i,] = 2.0, i < n;";
        for lower in [
            "z[] += y[i,], i < n; y[i,] = x[i,] * 2.0, i < n;",
            "z[] += x[i,], i < n | y[i,] > 0.0; y[i,] = x[i,] * 2.0, i < n;",
            "y[i,] = 1.0, i < n; z[] += y[i,], i < n; y[i,] += x[i,], i < n;",
        ] {
            assert_fires(&OUTPUT_READ_EARLY, &with(&format!("{lower} {packs}")));
        }
        assert_fires(
            &OUTPUT_READ_EARLY,
            &with(&format!("y[i,] = ts[0][i,], i < n; z[] = 0.0; {packs}")),
        );
    }

    #[test]
    fn near_miss() {
        for lower in [
            "y[i,] = x[i,] * 2.0, i < n; z[] += y[i,], i < n; ts[0][i,] = y[i,], i < n; ts[1][i,] = ts[0][i,] + z[], i < n;",
            "z[] = real(y.rank); y[i,] = i > 0 ? y[i - 1,] : 1.0, i < n; ts[0][i,] = 1.0, i < n; ts[1][i,] = 2.0, i < n;",
        ] {
            assert_silent(&with(lower));
        }
    }
}
