// SPDX-License-Identifier: Apache-2.0
//! Any conversation of an editor ends, without a failed request: `cargo +nightly fuzz run language_server`.
#![no_main]

use std::io::{Cursor, Write};
use std::sync::{Arc, Mutex};

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

#[derive(Arbitrary, Debug)]
enum Message {
    Open(String),
    Change(String),
    Close,
    Hover(u8, u8),
    Definition(u8, u8),
    Completion(u8, u8),
    Symbols,
    Format,
    Raw(Vec<u8>),
}

#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("the output").extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

const URI: &str = "file:///nowhere/main.sknd";

fn content(number: usize, message: &Message) -> Vec<u8> {
    let document = json!({"uri": URI, "version": 1});
    let note = |method: &str, params: Value| json!({"jsonrpc": "2.0", "method": method, "params": params});
    let request = |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": number, "method": method, "params": params});
    let at = |line: &u8, column: &u8| {
        json!({"textDocument": document, "position": {"line": line, "character": column}})
    };
    let value = match message {
        Message::Open(text) => {
            let opened = json!({"uri": URI, "languageId": "skriptnd", "version": 1, "text": text});
            note("textDocument/didOpen", json!({"textDocument": opened}))
        }
        Message::Change(text) => {
            let changes = json!({"textDocument": document, "contentChanges": [{"text": text}]});
            note("textDocument/didChange", changes)
        }
        Message::Close => note("textDocument/didClose", json!({"textDocument": document})),
        Message::Hover(line, column) => request("textDocument/hover", at(line, column)),
        Message::Definition(line, column) => request("textDocument/definition", at(line, column)),
        Message::Completion(line, column) => request("textDocument/completion", at(line, column)),
        Message::Symbols => request("textDocument/documentSymbol", json!({"textDocument": document})),
        Message::Format => {
            let options = json!({"tabSize": 4, "insertSpaces": true});
            request("textDocument/formatting", json!({"textDocument": document, "options": options}))
        }
        Message::Raw(bytes) => return bytes.clone(),
    };
    value.to_string().into_bytes()
}

fuzz_target!(|messages: Vec<Message>| {
    let mut input = Vec::new();
    let mut send = |content: &[u8]| {
        let _ = write!(input, "Content-Length: {}\r\n\r\n", content.len());
        input.extend(content);
    };
    send(br#"{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"capabilities":{}}}"#);
    send(br#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#);
    for (number, message) in messages.iter().enumerate() {
        send(&content(number, message));
    }
    send(br#"{"jsonrpc":"2.0","id":"last","method":"shutdown"}"#);
    send(br#"{"jsonrpc":"2.0","method":"exit"}"#);
    let output = Output::default();
    let served = skript_language_server::serve_streams(Cursor::new(input), output.clone());
    let output = output.0.lock().expect("the output");
    let text = String::from_utf8_lossy(&output);
    assert!(!text.contains("internal compiler error"), "{text}");
    let is_raw = messages.iter().any(|message| matches!(message, Message::Raw(_)));
    assert!(is_raw || served.is_ok(), "{served:?}");
});
