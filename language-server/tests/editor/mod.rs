// SPDX-License-Identifier: Apache-2.0
//! An editor for tests: the server program over its standard input and output.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(dead_code, unreachable_pub, reason = "each test program uses a part")]

use lsp_server::{Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::BufReader;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// An editor that talks to the server program.
pub struct Editor {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: i32,
    /// The last version of each open text.
    versions: HashMap<String, i32>,
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
        let mut editor =
            Editor { server, input, output, next: 0, versions: HashMap::new(), notes: Vec::new() };
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
        self.open_uri(&url(path), text);
    }

    pub fn open_uri(&mut self, uri: &str, text: &str) {
        let version = self.next_version(uri);
        let document = json!({"uri": uri, "languageId": "sknd", "version": version, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
    }

    pub fn change(&mut self, path: &Path, text: &str) {
        self.edit(path, &json!([{"text": text}]));
    }

    /// Changes parts of a text.
    pub fn edit(&mut self, path: &Path, changes: &Value) {
        let version = self.next_version(&url(path));
        let document = json!({"uri": url(path), "version": version});
        self.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": changes}));
    }

    fn next_version(&mut self, uri: &str) -> i32 {
        let version = self.versions.entry(uri.to_owned()).or_default();
        *version += 1;
        *version
    }

    /// The response to a request at the first occurrence of `needle` in `text`.
    pub fn ask_at(&mut self, method: &str, path: &Path, text: &str, needle: &str) -> Value {
        self.ask(method, place(path, text, needle))
    }

    /// The diagnostics of a file after its last change: `line:column code message` each.
    pub fn diagnostics(&mut self, path: &Path) -> Vec<String> {
        self.published(&url(path))
    }

    /// The diagnostics that the server publishes for the last version of a text.
    pub fn published(&mut self, uri: &str) -> Vec<String> {
        let version = self.versions[uri];
        let is_last = |n: &Notification| n.params["uri"] == uri && n.params["version"] == version;
        let published = loop {
            if let Some(at) = self.notes.iter().rposition(is_last) {
                break self.notes[at].params["diagnostics"].clone();
            }
            match Message::read(&mut self.output).unwrap().expect("the server lives") {
                Message::Notification(note) => self.notes.push(note),
                other => panic!("{other:?}"),
            }
        };
        let line = |d: &Value| {
            let start = &d["range"]["start"];
            let message = d["message"].as_str().unwrap().lines().next().unwrap();
            format!("{}:{} {} {message}", start["line"], start["character"], d["code"].as_str().unwrap())
        };
        published.as_array().unwrap().iter().map(line).collect()
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
