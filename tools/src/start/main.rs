// SPDX-License-Identifier: Apache-2.0
//! `skript`: starts the driver, which contains the compiler, unless a run can be repeated without it.
//!
//! This program links neither LLVM nor MLIR, which take longer to load than many models take to run. After a run, the
//! driver keeps a record in the cache. This program executes commands with a record whose files are unchanged. All other
//! commands, and commands that fail here, are executed by `skript-driver`, which is in the same folder.

mod command;
mod key;
mod repeat;

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use command::{Command, RECORD};

const DRIVER: &str = "skript-driver";

/// The stack size of the thread that calls compiled code, equal to the stack size of the driver.
const STACK_BYTES: usize = 1 << 30;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let executable = match std::env::current_exe() {
        Ok(executable) => executable,
        Err(error) => return failed(&format!("cannot find {DRIVER}: {error}")),
    };
    let driver = executable.with_file_name(DRIVER);
    let record = record(&words, &executable, &driver);
    if let Some((command, key)) = &record
        && is_repeated(command, key)
    {
        return ExitCode::SUCCESS;
    }
    let key = record.map(|(_, key)| key);
    let error = replace(&driver, &words, key);
    failed(&format!("cannot execute {}: {error}", driver.display()))
}

/// The command and the key of its record, if the command can have a record.
fn record(words: &[OsString], own: &Path, driver: &PathBuf) -> Option<(Command, String)> {
    let command = Command::parse(words.get(1..)?)?;
    let (start, compiler) = (std::fs::metadata(own).ok()?, std::fs::metadata(driver).ok()?);
    let key = command.key(&[(own, &start), (driver, &compiler)])?;
    Some((command, key))
}

/// Executes the command by its record; returns whether this succeeded. After a panic, which is a defect, the driver
/// executes the command and reports the panic.
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
