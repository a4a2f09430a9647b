use crate::diagnostics::Code;

/// Nesting above [`crate::limits::Limits::nesting`].
pub static NESTING: Code = Code {
    id: "SK1605",
    title: "a statement nests too deep",
    explanation: r#"Brackets and operators of one statement nest at most 256 levels deep; every operator of a chain is one level.
Name parts of it in @using, or compute them as tensors of their own.
"#,
};

pub(super) use NESTING as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::syntax::testing::codes;

    fn sum(terms: usize) -> String {
        let chain = "a + ".repeat(terms);
        format!("operator o {{ @using {{ v = {chain}1; }} }}")
    }

    #[test]
    fn fires() {
        assert_eq!(codes(&sum(Limits::default().nesting + 1)), [NESTING.id]);
    }

    #[test]
    fn near_miss() {
        assert!(codes(&sum(Limits::default().nesting)).is_empty());
    }
}
