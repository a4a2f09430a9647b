// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A string literal (2.4).
pub static STRING: Code = Code {
    id: "SK1606",
    title: "a string literal is malformed",
    explanation: r#"A string is closed on its line; braces that are text, and quotes of its own kind, are escaped with a backslash.

    w = "abc;          # wrong
    w = "{a} \{b\}";   # right
"#,
};

pub(super) use STRING as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::testing::codes;

    #[test]
    fn fires() {
        assert_eq!(codes("operator o { @using { a = 'b;\n } }"), [STRING.id]);
    }

    #[test]
    fn near_miss() {
        assert!(codes("operator o { @using { a = 'b'; } }").is_empty());
    }
}
