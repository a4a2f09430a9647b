// SPDX-License-Identifier: Apache-2.0
//! An editor for tests: the server program over its standard input and output.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(dead_code, unreachable_pub, reason = "each test program uses a part")]

use lsp_server::{Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use std::io::BufReader;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// An editor that talks to the server program.
pub struct Editor {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: i32,
    /// Notifications that arrived before an awaited response.
    notes: Vec<Notification>,
}

impl Editor {
    pub fn start(cache: &Path) -> Editor {
        let mut server = Command::new(env!("CARGO_BIN_EXE_skript-language-server"))
            .env("XDG_CACHE_HOME", cache)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
        let output = BufReader::new(output);
        let mut editor = Editor { server, input, output, next: 0, notes: Vec::new() };
        let answer = editor.ask("initialize", json!({"capabilities": {}}));
        assert_eq!(answer["capabilities"]["hoverProvider"], true);
        editor.notify("initialized", json!({}));
        editor
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        let message = Message::Notification(Notification::new(method.to_owned(), params));
        message.write(&mut self.input).unwrap();
    }

    pub fn answer(&mut self, method: &str, params: Value) -> Response {
        self.next += 1;
        let id = RequestId::from(self.next);
        let request = Request::new(id.clone(), method.to_owned(), params);
        Message::Request(request).write(&mut self.input).unwrap();
        loop {
            match Message::read(&mut self.output).unwrap().expect("the server lives") {
                Message::Response(response) if response.id == id => return response,
                Message::Notification(note) => self.notes.push(note),
                other => panic!("{other:?}"),
            }
        }
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let response = self.answer(method, params);
        assert!(response.error.is_none(), "{response:?}");
        response.result.unwrap_or(Value::Null)
    }

    pub fn open(&mut self, path: &Path, text: &str) {
        let document = json!({"uri": url(path), "languageId": "sknd", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
    }

    pub fn change(&mut self, path: &Path, text: &str) {
        self.notify(
            "textDocument/didChange",
            json!({"textDocument": {"uri": url(path), "version": 2}, "contentChanges": [{"text": text}]}),
        );
    }

    /// The response to a request at the first occurrence of `needle` in `text`.
    pub fn ask_at(&mut self, method: &str, path: &Path, text: &str, needle: &str) -> Value {
        self.ask(method, place(path, text, needle))
    }

    /// The last diagnostics of a file: `line:column code message` each.
    pub fn diagnostics(&mut self, path: &Path) -> Vec<String> {
        // The response to a later request arrives after the published diagnostics.
        let symbols = json!({"textDocument": {"uri": url(path)}});
        self.ask("textDocument/documentSymbol", symbols);
        self.published(&url(path))
    }

    /// The last diagnostics that the server published for a URI.
    pub fn published(&self, uri: &str) -> Vec<String> {
        let published = self.notes.iter().rev().find(|n| n.params["uri"] == uri);
        let list = published.map(|n| n.params["diagnostics"].as_array().unwrap().clone());
        let line = |d: &Value| {
            let start = &d["range"]["start"];
            let message = d["message"].as_str().unwrap().lines().next().unwrap();
            format!("{}:{} {} {message}", start["line"], start["character"], d["code"].as_str().unwrap())
        };
        list.iter().flatten().map(line).collect()
    }

    pub fn quit(mut self) {
        self.ask("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        assert!(self.server.wait().unwrap().success());
    }
}

/// The first occurrence of `needle` in the text of a file, as parameters of a request.
pub fn place(path: &Path, text: &str, needle: &str) -> Value {
    json!({"textDocument": {"uri": url(path)}, "position": position(text, text.find(needle).unwrap())})
}

/// The position of a byte of an ASCII text.
pub fn position(text: &str, offset: usize) -> Value {
    let before = &text[..offset];
    let character = before.len() - before.rfind('\n').map_or(0, |n| n + 1);
    json!({"line": before.matches('\n').count(), "character": character})
}

/// The URI of a file.
pub fn url(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// A model of two files.
pub const MODEL: &str = "import nn;
import mine;

graph G {
    @input {
        x: real[1, 3, 8, 8];
    }
    @variable {
        w: real[4, 3, 3, 3];
    }
    @output {
        y: real[1, 4, 8, 8];
    }
    @compose {
        c = nn.conv{padding=[1, 1, 1, 1]}(x, w);
        y = mine.twice(c);
    }
}
";

/// Its second file, `mine.sknd`.
pub const MODULE: &str = "# Twice of everything.
operator twice {
    @input {
        x: real[s..];
    }
    @output {
        y: real[s..];
    }
    @lower {
        y[i..] = 2.0 * x[i..], i < s;
    }
}
";
