// SPDX-License-Identifier: Apache-2.0
//! Files mapped into memory. In this crate, only this module and [`fault`] contain `unsafe` code.
//!
//! Processes that map a file share its memory, and pages are read on demand. However, the file may change while it is in
//! use. [`MappedFile::unchanged`] detects afterwards that its length or its contents changed. Bytes that are lost when the file
//! is truncated read as zeros; [`MappedFile::intact`] detects this, too. Replacing a file by renaming another file to its name
//! is safe: the mapping keeps the original file.

mod fault;

use crate::buffer::Buffer;
use crate::error::TensorError;
use fault::Watch;
use skript_host::RegularFile;
use skript_host::file::{Fate, FileError, Version};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A complete, read-only file. The contents of a packed file are in memory. Clones share the bytes.
#[derive(Clone, Debug)]
pub struct MappedFile {
    held: Arc<Held>,
}

#[derive(Debug)]
enum Held {
    Mapped(Mapping),
    Unpacked(Vec<u8>),
    Filled(Buffer),
    Zeros(memmap2::Mmap),
}

#[derive(Debug)]
struct Mapping {
    // Dropped first: an unmapped range must not be watched.
    watch: Watch,
    map: memmap2::Mmap,
    path: PathBuf,
    version: Version,
}

impl MappedFile {
    /// Maps a regular file; anything else (folder, pipe, device) is rejected.
    ///
    /// # Errors
    /// [`TensorError`] if the file is not regular, or cannot be read or mapped.
    pub fn open(path: &Path) -> Result<MappedFile, TensorError> {
        MappedFile::map(path, open_ordinary(path)?)
    }

    /// Maps a file of a folder, as [`MappedFile::open`] does. Links that lead out of the folder are rejected.
    ///
    /// # Errors
    /// Like [`MappedFile::open`].
    pub(crate) fn open_within(path: &Path, folder: &Path) -> Result<MappedFile, TensorError> {
        let file = RegularFile::open_within(path, folder);
        MappedFile::map(path, file.map_err(|e| refused(path, e))?)
    }

    /// Maps an open file.
    ///
    /// # Errors
    /// [`TensorError`] if the file cannot be mapped.
    pub fn map(path: &Path, file: RegularFile) -> Result<MappedFile, TensorError> {
        let version = file.version();
        let failed = |e| TensorError::io(path, "map", e);
        // SAFETY: the mapping is private and read-only. Another process may write to the file or truncate it while it is
        // mapped. Nothing here depends on two reads of a byte being equal: sizes are checked against the length of the
        // mapping, and elements are plain numbers of which every bit pattern is valid. `watch` replaces pages lost to
        // truncation.
        let map = unsafe { memmap2::MmapOptions::new().map_copy_read_only(file.file()) }.map_err(failed)?;
        let watch = Watch::over(&map).map_err(failed)?;
        Ok(MappedFile {
            held: Arc::new(Held::Mapped(Mapping { watch, map, path: path.to_path_buf(), version })),
        })
    }

    /// The contents of a packed file.
    pub(crate) fn unpacked(bytes: Vec<u8>) -> MappedFile {
        MappedFile { held: Arc::new(Held::Unpacked(bytes)) }
    }

    /// Zeros in place of a file; they use no memory until they are read. `None` if they cannot be mapped.
    pub fn zeros(length: usize) -> Option<MappedFile> {
        let map = memmap2::MmapMut::map_anon(length.max(1)).ok()?;
        let map = map.make_read_only().ok()?;
        Some(MappedFile { held: Arc::new(Held::Zeros(map)) })
    }

    /// Memory in place of a file, aligned to a cache line: zeros that `fill` replaces. `None` if memory is insufficient.
    pub fn filled(length: usize, fill: impl FnOnce(&mut [u8])) -> Option<MappedFile> {
        let mut buffer = Buffer::zeroed(length)?;
        fill(buffer.bytes_mut());
        Some(MappedFile { held: Arc::new(Held::Filled(buffer)) })
    }

    /// The bytes. Call [`MappedFile::intact`] after reading them, and before using results computed from them.
    pub fn bytes(&self) -> &[u8] {
        match self.held.as_ref() {
            Held::Mapped(mapping) => &mapping.map,
            Held::Unpacked(bytes) => bytes,
            Held::Filled(buffer) => buffer.bytes(),
            Held::Zeros(map) => map,
        }
    }

    /// The path and the version of the opened file; `None` for unpacked content.
    pub fn version(&self) -> Option<(&Path, &Version)> {
        match self.held.as_ref() {
            Held::Mapped(mapping) => Some((&mapping.path, &mapping.version)),
            Held::Unpacked(_) | Held::Filled(_) | Held::Zeros(_) => None,
        }
    }

    /// Whether both refer to the same mapping.
    pub fn is(&self, other: &MappedFile) -> bool {
        Arc::ptr_eq(&self.held, &other.held)
    }

    /// Returns an error if bytes that were read so far were no longer in the file. The cost is one atomic load.
    ///
    /// # Errors
    /// [`TensorError::Changed`].
    pub fn intact(&self) -> Result<(), TensorError> {
        match self.held.as_ref() {
            Held::Mapped(mapping) if mapping.watch.lost() => Err(TensorError::Changed {
                path: mapping.path.clone(),
                how: "bytes of it could not be read any more: it was truncated, or its disk failed",
            }),
            _ => Ok(()),
        }
    }

    /// Returns the memory of a range of a mapped file to the system; the next access reads the bytes from the file again.
    /// Whole pages are returned, which may contain bytes next to the range. An unpacked file is not affected.
    pub(crate) fn release(&self, offset: usize, length: usize) {
        let Held::Mapped(mapping) = self.held.as_ref() else {
            return;
        };
        let is_within = offset.checked_add(length).is_some_and(|end| end <= mapping.map.len());
        if length == 0 || !is_within {
            return;
        }
        // SAFETY: the mapping is never written to, so its pages contain only data of the file. Pages that `watch`
        // replaced by zeros remain zeros.
        #[cfg(unix)]
        let returned = unsafe {
            let advice = memmap2::UncheckedAdvice::DontNeed;
            mapping.map.unchecked_advise_range(advice, offset, length)
        };
        // If the call fails, the memory remains in use.
        #[cfg(unix)]
        let _ = returned;
    }

    /// Returns an error if the file was truncated or written to since it was opened. The cost is one system call.
    ///
    /// # Errors
    /// [`TensorError::Changed`].
    pub fn unchanged(&self) -> Result<(), TensorError> {
        self.intact()?;
        match self.held.as_ref() {
            Held::Mapped(mapping) if mapping.version.fate(&mapping.path) == Fate::Changed => {
                Err(TensorError::Changed {
                    path: mapping.path.clone(),
                    how: "its length or the time of its last change differ from when it was opened",
                })
            }
            _ => Ok(()),
        }
    }
}

impl AsRef<[u8]> for MappedFile {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

/// Opens a regular file for reading.
///
/// # Errors
/// [`TensorError`] if the file is not regular, or the system refuses.
pub(crate) fn open_ordinary(path: &Path) -> Result<RegularFile, TensorError> {
    RegularFile::open(path).map_err(|e| refused(path, e))
}

fn refused(path: &Path, error: FileError) -> TensorError {
    match error {
        FileError::System(source) => TensorError::io(path, "read", source),
        FileError::Kind { .. } => TensorError::NotAFile { path: path.to_path_buf() },
        other => TensorError::format(path, format!("is not read: {other}")),
    }
}

#[cfg(test)]
mod tests;
