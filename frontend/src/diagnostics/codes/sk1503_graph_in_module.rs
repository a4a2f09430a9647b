// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Only the main file has graphs; modules define operators (2.15).
pub static GRAPH_IN_MODULE: Code = Code {
    id: "SK1503",
    title: "an imported module has a graph",
    explanation: "\
Only the main file has graphs; modules define operators (2.15).

    graph Block { … }   # wrong: in an imported file
    operator Block { … }   # right
",
};

pub(super) use GRAPH_IN_MODULE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&GRAPH_IN_MODULE, &in_module("graph B { @input { x: real[2]; } @output { y: real[2]; } @compose { y = x; } }"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_module("operator B { @input { x: real[2]; } @output { y: real[2]; } @compose { y = x; } }"));
    }
}
