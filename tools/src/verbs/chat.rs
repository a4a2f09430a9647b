// SPDX-License-Identifier: Apache-2.0
//! `skript chat`: a conversation with the language model of a GGUF file. Each line of stdin is a message.

use std::io::{BufRead as _, IsTerminal as _};

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::INPUT;
use skript_generate::Chat;

use crate::command_line::ChatArguments;
use crate::console::{Console, Status};
use crate::language::{opened, stopped};
use crate::stopped::Stopped;

pub fn run(arguments: &ChatArguments, console: &mut Console) -> Status {
    stopped(converse(arguments, console), arguments.language.message_format, console)
}

fn converse(arguments: &ChatArguments, console: &mut Console) -> Result<(), Stopped> {
    let mut language = opened(&arguments.model, &arguments.language)?;
    let mut chat = Chat::new(arguments.system.as_deref());
    while let Some(message) = message(console)? {
        if message.trim().is_empty() {
            continue;
        }
        let Some(begun) = language.ask(&mut chat, &message, console)? else {
            continue;
        };
        let answer = language.write(begun, console)?.text;
        crate::stdout::print("\n");
        chat.answered(&answer);
    }
    if !arguments.language.quiet {
        console.write(&language.summary());
    }
    Ok(())
}

/// The next line of stdin; `None` at its end.
fn message(console: &mut Console) -> Result<Option<String>, Box<Diagnostic>> {
    if std::io::stdin().is_terminal() {
        console.write("> ");
    }
    let mut line = String::new();
    match std::io::stdin().lock().read_line(&mut line) {
        Ok(0) => Ok(None),
        Ok(_) => Ok(Some(line.trim_end_matches(['\n', '\r']).to_owned())),
        Err(error) => {
            let text = format!("cannot read a message from stdin: {error}");
            Err(Box::new(Diagnostic::without_location(&INPUT, text)))
        }
    }
}
