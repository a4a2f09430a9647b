// SPDX-License-Identifier: Apache-2.0
//! Compiled models that are kept between runs, by content.
//!
//! A key is the BLAKE3 of everything that determines the code: source texts, options, compiler version, processor. Files
//! are written under a temporary name and renamed, so readers never see a partial file. An entry contains its key: a file
//! that is damaged, of another version, renamed from another key, or not a regular file is treated as absent. The next
//! [`Cache::put`] replaces it.
//!
//! # Format of an entry
//! ```text
//! 8  magic "SKRIPTC\n"
//! 64 key
//! n  the artifact as a file
//! ```
//!
//! The folder also contains prepared variables ([`Cache::prepare`]), plans of kernels as text ([`Cache::put_plans`]) and
//! records of runs ([`Cache::put_run`]).

mod entries;
mod plans;
mod prepared;
mod runs;

pub use entries::Entry;
pub use runs::{Content, RunRecord};

use crate::artifact::Artifact;
use skript_host::{Sync, replace_bytes};
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Extensions of the files: compiled models, their prepared variables, the plans of their kernels, and records of runs.
const CODE: &str = "skm";
const PREPARED: &str = "skp";
const PLANS: &str = "plans";
const RUN: &str = "run";

const MAGIC: &[u8; 8] = b"SKRIPTC\n";

/// Maximum size of an entry in bytes: 1 GiB.
const MAX_ENTRY_BYTES: u64 = 1 << 30;

/// A folder of artifacts.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

/// Hashes everything that determines the code.
#[derive(Clone, Debug, Default)]
pub struct Key {
    hasher: blake3::Hasher,
}

impl Key {
    /// A key that contains the version of the artifact format and of this crate.
    pub fn new() -> Self {
        let mut key = Key::default();
        key.add("format", b"1");
        key.add("runtime", env!("CARGO_PKG_VERSION").as_bytes());
        key
    }

    /// Adds one named part; the order and the boundaries of parts matter.
    pub fn add(&mut self, name: &str, content: &[u8]) {
        for part in [name.as_bytes(), content] {
            self.hasher.update(&(part.len() as u64).to_le_bytes());
            self.hasher.update(part);
        }
    }

    /// 64 hexadecimal digits.
    pub fn finish(&self) -> String {
        self.hasher.finalize().to_hex().to_string()
    }
}

impl Cache {
    /// The user's cache: `$XDG_CACHE_HOME/skript`, else `~/.cache/skript`; `None` if neither variable is set.
    pub fn of_user() -> Option<Cache> {
        let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
        let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|h| h.join(".cache")))?;
        Some(Cache::in_folder(&base.join("skript")))
    }

    /// A cache in `folder`, which is created when an entry is stored.
    pub fn in_folder(folder: &Path) -> Cache {
        Cache { folder: folder.to_owned() }
    }

    /// The artifact under `key`, if there is a valid one.
    pub fn get(&self, key: &str) -> Option<Artifact> {
        let file = open(&self.path(key)).ok()?;
        let length = usize::try_from(file.metadata().ok()?.len()).ok()?;
        let mut bytes = Vec::with_capacity(length + 1);
        // The file may grow after its size was checked.
        file.take(MAX_ENTRY_BYTES + 1).read_to_end(&mut bytes).ok()?;
        if !is_within_limit(bytes.len()) {
            return None;
        }
        let artifact = bytes.strip_prefix(MAGIC)?.strip_prefix(key.as_bytes())?;
        Artifact::from_bytes(artifact).ok()
    }

    /// Stores `artifact` under `key` atomically.
    ///
    /// # Errors
    /// The system's error, and [`ErrorKind::FileTooLarge`]. Callers may continue: without a cache, only time is lost.
    pub fn put(&self, key: &str, artifact: &Artifact) -> std::io::Result<()> {
        let entry = [MAGIC, key.as_bytes(), &artifact.to_bytes()].concat();
        if !is_within_limit(entry.len()) {
            return Err(Error::from(ErrorKind::FileTooLarge));
        }
        self.write(&self.path(key), &[&entry])
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.{CODE}"))
    }

    /// Writes a file of the cache atomically. After a crash, the name does not refer to lost data.
    fn write(&self, path: &Path, parts: &[&[u8]]) -> std::io::Result<()> {
        self.write_synced(path, parts, Sync::Disk)
    }

    /// Writes a file as [`Cache::write`] does. Files with a checksum need no synchronization with the disk.
    fn write_synced(&self, path: &Path, parts: &[&[u8]], sync: Sync) -> std::io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        replace_bytes(path, sync, parts)
    }
}

fn is_within_limit(length: usize) -> bool {
    u64::try_from(length).is_ok_and(|length| length <= MAX_ENTRY_BYTES)
}

/// Opens a regular file of bounded size without blocking: opening a FIFO would wait for a writer, and reading a device may
/// never end.
fn open(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW | libc::O_NOCTTY);
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() && metadata.len() <= MAX_ENTRY_BYTES {
        Ok(file)
    } else {
        Err(Error::from(ErrorKind::InvalidData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::{ArenaLayout, Target};

    fn artifact() -> Artifact {
        Artifact {
            target: Target::default(),
            entry: "f".into(),
            arena: ArenaLayout { size: 0, alignment: 64 },
            prepared: 0,
            inputs: vec![],
            variables: vec![],
            unread: vec![],
            outputs: vec![],
            updates: vec![],
            checks: vec![],
            object: vec![7; 100],
            kernels: None,
            embedded: None,
        }
    }

    #[test]
    fn stored_artifacts_come_back_and_damaged_ones_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(&folder.path().join("skript"));
        assert_eq!(cache.get("k"), None);
        cache.put("k", &artifact()).unwrap();
        assert_eq!(cache.get("k"), Some(artifact()));
        let path = cache.path("k");
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(cache.get("k"), None);
        cache.put("k", &artifact()).unwrap();
        assert_eq!(cache.get("k"), Some(artifact()));
    }

    /// A file that was renamed to the name of another key.
    #[test]
    fn an_entry_of_another_key_is_absent() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(folder.path());
        cache.put("a", &artifact()).unwrap();
        std::fs::rename(cache.path("a"), cache.path("b")).unwrap();
        assert_eq!(cache.get("b"), None);
        // The key has the other key as a prefix.
        cache.put("key", &artifact()).unwrap();
        std::fs::rename(cache.path("key"), cache.path("ke")).unwrap();
        assert_eq!(cache.get("ke"), None);
    }

    /// Reading any of them would block, never end, or exhaust memory.
    #[test]
    fn irregular_files_are_ignored_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(folder.path());
        let path = |key: &str| cache.path(key);
        let status = std::process::Command::new("mkfifo").arg(path("fifo")).status();
        assert!(status.unwrap().success());
        std::os::unix::fs::symlink("/dev/zero", path("device")).unwrap();
        let file = File::create(path("large")).unwrap();
        file.set_len(MAX_ENTRY_BYTES + 1).unwrap();
        for key in ["fifo", "device", "large"] {
            assert_eq!(cache.get(key), None, "{key}");
            cache.put(key, &artifact()).unwrap();
            assert_eq!(cache.get(key), Some(artifact()), "{key}");
        }
    }

    #[test]
    fn boundaries_of_parts_count() {
        let mut a = Key::new();
        a.add("x", b"ab");
        a.add("y", b"c");
        let mut b = Key::new();
        b.add("x", b"a");
        b.add("y", b"bc");
        assert_ne!(a.finish(), b.finish());
        assert_eq!(a.finish(), a.clone().finish());
    }
}
