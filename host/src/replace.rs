// SPDX-License-Identifier: Apache-2.0
//! Replaces files: the new content is written to a file beside the old one, which then gets its name. A process that maps the
//! old content keeps it, and after an error or the end of the process the old file remains.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{BufWriter, Result, Write as _};
use std::path::{Path, PathBuf};

/// The capacity of the buffer in bytes.
const BUFFER: usize = 1 << 20;

/// Whether the content is on the disk before the name refers to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// After a crash of the system, the file has the old or the new content.
    Disk,
    /// After a crash of the system, the file may be empty or incomplete.
    Later,
}

/// Writes a new file with the name `path`. A file, a link or a pipe with this name is replaced.
///
/// # Errors
/// The error of `write` or of the system. The old file remains, and the new one is removed.
pub fn replace(
    path: &Path,
    sync: Sync,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<()>,
) -> Result<()> {
    replace_with(path, None, sync, write)
}

/// Writes bytes to a new file with the name `path`, as [`replace`] does.
///
/// # Errors
/// Like [`replace`].
pub fn replace_bytes(path: &Path, sync: Sync, parts: &[&[u8]]) -> Result<()> {
    replace(path, sync, |stream| write_all(stream, parts))
}

/// Writes a file that a user names: a new one, or one that replaces the file at `path`. Links are followed, and permissions are kept.
/// A device, a pipe, and a stream of this process such as `/dev/stdout` are written directly.
///
/// # Errors
/// The error of the system. The old file remains, and the new one is removed.
pub fn overwrite(path: &Path, parts: &[&[u8]]) -> Result<()> {
    let is_stream = path.starts_with("/dev") || path.starts_with("/proc");
    match std::fs::metadata(path) {
        Ok(old) if old.is_file() && !is_stream => {
            let permissions = Some(old.permissions());
            replace_with(&path.canonicalize()?, permissions, Sync::Later, |stream| write_all(stream, parts))
        }
        Err(_) if !path.is_symlink() => replace_bytes(path, Sync::Later, parts),
        // A stream, or a link to a file that does not exist yet.
        _ => {
            let file = OpenOptions::new().append(true).create(true).open(path)?;
            filled(file, |stream| write_all(stream, parts)).map(drop)
        }
    }
}

fn replace_with(
    path: &Path,
    permissions: Option<Permissions>,
    sync: Sync,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<()>,
) -> Result<()> {
    let create = |path: &Path| OpenOptions::new().write(true).create_new(true).open(path);
    let new = tempfile::Builder::new().prefix(".").suffix(".new").make_in(folder(path), create)?;
    let (file, name) = new.into_parts();
    // Before the content, which others may not be allowed to read.
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    let file = filled(file, write)?;
    if sync == Sync::Disk {
        file.sync_data()?;
    }
    name.persist(path).map_err(|error| error.error)
}

fn write_all(stream: &mut BufWriter<File>, parts: &[&[u8]]) -> Result<()> {
    parts.iter().try_for_each(|part| stream.write_all(part))
}

fn filled(file: File, write: impl FnOnce(&mut BufWriter<File>) -> Result<()>) -> Result<File> {
    let mut stream = BufWriter::with_capacity(BUFFER, file);
    write(&mut stream)?;
    stream.into_inner().map_err(std::io::IntoInnerError::into_error)
}

fn folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::{Error, Read as _};
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).collect()
    }

    #[test]
    fn a_reader_of_the_old_file_keeps_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        let mut reader = File::open(&path).unwrap();
        replace_bytes(&path, Sync::Disk, &[b"n", b"ew"]).unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), fs::read_to_string(&path).unwrap().as_str()), ("old", "new"));
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn an_error_keeps_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        let failed = replace(&path, Sync::Later, |stream| {
            stream.write_all(b"half")?;
            Err(Error::other("full"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "full");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn a_link_that_is_replaced_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        symlink(&path, &link).unwrap();
        replace_bytes(&link, Sync::Later, &[b"new"]).unwrap();
        assert!(!link.is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    }

    #[test]
    fn links_and_permissions_remain() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&path, &link).unwrap();
        overwrite(&link, &[b"new"]).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
    }

    #[test]
    fn a_new_file_has_the_permissions_of_new_files() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a"), folder.path().join("b"));
        overwrite(&path, &[]).unwrap();
        fs::write(&other, "").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode(), fs::metadata(&other).unwrap().mode());
    }

    #[test]
    fn a_device_is_written_directly() {
        // The name is a link, so that an error does not replace the device.
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("device");
        symlink("/dev/null", &link).unwrap();
        overwrite(&link, &[b"text"]).unwrap();
        assert!(link.is_symlink());
        assert!(!fs::metadata(&link).unwrap().is_file());
    }

    #[test]
    fn a_link_to_a_new_file_creates_it() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a"), folder.path().join("link"));
        symlink(&path, &link).unwrap();
        overwrite(&link, &[b"new"]).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }

    #[test]
    fn a_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        overwrite(folder.path(), &[b"text"]).unwrap_err();
        replace_bytes(folder.path(), Sync::Later, &[b"text"]).unwrap_err();
    }
}
