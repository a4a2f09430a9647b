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
/// Maximum size of all texts of a result in bytes; further ones are left out.
const MAX_RESULT_BYTES: u64 = 24 << 20;
/// The folders of `--dump-stages` and `--dump-passes`.
pub const STAGES: &str = "stages";
pub const PASSES: &str = "passes";
/// The file of GPU kernels, without its extension.
pub const KERNELS: &str = "kernels";

/// The result of work: its output, or the files in its folder.
pub fn read(kind: Kind, output: &[u8], folder: &Path) -> Result<Value> {
    match kind {
        // JSON in a text: parsing it here would round the numbers.
        Kind::Values => Ok(String::from_utf8_lossy(output).into()),
        Kind::Stages => Ok(json!({
            "stages": texts(&folder.join(STAGES))?,
            "passes": texts(&folder.join(PASSES))?,
        })),
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

/// The texts of the files in a folder, in the order of the numbers in their names.
fn texts(folder: &Path) -> Result<Value> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let (mut texts, mut total) = (Vec::new(), 0);
    for name in names {
        let bytes = file_bytes(&folder.join(&name))?;
        total += bytes.len() as u64;
        if total <= MAX_RESULT_BYTES {
            texts.push(json!({"name": name, "text": shown(&bytes)}));
        }
    }
    Ok(Value::Array(texts))
}

fn file_bytes(path: &Path) -> Result<Vec<u8>> {
    skript_host::file::read(path, MAX_OUTPUT_BYTES).map_err(Error::other)
}

/// A text of bounded size.
fn shown(bytes: &[u8]) -> Value {
    let end = bytes.len().min(MAX_SHOWN_BYTES);
    let text = String::from_utf8_lossy(bytes.get(..end).unwrap_or(bytes));
    match bytes.len() - end {
        0 => text.into(),
        hidden => format!("{text}\n… {hidden} more bytes are not shown\n").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_in_order_and_bounded() {
        let folder = tempfile::tempdir().unwrap();
        for name in [STAGES, PASSES] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("stages/2-b.mlir", "two");
        write("stages/1-a.json", &"é".repeat(MAX_SHOWN_BYTES));
        for number in 0..4 {
            write(&format!("passes/{number}.mlir"), &"x".repeat(10 << 20));
        }
        let read = read(Kind::Stages, b"", folder.path()).unwrap();
        assert_eq!(read["stages"][1], json!({"name": "2-b.mlir", "text": "two"}));
        let long = read["stages"][0]["text"].as_str().unwrap();
        assert!(long.ends_with(&format!("\n… {MAX_SHOWN_BYTES} more bytes are not shown\n")));
        assert_eq!(read["passes"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn kernels_are_read_from_their_file() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(Kind::Code, b"printed", folder.path()).unwrap(), "printed");
        std::fs::write(folder.path().join("kernels.ptx"), ".version 8.0").unwrap();
        assert_eq!(read(Kind::Code, b"", folder.path()).unwrap(), ".version 8.0");
    }
}
