// SPDX-License-Identifier: Apache-2.0
//! Single source files without their imports, for formatters and editors.

use std::fmt::Display;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use skript_host::file::{self, FileError};

use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{ENCODING, SOURCE_SIZE, UNREADABLE};
use crate::limits::Limits;

/// The file itself, or all `.sknd` files below a folder, sorted by path. Links to folders are not followed.
///
/// # Errors
/// The path cannot be read.
pub fn find(path: &Path) -> Result<Vec<PathBuf>, Box<Diagnostic>> {
    let mut files = Vec::new();
    let mut folders = Vec::new();
    match fs::metadata(path) {
        Ok(meta) if meta.is_dir() => folders.push(path.to_path_buf()),
        Ok(_) => files.push(path.to_path_buf()),
        Err(error) => return Err(unreadable(path, &error)),
    }
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|e| unreadable(&folder, &e))?;
        for entry in entries {
            let entry = entry.map_err(|e| unreadable(&folder, &e))?;
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(_) if path.extension().is_some_and(|e| e == "sknd") => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    Ok(files)
}

/// A file's text.
///
/// # Errors
/// It cannot be read, is longer than the limit, or is not UTF-8.
pub fn read(path: &Path, limits: &Limits) -> Result<String, Box<Diagnostic>> {
    let max_bytes = u64::try_from(limits.source_bytes).unwrap_or(u64::MAX);
    text(path, file::read(path, max_bytes))
}

/// The text of a stream such as standard input; `path` names it in messages.
///
/// # Errors
/// Like [`read`].
pub fn read_stream(stream: impl Read, path: &Path, limits: &Limits) -> Result<String, Box<Diagnostic>> {
    let max_bytes = u64::try_from(limits.source_bytes).unwrap_or(u64::MAX);
    text(path, file::read_stream(stream, max_bytes))
}

fn text(path: &Path, bytes: Result<Vec<u8>, FileError>) -> Result<String, Box<Diagnostic>> {
    let bytes = bytes.map_err(|error| match error {
        FileError::Size { max_bytes } => {
            let message = format!("{}: larger than {max_bytes} bytes (limit `source_bytes`)", path.display());
            Box::new(Diagnostic::without_location(&SOURCE_SIZE, message))
        }
        other => unreadable(path, &other),
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let message = format!("{}: byte {at} is not UTF-8", path.display());
        Box::new(Diagnostic::without_location(&ENCODING, message))
    })
}

fn unreadable(path: &Path, error: &dyn Display) -> Box<Diagnostic> {
    let message = format!("{}: {error}", path.display());
    Box::new(Diagnostic::without_location(&UNREADABLE, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_searched_and_odd_files_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("b")).unwrap();
        fs::write(at("b/c.sknd"), "graph").unwrap();
        fs::write(at("a.sknd"), [0xff]).unwrap();
        fs::write(at("a.txt"), "").unwrap();
        assert_eq!(find(folder.path()).unwrap(), [at("a.sknd"), at("b/c.sknd")]);
        assert_eq!(find(&at("a.txt")).unwrap(), [at("a.txt")]);
        assert_eq!(find(&at("none")).unwrap_err().code, &UNREADABLE);
        let mut limits = Limits::default();
        assert_eq!(read(&at("b/c.sknd"), &limits).unwrap(), "graph");
        assert_eq!(read(&at("a.sknd"), &limits).unwrap_err().code, &ENCODING);
        limits.source_bytes = 4;
        assert_eq!(read(&at("b/c.sknd"), &limits).unwrap_err().code, &SOURCE_SIZE);
        assert_eq!(read(&at("b"), &limits).unwrap_err().code, &UNREADABLE);
        let stream = |bytes: &'static [u8]| read_stream(bytes, Path::new("<stdin>"), &limits);
        assert_eq!(stream(b"abcd").unwrap(), "abcd");
        assert_eq!(stream(b"abcde").unwrap_err().code, &SOURCE_SIZE);
    }

    /// Opening a pipe would block until a writer opens it.
    #[cfg(unix)]
    #[test]
    fn pipes_and_devices_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("a.sknd");
        let status = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(status.unwrap().success());
        for path in [pipe.as_path(), Path::new("/dev/zero")] {
            let refused = read(path, &Limits::default()).unwrap_err();
            assert_eq!(refused.code, &UNREADABLE);
            assert!(refused.message.contains("not a regular file"));
        }
    }
}
