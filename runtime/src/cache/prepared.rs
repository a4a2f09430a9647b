// SPDX-License-Identifier: Apache-2.0
//! Prepared variables kept between runs.

use super::{Cache, Key, MAX_ENTRY_BYTES, PREPARED};
use crate::error::RunError;
use crate::prepared::Prepared;
use crate::program::Program;
use crate::run::unchanged;
use skript_tensor::map::MappedFile;
use skript_tensor::{ElementType, Tensor};
use std::path::PathBuf;
use std::time::Duration;

/// Size of the header in bytes: one page, so that the prepared bytes are aligned.
const HEADER: usize = 4096;

const MAGIC: &[u8; 8] = b"SKRIPTP\n";

/// The minimum age of a file's last change. A younger file may change again within the resolution of its time stamp.
const SETTLED: Duration = Duration::from_secs(2);

impl Cache {
    /// The prepared variables of a program: mapped from the cache, or prepared on `threads` threads and stored.
    ///
    /// Prepared variables are stored if all variables without updates are in mapped files that were not changed within the
    /// last two seconds. A cache file consists of a page with a magic number and the key, and the prepared bytes. Mapping
    /// does not verify the bytes, because reading them would take as long as preparing them. The key contains the code, and
    /// for each weight file its path, inode, length and times of change, including `ctime`, which programs cannot set.
    /// Errors of writing the cache are ignored.
    ///
    /// # Errors
    /// The errors of [`Prepared::new`].
    pub fn prepare(
        &self,
        program: &Program,
        variables: &[&Tensor],
        threads: usize,
    ) -> Result<Prepared, RunError> {
        let size = program.artifact().prepared;
        let key = key(program, variables).filter(|_| (1..=MAX_ENTRY_BYTES).contains(&size));
        let Some(key) = key else {
            return Prepared::new(program, variables, threads);
        };
        let path = self.folder.join(format!("{key}.{PREPARED}"));
        let mut header = [MAGIC, key.as_bytes()].concat();
        header.resize(HEADER, 0);
        let end = usize::try_from(size).ok().and_then(|size| HEADER.checked_add(size));
        let is_valid =
            |file: &MappedFile| file.bytes().starts_with(&header) && Some(file.bytes().len()) == end;
        let stored = MappedFile::open(&path).ok().filter(is_valid).and_then(|file| {
            let bytes = Tensor::mapped(ElementType::U8, &[size], file, HEADER)?;
            Prepared::stored(program, variables, bytes)
        });
        if let Some(prepared) = stored {
            return Ok(prepared);
        }
        let prepared = Prepared::new(program, variables, threads)?;
        if unchanged(variables.iter().copied()).is_ok() {
            let _ = self.write(&path, &[&header, prepared.bytes()]);
        }
        Ok(prepared)
    }
}

/// The key; `None` if a variable is not in a file, or the file changed recently.
fn key(program: &Program, variables: &[&Tensor]) -> Option<String> {
    let artifact = program.artifact();
    let mut key = Key::new();
    key.add("object", &artifact.object);
    // Consecutive variables are usually in the same file.
    let mut known: Option<(&MappedFile, PathBuf, String)> = None;
    for (number, variable) in variables.iter().enumerate() {
        let is_updated = |(v, _): &(u32, u32)| usize::try_from(*v) == Ok(number);
        if artifact.updates.iter().any(is_updated) {
            continue;
        }
        let (file, offset) = variable.file()?;
        if !known.as_ref().is_some_and(|(last, ..)| last.is(file)) {
            let (path, version) = file.version()?;
            version.age().filter(|age| *age >= SETTLED)?;
            known = Some((file, std::path::absolute(path).ok()?, version.stamp()));
        }
        let (_, path, stamp) = known.as_ref()?;
        key.add("path", path.as_os_str().as_encoded_bytes());
        key.add("version", stamp.as_bytes());
        key.add("offset", &offset.to_le_bytes());
        key.add("length", &variable.bytes().len().to_le_bytes());
    }
    Some(key.finish())
}
