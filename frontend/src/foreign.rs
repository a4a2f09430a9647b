// SPDX-License-Identifier: Apache-2.0
//! Models in unsupported formats.

use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::UNREADABLE;
use skript_host::format::foreign_format;
use std::path::Path;

/// A diagnostic if the path names a file in an unsupported format.
pub fn refusal(path: &Path) -> Option<Diagnostic> {
    let format = foreign_format(path)?;
    let text = format!(
        "{} is {}, which is not read: models are in SkriptND (.sknd), ONNX (.onnx) or StableHLO (.mlir)",
        path.display(),
        format.name
    );
    Some(Diagnostic::without_location(&UNREADABLE, text).with_help(format.remedy))
}
