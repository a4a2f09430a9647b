// SPDX-License-Identifier: Apache-2.0
//! The language server of one text.

use crate::request::Request;
use serde_json::{Value, json};
use skript_language_server::DirectServer;

/// The document of the text in the protocol. It is in no folder of files.
const URI: &str = "untitled:playground/playground.sknd";
/// The method that returns the diagnostics, and the one that returns the capabilities.
const DIAGNOSTICS: &str = "diagnostics";
const CAPABILITIES: &str = "capabilities";

/// A language server, and the text that it has.
#[derive(Default)]
pub(crate) struct Language {
    server: DirectServer,
    /// The version of the server's text; `None` before the first text.
    version: Option<i32>,
    diagnostics: Value,
}

impl Language {
    /// Answers a request for a version of the text.
    pub(crate) fn answer(&mut self, request: &Request) -> Result<Value, String> {
        if request.method == CAPABILITIES {
            return Ok(DirectServer::capabilities());
        }
        if self.version != Some(request.version) {
            self.change(request);
        }
        if request.method == DIAGNOSTICS {
            let published = self
                .server
                .diagnostics()
                .into_iter()
                .find(|list| list.get("uri").is_some_and(|uri| uri == URI));
            if let Some(mut published) = published {
                self.diagnostics = published.get_mut("diagnostics").map_or(Value::Null, Value::take);
            }
            return Ok(self.diagnostics.clone());
        }
        self.server.request(&request.method, request.params.clone())
    }

    fn change(&mut self, request: &Request) {
        let Request { version, text, .. } = request;
        if self.version.is_some() {
            let document = json!({"uri": URI, "version": version});
            let params = json!({"textDocument": document, "contentChanges": [{"text": text}]});
            self.server.notify("textDocument/didChange", params);
        } else {
            let document = json!({"uri": URI, "languageId": "skriptnd", "version": version, "text": text});
            self.server.notify("textDocument/didOpen", json!({"textDocument": document}));
        }
        self.version = Some(*version);
    }
}
