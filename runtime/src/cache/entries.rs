// SPDX-License-Identifier: Apache-2.0
//! Lists and removes the entries of a cache.

use super::{CODE, Cache, PLANS, PREPARED, RUN};
use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Hexadecimal digits of a key.
const KEY_LENGTH: usize = 64;

/// One file of a cache: a compiled model, its prepared variables, the plans of its kernels, or the record of a run.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The path of the file.
    pub path: PathBuf,
    /// The size in bytes.
    pub bytes: u64,
    /// The time of writing; `None` if the system does not report it.
    pub written: Option<SystemTime>,
}

impl Entry {
    /// Whether the entry was written at least `age` ago; false if its time is in the future.
    pub fn is_older_than(&self, age: Duration) -> bool {
        self.written.and_then(|at| at.elapsed().ok()).is_some_and(|elapsed| elapsed >= age)
    }
}

impl Cache {
    /// The folder, which may not exist yet.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// All entries by path: regular files that are named after a key. Links and other files are not entries. Empty if
    /// the folder does not exist.
    ///
    /// # Errors
    /// The system's error, if the folder cannot be read.
    pub fn entries(&self) -> std::io::Result<Vec<Entry>> {
        let listed = match std::fs::read_dir(&self.folder) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            listed => listed?,
        };
        let mut entries = Vec::new();
        for file in listed {
            let path = file?.path();
            // The file may have been removed in the meantime.
            let metadata = std::fs::symlink_metadata(&path).ok().filter(Metadata::is_file);
            if let (true, Some(metadata)) = (is_key(&path), metadata) {
                entries.push(Entry { path, bytes: metadata.len(), written: metadata.modified().ok() });
            }
        }
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(entries)
    }

    /// Removes the entries that `is_removed` selects, and returns them.
    ///
    /// # Errors
    /// The system's error, for the first entry that cannot be removed.
    pub fn remove(&self, is_removed: impl Fn(&Entry) -> bool) -> std::io::Result<Vec<Entry>> {
        let mut removed = Vec::new();
        for entry in self.entries()?.into_iter().filter(is_removed) {
            match std::fs::remove_file(&entry.path) {
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                done => {
                    done?;
                    removed.push(entry);
                }
            }
        }
        Ok(removed)
    }
}

fn is_key(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|s| s.to_str());
    let is_hexadecimal = |s: &str| s.bytes().all(|b| b.is_ascii_hexdigit());
    let extensions = [CODE, PREPARED, PLANS, RUN];
    path.extension().is_some_and(|e| extensions.iter().any(|known| e == *known))
        && stem.is_some_and(|s| s.len() == KEY_LENGTH && is_hexadecimal(s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, write};

    fn key(digit: &str) -> String {
        format!("{}.skm", digit.repeat(KEY_LENGTH))
    }

    #[test]
    fn entries_are_files_named_after_keys() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(folder.path());
        write(folder.path().join(key("a")), "12345").unwrap();
        for other in ["model.skm".to_string(), key("a").replace("skm", "txt"), key("x")] {
            write(folder.path().join(other), "1").unwrap();
        }
        std::fs::create_dir(folder.path().join(key("b"))).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(folder.path(), folder.path().join(key("c"))).unwrap();
        let entries = cache.entries().unwrap();
        let sizes: Vec<u64> = entries.iter().map(|e| e.bytes).collect();
        assert_eq!(sizes, [5]);
        let removed = cache.remove(|_| true).unwrap();
        assert_eq!(removed.len(), 1);
        assert!(folder.path().join("model.skm").exists());
        assert!(cache.entries().unwrap().is_empty());
    }

    #[test]
    fn entries_are_as_old_as_their_files() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(folder.path());
        for (digit, days) in [("a", 10), ("b", 2)] {
            let file = File::create(folder.path().join(key(digit))).unwrap();
            let age = Duration::from_hours(24 * days);
            file.set_modified(SystemTime::now() - age).unwrap();
        }
        let removed = cache.remove(|e| e.is_older_than(Duration::from_hours(24 * 5)));
        assert_eq!(removed.unwrap().len(), 1);
        assert_eq!(cache.entries().unwrap().len(), 1);
    }

    #[test]
    fn a_missing_folder_has_no_entries() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(&folder.path().join("skript"));
        assert!(cache.entries().unwrap().is_empty());
        assert!(cache.remove(|_| true).unwrap().is_empty());
    }
}
