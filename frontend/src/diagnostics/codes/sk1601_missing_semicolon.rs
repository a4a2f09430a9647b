// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A `;` is missing (2.2, 2.15).
pub static MISSING_SEMICOLON: Code = Code {
    id: "SK1601",
    title: "a statement does not end with a semicolon",
    explanation: r#"Every import and every statement of a block ends with `;`.

    y = add(x, 1.0)    # wrong
    y = add(x, 1.0);   # right
"#,
};

pub(super) use MISSING_SEMICOLON as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::testing::codes;

    #[test]
    fn fires() {
        assert_eq!(codes("operator o { @using { a = 1;\n b = 2 } }"), [MISSING_SEMICOLON.id]);
    }

    #[test]
    fn near_miss() {
        assert!(codes("operator o { @using { a = 1;\n b = 2; } }").is_empty());
    }
}
