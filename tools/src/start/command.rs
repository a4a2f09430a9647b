// SPDX-License-Identifier: Apache-2.0
//! The command line of a run that may have a record in the cache.
//!
//! The program `skript` parses the command line before it reads any file. The driver, `skript-driver`, compares the result with its
//! own parse before it keeps a record, from which `skript` repeats the run.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// The environment variable by which `skript` passes the key of a record to its driver.
pub const RECORD: &str = "SKRIPT_RUN_RECORD";

/// Maximum number of threads.
const MAX_THREADS: u16 = 256;

/// A run with inputs from `.npy` files.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Names and files of `--input`, in order.
    pub inputs: Vec<(String, PathBuf)>,
    /// The folder of `--output-dir`.
    pub output_dir: Option<PathBuf>,
    /// The number of `--threads`.
    #[allow(dead_code, reason = "the driver does not need it")]
    pub threads: Option<u16>,
    /// The kinds and texts of all words, as parts of the record's key. The values of `--input`, `--output-dir` and `--threads` are
    /// omitted, except for the names of inputs.
    #[allow(dead_code, reason = "the driver does not need it")]
    pub words: Vec<(&'static str, OsString)>,
}

impl Command {
    /// Parses the words after the name of the program; `None` if the command cannot have a record.
    pub fn parse(words: &[OsString]) -> Option<Command> {
        let mut command = Command::default();
        let mut words = words.iter();
        if words.next()? != "run" {
            return None;
        }
        while let Some(word) = words.next() {
            if word == "--" {
                return None;
            }
            let (flag, joined) = match split(word) {
                Some((flag, value)) => (flag, Some(value)),
                None => (word.as_os_str(), None),
            };
            let flag = match flag.to_str() {
                Some(flag @ ("--input" | "--output-dir" | "--threads")) => flag,
                _ => {
                    command.words.push(("word", word.clone()));
                    continue;
                }
            };
            let value = match joined {
                Some(value) => value,
                // A word with a leading `-` is a flag, not a value.
                None => words.next().filter(|v| !v.as_bytes().starts_with(b"-"))?,
            };
            if value.is_empty() {
                return None;
            }
            let name = command.take(flag, value)?;
            let kind = match joined {
                Some(_) => "joined",
                None => "flag",
            };
            command.words.push((kind, flag.into()));
            command.words.push(("name", name.into()));
        }
        Some(command)
    }

    /// Adds a flag; returns the part of its value that the key contains.
    fn take(&mut self, flag: &str, value: &OsStr) -> Option<String> {
        match flag {
            "--input" => {
                let (name, file) = value.to_str()?.split_once('=')?;
                let is_file = file.ends_with(".npy") && !file.contains(',');
                if name.is_empty() || !is_file || file.starts_with("random:") {
                    return None;
                }
                self.inputs.push((name.to_owned(), PathBuf::from(file)));
                return Some(name.to_owned());
            }
            "--output-dir" => self.output_dir = Some(PathBuf::from(value)),
            _ => self.threads = Some(number_of_threads(value)?),
        }
        Some(String::new())
    }
}

/// The two parts of `--flag=value`.
fn split(word: &OsStr) -> Option<(&OsStr, &OsStr)> {
    let bytes = word.as_bytes();
    let at = bytes.iter().position(|byte| *byte == b'=')?;
    let (flag, value) = (bytes.get(..at)?, bytes.get(at + 1..)?);
    let is_flag = flag.starts_with(b"--");
    is_flag.then(|| (OsStr::from_bytes(flag), OsStr::from_bytes(value)))
}

/// Parses a number of threads, from `--threads` or the environment.
pub fn number_of_threads(text: &OsStr) -> Option<u16> {
    let number = text.to_str()?.parse().ok();
    number.filter(|threads| (1..=MAX_THREADS).contains(threads))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str) -> Option<Command> {
        let words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
        Command::parse(&words)
    }

    #[test]
    fn the_last_value_counts() {
        let without_value = command("run m --input=x=a.npy --output-dir=o --threads=1 --output-dir -p");
        assert_eq!(without_value, None);
        let parsed = command("run m --input=x=a=b.npy --output-dir=o --threads=1 --output-dir p").unwrap();
        assert_eq!(parsed.inputs, [("x".into(), "a=b.npy".into())]);
        assert_eq!((parsed.output_dir, parsed.threads), (Some("p".into()), Some(1)));
    }

    #[test]
    fn other_commands_have_no_record() {
        for text in [
            "check m",
            "run m -- x",
            "run m --input",
            "run m --input x",
            "run m --input =a.npy",
            "run m --input x=",
            "run m --input x=random:1",
            "run m --input x=random:1.npy",
            "run m --input x=a.npz",
            "run m --input x=a.npy,b.npy",
            "run m --input all.npz",
            "run m --threads 0",
            "run m --threads 257",
            "run m --threads=two",
            "run m --output-dir=",
            "run m --output-dir --threads",
        ] {
            assert_eq!(command(text), None, "{text}");
        }
    }
}
