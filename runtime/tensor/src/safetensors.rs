// SPDX-License-Identifier: Apache-2.0
//! `.safetensors` files: a header in JSON, then the elements of all arrays, row-major and little endian.
//!
//! Layout: u64 length of the header, the header, the data. The header has, by the name of each array, its `dtype`, its
//! `shape` and the `data_offsets` of its bytes; `__metadata__` is skipped. As the format requires, the arrays cover the data
//! without gaps or overlaps, and names are unique.

use crate::element::ElementType;
use crate::error::{Admits, TensorError};
use crate::map::MappedFile;
use crate::shape;
use crate::tensor::Tensor;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The format's limit on the length of a header.
const MAX_HEADER_BYTES: u64 = 100_000_000;

/// The arrays of one file, which is mapped.
#[derive(Clone, Debug)]
pub(crate) struct SafeTensors {
    path: PathBuf,
    file: MappedFile,
    /// The offset of the data.
    data: usize,
    arrays: HashMap<String, Entry>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: (u64, u64),
}

struct Header(Vec<(String, Entry)>);

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Header;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object with the arrays")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Header, M::Error> {
                let mut entries = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    if name == "__metadata__" {
                        map.next_value::<IgnoredAny>()?;
                    } else {
                        entries.push((name, map.next_value()?));
                    }
                }
                Ok(Header(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

impl SafeTensors {
    /// Checks the header of a mapped file; `path` is for messages.
    pub(crate) fn new(file: MappedFile, path: &Path) -> Result<SafeTensors, TensorError> {
        let wrong = |reason: String| TensorError::format(path, reason);
        let parsed = parse(file.bytes());
        file.intact()?;
        let (data, arrays) = parsed.map_err(wrong)?;
        Ok(SafeTensors { path: path.to_path_buf(), file, data, arrays })
    }

    /// The array with this name, if `admits` accepts it. The array is mapped if its elements are aligned, otherwise copied.
    ///
    /// # Errors
    /// [`TensorError`] if tensors do not support its type.
    pub(crate) fn get(&self, name: &str, admits: Admits<'_>) -> Result<Option<Tensor>, TensorError> {
        let Some(entry) = self.arrays.get(name) else {
            return Ok(None);
        };
        let wrong = |reason: String| TensorError::format(&self.path, reason);
        let element = element(&entry.dtype)
            .ok_or_else(|| wrong(format!("{name:?} has the unknown type {:?}", entry.dtype)))?;
        admits(element, &entry.shape)?;
        let outside = || wrong(format!("{name:?} is not in the file"));
        let start = usize::try_from(entry.data_offsets.0).map_err(|_| outside())?;
        let start = start.checked_add(self.data).ok_or_else(outside)?;
        Tensor::within(element, &entry.shape, &self.file, start).map(Some)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The names of all arrays, in the order of their elements in the file.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut entries: Vec<_> = self.arrays.iter().collect();
        entries.sort_by_key(|(name, entry)| (entry.data_offsets, *name));
        entries.into_iter().map(|(name, _)| name.clone()).collect()
    }
}

/// The offset of the data, and the arrays.
fn parse(bytes: &[u8]) -> Result<(usize, HashMap<String, Entry>), String> {
    let length = bytes
        .first_chunk::<8>()
        .map(|b| u64::from_le_bytes(*b))
        .ok_or("is too short for the length of a header")?;
    if length > MAX_HEADER_BYTES {
        return Err(format!("states a header of {length} bytes; the format allows {MAX_HEADER_BYTES}"));
    }
    let end = usize::try_from(length).map_or(usize::MAX, |n| n.saturating_add(8));
    let header =
        bytes.get(8..end).ok_or_else(|| format!("states a header of {length} bytes, but ends before"))?;
    let Header(entries) =
        serde_json::from_slice(header).map_err(|e| format!("its header is not a list of arrays: {e}"))?;
    let present = (bytes.len() - end) as u64;
    let mut order: Vec<&(String, Entry)> = entries.iter().collect();
    order.sort_by_key(|(_, entry)| entry.data_offsets);
    let mut covered = 0;
    for (name, entry) in order {
        let (begin, end) = entry.data_offsets;
        if begin != covered || end < begin || end > present {
            return Err(format!(
                "{name:?} lies at {begin} to {end} of {present} bytes of data, after what ends at {covered}"
            ));
        }
        covered = end;
        let wanted = element(&entry.dtype)
            .map(|e| shape::byte_length(e, &entry.shape).and_then(|n| u64::try_from(n).ok()));
        if wanted.is_some_and(|n| n != Some(end - begin)) {
            return Err(format!(
                "{name:?} has {} bytes, which do not match {} of shape {:?}",
                end - begin,
                entry.dtype,
                entry.shape
            ));
        }
    }
    if covered != present {
        return Err(format!("its arrays end at {covered} of {present} bytes of data"));
    }
    let count = entries.len();
    let arrays: HashMap<String, Entry> = entries.into_iter().collect();
    if arrays.len() != count {
        return Err("two of its arrays have one name".to_owned());
    }
    Ok((end, arrays))
}

/// Writes a `.safetensors` file with these arrays by name, in order, without gaps.
///
/// # Errors
/// The error of the stream.
pub fn write<'t>(
    arrays: impl Iterator<Item = (&'t str, &'t Tensor)> + Clone,
    stream: &mut dyn Write,
) -> std::io::Result<()> {
    let mut header = serde_json::Map::new();
    let mut begin = 0;
    for (name, tensor) in arrays.clone() {
        let end = begin + tensor.bytes().len();
        let entry = serde_json::json!({
            "dtype": dtype(tensor.element()),
            "shape": tensor.shape(),
            "data_offsets": [begin, end],
        });
        header.insert(name.to_owned(), entry);
        begin = end;
    }
    let mut header = serde_json::Value::Object(header).to_string().into_bytes();
    // Readers map the file: the first array begins at a multiple of 64 bytes, 8 of which are the length.
    header.resize((header.len() + 8).next_multiple_of(64) - 8, b' ');
    stream.write_all(&(header.len() as u64).to_le_bytes())?;
    stream.write_all(&header)?;
    for (_, tensor) in arrays {
        stream.write_all(tensor.bytes())?;
    }
    Ok(())
}

/// The format's name of an element type.
fn dtype(element: ElementType) -> &'static str {
    match element {
        ElementType::F16 => "F16",
        ElementType::BF16 => "BF16",
        ElementType::F32 => "F32",
        ElementType::F64 => "F64",
        ElementType::I8 => "I8",
        ElementType::I16 => "I16",
        ElementType::I32 => "I32",
        ElementType::I64 => "I64",
        ElementType::U8 => "U8",
        ElementType::U16 => "U16",
        ElementType::U32 => "U32",
        ElementType::U64 => "U64",
        ElementType::Bool => "BOOL",
    }
}

fn element(dtype: &str) -> Option<ElementType> {
    Some(match dtype {
        "F16" => ElementType::F16,
        "BF16" => ElementType::BF16,
        "F32" => ElementType::F32,
        "F64" => ElementType::F64,
        "I8" => ElementType::I8,
        "I16" => ElementType::I16,
        "I32" => ElementType::I32,
        "I64" => ElementType::I64,
        "U8" => ElementType::U8,
        "U16" => ElementType::U16,
        "U32" => ElementType::U32,
        "U64" => ElementType::U64,
        "BOOL" => ElementType::Bool,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: &Path) -> Result<SafeTensors, TensorError> {
        SafeTensors::new(MappedFile::open(path)?, path)
    }

    fn opened(header: &str, data: &[u8]) -> Result<SafeTensors, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w.safetensors");
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        std::fs::write(&path, bytes).unwrap();
        open(&path).map_err(|e| e.to_string())
    }

    #[test]
    fn arrays_stay_mapped_where_their_elements_are_aligned() {
        let header = r#"{"a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"b":{"dtype":"BOOL","shape":[3],"data_offsets":[8,11]},"__metadata__":{"x":"y"}}"#;
        let data = [1.5f32.to_le_bytes(), (-2f32).to_le_bytes()].concat();
        let data = [&data[..], &[0, 1, 7]].concat();
        for spaces in 0..4 {
            let header = format!("{header}{}", " ".repeat(spaces));
            let file = opened(&header, &data).unwrap();
            let a = file.get("a", &|_, _| Ok(())).unwrap().unwrap();
            assert_eq!(a.shape(), [1, 2]);
            assert_eq!(a.as_f32(), Some(&[1.5, -2.0][..]));
            assert_eq!(a.is_mapped(), (8 + header.len()).is_multiple_of(4));
            let b = file.get("b", &|_, _| Ok(())).unwrap().unwrap();
            assert_eq!(b.as_bool_bytes(), Some(&[0, 1, 1][..]));
            assert!(file.get("c", &|_, _| Ok(())).unwrap().is_none());
        }
    }

    #[test]
    fn an_array_may_be_empty() {
        let header = r#"{"a": {"dtype": "F32", "shape": [0, 3], "data_offsets": [0, 0]}}"#;
        let file = opened(header, &[]).unwrap();
        assert_eq!(file.names(), ["a"]);
    }

    #[test]
    fn headers_are_validated() {
        let one = |dtype: &str, shape: &str, offsets: &str| {
            let header = format!(r#"{{"a":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}}}"#);
            opened(&header, &[0; 8]).map(|_| ()).unwrap_err()
        };
        assert!(one("F32", "[3]", "[0,8]").contains("do not match F32 of shape [3]"));
        assert!(one("F32", "[1]", "[0,4]").contains("end at 4 of 8"));
        assert!(one("F32", "[1]", "[4,8]").contains("lies at 4 to 8"));
        assert!(one("F32", "[2]", "[8,0]").contains("lies at 8 to 0"));
        assert!(one("F32", "[4]", "[0,16]").contains("of 8 bytes"));
        assert!(one("F32", "[18446744073709551615,2]", "[0,8]").contains("do not match F32"));
        assert!(one("F32", "[-1]", "[0,8]").contains("not a list of arrays"));
        assert!(one("F32", "2", "[0,8]").contains("not a list of arrays"));
        let entry = r#""a":{"dtype":"U8","shape":[4],"data_offsets":"#;
        let twice = format!("{{{entry}[0,4]}},{entry}[4,8]}}}}");
        assert!(opened(&twice, &[0; 8]).unwrap_err().contains("one name"));
        let over = format!("{{{entry}[0,4]}},{}[0,4]}}}}", entry.replace("\"a\"", "\"b\""));
        assert!(opened(&over, &[0; 4]).unwrap_err().contains("lies at 0 to 4"));
        assert!(opened("[]", &[]).unwrap_err().contains("not a list of arrays"));
        let deep = "[".repeat(100_000);
        let deep = format!(r#"{{"__metadata__":{deep}"#);
        assert!(opened(&deep, &[]).unwrap_err().contains("not a list of arrays"));
        let unknown = r#"{"a":{"dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8]}}"#;
        let file = opened(unknown, &[0; 8]).unwrap();
        assert!(file.get("a", &|_, _| Ok(())).unwrap_err().to_string().contains("F8_E4M3"));
    }

    #[test]
    fn files_that_are_cut_off_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w.safetensors");
        for bytes in [&b""[..], &[9; 7], &[9, 0, 0, 0, 0, 0, 0, 0, b'{'], &[255; 64]] {
            std::fs::write(&path, bytes).unwrap();
            assert!(open(&path).is_err(), "{bytes:?}");
        }
    }
}
