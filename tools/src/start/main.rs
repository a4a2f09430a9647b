// SPDX-License-Identifier: Apache-2.0
//! `skript`: starts the driver, which has the compiler, unless a run can be repeated without it.
//!
//! This program links neither LLVM nor MLIR, which take longer to load than many models take to run. After a run, the
//! driver keeps a record in the cache. A command with a record whose files are as they were is executed here; all
//! others, and whatever fails here, by `skript-driver` beside this program.

mod command;
mod key;
mod repeat;

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use command::{Command, RECORD};

const DRIVER: &str = "skript-driver";

/// The stack size of the thread that calls compiled code: that of the driver.
const STACK_BYTES: usize = 1 << 30;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let own = match std::env::current_exe() {
        Ok(own) => own,
        Err(error) => return failed(&format!("cannot find {DRIVER}: {error}")),
    };
    let driver = own.with_file_name(DRIVER);
    let record = record(&words, &own, &driver);
    if let Some((command, key)) = &record
        && is_repeated(command, key)
    {
        return ExitCode::SUCCESS;
    }
    let key = record.map(|(_, key)| key);
    let error = replace(&driver, &words, key);
    failed(&format!("cannot execute {}: {error}", driver.display()))
}

/// The command and the key of its record, if it can have one.
fn record(words: &[OsString], own: &Path, driver: &PathBuf) -> Option<(Command, String)> {
    let command = Command::of(words.get(1..)?)?;
    let (start, compiler) = (std::fs::metadata(own).ok()?, std::fs::metadata(driver).ok()?);
    let key = command.key(&[(own, &start), (driver, &compiler)])?;
    Some((command, key))
}

/// Whether the command was executed. After a panic, which is a defect, the driver executes it and reports.
fn is_repeated(command: &Command, key: &str) -> bool {
    std::panic::set_hook(Box::new(|_| {}));
    let repeated = std::thread::scope(|scope| {
        let work = || repeat::repeat(command, key);
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        let thread = thread.spawn_scoped(scope, work).ok()?;
        thread.join().ok().flatten()
    });
    repeated.is_some()
}

/// Executes the driver in place of this program; returns only if that fails.
fn replace(driver: &Path, words: &[OsString], key: Option<String>) -> std::io::Error {
    let mut command = std::process::Command::new(driver);
    if let Some((name, arguments)) = words.split_first() {
        command.arg0(name).args(arguments);
    }
    match key {
        Some(key) => command.env(RECORD, key),
        None => command.env_remove(RECORD),
    };
    command.exec()
}

fn failed(message: &str) -> ExitCode {
    eprintln!("skript: error: {}", skript_host::printable(message));
    ExitCode::FAILURE
}
