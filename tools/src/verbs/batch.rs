// SPDX-License-Identifier: Apache-2.0
//! `skript run --batch FILE`: many runs in one process.

use std::ffi::OsString;
use std::sync::atomic::Ordering;

use serde_json::json;
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::BATCH;
use skript_host::FileError;

use crate::command_line::{RunArguments, Verb};
use crate::console::{Console, Status};
use crate::session::say;

/// Each line of the file is a JSON list of arguments, which follow those of the command line itself; for each a line
/// `{"exit": N, "stderr": "…"}` is printed. The exit status states only whether the file could be read.
pub fn run(arguments: &RunArguments, command: &[OsString], console: &mut Console) -> Status {
    let Some(path) = &arguments.batch else {
        return Status::Done;
    };
    let common = without_batch(command);
    let wrong = |message: String, console: &mut Console| {
        let message = format!("{}: {message}", path.display());
        let diagnostic = Diagnostic::without_location(&BATCH, message);
        say(diagnostic, arguments.reading.message_format, console);
        Status::Wrong
    };
    let most = arguments.reading.limits.in_force().batch_bytes;
    let lines = match skript_host::file::read(path, most) {
        Ok(bytes) => bytes,
        Err(error @ FileError::Size { .. }) => {
            return wrong(format!("{error} (limit `batch_bytes`)"), console);
        }
        Err(error) => return wrong(error.to_string(), console),
    };
    for line in lines.split(|byte| *byte == b'\n') {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let mut buffer = Console::buffer();
        let status = match serde_json::from_slice::<Vec<String>>(line) {
            Ok(more) => {
                let words = common.iter().cloned();
                let words = words.chain(more.into_iter().map(OsString::from));
                // Stdout is for the lines of results alone.
                super::QUIET.store(true, Ordering::Relaxed);
                let status = one(&words.collect::<Vec<_>>(), &mut buffer);
                super::QUIET.store(false, Ordering::Relaxed);
                status
            }
            Err(error) => {
                let message = format!("this line is not a list of strings: {error}");
                let diagnostic = Diagnostic::without_location(&BATCH, message);
                say(diagnostic, arguments.reading.message_format, &mut buffer);
                Status::Usage
            }
        };
        let result = json!({"exit": status as u8, "stderr": buffer.into_text()});
        super::print(&format!("{result}\n"));
    }
    Status::Done
}

fn one(words: &[OsString], console: &mut Console) -> Status {
    match super::parse(words, console) {
        Ok(Verb::Run(run)) if run.batch.is_some() => {
            console.write("error: a batch cannot contain another batch\n");
            Status::Usage
        }
        Ok(verb) => super::perform(verb, console),
        Err(status) => status,
    }
}

/// The command line without `--batch FILE` or `--batch=FILE`.
fn without_batch(command: &[OsString]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut words = command.iter();
    while let Some(word) = words.next() {
        if word == "--batch" {
            words.next();
        } else if !word.to_string_lossy().starts_with("--batch=") {
            kept.push(word.clone());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_arguments_are_kept() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        for text in [
            "skript run --engine=reference --batch f.jsonl --set a=1",
            "skript run --batch=f.jsonl --engine=reference --set a=1",
        ] {
            assert_eq!(
                without_batch(&words(text)),
                words("skript run --engine=reference --set a=1")
            );
        }
    }

    #[test]
    fn what_is_wrong_with_a_line_is_its_own_affair() {
        let _alone = crate::verbs::tests::alone();
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let status = |text: &str| one(&words(text), &mut Console::buffer());
        assert_eq!(status("skript run --bogus"), Status::Usage);
        assert_eq!(status("skript run --batch f"), Status::Usage);
        assert_eq!(status("skript run /no/such/model"), Status::Wrong);
    }
}
