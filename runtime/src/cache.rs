//! Compiled models kept between runs, by content.
//!
//! A key is the BLAKE3 of everything that decides the code: source texts, options, compiler version, processor. Files
//! are written beside their place and renamed into it, so a reader sees a whole file or none; a file that is damaged
//! or of another version counts as absent.

use crate::artifact::Artifact;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A folder of artifacts.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

/// Collects what decides the code.
#[derive(Clone, Debug, Default)]
pub struct Key {
    hasher: blake3::Hasher,
}

impl Key {
    /// A key that holds the version of the artifact format and this crate.
    pub fn new() -> Self {
        let mut key = Key::default();
        key.add("format", b"1");
        key.add("runtime", env!("CARGO_PKG_VERSION").as_bytes());
        key
    }

    /// Adds one named part; order and boundaries of parts count.
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
        let absolute = |name: &str| {
            std::env::var_os(name)
                .map(PathBuf::from)
                .filter(|p| p.is_absolute())
        };
        let base =
            absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|h| h.join(".cache")))?;
        Some(Cache::at(&base.join("skript")))
    }

    /// A cache in `folder`, which is made when something is stored.
    pub fn at(folder: &Path) -> Cache {
        Cache {
            folder: folder.to_owned(),
        }
    }

    /// The artifact under `key`, if there is a sound one.
    pub fn get(&self, key: &str) -> Option<Artifact> {
        let bytes = std::fs::read(self.path(key)).ok()?;
        Artifact::from_bytes(&bytes).ok()
    }

    /// Stores `artifact` under `key`, at once or not at all.
    ///
    /// # Errors
    /// The system's. A cache that cannot be written costs time only: callers may go on.
    pub fn put(&self, key: &str, artifact: &Artifact) -> std::io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(&artifact.to_bytes())?;
        file.persist(self.path(key)).map_err(|e| e.error)?;
        Ok(())
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.skm"))
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
            arena: ArenaLayout {
                size: 0,
                alignment: 64,
            },
            inputs: vec![],
            variables: vec![],
            outputs: vec![],
            updates: vec![],
            checks: vec![],
            object: vec![7; 100],
        }
    }

    #[test]
    fn stored_artifacts_come_back_and_damaged_ones_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(&folder.path().join("skript"));
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
