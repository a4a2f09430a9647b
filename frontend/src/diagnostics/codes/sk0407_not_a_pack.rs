// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Indexing, folds, zips, `in`, `<-` and `for` require packs (2.4).
pub static NOT_A_PACK: Code = Code {
    id: "SK0407",
    title: "a value is not a pack",
    explanation: "\
Indexing, folds, zips, `in`, `<-` and `for` require packs (2.4).

    @attrib { n: int; } @using { v = n + ..; }   # wrong
    @attrib { n: int..; } @using { v = n + ..; }   # right
",
};

pub(super) use NOT_A_PACK as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&NOT_A_PACK, &in_using("v = n[0];"));
    }

    #[test]
    fn s2_3_extents_of_each_tensor_are_those_of_packs() {
        let graph = |shape: &str| {
            let text = format!("operator f {{ @input {{ x: real{shape}; }} @output {{ y: real[3]; }} }}");
            in_document(&format!("{text} graph G {{ @input {{ x: real[3]; }} @output {{ y: real[3]; }} @compose {{ y = x; }} }}"))
        };
        assert_fires(&NOT_A_PACK, &graph("[..n]"));
        assert_fires(&NOT_A_PACK, &graph("[m,..n]"));
        assert_silent(&graph("[m,..n]..(k)"));
        assert_silent(&graph("[n..]"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_using("v = p[0]; u = w[0];"));
    }
}
