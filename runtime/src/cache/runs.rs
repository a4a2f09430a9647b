// SPDX-License-Identifier: Apache-2.0
//! Records of runs, by which a run of the same command is repeated without the model's text.
//!
//! # Format of a record
//! ```text
//! 8  magic "SKRIPTR\n"
//! 64 key
//! n  fields: a length (u32, little endian), then that many bytes
//! 32 BLAKE3 of all the above
//! ```

use super::{Cache, RUN, open};
use skript_host::Sync;
use skript_tensor::ElementType;
use std::ffi::OsString;
use std::io::{Error, ErrorKind, Read};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"SKRIPTR\n";

/// The number of bytes of the checksum.
const SUM: usize = 32;

/// Maximum size of a record in bytes: 1 MiB.
const MAX_BYTES: usize = 1 << 20;

/// The code of an output that keeps its element type.
const UNCHANGED: u8 = u8::MAX;

/// The dependencies of a run other than its command line, inputs and weights, and the code that it used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRecord {
    /// The key of the code in the same cache.
    pub code: String,
    /// The key of the plans of its kernels, and the plans, if any.
    pub plans: (String, String),
    /// The model's folder.
    pub folder: PathBuf,
    /// The name of the main module, without its extension.
    pub stem: String,
    /// The maximum unpacked size in bytes of an array of compressed weights.
    pub unpacked_bytes: u64,
    /// The files that were read. The first is the main module; the others must be in the folder.
    pub files: Vec<Content>,
    /// Files that would be read if they existed.
    pub absent: Vec<PathBuf>,
    /// The position among the inputs of the code, for each input of the command line.
    pub inputs: Vec<u32>,
    /// The element type that each output of the graph is converted to, if it differs.
    pub outputs: Vec<Option<ElementType>>,
    /// The element type of each input in the imported model, if it differs from the type in the code.
    pub declared: Vec<Option<ElementType>>,
}

/// A file by its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The path.
    pub path: PathBuf,
    /// BLAKE3 of the bytes.
    pub hash: [u8; 32],
    /// The number of bytes.
    pub length: u64,
}

impl Content {
    /// The file with these bytes.
    pub fn new(path: &Path, bytes: &[u8]) -> Content {
        Content { path: path.to_owned(), hash: blake3::hash(bytes).into(), length: bytes.len() as u64 }
    }
}

impl RunRecord {
    /// Whether all files are unchanged.
    fn has_files(&self) -> bool {
        let mut files = self.files.iter().enumerate();
        let same = files.all(|(number, content)| {
            let Content { path, length, .. } = content;
            // As in the frontend, the link of the main module is followed.
            let bytes = match number {
                0 => skript_host::file::read(path, *length),
                _ => skript_host::file::read_within(path, &self.folder, *length),
            };
            bytes.is_ok_and(|bytes| Content::new(path, &bytes) == *content)
        });
        let exists = |path: &PathBuf| std::fs::symlink_metadata(path).is_ok();
        same && !self.absent.iter().any(exists)
    }

    fn fields(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut add = |field: &[u8]| {
            let length = u32::try_from(field.len()).unwrap_or(u32::MAX);
            bytes.extend(length.to_le_bytes());
            bytes.extend(field);
        };
        add(self.code.as_bytes());
        add(self.plans.0.as_bytes());
        add(self.plans.1.as_bytes());
        add(self.folder.as_os_str().as_bytes());
        add(self.stem.as_bytes());
        add(&self.unpacked_bytes.to_le_bytes());
        add(&(self.files.len() as u64).to_le_bytes());
        for content in &self.files {
            add(content.path.as_os_str().as_bytes());
            add(&content.hash);
            add(&content.length.to_le_bytes());
        }
        add(&(self.absent.len() as u64).to_le_bytes());
        for path in &self.absent {
            add(path.as_os_str().as_bytes());
        }
        let inputs = self.inputs.iter().flat_map(|at| at.to_le_bytes());
        add(&inputs.collect::<Vec<u8>>());
        let code = |element: &Option<ElementType>| element.map_or(UNCHANGED, ElementType::code);
        for elements in [&self.outputs, &self.declared] {
            add(&elements.iter().map(code).collect::<Vec<u8>>());
        }
        bytes
    }

    fn from_fields(bytes: &[u8]) -> Option<RunRecord> {
        let mut fields = Fields(bytes);
        let record = RunRecord {
            code: fields.text()?,
            plans: (fields.text()?, fields.text()?),
            folder: fields.path()?,
            stem: fields.text()?,
            unpacked_bytes: fields.number()?,
            files: fields.list(|fields| {
                Some(Content {
                    path: fields.path()?,
                    hash: fields.next()?.try_into().ok()?,
                    length: fields.number()?,
                })
            })?,
            absent: fields.list(Fields::path)?,
            inputs: {
                let (numbers, rest) = fields.next()?.as_chunks::<4>();
                rest.is_empty().then(|| numbers.iter().map(|n| u32::from_le_bytes(*n)).collect())?
            },
            outputs: fields.elements()?,
            declared: fields.elements()?,
        };
        fields.0.is_empty().then_some(record)
    }
}

/// The fields that have not been read yet.
struct Fields<'b>(&'b [u8]);

impl<'b> Fields<'b> {
    fn next(&mut self) -> Option<&'b [u8]> {
        let (length, rest) = self.0.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (field, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(field)
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.next()?.to_vec()).ok()
    }

    fn path(&mut self) -> Option<PathBuf> {
        Some(OsString::from_vec(self.next()?.to_vec()).into())
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.next()?.try_into().ok()?))
    }

    fn elements(&mut self) -> Option<Vec<Option<ElementType>>> {
        let codes = self.next()?.iter();
        let element = |code: &u8| match *code {
            UNCHANGED => Some(None),
            code => ElementType::from_code(code.into()).map(Some),
        };
        codes.map(element).collect()
    }

    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()?;
        (0..count).map(|_| item(self)).collect()
    }
}

impl Cache {
    /// The record under `key`; `None` if the file does not exist or was not written by [`Cache::put_run`].
    pub fn run(&self, key: &str) -> Option<RunRecord> {
        let mut bytes = Vec::with_capacity(4096);
        let file = open(&self.run_path(key)).ok()?;
        let max_bytes = u64::try_from(MAX_BYTES).ok()?;
        file.take(max_bytes + 1).read_to_end(&mut bytes).ok()?;
        let (content, sum) = bytes.split_last_chunk::<SUM>()?;
        if bytes.len() > MAX_BYTES || blake3::hash(content).as_bytes() != sum {
            return None;
        }
        let fields = content.strip_prefix(MAGIC)?.strip_prefix(key.as_bytes())?;
        RunRecord::from_fields(fields)
    }

    /// Stores a record under `key` atomically.
    ///
    /// # Errors
    /// The system's error, and [`ErrorKind::FileTooLarge`].
    pub fn put_run(&self, key: &str, record: &RunRecord) -> std::io::Result<()> {
        let content = [MAGIC, key.as_bytes(), &record.fields()].concat();
        if content.len() + SUM > MAX_BYTES {
            return Err(Error::from(ErrorKind::FileTooLarge));
        }
        let sum = blake3::hash(&content);
        self.write_synced(&self.run_path(key), &[&content, sum.as_bytes()], Sync::Later)
    }

    /// Whether the record is valid: the model's files and the plans are unchanged.
    pub fn holds(&self, record: &RunRecord) -> bool {
        let (key, plans) = &record.plans;
        self.plans(key).unwrap_or_default() == *plans && record.has_files()
    }

    fn run_path(&self, key: &str) -> PathBuf {
        self.folder().join(format!("{key}.{RUN}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::write;

    fn record(folder: &Path) -> RunRecord {
        write(folder.join("main.sknd"), "main").unwrap();
        write(folder.join("own.sknd"), "own").unwrap();
        RunRecord {
            code: "c".repeat(64),
            plans: ("p".repeat(64), String::new()),
            folder: folder.to_owned(),
            stem: "main".to_owned(),
            unpacked_bytes: 1 << 31,
            files: vec![
                Content::new(&folder.join("main.sknd"), b"main"),
                Content::new(&folder.join("own.sknd"), b"own"),
            ],
            absent: vec![folder.join("nn.sknd")],
            inputs: vec![1, 0],
            outputs: vec![None, Some(ElementType::I32)],
            declared: vec![Some(ElementType::U8), None],
        }
    }

    #[test]
    fn stored_records_come_back_and_damaged_ones_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(&folder.path().join("skript"));
        let (key, record) = ("k".repeat(64), record(folder.path()));
        assert_eq!(cache.run(&key), None);
        cache.put_run(&key, &record).unwrap();
        assert_eq!(cache.run(&key), Some(record.clone()));
        let path = cache.run_path(&key);
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            write(&path, damaged).unwrap();
            assert_eq!(cache.run(&key), None, "byte {at}");
            write(&path, &whole[..at]).unwrap();
            assert_eq!(cache.run(&key), None, "{at} bytes");
        }
        cache.put_run(&key, &record).unwrap();
        assert_eq!(cache.run(&key), Some(record));
    }

    #[test]
    fn a_record_of_another_key_is_absent() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(&folder.path().join("skript"));
        let (key, other) = ("a".repeat(64), "b".repeat(64));
        cache.put_run(&key, &record(folder.path())).unwrap();
        std::fs::rename(cache.run_path(&key), cache.run_path(&other)).unwrap();
        assert_eq!(cache.run(&other), None);
        assert_eq!(cache.entries().unwrap().len(), 1);
    }

    #[test]
    fn other_plans_are_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(&folder.path().join("skript"));
        let mut record = record(folder.path());
        assert!(cache.holds(&record));
        cache.put_plans(&record.plans.0, "0123456789ab:1").unwrap();
        assert!(!cache.holds(&record));
        record.plans.1 = "0123456789ab:1".to_owned();
        assert!(cache.holds(&record));
        cache.put_plans(&record.plans.0, "").unwrap();
        assert!(!cache.holds(&record));
    }

    /// Fields with a valid checksum that do not form a record.
    #[test]
    fn other_fields_are_absent() {
        let folder = tempfile::tempdir().unwrap();
        let fields = record(folder.path()).fields();
        assert!(RunRecord::from_fields(&fields).is_some());
        for length in 0..fields.len() {
            assert_eq!(RunRecord::from_fields(&fields[..length]), None, "{length}");
        }
        assert_eq!(RunRecord::from_fields(&[&fields[..], &[0; 4]].concat()), None);
        // Memory is not reserved for the stated number of items.
        let mut many = record(folder.path());
        many.files.clear();
        let mut bytes = many.fields();
        let zero = bytes.windows(12).position(|w| w == [8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        bytes[zero.unwrap() + 4..][..8].fill(255);
        assert_eq!(RunRecord::from_fields(&bytes), None);
    }

    #[test]
    fn changed_files_are_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let record = record(folder.path());
        let path = |name: &str| folder.path().join(name);
        assert!(record.has_files());
        for name in ["main.sknd", "own.sknd"] {
            let content = std::fs::read(path(name)).unwrap();
            for other in ["", "mine", "another text"] {
                write(path(name), other).unwrap();
                assert!(!record.has_files(), "{name} {other}");
            }
            std::fs::remove_file(path(name)).unwrap();
            assert!(!record.has_files(), "{name}");
            write(path(name), content).unwrap();
            assert!(record.has_files(), "{name}");
        }
        // A link counts as well, wherever it leads.
        std::os::unix::fs::symlink("/nowhere", path("nn.sknd")).unwrap();
        assert!(!record.has_files());
    }

    /// The frontend rejects a module that is a link out of the folder, but follows the link of the main module.
    #[test]
    fn links_out_of_the_folder_are_for_the_main_module_alone() {
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let record = record(folder.path());
        let link = |name: &str| {
            let (own, other) = (folder.path().join(name), outside.path().join(name));
            std::fs::rename(&own, &other).unwrap();
            std::os::unix::fs::symlink(&other, &own).unwrap();
        };
        link("main.sknd");
        assert!(record.has_files());
        link("own.sknd");
        assert!(!record.has_files());
    }
}
