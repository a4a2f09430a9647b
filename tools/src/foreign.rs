// SPDX-License-Identifier: Apache-2.0
//! Models in other formats: what they are and what to do with them.

use std::path::Path;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::UNREADABLE;

/// Extension, and the format that it names.
const FORMATS: &[(&str, &str)] = &[
    ("onnx", "an ONNX model"),
    ("tflite", "a TensorFlow Lite model"),
    ("pb", "a TensorFlow model"),
    ("nnef", "an NNEF 1 model"),
];

/// A diagnostic if the path names a file in a format that is not read, by its extension.
pub fn refusal(path: &Path) -> Option<Diagnostic> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    if extension == "mlir" && path.is_file() {
        let text = format!(
            "{} is a StableHLO program, and this command is for models in SkriptND",
            path.display()
        );
        let help = "`run`, `check`, `compile`, `bench` and `info` accept StableHLO programs";
        return Some(Diagnostic::without_place(&UNREADABLE, text).with_help(help));
    }
    if extension == "skm" && path.is_file() {
        let text = format!("{} is a compiled model", path.display());
        let help = "`skript-run` runs it, and `skript info` prints its interface";
        return Some(Diagnostic::without_place(&UNREADABLE, text).with_help(help));
    }
    let (_, format) = FORMATS.iter().find(|(known, _)| *known == extension)?;
    if !path.is_file() {
        return None;
    }
    let text = format!(
        "{} is {format}, which is not read: models are in SkriptND (.sknd) or StableHLO (.mlir)",
        path.display()
    );
    let help = "this format is not supported yet; the converter of Khronos' NNEF-Tools writes SkriptND, see docs/models.md";
    Some(Diagnostic::without_place(&UNREADABLE, text).with_help(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_named_by_extension() {
        let folder = tempfile::tempdir().unwrap();
        let of = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, "").unwrap();
            refusal(&path).map_or_else(String::new, |d| d.message)
        };
        assert!(of("block.onnx").contains("block.onnx is an ONNX model"));
        assert!(of("block.ONNX").contains("ONNX"));
        assert_eq!(of("block.sknd"), "");
        assert_eq!(of("onnx"), "");
        assert!(refusal(&folder.path().join("none.onnx")).is_none());
    }
}
