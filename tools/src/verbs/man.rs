// SPDX-License-Identifier: Apache-2.0
//! `skript man`: prints or writes manual pages, which are generated from the descriptions of the flags.

use std::path::Path;

use clap::CommandFactory as _;
use clap_mangen::Man;
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{COMMAND_LINE_NAME, OUTPUT};

use crate::command_line::{CommandLine, ManualArguments, MessageFormat};
use crate::console::{Console, Status};
use crate::session::say;

pub fn run(arguments: &ManualArguments, console: &mut Console) -> Status {
    let mut skript = CommandLine::command()
        .disable_help_subcommand(true)
        .mut_subcommand("cache", |cache| cache.disable_help_subcommand(true))
        .mut_subcommand("run", |run| run.display_name(RUN_PAGE));
    skript.build();
    let done = match (&arguments.output_dir, &arguments.command) {
        (Some(folder), _) => write_all(&skript, folder),
        (None, None) => print(skript),
        (None, Some(name)) => match skript.find_subcommand(name) {
            Some(command) => print(command.clone()),
            None => {
                let text = format!("skript has no command `{name}`");
                let error = Diagnostic::without_location(&COMMAND_LINE_NAME, text)
                    .with_help("`skript --help` lists them");
                say(error, MessageFormat::Human, console);
                return Status::Usage;
            }
        },
    };
    match done {
        Ok(()) => Status::Done,
        Err(error) => {
            let error = Diagnostic::without_location(&OUTPUT, error.to_string());
            say(error, MessageFormat::Human, console);
            Status::Wrong
        }
    }
}

/// The name of the page of `skript run`; the page `skript-run` documents the program `skript-run`.
const RUN_PAGE: &str = "skript-run-model";

/// Prints a command's page as roff.
fn print(command: clap::Command) -> std::io::Result<()> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    crate::stdout::print(&String::from_utf8_lossy(&page));
    Ok(())
}

/// Writes the page of each command into a folder.
fn write_all(skript: &clap::Command, folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    clap_mangen::generate_to(skript.clone(), folder)
}
