// SPDX-License-Identifier: Apache-2.0
//! Parses the header of a `.gguf` file. Messages state the position of the wrong byte.

use super::types::{BlockType, Storage};
use super::{Entry, List, Value, label_path};
use crate::shape;
use std::collections::HashMap;

/// The maximum rank of tensors in ggml.
const MAX_RANK: u32 = 4;
/// The alignment of the data of a file without the key.
const ALIGNMENT: u64 = 32;
/// The type of lists in the metadata.
const LIST: u32 = 9;
/// The maximum length of a name in a message.
const MAX_SHOWN: usize = 80;

type Header = (HashMap<String, Value>, Vec<Entry>);

/// The metadata and the table of tensors.
pub(super) fn parse(bytes: &[u8]) -> Result<Header, String> {
    let mut reader = Reader { bytes, at: 0 };
    if reader.take(4, "the magic number")? != b"GGUF" {
        return Err("is not a GGUF file: it does not begin with the bytes `GGUF`".to_owned());
    }
    match reader.u32("the version")? {
        2 | 3 => {}
        version if matches!(version.swap_bytes(), 1..=3) => {
            return Err("byte 4: the file is big endian; convert it to little endian".to_owned());
        }
        version => {
            return Err(format!("byte 4: the version is {version}; versions 2 and 3 are supported"));
        }
    }
    let tensors = reader.u64("the number of tensors")?;
    let keys = reader.u64("the number of keys")?;
    let mut metadata = HashMap::new();
    // Counts are not trusted: the loops end with the bytes, and nothing is reserved.
    for _ in 0..keys {
        let at = reader.at;
        let key = reader.string("the name of a key")?;
        let kind = reader.u32(&format!("the type of the key {}", shown(&key)))?;
        let value = reader.value(kind, &key)?;
        if metadata.insert(key.clone(), value).is_some() {
            return Err(format!("byte {at}: the key {} occurs twice", shown(&key)));
        }
    }
    let mut entries = Vec::new();
    let mut names: HashMap<String, String> = HashMap::new();
    for _ in 0..tensors {
        let at = reader.at;
        let (entry, offset) = reader.entry()?;
        if let Some(other) = names.insert(label_path(&entry.name), entry.name.clone()) {
            let (is_equal, other, name) = (other == entry.name, shown(&other), shown(&entry.name));
            return Err(if is_equal {
                format!("byte {at}: the tensor {name} occurs twice")
            } else {
                format!("byte {at}: the tensors {other} and {name} are one variable; rename one of them")
            });
        }
        entries.push((at, entry, offset));
    }
    let entries = placed(entries, alignment(&metadata)?, reader)?;
    Ok((metadata, entries))
}

/// The items of a list in a file whose header was checked.
pub(super) fn items(bytes: &[u8], list: List, key: &str) -> Result<Vec<Value>, String> {
    let mut reader = Reader { bytes, at: list.start };
    (0..list.count).map(|_| reader.value(list.kind, key)).collect()
}

/// The alignment of the data and of the tensors in it.
fn alignment(metadata: &HashMap<String, Value>) -> Result<u64, String> {
    match metadata.get("general.alignment") {
        None => Ok(ALIGNMENT),
        Some(Value::Int(n)) => match u32::try_from(*n).ok().filter(|n| n.is_power_of_two()) {
            Some(n) => Ok(u64::from(n)),
            None => Err(format!("the key `general.alignment` is {n}, which is not a 32-bit power of two")),
        },
        Some(_) => Err("the key `general.alignment` is not an integer".to_owned()),
    }
}

/// The entries with their positions in the file, if they are aligned, in the file, and do not overlap.
fn placed(
    entries: Vec<(usize, Entry, u64)>,
    alignment: u64,
    reader: Reader<'_>,
) -> Result<Vec<Entry>, String> {
    let end = reader.bytes.len() as u64;
    let data = (reader.at as u64).next_multiple_of(alignment);
    let mut ranges = Vec::with_capacity(entries.len());
    let mut all = Vec::with_capacity(entries.len());
    for (at, mut entry, offset) in entries {
        let name = shown(&entry.name);
        if !offset.is_multiple_of(alignment) {
            return Err(format!(
                "byte {at}: the offset {offset} of the tensor {name} is not a multiple of {alignment}"
            ));
        }
        let (element, shape) = entry.array();
        let length = shape::byte_length(element, &shape).and_then(|n| u64::try_from(n).ok());
        let start = data.checked_add(offset);
        let stop = start.zip(length).and_then(|(start, length)| start.checked_add(length));
        match (start.and_then(|n| usize::try_from(n).ok()), start.zip(stop)) {
            (Some(first), Some((start, stop))) if stop <= end => {
                entry.start = first;
                ranges.push((start, stop, at, name));
            }
            _ => {
                return Err(format!(
                    "byte {at}: the tensor {name} of type {} and shape {:?} at offset {offset} ends after the {end} bytes of the file",
                    entry.kind.name(),
                    entry.shape
                ));
            }
        }
        all.push(entry);
    }
    ranges.sort();
    for pair in ranges.windows(2) {
        if let [(_, stop, _, first), (start, _, at, second)] = pair
            && start < stop
        {
            return Err(format!("byte {at}: the tensors {first} and {second} overlap in the file"));
        }
    }
    Ok(all)
}

/// A name for messages.
fn shown(name: &str) -> String {
    let start: String = name.chars().take(MAX_SHOWN).collect();
    let dots = if start.len() < name.len() { "…" } else { "" };
    format!("`{start}{dots}`")
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    /// The next bytes; `what` names them in the message if the file ends before.
    fn take(&mut self, count: u64, what: &str) -> Result<&'b [u8], String> {
        let end = usize::try_from(count).ok().and_then(|count| self.at.checked_add(count));
        let part = end.and_then(|end| self.bytes.get(self.at..end));
        let Some(part) = part else {
            let left = self.bytes.len().saturating_sub(self.at);
            return Err(format!(
                "byte {}: {what} has {count} bytes, but the file has only {left} more",
                self.at
            ));
        };
        self.at += part.len();
        Ok(part)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], String> {
        let at = self.at;
        let part = self.take(N as u64, what)?;
        part.try_into().map_err(|_| format!("byte {at}: {what} is cut off"))
    }

    fn u32(&mut self, what: &str) -> Result<u32, String> {
        self.array(what).map(u32::from_le_bytes)
    }

    fn u64(&mut self, what: &str) -> Result<u64, String> {
        self.array(what).map(u64::from_le_bytes)
    }

    fn string(&mut self, what: &str) -> Result<String, String> {
        let at = self.at;
        let length = self.u64(what)?;
        let text = std::str::from_utf8(self.take(length, what)?);
        text.map(str::to_owned).map_err(|_| format!("byte {at}: {what} is not UTF-8"))
    }

    fn value(&mut self, kind: u32, key: &str) -> Result<Value, String> {
        let what = format!("the value of the key {}", shown(key));
        if kind == LIST {
            return self.list(&what);
        }
        let at = self.at;
        Ok(match kind {
            0 => Value::Int(self.array(&what).map(u8::from_le_bytes)?.into()),
            1 => Value::Int(self.array(&what).map(i8::from_le_bytes)?.into()),
            2 => Value::Int(self.array(&what).map(u16::from_le_bytes)?.into()),
            3 => Value::Int(self.array(&what).map(i16::from_le_bytes)?.into()),
            4 => Value::Int(self.u32(&what)?.into()),
            5 => Value::Int(self.array(&what).map(i32::from_le_bytes)?.into()),
            6 => Value::Real(self.array(&what).map(f32::from_le_bytes)?.into()),
            7 => match self.array(&what)? {
                [0] => Value::Bool(false),
                [1] => Value::Bool(true),
                [other] => return Err(format!("byte {at}: {what} is the bool {other} instead of 0 or 1")),
            },
            8 => Value::Text(self.string(&what)?),
            10 => Value::Int(self.u64(&what)?.into()),
            11 => Value::Int(self.array(&what).map(i64::from_le_bytes)?.into()),
            12 => Value::Real(self.array(&what).map(f64::from_le_bytes)?),
            other => return Err(format!("byte {at}: {what} has the unknown type {other}")),
        })
    }

    /// A list, whose items are skipped.
    fn list(&mut self, what: &str) -> Result<Value, String> {
        let at = self.at;
        let kind = self.u32(what)?;
        let count = self.u64(what)?;
        let list = Value::List(List { kind, count, start: self.at });
        let size: u64 = match kind {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            4..=6 => 4,
            10..=12 => 8,
            8 => {
                for _ in 0..count {
                    let length = self.u64(what)?;
                    self.take(length, what)?;
                }
                return Ok(list);
            }
            LIST => return Err(format!("byte {at}: {what} is a list of lists, which is not supported")),
            other => return Err(format!("byte {at}: {what} is a list of the unknown type {other}")),
        };
        let too_long = || format!("byte {at}: {what} has {count} items, more than the file");
        self.take(count.checked_mul(size).ok_or_else(too_long)?, what)?;
        Ok(list)
    }

    /// An entry of the table of tensors, and its offset in the data.
    fn entry(&mut self) -> Result<(Entry, u64), String> {
        let name = self.string("the name of a tensor")?;
        let what = format!("the entry of the tensor {}", shown(&name));
        let at = self.at;
        let rank = self.u32(&what)?;
        if rank > MAX_RANK {
            return Err(format!("byte {at}: {what} has {rank} dimensions; at most {MAX_RANK} are supported"));
        }
        let at = self.at;
        let mut shape = Vec::new();
        for _ in 0..rank {
            shape.push(self.u64(&what)?);
        }
        shape.reverse();
        if shape::volume(&shape).is_none() {
            return Err(format!("byte {at}: {what} has the shape {shape:?}, more elements than any tensor"));
        }
        let at = self.at;
        let code = self.u32(&what)?;
        let kind = BlockType::from_code(code)
            .ok_or_else(|| format!("byte {at}: {what} has the type {code}, which is not known"))?;
        if let Storage::Blocks { elements, .. } = kind.storage()
            && !shape.last().is_some_and(|last| last.is_multiple_of(elements))
        {
            return Err(format!(
                "byte {at}: {what} has rows in the shape {shape:?}, which are not blocks of {elements} elements of type {}",
                kind.name()
            ));
        }
        let offset = self.u64(&what)?;
        Ok((Entry { name, shape, kind, start: 0 }, offset))
    }
}
