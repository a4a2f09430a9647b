// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Extents, ranks, lengths of packs, upper bounds and bounds of indices are ints (2.6).
pub static EXTENT_TYPE: Code = Code {
    id: "SK0601",
    title: "an extent, length or bound is not an int",
    explanation: "\
Extents, ranks, lengths of packs, upper bounds and bounds of indices are ints (2.6).

    @output { y: real[1.5]; }   # wrong
    @output { y: real[2]; }   # right
",
};

pub(super) use EXTENT_TYPE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&EXTENT_TYPE, &in_document("operator o { @input { x: real[n]; } @output { y: real[n,1.5]; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("operator o { @input { x: real[n]; } @output { y: real[n,n + 1]; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }
}
