// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A chain above [`crate::limits::Limits::import_depth`].
pub static IMPORT_DEPTH: Code = Code {
    id: "SK1513",
    title: "imports are chained too deep",
    explanation: r#"Modules import each other in chains of at most 64. Cycles do not count: a module is read once.
"#,
};

pub(super) use IMPORT_DEPTH as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::source_files::testing::loaded;

    /// A main file, and as many modules that import each other in a chain.
    fn chain(length: usize) -> Vec<&'static str> {
        let name = |at: usize| match at {
            0 => "main.sknd".to_string(),
            _ => format!("m{at}.sknd"),
        };
        let text = |at: usize| match at {
            0 => "import m1; graph G { }".to_string(),
            _ if at == length => String::new(),
            _ => format!("import m{};", at + 1),
        };
        let files: Vec<_> = (0..=length).map(|at| (name(at), text(at))).collect();
        let files: Vec<(&str, &[u8])> = files
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_bytes()))
            .collect();
        loaded(&files)
    }

    #[test]
    fn fires() {
        let most = Limits::default().import_depth;
        assert_eq!(chain(most + 1), [IMPORT_DEPTH.id]);
    }

    #[test]
    fn near_miss() {
        assert!(chain(Limits::default().import_depth).is_empty());
    }
}
