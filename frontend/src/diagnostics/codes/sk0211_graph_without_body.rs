// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A graph is composed of operators; only operators may omit the body (2.6).
pub static GRAPH_WITHOUT_BODY: Code = Code {
    id: "SK0211",
    title: "a graph has no body",
    explanation: "\
A graph is composed of operators; only operators may omit the body (2.6).

    graph G { @input { x: real[2]; } @output { y: real[2]; } }   # wrong
    graph G { @input { x: real[2]; } @output { y: real[2]; } @compose { y = x; } }   # right
",
};

pub(super) use GRAPH_WITHOUT_BODY as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&GRAPH_WITHOUT_BODY, &in_document("graph G { @input { x: real[2]; } @output { y: real[2]; } }"));
        let formulas = "@lower { y[i,] = x[i,], i < 2; }";
        for body in [formulas.to_string(), format!("{formulas} @compose {{ y = x; }}")] {
            let graph = format!("graph G {{ @input {{ x: real[2]; }} @output {{ y: real[2]; }} {body} }}");
            assert_fires(&GRAPH_WITHOUT_BODY, &in_document(&graph));
        }
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("operator o { @input { x: real[n]; } @output { y: real[n]; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }
}
