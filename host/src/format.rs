// SPDX-License-Identifier: Apache-2.0
//! Recognizes model formats by the names and the first bytes of files.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::RegularFile;

/// The number of bytes at the beginning of a file that are compared.
const HEAD: u64 = 512;

/// An unsupported format.
#[derive(Debug, PartialEq, Eq)]
pub struct Foreign {
    /// Lowercase extensions of its files.
    extensions: &'static [&'static str],
    /// An offset and the bytes at this offset in its files; `None` if only extensions identify the format.
    magic: Option<(usize, &'static [u8])>,
    /// The name, with an article.
    pub name: &'static str,
    /// The way to obtain a supported model.
    pub remedy: &'static str,
}

const TORCH: &str =
    "export the module to ONNX with `torch.onnx.export`, or convert it in Python with `skript.from_torch`";
const KERAS: &str = "export the model to ONNX with the package `tf2onnx`";
const PICKLE: &str = "load it with the package that wrote it, and export the model to ONNX from there";
const WEIGHTS: &str = "these are arrays without a graph: pass the model, and this file as its weights";
const GGUF: &str = "`skript chat` and `skript generate` run its language model, and `skript import` writes it as a model folder";
const OTHER: &str = "pass the ONNX model that it was converted from";

/// The formats; formats with `magic` come first.
const FORMATS: &[Foreign] = &[
    foreign(&["tflite"], Some((4, b"TFL3")), "a TensorFlow Lite model", KERAS),
    foreign(&["ort"], Some((4, b"ORTM")), "a model in the format of onnxruntime", OTHER),
    foreign(&["gguf"], Some((0, b"GGUF")), "a GGUF model", GGUF),
    foreign(&["h5", "hdf5", "keras"], Some((0, b"\x89HDF\r\n\x1a\n")), "a Keras model", KERAS),
    foreign(&["pt", "pth", "pt2", "ckpt", "torchscript"], None, "a PyTorch file", TORCH),
    foreign(&["pb"], None, "a TensorFlow model", KERAS),
    foreign(&["pkl", "pickle", "joblib"], Some((0, b"\x80\x02")), "a Python pickle", PICKLE),
    foreign(&[], Some((0, b"\x80\x03")), "a Python pickle", PICKLE),
    foreign(&[], Some((0, b"\x80\x04")), "a Python pickle", PICKLE),
    foreign(&[], Some((0, b"\x80\x05")), "a Python pickle", PICKLE),
    foreign(
        &["nnef"],
        None,
        "an NNEF 1 model",
        "the converter of Khronos' NNEF-Tools writes SkriptND, see docs/models.md",
    ),
    foreign(&["mlmodel", "mlpackage"], None, "a Core ML model", OTHER),
    foreign(&["xml"], None, "an OpenVINO model", OTHER),
    foreign(&["engine", "plan"], None, "a TensorRT engine", OTHER),
    foreign(
        &["pdmodel", "pdiparams"],
        None,
        "a PaddlePaddle model",
        "export it to ONNX with the package `paddle2onnx`",
    ),
    foreign(&["safetensors"], None, "a file of weights", WEIGHTS),
    foreign(&["npz", "npy"], Some((0, b"\x93NUMPY")), "a file of arrays", WEIGHTS),
];

const fn foreign(
    extensions: &'static [&'static str],
    magic: Option<(usize, &'static [u8])>,
    name: &'static str,
    remedy: &'static str,
) -> Foreign {
    Foreign { extensions, magic, name, remedy }
}

/// The unsupported format of a file, by its extension or its content; `None` for SkriptND models, ONNX models, and paths that
/// are not files.
pub fn foreign_format(path: &Path) -> Option<&'static Foreign> {
    if !path.is_file() || is_onnx_model(path) {
        return None;
    }
    let extension = extension(path);
    if extension == "sknd" {
        return None;
    }
    let named = |format: &&Foreign| format.extensions.contains(&extension.as_str());
    if let Some(format) = FORMATS.iter().find(named) {
        return Some(format);
    }
    let head = head(path)?;
    // An archive of `torch.save`: its first file is NAME/data.pkl, or another file in the same folder.
    let is_torch = head.starts_with(b"PK\x03\x04")
        && [&b"/data.pkl"[..], b"/.format_version", b"/archive_format"]
            .iter()
            .any(|name| head.windows(name.len()).any(|part| part == *name));
    FORMATS.iter().find(|format| match format.magic {
        Some((at, magic)) => head.get(at..).is_some_and(|rest| rest.starts_with(magic)),
        None => is_torch && format.extensions.contains(&"pt"),
    })
}

/// Whether a path names an ONNX model, by its extension or its content.
pub fn is_onnx_model(path: &Path) -> bool {
    path.is_file() && (extension(path) == "onnx" || head(path).is_some_and(|head| is_onnx(&head)))
}

/// Whether bytes begin as an ONNX model does: a `ModelProto` whose first field is the version of the format.
pub fn is_onnx(bytes: &[u8]) -> bool {
    const IR_VERSION: u8 = 0x08;
    // The fields that may follow: producer, domain, model version, text, graph, operator sets, metadata.
    const NEXT: [u8; 8] = [0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42, 0x72];
    matches!(bytes, [IR_VERSION, version, next, ..] if (1..=64).contains(version) && NEXT.contains(next))
}

/// Whether a path names a GGUF file, by its extension or its content.
pub fn is_gguf(path: &Path) -> bool {
    path.is_file() && (extension(path) == "gguf" || head(path).is_some_and(|head| head.starts_with(b"GGUF")))
}

fn extension(path: &Path) -> String {
    let extension = path.extension().and_then(|e| e.to_str());
    extension.map_or_else(String::new, str::to_ascii_lowercase)
}

/// The first bytes of a file.
fn head(path: &Path) -> Option<Vec<u8>> {
    let file = RegularFile::open(path).ok()?;
    let mut head = Vec::new();
    let file: &File = file.file();
    file.take(HEAD).read_to_end(&mut head).ok()?;
    Some(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(name: &str, bytes: &[u8]) -> &'static str {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        foreign_format(&path).map_or("", |format| format.name)
    }

    #[test]
    fn formats_are_found_by_extension() {
        assert_eq!(format("net.TFLITE", b""), "a TensorFlow Lite model");
        assert_eq!(format("net.pt", b"anything"), "a PyTorch file");
        assert_eq!(format("net.safetensors", b""), "a file of weights");
        assert_eq!(format("net.sknd", b"GGUF"), "");
        assert_eq!(format("net", b"graph G {}"), "");
        assert!(foreign_format(Path::new("none.pt")).is_none());
    }

    #[test]
    fn formats_are_found_by_content() {
        assert_eq!(format("net", b"....TFL3...."), "a TensorFlow Lite model");
        assert_eq!(format("net.bin", b"PK\x03\x04....net/data.pkl"), "a PyTorch file");
        assert_eq!(format("net.bin", b"PK\x03\x04....main.sknd"), "");
        assert_eq!(format("net", b"\x80\x04\x95"), "a Python pickle");
        assert_eq!(format("net", b"\x89HDF\r\n\x1a\n"), "a Keras model");
        assert_eq!(format("net.pt", b"\x08\x08\x12\x07pytorch"), "");
    }

    #[test]
    fn models_of_onnx_are_found_by_extension_or_content() {
        let folder = tempfile::tempdir().unwrap();
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
