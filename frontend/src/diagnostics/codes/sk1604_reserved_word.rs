// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A reserved word as a name (2.4).
pub static RESERVED_WORD: Code = Code {
    id: "SK1604",
    title: "a reserved word is used as a name",
    explanation: r#"Words of the language, such as `is`, `in`, `for`, cannot be names; `_` alone cannot either.

    input: real[b, is..];   # wrong
    input: real[b, s..];    # right
"#,
};

pub(super) use RESERVED_WORD as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::testing::codes;

    #[test]
    fn fires() {
        assert_eq!(codes("operator o { @using { is = 1; } }"), [RESERVED_WORD.id]);
    }

    #[test]
    fn words_that_begin_definitions_are_reported_where_they_are_names() {
        let text = "operator o { @attrib { graph: int = 1; } @input { x: real[n]; operator: real[n]; } \
            @output { y: real[n]; } @lower { y[i,] = x[i,], i < n; } } graph G { @compose { public = o{import=2}(x); } }";
        // One for each statement.
        assert_eq!(codes(text), [RESERVED_WORD.id; 3]);
    }

    #[test]
    fn near_miss() {
        assert!(codes("operator o { @using { iss = 1; } }").is_empty());
    }
}
