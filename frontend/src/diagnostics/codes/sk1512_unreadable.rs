// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A file that cannot be read, or that a link outside the model folder stands for (2.15).
pub static UNREADABLE: Code = Code {
    id: "SK1512",
    title: "a source file cannot be read",
    explanation: r#"There is no such file, reading it failed, or it is reached through a link that leads out of the model folder. A model is a folder
whose main module is `main.sknd`, the same packed as `.tgz`, or one file that is named itself. What is packed is unpacked into memory:
it must be complete, without links and names that lead out of it, and not exceed the bytes of `--limit unpacked_bytes=N`.

    skript check model/            # wrong, unless there is a file model/main.sknd
    skript check model/net.sknd    # right
"#,
};

pub(super) use UNREADABLE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source_files::testing::{MAIN, loaded};
    #[test]
    fn fires() {
        let files: &[(&str, &[u8])] = &[("model.sknd", MAIN)];
        assert_eq!(loaded(files), [UNREADABLE.id]);
    }

    #[test]
    fn near_miss() {
        let files: &[(&str, &[u8])] = &[("main.sknd", MAIN), ("sub/mine.sknd", b"")];
        assert!(loaded(files).is_empty());
    }
}
