// SPDX-License-Identifier: Apache-2.0
//! Diagnostics for models that commands for documents do not read.

use std::path::Path;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::UNREADABLE;
use skript_frontend::foreign;

/// Returns a diagnostic if the path names a file that is neither a document nor an ONNX model.
pub fn refusal(path: &Path) -> Option<Diagnostic> {
    let has_extension =
        |name: &str| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(name));
    if has_extension("mlir") && path.is_file() {
        let text =
            format!("{} is a StableHLO program, and this command is for models in SkriptND", path.display());
        let help = "`run`, `check`, `compile`, `bench` and `info` accept StableHLO programs; give the model in SkriptND or ONNX that it was exported from, if there is one";
        return Some(Diagnostic::without_location(&UNREADABLE, text).with_help(help));
    }
    if has_extension("skm") && path.is_file() {
        let text = format!("{} is a compiled model", path.display());
        let help = "`skript-run` runs it, and `skript info` prints its interface; for the rest, give the model that it was compiled from";
        return Some(Diagnostic::without_location(&UNREADABLE, text).with_help(help));
    }
    foreign::refusal(path)
}
