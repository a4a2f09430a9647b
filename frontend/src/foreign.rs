// SPDX-License-Identifier: Apache-2.0
//! Models in formats that are not read.

use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::UNREADABLE;
use skript_host::format::foreign_format;
use std::path::Path;

/// A diagnostic if the path names a file in a format that is not read.
pub fn refusal(path: &Path) -> Option<Diagnostic> {
    let format = foreign_format(path)?;
    let text = format!(
        "{} is {}, which is not read: models are in SkriptND (.sknd), ONNX (.onnx) or StableHLO (.mlir)",
        path.display(),
        format.name
    );
    Some(Diagnostic::without_location(&UNREADABLE, text).with_help(format.remedy))
}
