// SPDX-License-Identifier: Apache-2.0
//! The output for messages, and the exit status of a command.

use std::io::Write;

/// The exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Status {
    Done = 0,
    /// A document, a value or a file has errors, or the run failed; two compared models differ.
    Wrong = 1,
    /// The command line contains an unknown name or flag; two models cannot be compared.
    Usage = 2,
    /// Ctrl-C ended the command, as if the signal had ended the process.
    Interrupted = 130,
}

/// The output for messages, separate from the results of a command: stderr, or a buffer for one line of a batch.
pub struct Console {
    buffer: Option<Vec<u8>>,
}

impl Console {
    pub fn stderr() -> Self {
        Console { buffer: None }
    }

    pub fn buffer() -> Self {
        Console { buffer: Some(Vec::new()) }
    }

    /// Writes a text unchanged. A closed stderr is ignored.
    pub fn write(&mut self, text: &str) {
        match &mut self.buffer {
            Some(buffer) => buffer.extend_from_slice(text.as_bytes()),
            None => {
                let _ = std::io::stderr().write_all(text.as_bytes());
            }
        }
    }

    /// Whether colours may be used.
    pub fn is_terminal(&self) -> bool {
        self.buffer.is_none() && std::io::IsTerminal::is_terminal(&std::io::stderr())
    }

    /// The text in the buffer; empty for stderr.
    pub fn into_text(self) -> String {
        self.buffer.map_or_else(String::new, |buffer| String::from_utf8_lossy(&buffer).into_owned())
    }
}
