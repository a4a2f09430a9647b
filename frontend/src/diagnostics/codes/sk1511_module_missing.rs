// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A module that is neither in the model folder nor in the library (2.15).
pub static MODULE_MISSING: Code = Code {
    id: "SK1511",
    title: "a module cannot be found",
    explanation: r#"An imported module is a file of the model folder, `a.b` being `a/b.sknd`, or a module of the standard library.

    import layers.attention;   # wrong, unless there is a file layers/attention.sknd
    import nn;                 # right: the standard library has it
"#,
};

pub(super) use MODULE_MISSING as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source_files::testing::{MAIN, loaded};
    #[test]
    fn fires() {
        let files: &[(&str, &[u8])] = &[("main.sknd", b"import mine; graph G { }")];
        assert_eq!(loaded(files), [MODULE_MISSING.id]);
    }

    #[test]
    fn near_miss() {
        let files: &[(&str, &[u8])] = &[("main.sknd", MAIN), ("sub/mine.sknd", b"")];
        assert!(loaded(files).is_empty());
    }
}
