//! Files mapped into memory: the one place of this crate with `unsafe`.

use crate::error::TensorError;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// A whole file, read-only; one that had to be unpacked lies in memory. Cheap to clone.
#[derive(Clone, Debug)]
pub struct MappedFile {
    held: Arc<Held>,
}

#[derive(Debug)]
enum Held {
    Mapped(memmap2::Mmap),
    Unpacked(Vec<u8>),
}

impl MappedFile {
    /// Maps an ordinary file; anything else (folder, pipe, device) is refused without opening it.
    pub fn open(path: &Path) -> Result<MappedFile, TensorError> {
        let file = open_ordinary(path)?.0;
        // SAFETY: the mapping is private and read-only. Another process that writes to or truncates the file while it
        // is mapped can change what is read or end this process, as for every mapped file; nothing here depends on
        // two reads of a byte being equal: sizes are checked against the length of the mapping, and elements are plain
        // numbers of which every bit pattern is valid.
        let map = unsafe { memmap2::MmapOptions::new().map_copy_read_only(&file) }
            .map_err(|e| TensorError::io(path, "map", e))?;
        Ok(MappedFile {
            held: Arc::new(Held::Mapped(map)),
        })
    }

    /// What a packed file holds.
    pub(crate) fn unpacked(bytes: Vec<u8>) -> MappedFile {
        MappedFile {
            held: Arc::new(Held::Unpacked(bytes)),
        }
    }

    pub fn bytes(&self) -> &[u8] {
        match self.held.as_ref() {
            Held::Mapped(map) => map,
            Held::Unpacked(bytes) => bytes,
        }
    }
}

impl AsRef<[u8]> for MappedFile {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

/// Opens an ordinary file for reading; with its length in bytes.
pub fn open_ordinary(path: &Path) -> Result<(File, u64), TensorError> {
    let metadata = std::fs::metadata(path).map_err(|e| TensorError::io(path, "read", e))?;
    if !metadata.is_file() {
        return Err(TensorError::NotAFile {
            path: path.to_path_buf(),
        });
    }
    let file = File::open(path).map_err(|e| TensorError::io(path, "read", e))?;
    Ok((file, metadata.len()))
}
