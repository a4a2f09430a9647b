// SPDX-License-Identifier: Apache-2.0
//! The key of a run's record.
//!
//! The key contains all words of the command line at their positions, except the values of three flags: the files of inputs,
//! the folder of outputs, the number of threads. Command lines with equal keys differ only in these values.

use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::SystemTime;

use skript_runtime::cache::Key;
use skript_runtime::program;

use crate::command::{Command, RECORD, number_of_threads};

/// The environment variable of the default number of threads.
const THREADS: &str = "SKRIPT_NUM_THREADS";

impl Command {
    /// The key of the command's record, which also depends on the executables; `None` if it cannot have a record.
    pub fn key(&self, programs: &[(&Path, &Metadata)]) -> Option<String> {
        if let Some(threads) = std::env::var_os(THREADS) {
            number_of_threads(&threads)?;
        }
        let mut key = Key::new();
        key.add("run", b"1");
        let folder = std::env::current_dir().ok()?;
        key.add("folder", folder.as_os_str().as_bytes());
        for (kind, word) in &self.words {
            key.add(kind, word.as_bytes());
        }
        let affects_runs = |(name, _): &(OsString, OsString)| {
            name.as_bytes().starts_with(b"SKRIPT_") && name != THREADS && name != RECORD
        };
        let mut environment: Vec<_> = std::env::vars_os().filter(affects_runs).collect();
        environment.sort();
        for (name, value) in environment {
            key.add("variable", name.as_bytes());
            key.add("value", value.as_bytes());
        }
        for (path, metadata) in programs {
            key.add("program", path.as_os_str().as_bytes());
            key.add("length", &metadata.len().to_le_bytes());
            let built = metadata.modified().ok()?;
            let built = built.duration_since(SystemTime::UNIX_EPOCH).ok()?;
            key.add("built", &built.as_nanos().to_le_bytes());
        }
        let host = program::host();
        for part in [host.triple, host.cpu, host.features] {
            key.add("processor", part.as_bytes());
        }
        Some(key.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> String {
        let words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
        Command::parse(&words).unwrap().key(&[]).unwrap()
    }

    #[test]
    fn values_of_three_flags_are_not_in_the_key() {
        let first = key("run m --input x=a.npy --output-dir o --threads 1 --real=f16");
        let second = key("run m --input x=b/c.npy --output-dir p --threads 2 --real=f16");
        assert_eq!(first, second);
        for other in [
            "run n --input x=a.npy --output-dir o --threads 1 --real=f16",
            "run m --input y=a.npy --output-dir o --threads 1 --real=f16",
            "run m --input x=a.npy --output-dir o --threads 1 --real=f64",
            "run m --input x=a.npy --output-dir o --threads 1 --real f16",
            "run m --input x=a.npy --threads 1 --real=f16",
            "run m --input=x=a.npy --output-dir o --threads 1 --real=f16",
            "run --input x=a.npy m --output-dir o --threads 1 --real=f16",
            "run m --input x=a.npy --output-dir o --threads 1 --real=f16 --set a=1",
        ] {
            assert_ne!(key(other), first, "{other}");
        }
    }
}
