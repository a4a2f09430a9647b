// SPDX-License-Identifier: Apache-2.0
//! A server on a thread of this process, for programs with another transport.

use crate::{framing, server};
use crossbeam_channel::{Sender, TrySendError};
use lsp_server::{Connection, Message};
use serde_json::Value;

/// Maximum number of queued messages in each direction.
const MAX_QUEUED: usize = 64;

/// A server that serves until the value is dropped.
#[derive(Debug)]
pub struct EmbeddedServer {
    messages: Sender<Message>,
}

/// A message that the server does not accept.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// The bytes are not a message of JSON-RPC.
    #[error("this is not a message of JSON-RPC")]
    Malformed,
    /// The server still works on earlier messages.
    #[error("the language server is busy")]
    Busy,
    /// The server ended.
    #[error("the language server ended")]
    Ended,
}

impl EmbeddedServer {
    /// Starts a server. `receive` is called with each of its messages, on another thread.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start(mut receive: impl FnMut(Value) + Send + 'static) -> std::io::Result<EmbeddedServer> {
        let (messages, receiver) = crossbeam_channel::bounded(MAX_QUEUED);
        let (sender, sent) = crossbeam_channel::bounded::<Message>(MAX_QUEUED);
        let connection = Connection { sender, receiver };
        std::thread::Builder::new().spawn(move || server::serve(&connection))?;
        std::thread::Builder::new().spawn(move || {
            for message in sent {
                if let Ok(message) = serde_json::to_value(message) {
                    receive(message);
                }
            }
        })?;
        Ok(EmbeddedServer { messages })
    }

    /// Sends a message of JSON-RPC without waiting.
    ///
    /// # Errors
    /// The bytes are not a message, or the server cannot accept it.
    pub fn send(&self, message: &[u8]) -> Result<(), EmbeddedError> {
        let message = framing::message(message).map_err(|_| EmbeddedError::Malformed)?;
        self.messages.try_send(message).map_err(|error| match error {
            TrySendError::Full(_) => EmbeddedError::Busy,
            TrySendError::Disconnected(_) => EmbeddedError::Ended,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::time::Duration;

    #[test]
    fn texts_without_files_are_served_until_the_server_is_dropped() {
        let (sender, received) = crossbeam_channel::unbounded();
        let server = EmbeddedServer::start(move |message| sender.send(message).unwrap()).unwrap();
        let send = |message: Value| server.send(message.to_string().as_bytes()).unwrap();
        let next = || received.recv_timeout(Duration::from_secs(60)).unwrap();
        send(json!({"id": 1, "method": "initialize", "params": {"capabilities": {}}}));
        assert_eq!(next()["id"], 1);
        send(json!({"method": "initialized", "params": {}}));
        let text = json!({"uri": "untitled:a", "languageId": "skriptnd", "version": 7, "text": "graph G {"});
        send(json!({"method": "textDocument/didOpen", "params": {"textDocument": text}}));
        let published = next();
        assert_eq!(published["params"]["version"], 7);
        assert_eq!(published["params"]["uri"], "untitled:a");
        assert!(!published["params"]["diagnostics"].as_array().unwrap().is_empty());
        assert!(matches!(server.send(b"{"), Err(EmbeddedError::Malformed)));
        drop(server);
        assert!(received.recv_timeout(Duration::from_secs(60)).is_err());
    }
}
