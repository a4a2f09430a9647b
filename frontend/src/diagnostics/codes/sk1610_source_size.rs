// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A file above [`crate::limits::Limits::source_bytes`].
pub static SOURCE_SIZE: Code = Code {
    id: "SK1610",
    title: "a source file is too large",
    explanation: r#"A source file has at most 64 MiB. Use variables for large constants: their values are separate files.
"#,
};

pub(super) use SOURCE_SIZE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::source_files::testing::loaded_within;

    fn of_size(size: usize) -> Vec<&'static str> {
        let limits = Limits {
            source_bytes: 100,
            ..Limits::default()
        };
        let text = "#".repeat(size);
        loaded_within(&[("main.sknd", text.as_bytes())], &limits)
    }

    #[test]
    fn fires() {
        assert_eq!(of_size(101), [SOURCE_SIZE.id]);
    }

    #[test]
    fn near_miss() {
        assert!(of_size(100).is_empty());
    }
}
