// SPDX-License-Identifier: Apache-2.0
//! A server that answers on the thread of its caller, for programs without threads.

use crate::requests;
use crate::server::{Server, guarded};
use lsp_server::{Notification, Request};
use serde_json::Value;

/// A server without a connection. The caller decides when the texts are checked.
#[derive(Default)]
pub struct DirectServer(Server);

impl DirectServer {
    /// The capabilities of the server.
    pub fn capabilities() -> Value {
        serde_json::to_value(requests::capabilities()).unwrap_or(Value::Null)
    }

    /// Processes a notification of the protocol, such as `textDocument/didOpen`.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.0.take_note(Notification::new(method.to_owned(), params));
    }

    /// Answers a request of the protocol.
    ///
    /// # Errors
    /// The message of an error response.
    pub fn request(&self, method: &str, params: Value) -> Result<Value, String> {
        let response = guarded(&self.0, Request::new(1.into(), method.to_owned(), params));
        match response.error {
            Some(error) => Err(error.message),
            None => Ok(response.result.unwrap_or(Value::Null)),
        }
    }

    /// The parameters of `textDocument/publishDiagnostics` for each text of the open models; none if no text has changed since the
    /// last call.
    pub fn diagnostics(&mut self) -> Vec<Value> {
        let published = self.0.diagnostics().into_iter();
        published.filter_map(|list| serde_json::to_value(list).ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_are_checked_on_request() {
        let mut server = DirectServer::default();
        let document =
            |text: &str| json!({"uri": "untitled:a", "languageId": "skriptnd", "version": 7, "text": text});
        server.notify("textDocument/didOpen", json!({"textDocument": document("graph G {")}));
        let published = server.diagnostics();
        assert_eq!((&published[0]["uri"], &published[0]["version"]), (&json!("untitled:a"), &json!(7)));
        assert!(!published[0]["diagnostics"].as_array().unwrap().is_empty());
        assert!(server.diagnostics().is_empty());
        let file = json!({"textDocument": {"uri": "untitled:a"}});
        assert!(server.request("textDocument/foldingRange", file.clone()).is_ok());
        assert!(server.request("textDocument/hover", json!(1)).unwrap_err().contains("malformed"));
        assert_eq!(DirectServer::capabilities()["hoverProvider"], true);
        // A closed document without a file has no diagnostics.
        server.notify("textDocument/didClose", file);
        let published = server.diagnostics();
        assert_eq!((&published[0]["uri"], &published[0]["diagnostics"]), (&json!("untitled:a"), &json!([])));
    }
}
