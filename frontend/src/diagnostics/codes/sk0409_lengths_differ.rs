// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Operands that are combined item by item, zipped packs, masks and replaced items have equal lengths (2.4).
pub static LENGTHS_DIFFER: Code = Code {
    id: "SK0409",
    title: "packs have different lengths",
    explanation: "\
Operands that are combined item by item, zipped packs, masks and replaced items have equal lengths (2.4).

    v = [1, 2] + [1, 2, 3];   # wrong
    v = [1, 2] + [1, 2];   # right
",
};

pub(super) use LENGTHS_DIFFER as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&LENGTHS_DIFFER, &in_using("v = [p.., 1] + q;"));
    }

    /// Defaults of attributes and inputs as well, whatever the invocation.
    #[test]
    fn s2_6_defaults_have_the_declared_length() {
        let document = |declarations: &str| {
            in_document(&format!(
                "operator o {{ {declarations} @output {{ y: real[1]; }} @lower {{ y[i,] = 0.0, i < 1; }} }} \
                 graph G {{ @input {{ x: real[1]; }} @output {{ y: real[1]; }} @compose {{ y = o(); }} }}"
            ))
        };
        let attribute = |length: &str| document(&format!("@attrib {{ a: int..({length}) = [1, 2, 3]; }}"));
        let input = |length: &str| document(&format!("@input {{ a: real[]..({length}) = [1.0, 2.0, 3.0]; }}"));
        for length in ["2", "4"] {
            assert_fires(&LENGTHS_DIFFER, &attribute(length));
            assert_fires(&LENGTHS_DIFFER, &input(length));
        }
        for length in ["3", "k"] {
            assert_silent(&attribute(length));
            assert_silent(&input(length));
        }
    }

    /// The message names the pack of a length that has no name in the document.
    #[test]
    fn lengths_are_named_by_their_packs() {
        let document = in_document(
            "operator o { @attrib { p: int..; } @using { u = [(p, [p.., 1])..]; } @output { y: real[1]; } @lower { y[i,] = 0.0, i < 1; } } \
             graph G { @input { x: real[1]; } @output { y: real[1]; } @compose { y = o{p=[1]}(); } }",
        );
        let found = check(&document);
        let message = found.first().map(|d| d.message.as_str());
        assert_eq!(
            message,
            Some("packs have different lengths: the length of `p` and the length of `p` + 1")
        );
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_using("v = p + q; u = [p.., 1] + [1, q..];"));
    }
}
