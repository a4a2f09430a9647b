// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The main file defines at least one graph (2.15).
pub static NO_GRAPH: Code = Code {
    id: "SK1504",
    title: "the main file has no graph",
    explanation: "\
The main file defines at least one graph (2.15).

    operator f { … }   # wrong
    operator f { … }  graph G { … }   # right
",
};

pub(super) use NO_GRAPH as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&NO_GRAPH, &in_document("operator f { }"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("operator f { } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }
}
