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
    fn near_miss() {
        assert!(codes("operator o { @using { iss = 1; } }").is_empty());
    }
}
