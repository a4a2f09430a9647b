// SPDX-License-Identifier: Apache-2.0
//! Messages of the protocol in a stream of bytes: a header with the length, an empty line, JSON.
//!
//! The stated length is untrusted: memory is allocated as bytes arrive, up to a limit. Invalid messages are answered with an
//! error and skipped.

use lsp_server::{Connection, ErrorCode, Message};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum size of a message in bytes; it may contain the text of a document.
const MAX_BYTES: u64 = 64 << 20;
/// Maximum size of a message's header in bytes; a header of the protocol has two short lines.
const MAX_HEADER_BYTES: u64 = 64 << 10;
/// Maximum number of queued messages; further messages wait in the editor's pipe.
const MAX_QUEUED: usize = 64;

/// A malformed message.
#[derive(Debug)]
pub(crate) struct Refusal {
    code: ErrorCode,
    text: String,
    /// The id of the request, if it could be read.
    id: Value,
}

impl Refusal {
    fn new(code: ErrorCode, text: String) -> Refusal {
        Refusal { code, text, id: Value::Null }
    }

    fn response(&self) -> Value {
        let error = json!({"code": self.code as i32, "message": self.text});
        json!({"id": self.id, "error": error})
    }
}

/// The reason why no further messages can be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FramingError {
    #[error("the editor's messages cannot be read: {0}")]
    System(#[from] std::io::Error),
    #[error("the header of a message has more than {MAX_HEADER_BYTES} bytes")]
    LongHeader,
    #[error("a message has no `Content-Length: N`, so its end is unknown")]
    NoLength,
    #[error("the input ends within a message")]
    Cut,
}

/// Reads messages from a stream.
pub(crate) struct Frames<R> {
    input: R,
    max_bytes: u64,
    /// The number of bytes to skip of a rejected message.
    skipped: u64,
}

impl<R: BufRead> Frames<R> {
    pub(crate) fn new(input: R, max_bytes: u64) -> Frames<R> {
        Frames { input, max_bytes, skipped: 0 }
    }

    /// The next message, or the error in place of it; `None` at the end of the input.
    ///
    /// # Errors
    /// [`FramingError`] if the beginning of the next message is unknown.
    pub(crate) fn next(&mut self) -> Result<Option<Result<Message, Refusal>>, FramingError> {
        let skipped = std::mem::take(&mut self.skipped);
        std::io::copy(&mut self.input.by_ref().take(skipped), &mut std::io::sink())?;
        let Some(length) = self.length()? else {
            return Ok(None);
        };
        if length > self.max_bytes {
            self.skipped = length;
            let text = format!("a message of {length} bytes exceeds the limit of {} bytes", self.max_bytes);
            return Ok(Some(Err(Refusal::new(ErrorCode::InvalidRequest, text))));
        }
        let mut body = Vec::new();
        let read = self.input.by_ref().take(length).read_to_end(&mut body)?;
        if read as u64 == length { Ok(Some(message(&body))) } else { Err(FramingError::Cut) }
    }

    /// The length in the next header; `None` at the end of the input.
    fn length(&mut self) -> Result<Option<u64>, FramingError> {
        let mut length = None;
        let mut header = self.input.by_ref().take(MAX_HEADER_BYTES);
        let mut is_first = true;
        loop {
            let mut line = Vec::new();
            header.read_until(b'\n', &mut line)?;
            if !line.ends_with(b"\n") {
                return match (header.limit(), is_first && line.is_empty()) {
                    (0, _) => Err(FramingError::LongHeader),
                    (_, true) => Ok(None),
                    (_, false) => Err(FramingError::Cut),
                };
            }
            is_first = false;
            let line = String::from_utf8_lossy(&line);
            let line = line.trim();
            if line.is_empty() {
                return length.map(Some).ok_or(FramingError::NoLength);
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                let value = value.trim();
                let is_number = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
                // A length that overflows u64 exceeds the limit as well.
                length = is_number.then(|| value.parse().unwrap_or(u64::MAX));
            }
        }
    }
}

pub(crate) fn message(body: &[u8]) -> Result<Message, Refusal> {
    let value: Value = serde_json::from_slice(body)
        .map_err(|e| Refusal::new(ErrorCode::ParseError, format!("this is not JSON: {e}")))?;
    let id = value.get("id").cloned().unwrap_or(Value::Null);
    let read = match (value.get("method").is_some(), id.is_null()) {
        (true, false) => serde_json::from_value(value).map(Message::Request),
        (true, true) => serde_json::from_value(value).map(Message::Notification),
        (false, _) => serde_json::from_value(value).map(Message::Response),
    };
    read.map_err(|_| {
        let text = "this is not a request, notification or response of JSON-RPC";
        Refusal {
            id: if id.is_number() || id.is_string() { id } else { Value::Null },
            ..Refusal::new(ErrorCode::InvalidRequest, text.to_owned())
        }
    })
}

/// A message with its header.
#[derive(Serialize)]
struct Framed<'m, T> {
    jsonrpc: &'static str,
    #[serde(flatten)]
    message: &'m T,
}

fn send<W: Write>(output: &Mutex<W>, message: &impl Serialize) -> std::io::Result<()> {
    let text = serde_json::to_string(&Framed { jsonrpc: "2.0", message })?;
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

/// Connects `serve` with an editor on two streams, until one of them ends.
///
/// # Errors
/// [`FramingError`], or the error of `serve`.
pub(crate) fn connected<I, O>(
    input: I,
    output: O,
    serve: impl FnOnce(&Connection) -> anyhow::Result<()>,
) -> anyhow::Result<()>
where
    I: Read + Send + 'static,
    O: Write + Send + 'static,
{
    let (received, receiver) = crossbeam_channel::bounded(MAX_QUEUED);
    let (sender, sent) = crossbeam_channel::bounded::<Message>(MAX_QUEUED);
    let output = Arc::new(Mutex::new(output));
    let broken = Arc::new(Mutex::new(None));
    let reader = {
        let (output, broken) = (Arc::clone(&output), Arc::clone(&broken));
        move || {
            let mut frames = Frames::new(BufReader::new(input), MAX_BYTES);
            let ended = loop {
                match frames.next() {
                    Ok(Some(Ok(message))) => {
                        // Fails after the end of the conversation.
                        if received.send(message).is_err() {
                            break None;
                        }
                    }
                    Ok(Some(Err(refusal))) => {
                        if let Err(error) = send(&output, &refusal.response()) {
                            break Some(FramingError::System(error));
                        }
                    }
                    Ok(None) => break None,
                    Err(error) => break Some(error),
                }
            };
            *broken.lock().unwrap_or_else(PoisonError::into_inner) = ended;
        }
    };
    let writer =
        move || -> std::io::Result<()> { sent.iter().try_for_each(|message| send(&output, &message)) };
    // The reader is not joined: it may block on an editor that sends nothing more.
    std::thread::Builder::new().spawn(reader)?;
    let writer = std::thread::Builder::new().spawn(writer)?;
    let connection = Connection { sender, receiver };
    let served = serve(&connection);
    drop(connection);
    let written = writer.join();
    if let Some(error) = broken.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(error.into());
    }
    served?;
    written.map_err(|_| anyhow::anyhow!("the server failed"))??;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    /// The methods and error codes of a stream, and how the stream ends.
    fn read(text: &str, max_bytes: u64) -> Vec<String> {
        let mut frames = Frames::new(text.as_bytes(), max_bytes);
        let mut results = Vec::new();
        loop {
            results.push(match frames.next() {
                Ok(Some(Ok(Message::Notification(note)))) => note.method,
                Ok(Some(Ok(other))) => format!("{other:?}"),
                Ok(Some(Err(refusal))) => format!("{} {}", refusal.code as i32, refusal.id),
                Ok(None) => return results,
                Err(error) => {
                    results.push(error.to_string());
                    return results;
                }
            });
        }
    }

    const NOTE: &str = r#"{"jsonrpc":"2.0","method":"m"}"#;

    #[test]
    fn malformed_messages_are_refused_and_skipped() {
        for (body, refused) in [
            ("{", "-32700 null"),
            ("", "-32700 null"),
            ("\u{0}", "-32700 null"),
            ("[]", "-32600 null"),
            (r#"{"id":7,"method":3}"#, "-32600 7"),
            (r#"{"id":{},"method":3}"#, "-32600 null"),
            (&"[".repeat(100_000), "-32700 null"),
        ] {
            let text = frame(body) + &frame(NOTE);
            assert_eq!(read(&text, 1 << 20), [refused, "m"], "{body:.20}");
        }
    }

    #[test]
    fn long_messages_are_refused_and_skipped() {
        let text = frame(&" ".repeat(101)) + &frame(NOTE);
        assert_eq!(read(&text, 100), ["-32600 null", "m"]);
        // The stated number of bytes never arrives.
        for length in ["99999999999999", "18446744073709551616", "9".repeat(1000).as_str()] {
            let text = format!("Content-Length: {length}\r\n\r\n{}", frame(NOTE));
            assert_eq!(read(&text, 100), ["-32600 null"], "{length}");
        }
    }

    #[test]
    fn headers_follow_the_protocol() {
        let text = format!("Content-Type: x\r\ncontent-length:{}\r\n\r\n{NOTE}", NOTE.len());
        assert_eq!(read(&text, 100), ["m"]);
        for header in ["Content-Length: -1", "Content-Length: ", "Content-Length: 1x", "X: 3", "x"] {
            let results = read(&format!("{header}\r\n\r\n"), 100);
            assert!(results[0].contains("no `Content-Length"), "{header}: {results:?}");
        }
        let results = read(&"x".repeat(1 << 20), 100);
        assert!(results[0].contains("more than 65536 bytes"), "{results:?}");
        for text in ["Content-", "Content-Length: 30\r\n\r\n{"] {
            assert_eq!(read(text, 100), ["the input ends within a message"]);
        }
        assert_eq!(read("", 100), Vec::<String>::new());
    }
}
