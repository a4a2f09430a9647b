// SPDX-License-Identifier: Apache-2.0
//! Elements in files beside the model.

use std::path::{Component, Path};

use skript_host::RegularFile;
use skript_tensor::map::MappedFile;
use skript_tensor::shape::byte_length;
use skript_tensor::{ElementType, Tensor};

use crate::proto::StringStringEntryProto;

/// Maps a tensor of a file in the model's folder.
///
/// # Errors
/// What is wrong with the entries or the file.
pub fn read(
    entries: &[StringStringEntryProto],
    folder: &Path,
    kind: ElementType,
    shape: &[u64],
) -> Result<Tensor, String> {
    let entry = |key: &str| {
        entries
            .iter()
            .find(|e| e.key == key)
            .map(|e| e.value.as_str())
    };
    let number = |key: &str| match entry(key) {
        None => Ok(None),
        Some(text) => text
            .trim()
            .parse::<usize>()
            .map(Some)
            .map_err(|_| format!("the {key} {text:?} of its external data is not a number")),
    };
    let location = entry("location").ok_or("its external data has no location")?;
    let relative = Path::new(location);
    let inside = relative
        .components()
        .all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
    if !inside {
        return Err(format!(
            "its external data is at {location:?}, outside of the model's folder"
        ));
    }
    let path = folder.join(relative);
    let wrong = |reason: String| format!("its external data {location:?}: {reason}");
    let file = RegularFile::open_within(&path, folder).map_err(|e| wrong(e.to_string()))?;
    let file = MappedFile::map(&path, file).map_err(|e| wrong(e.to_string()))?;
    let offset = number("offset")?.unwrap_or(0);
    let needed = byte_length(kind, shape).ok_or("its extents are too large")?;
    if let Some(length) = number("length")?
        && length != needed
    {
        return Err(wrong(format!(
            "{length} bytes, but its shape {shape:?} needs {needed}"
        )));
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
