// SPDX-License-Identifier: Apache-2.0
//! Serves an editor: requests, notifications and published diagnostics.

use crate::workspace::{Workspace, path_of};
use crate::{diagnostics, framing, requests};
use crossbeam_channel::RecvTimeoutError;
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
use skript_host::on_stack;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time without a message after which diagnostics are published.
const PAUSE: Duration = Duration::from_millis(40);

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
    let served = on_stack("serve", STACK_BYTES, || converse(connection))?;
    served.map_err(|_| anyhow::anyhow!("the server failed"))?
}

fn converse(connection: &Connection) -> anyhow::Result<()> {
    if let Err(problem) = connection.initialize(serde_json::to_value(requests::capabilities())?) {
        anyhow::ensure!(!problem.channel_is_disconnected(), "the editor disconnected before `initialized`");
        return Err(problem.into());
    }
    let mut server = Server::default();
    let mut is_shut = false;
    loop {
        // Requests about a changed text are answered before the model is checked.
        let received = match server.changed {
            None => connection.receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(_) => connection.receiver.recv_timeout(PAUSE),
        };
        match received {
            Ok(Message::Request(request)) => {
                let response = match request.method.as_str() {
                    Shutdown::METHOD => {
                        server.publish(connection)?;
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
            Ok(Message::Notification(notification)) => {
                if notification.method == Exit::METHOD {
                    anyhow::ensure!(is_shut, "the editor closed the connection without `shutdown`");
                    return Ok(());
                }
                server.take_note(notification);
            }
            Ok(Message::Response(_)) => {}
            Err(RecvTimeoutError::Timeout) => {
                server.publish(connection)?;
            }
            Err(RecvTimeoutError::Disconnected) => {
                // The editor disconnected, and may still read.
                let _ = server.publish(connection);
                return Ok(());
            }
        }
    }
}

/// Handles a request. A panic becomes an error response, so that the server continues.
pub(crate) fn guarded(server: &Server, request: Request) -> Response {
    let id = request.id.clone();
    let answer = catch_unwind(AssertUnwindSafe(|| requests::answer(&server.workspace, request)));
    answer.unwrap_or_else(|_| {
        let text = "internal compiler error: the request failed at this position".to_owned();
        Response::new_err(id, ErrorCode::InternalError as i32, text)
    })
}

#[derive(Default)]
pub(crate) struct Server {
    workspace: Workspace,
    /// Files with published diagnostics.
    marked: BTreeSet<Url>,
    /// The file that changed last, until diagnostics are published.
    changed: Option<PathBuf>,
}

impl Server {
    /// Processes a notification of the editor.
    pub(crate) fn take_note(&mut self, notification: Notification) {
        let changed = match notification.method.as_str() {
            DidOpenTextDocument::METHOD => {
                read(notification.params).and_then(|p: DidOpenTextDocumentParams| {
                    let path = path_of(&p.text_document.uri)?;
                    self.workspace.set(path.clone(), p.text_document.text, p.text_document.version);
                    Some(path)
                })
            }
            DidChangeTextDocument::METHOD => {
                read(notification.params).and_then(|p: DidChangeTextDocumentParams| {
                    let path = path_of(&p.text_document.uri)?;
                    for change in p.content_changes {
                        self.workspace.edit(&path, change.range, change.text, p.text_document.version);
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
        self.changed = changed.or(self.changed.take());
    }

    /// Sends the diagnostics of changed texts.
    fn publish(&mut self, connection: &Connection) -> anyhow::Result<()> {
        let published = catch_unwind(AssertUnwindSafe(|| self.diagnostics()));
        for published in published.into_iter().flatten() {
            let method = PublishDiagnostics::METHOD.to_owned();
            connection.sender.send(Notification::new(method, published).into())?;
        }
        Ok(())
    }

    /// The diagnostics of the model that contains the changed file, and of all other open models, because they may share
    /// modules.
    pub(crate) fn diagnostics(&mut self) -> Vec<PublishDiagnosticsParams> {
        let Some(changed) = self.changed.take() else { return Vec::new() };
        let mut roots = BTreeSet::new();
        let mut lists = std::collections::BTreeMap::new();
        let open = self.workspace.paths().filter(|path| *path != changed);
        // A closed document may have no file.
        let exists = |path: &&Path| self.workspace.is_open(path) || path.exists();
        for path in std::iter::once(changed.as_path()).filter(exists).chain(open) {
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
            .map(|(uri, diagnostics)| {
                let version = path_of(&uri).and_then(|path| self.workspace.version(&path));
                PublishDiagnosticsParams::new(uri, diagnostics, version)
            })
            .collect()
    }
}

fn read<T: DeserializeOwned>(params: serde_json::Value) -> Option<T> {
    serde_json::from_value(params).ok()
}
