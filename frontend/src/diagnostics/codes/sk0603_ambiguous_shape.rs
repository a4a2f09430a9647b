// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// At most one packed extent of an input may have an unknown length. Int attributes and other inputs can fix
/// lengths; packed, optional and computed attributes cannot (2.6.1).
pub static AMBIGUOUS_SHAPE: Code = Code {
    id: "SK0603",
    title: "a shape can be split in several ways",
    explanation: "\
At most one packed extent of an input may have an unknown length. Int attributes and other inputs can fix
lengths; packed, optional and computed attributes cannot (2.6.1).

    @input { x: real[s..,t..]; }   # wrong
    @attrib { r: int; } @input { x: real[s..(r),t..]; }   # right
",
};

pub(super) use AMBIGUOUS_SHAPE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&AMBIGUOUS_SHAPE, &in_document("operator o { @attrib { a: int..(d) = 0; } @input { x: real[s..(d),t..]; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }

    /// Names of packed and optional attributes tell no length, nor do names that the same shape declares.
    #[test]
    fn s2_6_1_lengths_are_fixed_from_outside() {
        let operator = |parameters: &str| {
            in_document(&format!(
                "operator o {{ {parameters} }} \
                 graph Main {{ @input {{ x: real[1]; }} @output {{ y: real[1]; }} @compose {{ y = x; }} }}"
            ))
        };
        for parameters in [
            "@attrib { r: int..; } @input { x: real[s..(r[0]),t..]; }",
            "@attrib { r: optional int; } @input { x: real[s..(r ?? 1),t..]; }",
            "@attrib { r: int = 2; q: int = r + 1; } @input { x: real[s..(2 * q),t..]; }",
            "@input { x: real[s..(d),t..(d)]; }",
            "@input { x: real[s..,s..]; }",
            "@input { x: real[d,s..(d),t..]; }",
        ] {
            assert_fires(&AMBIGUOUS_SHAPE, &operator(parameters));
        }
        for parameters in [
            "@attrib { r: int; } @input { x: real[s..(2 * r),t..]; }",
            "@attrib { r: bool; } @input { x: real[s..(r),t..]; }",
            "@input { x: real[s..(d),t..(d)]; z: real[t..(d)]; }",
            "@input { x: real[s..,s..]; z: real[s..]; }",
            "@input { xs: real[s..(k),t..]..(k); }",
            "@input { x: real^(r)[s..(r - 1),t..]; }",
            "@input { x: real[d,s..(d)]; }",
        ] {
            assert_silent(&operator(parameters));
        }
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("operator o { @input { x: real[s..(d),t..]; y: real[s..(d)]; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }
}
