// SPDX-License-Identifier: Apache-2.0
//! The commands of `skript`, one file each, and the handling of panics.

mod batch;
mod bench;
mod cache;
mod chat;
mod check;
mod compare;
mod compile;
mod completions;
mod diff;
mod explain;
mod fmt;
mod generate;
mod grad;
mod import;
mod info;
mod man;
mod ops;
mod playground;
mod quantize;
mod run;
mod train;
mod tune;
mod view;

use std::ffi::OsString;
use std::panic::AssertUnwindSafe;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};

use crate::command_line::{CommandLine, MessageFormat, Verb};
use crate::console::{Console, Status};
use crate::session::{internal, say};
use crate::start_command::RECORD;
use crate::target_arguments::TargetArguments;
use crate::{panics, stdout};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::OUTPUT;

/// Parses the command line and executes it. Never panics.
pub fn dispatch(arguments: Vec<OsString>, console: &mut Console) -> Status {
    let status = execute(arguments, console);
    match stdout::take_failure() {
        None => status,
        Some(error) => {
            let message = format!("cannot write to standard output: {error}");
            say(Diagnostic::without_location(&OUTPUT, message), MessageFormat::Human, console);
            status.max(Status::Wrong)
        }
    }
}

fn execute(arguments: Vec<OsString>, console: &mut Console) -> Status {
    match parse(&arguments, console) {
        Ok(Verb::Run(run)) if run.batch.is_some() => {
            guard(console, run.reading.message_format, |console| batch::run(&run, &arguments, console))
        }
        Ok(Verb::Run(run)) => {
            guard(console, run.reading.message_format, |console| run::run(&run, record().as_deref(), console))
        }
        Ok(verb) => perform(verb, console),
        Err(status) => status,
    }
}

/// The key under which a record of this run may be kept: 64 hexadecimal digits in an environment variable.
fn record() -> Option<String> {
    let key = std::env::var(RECORD).ok()?;
    let is_key = key.len() == 64 && key.bytes().all(|b| b.is_ascii_hexdigit());
    is_key.then_some(key)
}

fn parse(arguments: &[OsString], console: &mut Console) -> Result<Verb, Status> {
    CommandLine::try_parse_from(arguments)
        .and_then(|line| match line.verb.target().map(TargetArguments::check) {
            Some(Err(error)) => Err(wrong_value(arguments, error)),
            _ => Ok(line.verb),
        })
        .map_err(|error| {
            let colours = console.is_terminal();
            let text = error.render();
            let text = if colours { text.ansi().to_string() } else { text.to_string() };
            if error.use_stderr() {
                console.write(&text);
                Status::Usage
            } else {
                stdout::print(&text);
                Status::Done
            }
        })
}

/// An error in a value, with the usage of the command.
fn wrong_value(arguments: &[OsString], error: impl std::fmt::Display) -> clap::Error {
    let mut skript = CommandLine::command();
    skript.build();
    let matches = skript.clone().try_get_matches_from(arguments).ok();
    let verb = matches.as_ref().and_then(clap::ArgMatches::subcommand_name);
    match verb.and_then(|verb| skript.find_subcommand_mut(verb)) {
        Some(command) => command.error(ErrorKind::ValueValidation, error),
        None => skript.error(ErrorKind::ValueValidation, error),
    }
}

fn perform(verb: Verb, console: &mut Console) -> Status {
    let format = match &verb {
        Verb::Check(a) => a.reading.message_format,
        Verb::Run(a) => a.reading.message_format,
        Verb::Import(a) => a.message_format,
        Verb::Generate(a) => a.language.message_format,
        Verb::Chat(a) => a.language.message_format,
        Verb::Compile(a) => a.reading.message_format,
        Verb::Compare(a) => a.call.reading.message_format,
        Verb::Diff(a) => a.reading.message_format,
        Verb::Bench(a) => a.call.reading.message_format,
        Verb::Tune(a) => a.call.reading.message_format,
        Verb::Quantize(a) => a.reading.message_format,
        Verb::Fmt(a) => a.message_format,
        Verb::Grad(a) => a.reading.message_format,
        Verb::Train(a) => a.reading.message_format,
        Verb::Info(a) => a.reading.message_format,
        Verb::View(a) => a.reading.message_format,
        Verb::Playground(a) => a.message_format,
        Verb::PlaygroundValues(a) => a.reading.message_format,
        Verb::Ops(a) => a.message_format,
        Verb::Explain(a) => a.message_format,
        Verb::Cache(_) | Verb::Completions(_) | Verb::Man(_) => MessageFormat::Human,
    };
    guard(console, format, |console| match verb {
        Verb::Check(arguments) => check::run(&arguments, console),
        Verb::Run(arguments) => run::run(&arguments, None, console),
        Verb::Import(arguments) => import::run(&arguments, console),
        Verb::Generate(arguments) => generate::run(&arguments, console),
        Verb::Chat(arguments) => chat::run(&arguments, console),
        Verb::Compile(arguments) => compile::run(&arguments, console),
        Verb::Compare(arguments) => compare::run(&arguments, console),
        Verb::Diff(arguments) => diff::run(&arguments, console),
        Verb::Bench(arguments) => bench::run(&arguments, console),
        Verb::Tune(arguments) => tune::run(&arguments, console),
        Verb::Quantize(arguments) => quantize::run(&arguments, console),
        Verb::Grad(arguments) => grad::run(&arguments, console),
        Verb::Train(arguments) => train::run(&arguments, console),
        Verb::Fmt(arguments) => fmt::run(&arguments, console),
        Verb::Info(arguments) => info::run(&arguments, console),
        Verb::View(arguments) => view::run(&arguments, console),
        Verb::Playground(arguments) => playground::run(&arguments, console),
        Verb::PlaygroundValues(arguments) => playground::print_values(&arguments, console),
        Verb::Ops(arguments) => ops::run(&arguments, console),
        Verb::Explain(arguments) => explain::run(&arguments, console),
        Verb::Cache(arguments) => cache::run(&arguments, console),
        Verb::Completions(arguments) => completions::run(&arguments),
        Verb::Man(arguments) => man::run(&arguments, console),
    })
}

/// Converts a panic on any thread into a diagnostic and exit status 1.
fn guard(console: &mut Console, format: MessageFormat, work: impl FnOnce(&mut Console) -> Status) -> Status {
    panics::record();
    let _ = panics::take_last();
    match std::panic::catch_unwind(AssertUnwindSafe(|| work(console))) {
        Ok(status) => status,
        Err(_) => {
            say(internal("internal error"), format, console);
            Status::Wrong
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Mutex, PoisonError};

    /// The last panic is global to the process, so tests that guard work hold this lock.
    pub fn alone() -> std::sync::MutexGuard<'static, ()> {
        static ALONE: Mutex<()> = Mutex::new(());
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn guarded(work: impl FnOnce(&mut Console) -> Status) -> (Status, String) {
        let _alone = alone();
        let mut console = Console::buffer();
        let status = guard(&mut console, MessageFormat::Short, work);
        (status, console.into_text())
    }

    #[test]
    fn a_panic_is_sk9199_with_its_location() {
        let (status, text) = guarded(|_| panic!("the works are stuck"));
        assert_eq!(status, Status::Wrong);
        assert!(text.contains("error[SK9199]"), "{text}");
        assert!(text.contains("the works are stuck"), "{text}");
    }

    /// Near miss: an error that a command returns is not an internal error.
    #[test]
    fn an_error_of_a_verb_is_not_internal() {
        let (status, text) = guarded(|_| Status::Wrong);
        assert_eq!((status, text.as_str()), (Status::Wrong, ""));
    }
}
