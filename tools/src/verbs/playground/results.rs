// SPDX-License-Identifier: Apache-2.0
//! The results of work as JSON for the views of a page.

use std::io::{Error, Result};
use std::path::Path;

use serde_json::{Value, json};

use super::jobs::Kind;

/// Maximum size of an output in bytes.
pub const MAX_OUTPUT_BYTES: u64 = 32 << 20;
/// Maximum size of one text in a result in bytes; longer ones are cut.
const MAX_SHOWN_BYTES: usize = 2 << 20;
/// The folder of `--dump-stages`.
pub const FOLDER: &str = "stages";
/// The file of GPU kernels, without its extension.
pub const KERNELS: &str = "kernels";

/// The result of work, from what it printed and the files in its folder.
pub fn read(kind: Kind, output: &[u8], folder: &Path) -> Result<Value> {
    match kind {
        // JSON in a text: parsing it here would round the numbers.
        Kind::Values => Ok(String::from_utf8_lossy(output).into()),
        Kind::Stages => stages(&folder.join(FOLDER)),
        Kind::Code => {
            let files = [format!("{KERNELS}.ptx"), format!("{KERNELS}.s")].map(|name| folder.join(name));
            match files.iter().find(|file| file.exists()) {
                Some(file) => Ok(shown(&file_bytes(file)?)),
                None => Ok(shown(output)),
            }
        }
        Kind::Graph | Kind::Model | Kind::Stablehlo => Ok(shown(output)),
    }
}

/// The text after each stage, in order.
fn stages(folder: &Path) -> Result<Value> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let texts = names.into_iter().map(|name| {
        let text = shown(&file_bytes(&folder.join(&name))?);
        Ok(json!({"name": name, "text": text}))
    });
    Ok(Value::Array(texts.collect::<Result<_>>()?))
}

fn file_bytes(path: &Path) -> Result<Vec<u8>> {
    skript_host::file::read(path, MAX_OUTPUT_BYTES).map_err(Error::other)
}

/// A text of bounded size.
fn shown(bytes: &[u8]) -> Value {
    let text = String::from_utf8_lossy(bytes);
    let end = text.floor_char_boundary(MAX_SHOWN_BYTES);
    match text.get(..end).filter(|_| end < text.len()) {
        Some(start) => format!("{start}\n… {} more bytes are not shown\n", text.len() - end).into(),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_in_order_and_long_texts_are_cut() {
        let folder = tempfile::tempdir().unwrap();
        let stages = folder.path().join(FOLDER);
        std::fs::create_dir(&stages).unwrap();
        std::fs::write(stages.join("2-b.mlir"), "two").unwrap();
        std::fs::write(stages.join("1-a.json"), "é".repeat(MAX_SHOWN_BYTES)).unwrap();
        let read = read(Kind::Stages, b"", folder.path()).unwrap();
        assert_eq!(read[1], json!({"name": "2-b.mlir", "text": "two"}));
        let long = read[0]["text"].as_str().unwrap();
        assert!(long.ends_with(&format!("\n… {MAX_SHOWN_BYTES} more bytes are not shown\n")));
    }

    #[test]
    fn kernels_are_read_from_their_file() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(Kind::Code, b"printed", folder.path()).unwrap(), "printed");
        std::fs::write(folder.path().join("kernels.ptx"), ".version 8.0").unwrap();
        assert_eq!(read(Kind::Code, b"", folder.path()).unwrap(), ".version 8.0");
    }
}
