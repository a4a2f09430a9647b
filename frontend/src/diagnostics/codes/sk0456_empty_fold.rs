// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// In the edition khronos a fold by minimum or maximum needs at least one item.
pub static EMPTY_FOLD: Code = Code {
    id: "SK0456",
    title: "the minimum or maximum of an empty pack",
    explanation: "\
In the edition khronos a fold by minimum or maximum needs at least one item: an empty pack is an error, while
compiling or at run time. In draft6 such a fold is null. Cumulative folds of empty packs are empty in both editions.

    m = a <? ..;                # wrong where `a` may be empty
    m = [a.., 0] <? ..;         # right
    m = n > 0 ? (a <? ..) : 0;  # right, if `n` is the length of `a`
",
};

pub(super) use EMPTY_FOLD as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;
    use crate::program::Edition;

    /// A formula with a helper that sees the empty pack `e`.
    fn folded(value: &str) -> String {
        with_symbols(&format!("e..(0) = p[0:0]; v = {value};"))
    }

    #[test]
    fn fires() {
        for value in [
            "e <? ..",
            "e >? ..",
            "(e <? ..) ?? 7",
            "real(e) >? ..",
            "[e.., (e <? ..)] <? ..",
        ] {
            assert_fires_in(Edition::Khronos, &EMPTY_FOLD, &folded(value));
        }
    }

    #[test]
    fn near_miss() {
        for value in [
            "p <? ..",
            "[e.., 7] >? ..",
            "k == 3 ? 7 : (e <? ..)",
            "e + ..",
            "e && .. ?? false",
            "e <? ...",
        ] {
            assert_composes_in(Edition::Khronos, &folded(value));
        }
        assert_composes_in(Edition::Draft6, &folded("(e << ..) ?? 7"));
    }
}
