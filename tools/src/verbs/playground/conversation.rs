// SPDX-License-Identifier: Apache-2.0
//! The conversation of a page with its language server.
//!
//! Each request of the page has the text and its version, so that requests which overtake each other do not mix texts: the
//! server gets a text before the first request about it, and requests about an earlier text are obsolete.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use skript_language_server::{EmbeddedError, EmbeddedServer};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::access::{MAX_TEXT_BYTES, Refusal};

/// The only text of a page. It is in no folder of files, so that it imports no modules of the working folder.
const URI: &str = "untitled:playground/playground.sknd";
/// The time after which an answer is given up.
const MAX_TIME: Duration = Duration::from_secs(20);
/// The method by which a page gets the diagnostics of its text.
const DIAGNOSTICS: &str = "diagnostics";
/// The methods of the protocol that a page may use.
const REQUESTS: [&str; 7] = [
    "textDocument/hover",
    "textDocument/completion",
    "completionItem/resolve",
    "textDocument/signatureHelp",
    "textDocument/codeAction",
    "textDocument/formatting",
    "textDocument/semanticTokens/full",
];

/// A request of the page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    version: i32,
    text: String,
    method: String,
    #[serde(default)]
    params: Value,
}

/// The outstanding answers of a server, and the text that it has.
#[derive(Default)]
struct Waiting {
    /// The number of the last request.
    last: i64,
    responses: HashMap<i64, oneshot::Sender<Value>>,
    /// The version of the server's text; `None` before the first text.
    version: Option<i32>,
    /// The diagnostics that were published last, and their version.
    published: Option<(i32, Value)>,
    /// Versions of the text whose diagnostics are outstanding.
    versions: Vec<(i32, oneshot::Sender<Value>)>,
}

impl Waiting {
    /// Processes a message of the server.
    fn receive(&mut self, mut message: Value) {
        if message.get("method").and_then(Value::as_str) == Some("textDocument/publishDiagnostics") {
            let params = message.get_mut("params").map_or(Value::Null, Value::take);
            let is_text = params.get("uri").and_then(Value::as_str) == Some(URI);
            let version = params.get("version").and_then(Value::as_i64).filter(|_| is_text);
            let Some(version) = version.and_then(|version| i32::try_from(version).ok()) else { return };
            let versions = std::mem::take(&mut self.versions).into_iter();
            let (done, outstanding): (Vec<_>, Vec<_>) = versions.partition(|(wanted, _)| *wanted <= version);
            self.versions = outstanding;
            for (_, sender) in done {
                let _ = sender.send(params.clone());
            }
            self.published = Some((version, params));
        } else if let Some(id) = message.get("id").and_then(Value::as_i64)
            && let Some(sender) = self.responses.remove(&id)
        {
            let _ = sender.send(message);
        }
    }

    /// Waits for the diagnostics of a version, or of a later one.
    fn diagnostics(&mut self, version: i32) -> oneshot::Receiver<Value> {
        let (sender, receiver) = oneshot::channel();
        match &self.published {
            Some((known, params)) if *known >= version => drop(sender.send(params.clone())),
            _ => self.versions.push((version, sender)),
        }
        receiver
    }

    /// Waits for the response to a new request; returns its number, too.
    fn response(&mut self) -> (i64, oneshot::Receiver<Value>) {
        let (sender, receiver) = oneshot::channel();
        self.responses.retain(|_, sender| !sender.is_closed());
        self.versions.retain(|(_, sender)| !sender.is_closed());
        self.last += 1;
        self.responses.insert(self.last, sender);
        (self.last, receiver)
    }
}

/// A language server, and the requests that wait for it.
pub struct Conversation {
    server: EmbeddedServer,
    waiting: Arc<Mutex<Waiting>>,
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Conversation {
    pub fn start() -> std::io::Result<Conversation> {
        let waiting = Arc::new(Mutex::new(Waiting::default()));
        let receiver = Arc::clone(&waiting);
        let server = EmbeddedServer::start(move |message| lock(&receiver).receive(message))?;
        Ok(Conversation { server, waiting })
    }

    /// Begins the conversation; returns the capabilities of the server.
    pub async fn initialize(&self) -> Result<Value, Refusal> {
        let params = json!({"processId": null, "rootUri": null, "capabilities": {}});
        let receiver = self.request(&mut lock(&self.waiting), "initialize", params)?;
        let mut answer = wait(receiver).await?;
        self.send(&json!({"method": "initialized", "params": {}}))?;
        Ok(answer.pointer_mut("/result/capabilities").map_or(Value::Null, Value::take))
    }

    /// Answers a request of the page: a response of the protocol, or the diagnostics.
    pub async fn ask(&self, question: &[u8]) -> Result<Value, Refusal> {
        let question: Question = serde_json::from_slice(question)
            .map_err(|_| Refusal(StatusCode::BAD_REQUEST, "this is not a request of the page"))?;
        wait(self.put(question)?).await
    }

    /// Passes the text and the request to the server, in order.
    fn put(&self, question: Question) -> Result<oneshot::Receiver<Value>, Refusal> {
        let Question { version, text, method, mut params } = question;
        if text.len() as u64 > MAX_TEXT_BYTES {
            return Err(Refusal(StatusCode::PAYLOAD_TOO_LARGE, "the text exceeds 1 MiB"));
        }
        if method != DIAGNOSTICS && !REQUESTS.contains(&&*method) {
            return Err(Refusal(StatusCode::BAD_REQUEST, "this method is not for pages"));
        }
        let mut waiting = lock(&self.waiting);
        match waiting.version {
            Some(known) if known > version => {
                return Err(Refusal(StatusCode::CONFLICT, "a newer text made this request obsolete"));
            }
            Some(known) if known == version => {}
            known => {
                self.send(&changed(known.is_some(), version, &text))?;
                waiting.version = Some(version);
            }
        }
        if method == DIAGNOSTICS {
            return Ok(waiting.diagnostics(version));
        }
        of_page(&mut params);
        self.request(&mut waiting, &method, params)
    }

    fn request(
        &self,
        waiting: &mut Waiting,
        method: &str,
        params: Value,
    ) -> Result<oneshot::Receiver<Value>, Refusal> {
        let (id, receiver) = waiting.response();
        self.send(&json!({"id": id, "method": method, "params": params}))?;
        Ok(receiver)
    }

    fn send(&self, message: &Value) -> Result<(), Refusal> {
        self.server.send(message.to_string().as_bytes()).map_err(|error| match error {
            EmbeddedError::Malformed => {
                Refusal(StatusCode::BAD_REQUEST, "this is not a message of the protocol")
            }
            EmbeddedError::Busy => Refusal(StatusCode::SERVICE_UNAVAILABLE, "the language server is busy"),
            EmbeddedError::Ended => {
                Refusal(StatusCode::GONE, "the language server ended: load the page again")
            }
        })
    }
}

async fn wait(receiver: oneshot::Receiver<Value>) -> Result<Value, Refusal> {
    match timeout(MAX_TIME, receiver).await {
        Ok(Ok(value)) => Ok(value),
        _ => Err(Refusal(StatusCode::GATEWAY_TIMEOUT, "the language server does not answer")),
    }
}

/// The notification of a new text.
fn changed(is_open: bool, version: i32, text: &str) -> Value {
    if is_open {
        let document = json!({"uri": URI, "version": version});
        let params = json!({"textDocument": document, "contentChanges": [{"text": text}]});
        return json!({"method": "textDocument/didChange", "params": params});
    }
    let document = json!({"uri": URI, "languageId": "skriptnd", "version": version, "text": text});
    json!({"method": "textDocument/didOpen", "params": {"textDocument": document}})
}

/// Replaces the documents that a message names by the text of the page.
fn of_page(params: &mut Value) {
    if let Some(uri) = params.pointer_mut("/textDocument/uri") {
        *uri = URI.into();
    }
    // The data of an item of a completion begins with its document.
    if let Some(uri) = params.pointer_mut("/data/0") {
        *uri = URI.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(work)
    }

    async fn ask(
        conversation: &Conversation,
        version: i32,
        text: &str,
        method: &str,
        params: Value,
    ) -> Result<Value, Refusal> {
        let question = json!({"version": version, "text": text, "method": method, "params": params});
        conversation.ask(question.to_string().as_bytes()).await
    }

    const GRAPH: &str = "graph G { @input { x: real[2]; } @output { y: real[2]; } @compose { y = x; } }";

    #[test]
    fn diagnostics_are_those_of_the_text_or_of_a_later_one() {
        block(async {
            let conversation = Conversation::start().unwrap();
            conversation.initialize().await.unwrap();
            let published = ask(&conversation, 1, "graph {", "diagnostics", Value::Null).await.unwrap();
            assert_eq!(published["version"], 1);
            assert!(!published["diagnostics"].as_array().unwrap().is_empty());
            for _ in 0..2 {
                let published = ask(&conversation, 5, GRAPH, "diagnostics", Value::Null).await.unwrap();
                assert_eq!((&published["version"], &published["diagnostics"]), (&json!(5), &json!([])));
            }
            let late = ask(&conversation, 4, "graph {", "diagnostics", Value::Null).await;
            assert_eq!(late.unwrap_err().0, StatusCode::CONFLICT);
        });
    }

    #[test]
    fn a_request_is_about_its_own_text() {
        block(async {
            let conversation = Conversation::start().unwrap();
            conversation.initialize().await.unwrap();
            let tokens = |version, text| {
                ask(
                    &conversation,
                    version,
                    text,
                    "textDocument/semanticTokens/full",
                    json!({"textDocument": {"uri": ""}}),
                )
            };
            assert_eq!(tokens(1, "").await.unwrap()["result"]["data"], json!([]));
            assert_ne!(tokens(2, GRAPH).await.unwrap()["result"]["data"], json!([]));
        });
    }

    #[test]
    fn a_page_reaches_neither_files_nor_other_methods() {
        block(async {
            let conversation = Conversation::start().unwrap();
            conversation.initialize().await.unwrap();
            let mut params =
                json!({"textDocument": {"uri": "file:///etc/passwd"}, "data": ["file:///etc/passwd", 1]});
            of_page(&mut params);
            assert_eq!(params, json!({"textDocument": {"uri": URI}, "data": [URI, 1]}));
            for method in ["shutdown", "exit", "workspace/symbol", "initialize", "textDocument/didSave"] {
                let refused = ask(&conversation, 1, "", method, json!({})).await.unwrap_err();
                assert_eq!(refused.0, StatusCode::BAD_REQUEST, "{method}");
            }
            for bytes in [&b"{"[..], b"[]", b"{\"method\": 1}", b"\xff"] {
                assert_eq!(conversation.ask(bytes).await.unwrap_err().0, StatusCode::BAD_REQUEST);
            }
            let long = "#".repeat(MAX_TEXT_BYTES as usize + 1);
            let refused = ask(&conversation, 1, &long, "diagnostics", Value::Null).await.unwrap_err();
            assert_eq!(refused.0, StatusCode::PAYLOAD_TOO_LARGE);
        });
    }
}
