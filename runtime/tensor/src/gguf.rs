// SPDX-License-Identifier: Apache-2.0
//! `.gguf` files, versions 2 and 3: metadata, a table of tensors, then the bytes of the tensors.
//!
//! Everything is little endian. A string is a u64 length and its bytes. Layout: `GGUF`, u32 version, u64 number of tensors, u64
//! number of keys; for each key its name, a u32 type and the value; for each tensor its name, a u32 number of extents, the extents
//! from the innermost to the outermost, a u32 type and the u64 offset of its bytes in the data. The data begins at the next multiple of the key
//! `general.alignment`. The blocks of quantized tensors are arrays of bytes here; formulas of the library module `format` convert them.

mod reader;
mod types;

use crate::element::ElementType;
use crate::error::{Admits, TensorError};
use crate::map::MappedFile;
use crate::tensor::Tensor;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use types::{BlockType, Storage};

/// A value of the metadata.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An integer of any width.
    Int(i128),
    /// A 32-bit or 64-bit float.
    Real(f64),
    /// A bool.
    Bool(bool),
    /// A string.
    Text(String),
    /// A list, whose items remain in the file: [`Gguf::texts`], [`Gguf::ints`] and [`Gguf::reals`] read them.
    List(List),
}

/// The position of a list in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List {
    /// The code of the items' type.
    kind: u32,
    /// The number of items.
    count: u64,
    /// The position of the first item.
    start: usize,
}

/// An entry of the table of tensors.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The name in the file.
    pub name: String,
    /// The extents, outermost first.
    pub shape: Vec<u64>,
    /// How the elements are stored.
    pub kind: BlockType,
    /// The position of the first byte in the file.
    start: usize,
}

impl Entry {
    /// The element type and the shape of the stored array: for quantized elements the last extent becomes blocks, and bytes of a
    /// block.
    pub fn array(&self) -> (ElementType, Vec<u64>) {
        let mut shape = self.shape.clone();
        match self.kind.storage() {
            Storage::Elements(element) => (element, shape),
            Storage::Blocks { elements, bytes } => {
                if let Some(last) = shape.last_mut() {
                    *last /= elements;
                }
                shape.push(bytes);
                (ElementType::I8, shape)
            }
        }
    }
}

/// A mapped file whose header was checked.
#[derive(Clone, Debug)]
pub struct Gguf {
    path: PathBuf,
    file: MappedFile,
    contents: Arc<Contents>,
}

/// The header of a file.
#[derive(Debug)]
struct Contents {
    metadata: HashMap<String, Value>,
    entries: Vec<Entry>,
    /// The positions of the entries by their names, and by their names as paths of labels.
    positions: HashMap<String, usize>,
}

impl Gguf {
    /// Maps a file and checks its header.
    ///
    /// # Errors
    /// [`TensorError`] if the file cannot be read or violates the format.
    pub fn open(path: &Path) -> Result<Gguf, TensorError> {
        Gguf::new(MappedFile::open(path)?, path)
    }

    /// Checks the header of a mapped file; `path` is for messages.
    pub(crate) fn new(file: MappedFile, path: &Path) -> Result<Gguf, TensorError> {
        let parsed = reader::parse(file.bytes());
        file.intact()?;
        let (metadata, entries) = parsed.map_err(|wrong| TensorError::format(path, wrong))?;
        let paths = entries.iter().enumerate().map(|(at, entry)| (label_path(&entry.name), at));
        let mut positions: HashMap<String, usize> = paths.collect();
        positions.extend(entries.iter().enumerate().map(|(at, entry)| (entry.name.clone(), at)));
        let contents = Arc::new(Contents { metadata, entries, positions });
        Ok(Gguf { path: path.to_path_buf(), file, contents })
    }

    /// The path in messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The value of a key of the metadata.
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.contents.metadata.get(key)
    }

    /// The strings of a list; `None` if the file lacks the key.
    ///
    /// # Errors
    /// [`TensorError`] if the key has another type, a string is not UTF-8, or the file changed.
    pub fn texts(&self, key: &str) -> Result<Option<Vec<String>>, TensorError> {
        self.items(key, "strings", |value| if let Value::Text(text) = value { Some(text) } else { None })
    }

    /// The integers of a list; `None` if the file lacks the key.
    ///
    /// # Errors
    /// [`TensorError`] if the key has another type, or the file changed.
    pub fn ints(&self, key: &str) -> Result<Option<Vec<i128>>, TensorError> {
        self.items(key, "integers", |value| if let Value::Int(n) = value { Some(n) } else { None })
    }

    /// The reals of a list; `None` if the file lacks the key.
    ///
    /// # Errors
    /// [`TensorError`] if the key has another type, or the file changed.
    pub fn reals(&self, key: &str) -> Result<Option<Vec<f64>>, TensorError> {
        self.items(key, "reals", |value| if let Value::Real(x) = value { Some(x) } else { None })
    }

    /// The items of a list; an error unless `select` accepts all of them.
    fn items<T>(
        &self,
        key: &str,
        kind: &str,
        select: impl Fn(Value) -> Option<T>,
    ) -> Result<Option<Vec<T>>, TensorError> {
        let wrong = || TensorError::format(&self.path, format!("the key `{key}` is not a list of {kind}"));
        let list = match self.value(key) {
            None => return Ok(None),
            Some(Value::List(list)) => *list,
            Some(_) => return Err(wrong()),
        };
        let values = reader::items(self.file.bytes(), list, key);
        self.file.intact()?;
        let values = values.map_err(|text| TensorError::format(&self.path, text))?;
        values.into_iter().map(select).collect::<Option<Vec<T>>>().map(Some).ok_or_else(wrong)
    }

    /// The table of tensors, in the order of the file.
    pub fn entries(&self) -> &[Entry] {
        &self.contents.entries
    }

    /// The entry of this name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.contents.entries.get(*self.contents.positions.get(name)?)
    }

    /// The array of this name, if `admits` accepts it. A variable `main.Graph.blk_0.attn_q.weight` has the array
    /// `blk.0.attn_q.weight`. The array is mapped if its elements are aligned, otherwise copied.
    ///
    /// # Errors
    /// [`TensorError`] if `admits` rejects the array, or the file changed.
    pub(crate) fn get(&self, name: &str, admits: Admits<'_>) -> Result<Option<Tensor>, TensorError> {
        let below_graph = || name.splitn(3, '.').nth(2).and_then(|path| self.entry(path));
        let Some(entry) = self.entry(name).or_else(below_graph) else {
            return Ok(None);
        };
        let (element, shape) = entry.array();
        admits(element, &shape)?;
        Tensor::within(element, &shape, &self.file, entry.start).map(Some)
    }
}

/// The name of a tensor as a path of labels: numbers are joined to the name before them, `blk_0.attn_q.weight`.
pub fn label_path(name: &str) -> String {
    let mut path = String::with_capacity(name.len());
    for part in name.split('.') {
        let is_number = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !path.is_empty() {
            path.push(if is_number { '_' } else { '.' });
        }
        path.push_str(part);
    }
    path
}

#[cfg(test)]
mod tests;
