// SPDX-License-Identifier: Apache-2.0
//! `skript generate`: continues a text with the language model of a GGUF file.

use std::io::Read as _;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::INPUT;

use crate::command_line::GenerateArguments;
use crate::console::{Console, Status};
use crate::language::{opened, stopped};
use crate::stopped::Stopped;

/// The maximum length of a prompt in bytes.
const MAX_BYTES: u64 = 1 << 26;

pub fn run(arguments: &GenerateArguments, console: &mut Console) -> Status {
    match generate(arguments, console) {
        Ok(true) => Status::Interrupted,
        done => stopped(done.map(drop), arguments.language.message_format, console),
    }
}

/// Writes the text. Returns whether Ctrl-C ended it.
fn generate(arguments: &GenerateArguments, console: &mut Console) -> Result<bool, Stopped> {
    let prompt = match arguments.prompt.as_str() {
        "-" => stdin()?,
        prompt => prompt.to_owned(),
    };
    let mut language = opened(&arguments.model, &arguments.language)?;
    let begun = language.begin(&prompt, console)?;
    let written = language.write(begun, console)?;
    crate::stdout::print("\n");
    if !arguments.language.quiet {
        console.write(&language.summary());
    }
    Ok(written.is_interrupted)
}

fn stdin() -> Result<String, Box<Diagnostic>> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(MAX_BYTES).read_to_string(&mut text);
    let wrong = |e| Diagnostic::without_location(&INPUT, format!("cannot read the prompt from stdin: {e}"));
    read.map_err(|e| Box::new(wrong(e)))?;
    Ok(text)
}
