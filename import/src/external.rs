// SPDX-License-Identifier: Apache-2.0
//! Reads external data: elements in separate files beside the model.

use std::path::{Component, Path, PathBuf};

use skript_host::{FileError, RegularFile};
use skript_tensor::map::MappedFile;
use skript_tensor::shape::byte_length;
use skript_tensor::{ElementType, Tensor};

use crate::proto::StringStringEntryProto;

/// The folders of a model's external data: the folder of its path and, if the path is a link, the folder of the target. Caches,
/// such as the cache of the Hugging Face Hub, contain links to all files of a model, and the targets share a folder.
pub fn folders(model: &Path) -> Vec<PathBuf> {
    let folder = model.parent().unwrap_or(Path::new(""));
    let mut folders = vec![folder.to_path_buf()];
    if model.is_symlink()
        && let Ok(target) = model.canonicalize()
    {
        folders.extend(target.parent().map(Path::to_path_buf));
    }
    folders
}

/// Opens a file in the first folder. The target of a link may be in any of the folders.
fn open(path: &Path, folders: &[PathBuf]) -> Result<RegularFile, FileError> {
    let mut opened = folders.iter().map(|folder| RegularFile::open_within(path, folder));
    let first = opened.next().unwrap_or_else(|| RegularFile::open(path));
    match first {
        Err(FileError::Outside { .. }) => opened.find_map(Result::ok).map_or(first, Ok),
        first => first,
    }
}

/// Maps the external data of a tensor.
///
/// # Errors
/// The error in the entries or in the file.
pub fn read(
    entries: &[StringStringEntryProto],
    folders: &[PathBuf],
    kind: ElementType,
    shape: &[u64],
) -> Result<Tensor, String> {
    let entry = |key: &str| entries.iter().find(|e| e.key == key).map(|e| e.value.as_str());
    let number = |key: &str| match entry(key) {
        None => Ok(None),
        Some(text) => text
            .trim()
            .parse::<usize>()
            .map(Some)
            .map_err(|_| format!("the {key} {text:?} of its external data is not a number")),
    };
    let location = entry("location").ok_or("its external data has no location")?;
    let folder = folders.first().ok_or_else(|| {
        format!("its elements are in the file {location:?} beside the model: pass the path of the model in place of its bytes")
    })?;
    let relative = Path::new(location);
    let inside = relative.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
    if !inside {
        return Err(format!("its external data is at {location:?}, outside of the model's folder"));
    }
    let needed = byte_length(kind, shape).ok_or("its extents are too large")?;
    if needed == 0 {
        return Tensor::from_bytes(kind, shape, &[]).map_err(|e| e.to_string());
    }
    let path = folder.join(relative);
    let wrong = |reason: String| format!("its external data {location:?}: {reason}");
    let file = open(&path, folders).map_err(|e| wrong(e.to_string()))?;
    let file = MappedFile::map(&path, file).map_err(|e| wrong(e.to_string()))?;
    let offset = number("offset")?.unwrap_or(0);
    // Some exporters write 0 for an unknown length.
    if let Some(length) = number("length")?.filter(|length| *length != 0)
        && length != needed
    {
        return Err(wrong(format!("{length} bytes, but its shape {shape:?} needs {needed}")));
    }
    let end = offset.checked_add(needed);
    let bytes = end.and_then(|end| file.bytes().get(offset..end));
    let bytes = bytes.ok_or_else(|| wrong(format!("ends before byte {offset} + {needed}")))?;
    if let Some(tensor) = Tensor::mapped(kind, shape, file.clone(), offset)
        && kind != ElementType::Bool
    {
        return Ok(tensor);
    }
    let bytes: Vec<u8> = match kind {
        ElementType::Bool => bytes.iter().map(|b| u8::from(*b != 0)).collect(),
        _ => bytes.to_vec(),
    };
    Tensor::from_bytes(kind, shape, &bytes).map_err(|e| wrong(e.to_string()))
}
