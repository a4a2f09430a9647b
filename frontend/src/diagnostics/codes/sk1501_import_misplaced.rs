// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Imports precede all definitions of the file (2.15).
pub static IMPORT_MISPLACED: Code = Code {
    id: "SK1501",
    title: "an import follows a definition",
    explanation: "\
Imports precede all definitions of the file (2.15).

    graph G { … }  import nn;   # wrong
    import nn;  graph G { … }   # right
",
};

pub(super) use IMPORT_MISPLACED as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&IMPORT_MISPLACED, &in_document("graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } } import other;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("import other; graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }
}
