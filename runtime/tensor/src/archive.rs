// SPDX-License-Identifier: Apache-2.0
//! Models packed as `.tgz`: unpacks their files into memory, never to a folder.
//!
//! A gzip stream of a tar archive (ustar, with the long names of pax and GNU). Members that are not regular files,
//! names that lead out of the archive, and more bytes than the caller allows are errors, even if these
//! members are never read.

use crate::error::TensorError;
use crate::map::{MappedFile, open_ordinary};
use flate2::read::MultiGzDecoder;
use std::collections::BTreeMap;
use std::io::{BufRead, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

const BLOCK: usize = 512;
/// Maximum number of members; a model has a few hundred.
const MAX_MEMBERS: usize = 1 << 16;
/// Maximum length of a name in bytes.
const MAX_NAME_BYTES: usize = 4096;
/// Maximum number of bytes after the end of an archive, which writers pad to full records.
const MAX_TRAILING_BYTES: usize = 1 << 20;
const GZIP: [u8; 2] = [0x1f, 0x8b];
const REMEDY: &str = "--limit unpacked_bytes=N changes the limit";

/// The files of a packed model. Clones share the unpacked bytes.
#[derive(Clone, Debug)]
pub struct Archive {
    path: PathBuf,
    bytes: MappedFile,
    members: BTreeMap<String, Range<usize>>,
    /// The folder of the archive that contains the main module: empty, or ending in `/`.
    root: String,
}

/// Whether the path names a packed model, by its extension.
pub fn is_packed(path: &Path) -> bool {
    path.file_name().is_some_and(|name| {
        let name = name.to_string_lossy();
        name.ends_with(".tgz") || name.ends_with(".tar.gz")
    })
}

impl Archive {
    /// Unpacks at most `max_bytes` bytes, and finds the folder that contains `main.sknd`: the root of the archive, or a
    /// folder in it.
    ///
    /// # Errors
    /// [`TensorError`] if the file cannot be read, is not such an archive, or contains members that are not accepted.
    pub fn open(path: &Path, max_bytes: u64) -> Result<Archive, TensorError> {
        let file = open_ordinary(path)?.into_file();
        let bytes = unpack(path, file, max_bytes)?;
        let wrong = |reason: String| TensorError::format(path, reason);
        let members = members(&bytes).map_err(wrong)?;
        let mut roots = members.keys().filter_map(|name| {
            let root = name.strip_suffix("main.sknd")?;
            let shallow = root.is_empty() || root.find('/') == Some(root.len() - 1);
            shallow.then(|| root.to_owned())
        });
        let root = match (roots.next(), roots.next()) {
            (Some(root), None) => root,
            (None, _) => return Err(wrong("it has no main.sknd".to_owned())),
            (Some(one), Some(other)) => {
                let reason = format!("there is a {one}main.sknd and a {other}main.sknd in it");
                return Err(wrong(reason));
            }
        };
        drop(roots);
        Ok(Archive { path: path.to_path_buf(), bytes: MappedFile::unpacked(bytes), members, root })
    }

    /// The archive as a folder: its name in messages, and the beginning of its files' names.
    pub fn folder(&self) -> &Path {
        &self.path
    }

    /// The bytes of a file, by its path below [`Archive::folder`].
    pub fn read(&self, path: &Path) -> Option<&[u8]> {
        let (file, part) = self.member(path)?;
        file.bytes().get(part)
    }

    /// The names of the files in [`Archive::folder`], without the files in folders below it.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members
            .keys()
            .filter_map(|name| name.strip_prefix(self.root.as_str()))
            .filter(|name| !name.contains('/'))
    }

    /// The unpacked archive, and the range of this file in it.
    pub(crate) fn member(&self, path: &Path) -> Option<(&MappedFile, Range<usize>)> {
        let inside = path.strip_prefix(&self.path).ok()?;
        let name = format!("{}{}", self.root, inside.to_str()?);
        Some((&self.bytes, self.members.get(&name)?.clone()))
    }
}

/// The bytes up to the archive's end. Members are checked as they are read, so that invalid archives, and members
/// beyond the limits, are not unpacked.
fn unpack(path: &Path, file: std::fs::File, max_bytes: u64) -> Result<Vec<u8>, TensorError> {
    let wrong = |reason: String| TensorError::format(path, reason);
    let mut file = std::io::BufReader::new(file);
    let begun = file.fill_buf().map_err(|e| TensorError::io(path, "read", e))?;
    if !begun.starts_with(&GZIP) {
        return Err(wrong(
            "is not a .tgz file: it does not begin with the bytes 1F 8B of gzip; `tar -czf` packs a model"
                .to_owned(),
        ));
    }
    let mut decoder = MultiGzDecoder::new(file);
    let mut bytes = Vec::new();
    let mut chunk = vec![0u8; 1 << 16];
    let (mut next, mut after) = (Some(0), 0);
    loop {
        let count = match decoder.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => count,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(wrong(format!("is not a .tgz file: {e}"))),
        };
        let (read, _) = chunk.split_at(count);
        if next.is_none() {
            // Read on to the checksum at the end of the stream.
            after += count;
            if after > MAX_TRAILING_BYTES {
                return Err(wrong(format!(
                    "has more than {MAX_TRAILING_BYTES} bytes after the end of the archive"
                )));
            }
            continue;
        }
        if bytes.try_reserve(count).is_err() {
            return Err(wrong("does not fit into memory".to_owned()));
        }
        bytes.extend_from_slice(read);
        while let Some(at) = next {
            let Some(header) = bytes.get(at..at + BLOCK) else {
                break;
            };
            next = following(header, at, max_bytes).map_err(wrong)?;
        }
    }
    Ok(bytes)
}

/// The position of the next header, unless this header is the end of the archive.
fn following(header: &[u8], at: usize, max_bytes: u64) -> Result<Option<usize>, String> {
    if header.iter().all(|b| *b == 0) {
        return Ok(None);
    }
    let size = size(header, at)?;
    let end = (at as u64).saturating_add(BLOCK as u64).saturating_add(size);
    if end > max_bytes {
        let name = full_name(header);
        let name = String::from_utf8_lossy(&name);
        return Err(format!(
            "unpacks to more than {max_bytes} bytes: up to the end of its member {name:?} it has {end}; {REMEDY}"
        ));
    }
    let next = end.checked_next_multiple_of(BLOCK as u64);
    let next = next.and_then(|n| usize::try_from(n).ok());
    next.map(Some).ok_or_else(|| cut(at))
}

/// The bytes of a member, if this is a header.
fn size(header: &[u8], at: usize) -> Result<u64, String> {
    if checksum(header) != octal(field(header, 148, 8)) {
        return Err(format!("byte {at} begins no header of a tar archive"));
    }
    octal(field(header, 124, 12)).ok_or_else(|| cut(at))
}

fn cut(at: usize) -> String {
    format!("the member at byte {at} is cut off")
}

/// Regular files by name.
fn members(bytes: &[u8]) -> Result<BTreeMap<String, Range<usize>>, String> {
    let mut members = BTreeMap::new();
    let mut at = 0;
    let mut long_name = None;
    let mut count = 0;
    while let Some(header) = bytes.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
        if header.iter().all(|b| *b == 0) {
            return Ok(members);
        }
        count += 1;
        if count > MAX_MEMBERS {
            return Err(format!("has more than {MAX_MEMBERS} members"));
        }
        let size = size(header, at)?;
        let size = usize::try_from(size).map_err(|_| cut(at))?;
        let start = at + BLOCK;
        let end = start.checked_add(size).ok_or_else(|| cut(at))?;
        let data = bytes.get(start..end).ok_or_else(|| cut(at))?;
        at = end.checked_next_multiple_of(BLOCK).ok_or_else(|| cut(at))?;
        let kind = header[156];
        match kind {
            b'L' => {
                long_name = Some(checked_name(until_zero(data))?);
                continue;
            }
            b'x' => {
                if let Some(name) = pax_path(data)? {
                    long_name = Some(name);
                }
                continue;
            }
            b'g' => continue,
            _ => {}
        }
        let name = match long_name.take() {
            Some(name) => name,
            None => checked_name(&full_name(header))?,
        };
        match kind {
            b'0' | 0 => {
                if members.insert(name.clone(), start..end).is_some() {
                    return Err(format!("has two members named {name:?}"));
                }
            }
            b'5' => {}
            b'1' | b'2' => return Err(format!("its member {name:?} is a link: pack the file")),
            _ => return Err(format!("its member {name:?} is not a regular file")),
        }
    }
    // Without the two blocks of zeros the archive is truncated.
    Err("ends before the end of the archive".to_owned())
}

fn field(header: &[u8], start: usize, length: usize) -> &[u8] {
    header.get(start..start + length).unwrap_or(&[])
}

fn until_zero(bytes: &[u8]) -> &[u8] {
    bytes.split(|b| *b == 0).next().unwrap_or(&[])
}

/// A numeric field of a header: octal digits, or 63 bits in base 256 after a byte with the highest bit set.
fn octal(field: &[u8]) -> Option<u64> {
    if let Some((0x80, rest)) = field.split_first() {
        let shift = |n: u64, b: &u8| n.checked_mul(256)?.checked_add(u64::from(*b));
        return rest.iter().try_fold(0, shift);
    }
    let text = std::str::from_utf8(field).ok()?;
    let digits = text.trim_matches(|c: char| c == '\0' || c == ' ');
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    u64::from_str_radix(digits, 8).ok()
}

/// The checksum of a header, with its own field as spaces.
fn checksum(header: &[u8]) -> Option<u64> {
    let byte = |(n, b): (usize, &u8)| u64::from(if (148..156).contains(&n) { b' ' } else { *b });
    Some(header.iter().enumerate().map(byte).sum())
}

fn full_name(header: &[u8]) -> Vec<u8> {
    let name = until_zero(field(header, 0, 100));
    let prefix = until_zero(field(header, 345, 155));
    // Old GNU archives have times where POSIX has the prefix.
    if field(header, 257, 6) != b"ustar\0" || prefix.is_empty() {
        return name.to_vec();
    }
    [prefix, b"/", name].concat()
}

/// The `path` of pax records, `LENGTH key=value\\n` each.
fn pax_path(mut data: &[u8]) -> Result<Option<String>, String> {
    let wrong = || "has a pax header that is not well formed".to_owned();
    let mut name = None;
    while !until_zero(data).is_empty() {
        let digits = data.iter().position(|b| *b == b' ').ok_or_else(wrong)?;
        let length = data.get(..digits).and_then(|d| std::str::from_utf8(d).ok());
        let length: usize = length.and_then(|l| l.parse().ok()).ok_or_else(wrong)?;
        let record = data.get(digits + 1..length).ok_or_else(wrong)?;
        let record = record.strip_suffix(b"\n").ok_or_else(wrong)?;
        if let Some(path) = record.strip_prefix(b"path=") {
            name = Some(checked_name(path)?);
        } else if record.starts_with(b"size=") || record.starts_with(b"GNU.sparse") {
            return Err("has a member that is sparse, or larger than tar's own headers say".to_owned());
        }
        data = data.get(length..).unwrap_or(&[]);
    }
    Ok(name)
}

/// Normalizes a name to the form `a/b`; returns an error if it leads out of the archive.
fn checked_name(name: &[u8]) -> Result<String, String> {
    let shown = String::from_utf8_lossy(name.get(..80).unwrap_or(name));
    let text = std::str::from_utf8(name).map_err(|_| format!("the name {shown:?} is not UTF-8"))?;
    let parts: Vec<&str> = text.split('/').filter(|p| !p.is_empty() && *p != ".").collect();
    let leads_out = text.starts_with('/') || parts.contains(&"..");
    if leads_out || text.contains(['\\', '\0']) {
        return Err(format!("the name {shown:?} leads out of the archive"));
    }
    if text.len() > MAX_NAME_BYTES {
        return Err(format!("the name {shown:?} is too long"));
    }
    Ok(parts.join("/"))
}

#[cfg(test)]
mod tests;
