// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Nesting above [`crate::limits::Limits::nesting`], or more operators than [`crate::limits::Limits::chain`].
pub static NESTING: Code = Code {
    id: "SK1605",
    title: "a statement nests too deep",
    explanation: r#"Brackets, choices and unary operators of one statement nest at most 256 levels deep (`--limit nesting=N`), and a chain such as
a + b + c has at most 1024 operators (`--limit chain=N`).
Name parts of it in @using, or compute them as separate tensors.
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
        let limits = Limits::default();
        assert_eq!(codes(&sum(limits.nesting + limits.chain + 1)), [NESTING.id]);
        let nested = format!("{}1", "-".repeat(limits.nesting + 1));
        let text = format!("operator o {{ @using {{ v = {nested}; }} }}");
        assert_eq!(codes(&text), [NESTING.id]);
    }

    #[test]
    fn near_miss() {
        assert!(codes(&sum(Limits::default().chain)).is_empty());
    }
}
