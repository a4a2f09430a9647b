// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Outputs, constants and variables always have a value; only attributes and inputs may be absent (2.5-2.7).
pub static NEVER_ABSENT: Code = Code {
    id: "SK0703",
    title: "an output, constant or variable is declared as optional",
    explanation: "\
Outputs, constants and variables always have a value; only attributes and inputs may be absent (2.5-2.7).

    @variable { w: optional real[2]; }   # wrong
    @variable { w: real[2]; }   # right
",
};

pub(super) use NEVER_ABSENT as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    fn with(block: &str) -> Document {
        in_document(&format!("graph Main {{ @input {{ x: real[1]; }} @output {{ y: real[1]; }} {block} @compose {{ y = x; }} }}"))
    }

    #[test]
    fn fires() {
        assert_fires(&NEVER_ABSENT, &with("@variable { w: optional real[2]; }"));
        assert_fires(&NEVER_ABSENT, &with("@constant { c: optional real[] = 1.0; }"));
        assert_fires(&NEVER_ABSENT, &in_document("operator o { @input { x: real[n]; } @output { y: optional real[n]; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&with("@constant { c: real[] = 1.0; } @variable { w: real[2]; }"));
    }
}
