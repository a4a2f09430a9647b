// SPDX-License-Identifier: Apache-2.0
//! NumPy's `.npz` files: zip archives of `.npy` members, each read on demand.

use crate::error::{Admits, TensorError};
use crate::map::MappedFile;
use crate::npy;
use crate::tensor::Tensor;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use zip::{CompressionMethod, ZipArchive};

/// The arrays of one mapped file. Clones share the mapping.
#[derive(Clone, Debug)]
pub struct Npz {
    path: PathBuf,
    file: MappedFile,
    archive: ZipArchive<Cursor<MappedFile>>,
    names: Vec<String>,
    /// Renamed members: the name of the member, without `.npy`, and the new name.
    renamed: Vec<(String, String)>,
    /// The size of the file in bytes.
    length: u64,
    /// The maximum unpacked size of an array in bytes.
    max_bytes: u64,
}

/// Maximum compression ratio of deflate.
const MAX_RATIO: u64 = 1032;

impl Npz {
    /// Reads the archive's directory only. `max_bytes` bounds the unpacked size of an array in bytes.
    ///
    /// # Errors
    /// The file cannot be read, or is not an archive of `.npy` members.
    pub fn open(path: &Path, max_bytes: u64) -> Result<Npz, TensorError> {
        Npz::new(MappedFile::open(path)?, path, max_bytes)
    }

    /// Like [`Npz::open`], for a mapped file; `path` is for messages.
    pub(crate) fn new(file: MappedFile, path: &Path, max_bytes: u64) -> Result<Npz, TensorError> {
        let wrong = |reason: String| TensorError::format(path, reason);
        let fail = |e: zip::result::ZipError| wrong(format!("is not a .npz file: {e}"));
        let length = file.bytes().len() as u64;
        let archive = ZipArchive::new(Cursor::new(file.clone())).map_err(fail)?;
        let names = archive.file_names().map(|full| {
            let full = full.map_err(fail)?;
            match full.strip_suffix(".npy") {
                Some(name) => Ok(name.to_owned()),
                None => Err(wrong(format!("member {full:?} is not a .npy array"))),
            }
        });
        let names = names.collect::<Result<_, _>>()?;
        file.intact()?;
        Ok(Npz { path: path.to_path_buf(), file, archive, names, renamed: Vec::new(), length, max_bytes })
    }

    /// Renames arrays, by pairs of the name in the archive and the new name. Pairs for absent arrays are ignored.
    #[must_use]
    pub fn renamed(mut self, pairs: impl IntoIterator<Item = (String, String)>) -> Npz {
        self.renamed =
            pairs.into_iter().filter(|(own, new)| own != new && self.names.contains(own)).collect();
        for name in &mut self.names {
            let mut renamed = self.renamed.iter();
            if let Some((_, new)) = renamed.find(|(own, _)| own == name) {
                name.clone_from(new);
            }
        }
        self
    }

    /// The name of the member for an array.
    fn member(&self, name: &str) -> String {
        let mut renamed = self.renamed.iter();
        let stored = renamed.find(|(_, new)| new == name).map_or(name, |(stored, _)| stored);
        format!("{stored}.npy")
    }

    /// The archive's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names of all arrays, without `.npy`, in the archive's order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether the archive has an array of this name, without `.npy`.
    pub fn contains(&self, name: &str) -> bool {
        self.archive.index_for_name(&self.member(name)).is_some()
    }

    /// The array with this name. It is unpacked only if `admits` accepts its header.
    ///
    /// A member must unpack to exactly the size that this header states, and have the archive's checksum. Memory is
    /// allocated only if the archive states that size too and is large enough for it at deflate's best ratio.
    ///
    /// # Errors
    /// The array is rejected by `admits`, uses an unsupported compression method, exceeds the limit or is inconsistent.
    pub fn get(&self, name: &str, admits: Admits<'_>) -> Result<Option<Tensor>, TensorError> {
        let full = self.member(name);
        let Some(position) = self.archive.index_for_name(&full) else {
            return Ok(None);
        };
        let wrong = |reason: String| TensorError::format(&self.path, reason);
        let fail = |e: zip::result::ZipError| wrong(format!("member {full:?}: {e}"));
        let mut archive = self.archive.clone();
        let listed = archive.by_index_data(position).map_err(fail)?;
        let (method, size) = (listed.compression(), listed.size());
        if listed.encrypted() {
            let reason = format!("member {full:?} is encrypted; write it without a password");
            return Err(wrong(reason));
        }
        match method {
            CompressionMethod::Stored => {}
            CompressionMethod::Deflated if size > self.max_bytes => {
                return Err(wrong(format!(
                    "member {full:?} unpacks to {size} bytes, more than {}; --limit unpacked_bytes=N changes the limit",
                    self.max_bytes
                )));
            }
            CompressionMethod::Deflated => {}
            other => {
                return Err(wrong(format!(
                    "member {full:?} is compressed by {}, which is not read; numpy.savez and numpy.savez_compressed write what is",
                    called(other)
                )));
            }
        }
        if size > self.length.saturating_mul(MAX_RATIO) {
            let reason = format!("member {full:?} claims {size} bytes, more than the file has");
            return Err(wrong(reason));
        }
        let mut member = archive.by_index(position).map_err(fail)?;
        let read = npy::read_stream(&self.path.join(&full), &mut member, size, admits);
        self.file.intact()?;
        read.map(Some)
    }
}

/// The zip format's number of a compression method, with its name if it has one.
fn called(method: CompressionMethod) -> String {
    #[expect(deprecated, reason = "the only way to the number of a method that is not read")]
    match method {
        CompressionMethod::Unsupported(number) => format!("method {number} ({method})"),
        known => known.to_string(),
    }
}

#[cfg(test)]
mod tests;
