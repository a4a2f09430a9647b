// SPDX-License-Identifier: Apache-2.0
//! Models that commands for documents do not read.

use std::path::Path;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::UNREADABLE;
use skript_frontend::foreign;

/// A diagnostic if the path names a file that is not a document or an ONNX model.
pub fn refusal(path: &Path) -> Option<Diagnostic> {
    let extension = path.extension().and_then(|e| e.to_str());
    let extension = extension.unwrap_or_default().to_ascii_lowercase();
    if extension == "mlir" && path.is_file() {
        let text =
            format!("{} is a StableHLO program, and this command is for models in SkriptND", path.display());
        let help = "`run`, `check`, `compile`, `bench` and `info` accept StableHLO programs; give the model in SkriptND or ONNX that it was exported from, if there is one";
        return Some(Diagnostic::without_location(&UNREADABLE, text).with_help(help));
    }
    if extension == "skm" && path.is_file() {
        let text = format!("{} is a compiled model", path.display());
        let help = "`skript-run` runs it, and `skript info` prints its interface; for the rest, give the model that it was compiled from";
        return Some(Diagnostic::without_location(&UNREADABLE, text).with_help(help));
    }
    foreign::refusal(path)
}
