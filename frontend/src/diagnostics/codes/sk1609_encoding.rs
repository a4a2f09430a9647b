// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// Bytes that are no UTF-8.
pub static ENCODING: Code = Code {
    id: "SK1609",
    title: "a source file is not UTF-8",
    explanation: r#"Source files are UTF-8 text. Save the file in that encoding.
"#,
};

pub(super) use ENCODING as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source_files::testing::loaded;
    #[test]
    fn fires() {
        let files: &[(&str, &[u8])] = &[("main.sknd", b"# na\xefve\ngraph G { }")];
        assert_eq!(loaded(files), [ENCODING.id]);
    }

    #[test]
    fn near_miss() {
        let files: &[(&str, &[u8])] = &[("main.sknd", "# na\u{ef}ve\ngraph G { }".as_bytes())];
        assert!(loaded(files).is_empty());
    }
}
