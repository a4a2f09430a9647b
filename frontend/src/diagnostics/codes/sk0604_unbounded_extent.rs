// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Dynamic extents of the main graph and of operators without a composition have an upper bound (2.6).
pub static UNBOUNDED_EXTENT: Code = Code {
    id: "SK0604",
    title: "a dynamic extent has no upper bound",
    explanation: "\
Dynamic extents of the main graph and of operators without a composition have an upper bound (2.6).

    graph G { @input { x: real[~]; } … }   # wrong
    graph G { @input { x: real[~|10]; } … }   # right
",
};

pub(super) use UNBOUNDED_EXTENT as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&UNBOUNDED_EXTENT, &in_document("graph G { @input { x: real[s]; } @output { y: real[s]; } @compose { y = x; } }"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("graph G { @attrib { n: int = 2; } @input { x: real[s|10,n]; } @output { y: real[s,n]; } @compose { y = x; } }"));
    }
}
