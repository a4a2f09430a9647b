// SPDX-License-Identifier: Apache-2.0
//! The results of work as JSON for the views of a page.

use std::io::{Error, Read as _, Result};
use std::path::Path;

use serde_json::{Value, json};
use skript_host::RegularFile;

use super::jobs::Kind;

/// Maximum size of an output in bytes.
pub const MAX_OUTPUT_BYTES: u64 = 32 << 20;
/// Maximum size of one text in a result in bytes; longer ones are cut.
const MAX_SHOWN_BYTES: usize = 2 << 20;
/// Maximum size of all texts of a result in bytes; further ones are replaced by a remark.
const MAX_RESULT_BYTES: usize = 24 << 20;
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
                Some(file) => Ok(file_text(file)?.into()),
                None => Ok(shown(output, output.len() as u64).into()),
            }
        }
        Kind::Graph | Kind::Model | Kind::Stablehlo => Ok(shown(output, output.len() as u64).into()),
    }
}

/// The texts of the files in a folder, in the order of the numbers in their names.
fn texts(folder: &Path) -> Result<Value> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort_by_cached_key(|name| (number(name), name.clone()));
    let (mut texts, mut total) = (Vec::new(), 0);
    for name in names {
        let text = if total < MAX_RESULT_BYTES {
            file_text(&folder.join(&name))?
        } else {
            "… not shown: the texts before it have more than 24 MiB\n".to_owned()
        };
        total += text.len();
        texts.push(json!({"name": name, "text": text}));
    }
    Ok(Value::Array(texts))
}

/// The number at the start of a file name.
fn number(name: &str) -> Option<u64> {
    name.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok())
}

/// The start of a file of any size.
fn file_text(path: &Path) -> Result<String> {
    let file = RegularFile::open(path).map_err(Error::other)?;
    let length = file.length();
    let mut bytes = Vec::new();
    file.into_file().take(MAX_SHOWN_BYTES as u64).read_to_end(&mut bytes)?;
    Ok(shown(&bytes, length))
}

/// A text of bounded size, from the first bytes of a text of this length.
fn shown(bytes: &[u8], length: u64) -> String {
    let end = bytes.len().min(MAX_SHOWN_BYTES);
    let text = String::from_utf8_lossy(bytes.get(..end).unwrap_or(bytes));
    match length.saturating_sub(end as u64) {
        0 => text.into_owned(),
        hidden => format!("{text}\n… {hidden} more bytes are not shown\n"),
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
        write("stages/10-b.mlir", "ten");
        write("stages/2-a.json", &"é".repeat(MAX_SHOWN_BYTES));
        // More bytes than an output may have, of which the first ones are shown.
        let long = std::fs::File::create(folder.path().join("stages/3-long.mlir")).unwrap();
        long.set_len(MAX_OUTPUT_BYTES + 1).unwrap();
        for number in 1..=13 {
            write(&format!("passes/{number}.mlir"), &"x".repeat(MAX_SHOWN_BYTES));
        }
        let read = read(Kind::Stages, b"", folder.path()).unwrap();
        assert_eq!(read["stages"][2], json!({"name": "10-b.mlir", "text": "ten"}));
        let text = |step: &Value| step["text"].as_str().unwrap().to_owned();
        let hidden = |bytes: usize| format!("\n… {bytes} more bytes are not shown\n");
        assert!(text(&read["stages"][0]).ends_with(&hidden(MAX_SHOWN_BYTES)));
        assert!(text(&read["stages"][1]).ends_with(&hidden((30 << 20) + 1)));
        let passes = read["passes"].as_array().unwrap();
        assert_eq!((passes.len(), text(&passes[11]).len()), (13, MAX_SHOWN_BYTES));
        assert!(text(&passes[12]).starts_with("… not shown"));
    }

    #[test]
    fn kernels_are_read_from_their_file() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(Kind::Code, b"printed", folder.path()).unwrap(), "printed");
        std::fs::write(folder.path().join("kernels.ptx"), ".version 8.0").unwrap();
        assert_eq!(read(Kind::Code, b"", folder.path()).unwrap(), ".version 8.0");
    }
}
