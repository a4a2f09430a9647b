// SPDX-License-Identifier: Apache-2.0
//! `skript completions SHELL`: prints a completion script.

use clap::CommandFactory as _;

use crate::command_line::{CommandLine, CompletionArguments};
use crate::console::Status;

pub fn run(arguments: &CompletionArguments) -> Status {
    let mut script = Vec::new();
    let mut command = CommandLine::command();
    clap_complete::generate(arguments.shell, &mut command, "skript", &mut script);
    crate::stdout::print(&String::from_utf8_lossy(&script));
    Status::Done
}
