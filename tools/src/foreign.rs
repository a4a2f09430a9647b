// SPDX-License-Identifier: Apache-2.0
//! Models in other formats: their names, and which are supported.

use std::io::Read as _;
use std::path::Path;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::UNREADABLE;
use skript_host::file::RegularFile;

/// An extension, and the name of its format.
const FORMATS: &[(&str, &str)] = &[
    ("tflite", "a TensorFlow Lite model"),
    ("pb", "a TensorFlow model"),
    ("nnef", "an NNEF 1 model"),
];

/// A diagnostic if the path names a file in an unsupported format, by its extension or, for ONNX, by its content.
pub fn refusal(path: &Path) -> Option<Diagnostic> {
    let extension = path.extension().and_then(|e| e.to_str());
    let extension = extension.unwrap_or_default().to_ascii_lowercase();
    if extension == "mlir" && path.is_file() {
        let text = format!(
            "{} is a StableHLO program, and this command is for models in SkriptND",
            path.display()
        );
        let help = "`run`, `check`, `compile`, `bench` and `info` accept StableHLO programs; give the model in SkriptND or ONNX that it was exported from, if there is one";
        return Some(Diagnostic::without_location(&UNREADABLE, text).with_help(help));
    }
    if extension == "skm" && path.is_file() {
        let text = format!("{} is a compiled model", path.display());
        let help = "`skript-run` runs it, and `skript info` prints its interface; for the rest, give the model that it was compiled from";
        return Some(Diagnostic::without_location(&UNREADABLE, text).with_help(help));
    }
    if !path.is_file() {
        return None;
    }
    let named = FORMATS.iter().find(|(known, _)| *known == extension);
    let format = match named {
        Some((_, format)) => format,
        None => return None,
    };
    let text = format!(
        "{} is {format}, which is not read: models are in SkriptND (.sknd), ONNX (.onnx) or StableHLO (.mlir)",
        path.display()
    );
    let help = "this format is not supported yet; the converter of Khronos' NNEF-Tools writes SkriptND, see docs/models.md";
    Some(Diagnostic::without_location(&UNREADABLE, text).with_help(help))
}

/// Whether a path names an ONNX model, by its extension or its content.
pub fn is_onnx_model(path: &Path) -> bool {
    let extension = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default();
    path.is_file() && (extension.eq_ignore_ascii_case("onnx") || is_onnx(path))
}

/// Whether a file begins as an ONNX model does: a `ModelProto` whose first field is the version of the format.
fn is_onnx(path: &Path) -> bool {
    const IR_VERSION: u8 = 0x08;
    // The fields that may follow: producer, domain, model version, text, graph, operator sets, metadata.
    const NEXT: [u8; 8] = [0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42, 0x72];
    let mut head = [0; 3];
    let read = RegularFile::open(path).is_ok_and(|file| {
        let mut file: &std::fs::File = file.file();
        file.read_exact(&mut head).is_ok()
    });
    let [field, version, next] = head;
    read && field == IR_VERSION && (1..=64).contains(&version) && NEXT.contains(&next)
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
        assert!(of("block.tflite").contains("block.tflite is a TensorFlow Lite model"));
        assert_eq!(of("block.sknd"), "");
        let with = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            is_onnx_model(&path)
        };
        let onnx = b"\x08\x08\x12\x07pytorch";
        assert!(with("block.onnx", b""));
        assert!(with("block.ONNX", b""));
        assert!(with("model.bin", onnx));
        assert!(with("model", onnx));
        assert!(with("net.sknd", onnx));
        assert!(!with("net.sknd", b"graph G {}"));
        assert!(!is_onnx_model(&folder.path().join("none.onnx")));
    }
}
