// SPDX-License-Identifier: Apache-2.0
//! Serves an editor: requests, notifications and published diagnostics.

use crate::workspace::{Workspace, path_of};
use crate::{diagnostics, framing, requests};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument, Exit,
    Notification as _, PublishDiagnostics,
};
use lsp_types::request::{Request as _, Shutdown};
use lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    PublishDiagnosticsParams, Url,
};
use serde::de::DeserializeOwned;
use std::collections::{BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// The stack size of the thread that parses texts, which suffices for the nesting limits.
const STACK_BYTES: usize = 1 << 30;

/// Serves an editor that writes to `input` and reads from `output`, until it exits.
///
/// # Errors
/// Message boundaries are lost, the connection breaks, or the editor violates the protocol.
pub fn serve_streams<I, O>(input: I, output: O) -> anyhow::Result<()>
where
    I: std::io::Read + Send + 'static,
    O: std::io::Write + Send + 'static,
{
    framing::connected(input, output, serve)
}

/// Serves an editor until it exits.
///
/// # Errors
/// The connection breaks, or the editor violates the protocol.
pub(crate) fn serve(connection: &Connection) -> anyhow::Result<()> {
    std::thread::scope(|scope| {
        let work = || converse(connection);
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work)?;
        thread.join().map_err(|_| anyhow::anyhow!("the server failed"))?
    })
}

fn converse(connection: &Connection) -> anyhow::Result<()> {
    connection.initialize(serde_json::to_value(requests::capabilities())?)?;
    let mut server = Server::default();
    let mut waiting = VecDeque::new();
    let mut is_shut = false;
    loop {
        if waiting.is_empty() {
            // The editor disconnected.
            let Ok(message) = connection.receiver.recv() else {
                return Ok(());
            };
            waiting.push_back(message);
        }
        waiting.extend(connection.receiver.try_iter());
        match waiting.pop_front() {
            Some(Message::Request(request)) => {
                let response = match request.method.as_str() {
                    Shutdown::METHOD => {
                        is_shut = true;
                        Response::new_ok(request.id, ())
                    }
                    _ if is_shut => {
                        let text = "the server is shut down".to_owned();
                        Response::new_err(request.id, ErrorCode::InvalidRequest as i32, text)
                    }
                    _ => guarded(&server, request),
                };
                connection.sender.send(response.into())?;
            }
            Some(Message::Notification(notification)) => {
                if notification.method == Exit::METHOD {
                    anyhow::ensure!(is_shut, "the editor closed the connection without `shutdown`");
                    return Ok(());
                }
                // While the user types, only the latest text is analysed.
                let is_old = is_superseded(&notification, &waiting);
                let published = catch_unwind(AssertUnwindSafe(|| server.take_note(notification, !is_old)));
                for published in published.into_iter().flatten() {
                    let method = PublishDiagnostics::METHOD.to_owned();
                    let notification = Notification::new(method, published);
                    connection.sender.send(notification.into())?;
                }
            }
            Some(Message::Response(_)) | None => {}
        }
    }
}

/// Handles a request. A panic becomes an error response, so that the server continues.
fn guarded(server: &Server, request: Request) -> Response {
    let id = request.id.clone();
    let answer = catch_unwind(AssertUnwindSafe(|| requests::answer(&server.workspace, request)));
    answer.unwrap_or_else(|_| {
        let text = "internal compiler error: the request failed at this position".to_owned();
        Response::new_err(id, ErrorCode::InternalError as i32, text)
    })
}

/// Whether the opened or changed text is replaced by a later change that precedes all requests.
fn is_superseded(notification: &Notification, waiting: &VecDeque<Message>) -> bool {
    let document = |note: &Notification| note.params.pointer("/textDocument/uri").cloned();
    let changes = [DidOpenTextDocument::METHOD, DidChangeTextDocument::METHOD];
    let changed = |note: &Notification| changes.contains(&note.method.as_str());
    let notes = waiting.iter().map_while(|message| match message {
        Message::Notification(note) => Some(note),
        _ => None,
    });
    let uri = document(notification);
    let mut later = notes.filter(|note| changed(note));
    changed(notification) && later.any(|note| document(note) == uri)
}

#[derive(Default)]
struct Server {
    workspace: Workspace,
    /// Files with published diagnostics.
    marked: BTreeSet<Url>,
}

impl Server {
    /// Processes a notification of the editor. Returns the changed diagnostics if `publishes`.
    fn take_note(&mut self, notification: Notification, publishes: bool) -> Vec<PublishDiagnosticsParams> {
        let changed = match notification.method.as_str() {
            DidOpenTextDocument::METHOD => {
                read(notification.params).and_then(|p: DidOpenTextDocumentParams| {
                    let path = path_of(&p.text_document.uri)?;
                    self.workspace.set(path.clone(), p.text_document.text);
                    Some(path)
                })
            }
            DidChangeTextDocument::METHOD => {
                read(notification.params).and_then(|p: DidChangeTextDocumentParams| {
                    let path = path_of(&p.text_document.uri)?;
                    for change in p.content_changes {
                        self.workspace.edit(&path, change.range, change.text);
                    }
                    Some(path)
                })
            }
            DidCloseTextDocument::METHOD => {
                read(notification.params).and_then(|p: DidCloseTextDocumentParams| {
                    let path = path_of(&p.text_document.uri)?;
                    self.workspace.close(&path);
                    Some(path)
                })
            }
            DidSaveTextDocument::METHOD => {
                self.workspace.forget();
                self.workspace.paths().next().map(Path::to_path_buf)
            }
            _ => None,
        };
        changed.filter(|_| publishes).map_or_else(Vec::new, |path| self.publish(&path))
    }

    /// The diagnostics of the model that contains a file, and of all other open models, because they may share modules.
    fn publish(&mut self, changed: &Path) -> Vec<PublishDiagnosticsParams> {
        let mut roots = BTreeSet::new();
        let mut lists = std::collections::BTreeMap::new();
        let open = self.workspace.paths().filter(|path| *path != changed);
        for path in std::iter::once(changed).chain(open) {
            let analysis = self.workspace.analyse(path);
            if roots.insert(analysis.main().to_path_buf()) {
                for (url, list) in diagnostics::by_file(&analysis) {
                    lists.entry(url).or_insert(list);
                }
            }
        }
        for url in &self.marked {
            lists.entry(url.clone()).or_default();
        }
        self.marked = lists.iter().filter(|(_, list)| !list.is_empty()).map(|(url, _)| url.clone()).collect();
        lists
            .into_iter()
            .map(|(uri, diagnostics)| PublishDiagnosticsParams::new(uri, diagnostics, None))
            .collect()
    }
}

fn read<T: DeserializeOwned>(params: serde_json::Value) -> Option<T> {
    serde_json::from_value(params).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lsp_types::request::HoverRequest;

    #[test]
    fn only_the_newest_text_is_analysed() {
        let note = |method: &str, uri: &str| {
            let params = serde_json::json!({"textDocument": {"uri": uri}});
            Notification::new(method.to_owned(), params)
        };
        let changed = |uri| note(DidChangeTextDocument::METHOD, uri);
        let request = Request::new(1.into(), HoverRequest::METHOD.to_owned(), ());
        let waits = |messages: Vec<Message>| VecDeque::from(messages);
        let old = changed("file:///a");
        let b_then_a = waits(vec![changed("file:///b").into(), changed("file:///a").into()]);
        assert!(is_superseded(&old, &b_then_a));
        assert!(!is_superseded(&changed("file:///c"), &b_then_a));
        // The request refers to this text.
        let asked = waits(vec![request.into(), changed("file:///a").into()]);
        assert!(!is_superseded(&old, &asked));
        let saved = note(DidSaveTextDocument::METHOD, "file:///a");
        assert!(!is_superseded(&saved, &b_then_a));
        assert!(!is_superseded(&old, &waits(vec![saved.into()])));
    }
}
