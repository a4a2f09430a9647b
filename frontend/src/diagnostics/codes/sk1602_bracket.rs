// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A bracket is missing or one too many (2.16).
pub static BRACKET: Code = Code {
    id: "SK1602",
    title: "brackets do not match",
    explanation: r#"Every `(`, `[` and `{` is closed by its counterpart, within its statement or at the end of its block.

    v = [1, 2);   # wrong
    v = [1, 2];   # right
"#,
};

pub(super) use BRACKET as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::testing::codes;

    #[test]
    fn fires() {
        assert_eq!(codes("operator o { @using { a = [1, 2); } }"), [BRACKET.id]);
    }

    #[test]
    fn near_miss() {
        assert!(codes("operator o { @using { a = [1, 2]; } }").is_empty());
    }
}
