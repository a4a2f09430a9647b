// SPDX-License-Identifier: Apache-2.0
//! Reads files: only regular files, and at most a given number of bytes.
//!
//! Opening a pipe would wait for a writer, reading a device may never end, and a file may be larger than memory. The type of
//! a file is tested before opening, because opening a device may act on it, and again after opening, because the name may
//! refer to another file by then. Opening does not block.

use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Locks a folder until the result is dropped; other processes that lock it wait. Some file systems have no locks: there,
/// nothing is locked.
///
/// # Errors
/// The folder cannot be opened or locked.
pub fn lock_folder(folder: &Path) -> std::io::Result<File> {
    let opened = File::open(folder)?;
    match opened.lock() {
        Err(error) if error.kind() != ErrorKind::Unsupported => Err(error),
        _ => Ok(opened),
    }
}

/// The reason why a file cannot be read.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // The messages describe the fields.
pub enum FileError {
    #[error("{0}")]
    System(#[from] std::io::Error),
    #[error("not a regular file, but {kind}")]
    Kind { kind: &'static str },
    #[error("larger than {max_bytes} bytes")]
    Size { max_bytes: u64 },
    #[error("a link out of the folder {}, to {}", folder.display(), target.display())]
    Outside { folder: PathBuf, target: PathBuf },
    #[error("the name was given to another file while it was opened")]
    Replaced,
}

/// A regular file, open for reading.
#[derive(Debug)]
pub struct RegularFile {
    file: File,
    metadata: Metadata,
}

/// The version of a file. Two versions of one file differ in the time of the last change or in the length.
#[derive(Clone, Debug)]
pub struct Version {
    inode: Inode,
    length: u64,
    changed: Option<SystemTime>,
    /// The time of the last change of the file or of its metadata (`ctime`), which programs cannot set: seconds and
    /// nanoseconds since 1970. Renaming changes it too, so equal versions may differ in it.
    status_changed: (i64, i64),
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        (self.inode, self.length, self.changed) == (other.inode, other.length, other.changed)
    }
}

impl Eq for Version {}

impl Version {
    /// The time since the last change of the file or of its metadata; `None` if it is unknown or in the future.
    pub fn age(&self) -> Option<Duration> {
        let (seconds, nanoseconds) = self.status_changed;
        let since = Duration::new(seconds.try_into().ok()?, nanoseconds.try_into().ok()?);
        let status = SystemTime::UNIX_EPOCH.checked_add(since)?.elapsed().ok()?;
        Some(status.min(self.changed?.elapsed().ok()?))
    }

    /// A text that identifies the version. Files with equal texts have equal content, unless one was changed within the
    /// resolution of the clock.
    pub fn stamp(&self) -> String {
        let Inode(device, inode) = self.inode;
        let changed = self.changed.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        let (length, status) = (self.length, self.status_changed);
        format!("{device} {inode} {length} {changed:?} {status:?}")
    }
}

/// The identity of a file, independent of its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Inode(u64, u64);

/// The state of a version of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Unchanged: the file has the version that it was opened with.
    Unchanged,
    /// The file is shorter or longer, or was written to.
    Changed,
    /// The name was removed or refers to another file, so the opened file can no longer be examined.
    Renamed,
}

impl RegularFile {
    /// Opens a file; links are followed.
    ///
    /// # Errors
    /// [`FileError`] if the system refuses, or the path is not a regular file.
    pub fn open(path: &Path) -> Result<RegularFile, FileError> {
        regular(&std::fs::metadata(path)?)?;
        let file = options().open(path)?;
        let metadata = file.metadata()?;
        regular(&metadata)?;
        Ok(RegularFile { file, metadata })
    }

    /// Opens a file in a folder or below it; links are followed if they do not leave the folder.
    ///
    /// # Errors
    /// Like [`RegularFile::open`]; [`FileError::Outside`] if links lead out of the folder.
    pub fn open_within(path: &Path, folder: &Path) -> Result<RegularFile, FileError> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let opened = RegularFile::open(path)?;
        let target = path.canonicalize()?;
        if !target.starts_with(folder.canonicalize()?) {
            return Err(FileError::Outside { folder: folder.to_path_buf(), target });
        }
        // The path was resolved twice, and both must refer to the same file.
        let inode = Inode::new(&std::fs::metadata(&target)?);
        if inode == Inode::new(&opened.metadata) { Ok(opened) } else { Err(FileError::Replaced) }
    }

    /// The length in bytes when the file was opened.
    pub fn length(&self) -> u64 {
        self.metadata.len()
    }

    /// The version of the file. Versions differ after the file is written to or replaced.
    pub fn version(&self) -> Version {
        Version::new(&self.metadata)
    }

    /// Returns the file, for streaming or mapping.
    pub fn into_file(self) -> File {
        self.file
    }

    /// The opened file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Reads all bytes, if there are at most `max_bytes`.
    ///
    /// # Errors
    /// [`FileError::Size`] if there are more, or the system's error.
    pub fn read(self, max_bytes: u64) -> Result<Vec<u8>, FileError> {
        // Kernel files report length 0, so the number of bytes read decides.
        if self.length() > max_bytes {
            return Err(FileError::Size { max_bytes });
        }
        read_stream(self.file, max_bytes)
    }
}

/// Reads all bytes of a regular file, if there are at most `max_bytes`; links are followed.
///
/// # Errors
/// Like [`RegularFile::open`] and [`RegularFile::read`].
pub fn read(path: &Path, max_bytes: u64) -> Result<Vec<u8>, FileError> {
    RegularFile::open(path)?.read(max_bytes)
}

/// Reads all bytes of a file in a folder or below it, if there are at most `most`.
///
/// # Errors
/// Like [`RegularFile::open_within`] and [`RegularFile::read`].
pub fn read_within(path: &Path, folder: &Path, max_bytes: u64) -> Result<Vec<u8>, FileError> {
    RegularFile::open_within(path, folder)?.read(max_bytes)
}

/// Reads all bytes of a stream such as standard input, if there are at most `max_bytes`.
///
/// # Errors
/// [`FileError::Size`] if there are more, or the system's error.
pub fn read_stream(stream: impl Read, max_bytes: u64) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    stream.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes { Err(FileError::Size { max_bytes }) } else { Ok(bytes) }
}

impl Version {
    fn new(metadata: &Metadata) -> Version {
        Version {
            inode: Inode::new(metadata),
            length: metadata.len(),
            changed: metadata.modified().ok(),
            status_changed: status_changed(metadata),
        }
    }

    /// The current state of the file that was opened at this path.
    pub fn fate(&self, path: &Path) -> Fate {
        match std::fs::metadata(path) {
            Ok(metadata) if Inode::new(&metadata) == self.inode => {
                if Version::new(&metadata) == *self {
                    Fate::Unchanged
                } else {
                    Fate::Changed
                }
            }
            _ => Fate::Renamed,
        }
    }
}

impl Inode {
    #[cfg(unix)]
    fn new(metadata: &Metadata) -> Inode {
        use std::os::unix::fs::MetadataExt as _;
        Inode(metadata.dev(), metadata.ino())
    }

    /// Other systems have no inode numbers in the standard library.
    #[cfg(not(unix))]
    fn new(_: &Metadata) -> Inode {
        Inode(0, 0)
    }
}

#[cfg(unix)]
fn status_changed(metadata: &Metadata) -> (i64, i64) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.ctime(), metadata.ctime_nsec())
}

/// Other systems have no such time in the standard library.
#[cfg(not(unix))]
fn status_changed(_: &Metadata) -> (i64, i64) {
    (0, 0)
}

fn regular(metadata: &Metadata) -> Result<(), FileError> {
    if metadata.is_file() { Ok(()) } else { Err(FileError::Kind { kind: kind(metadata.file_type()) }) }
}

fn kind(file_type: FileType) -> &'static str {
    if file_type.is_dir() {
        return "a folder";
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if file_type.is_fifo() {
            return "a pipe";
        }
        if file_type.is_socket() {
            return "a socket";
        }
        if file_type.is_char_device() || file_type.is_block_device() {
            return "a device";
        }
    }
    "something else"
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    }
    options
}

#[cfg(test)]
mod tests;
