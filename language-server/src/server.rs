// SPDX-License-Identifier: Apache-2.0
//! Serves an editor: requests, notifications and published diagnostics.

use crate::analysis::Analysis;
use crate::names::{Entity, words_at};
use crate::workspace::{Workspace, path_of, url_of};
use crate::{completion, diagnostics, framing, hover, library_files, outline, positions};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument, Exit,
    Notification as _, PublishDiagnostics,
};
use lsp_types::request::{
    Completion, DocumentSymbolRequest, Formatting, GotoDefinition, HoverRequest, Request as _, Shutdown,
};
use lsp_types::{
    CompletionOptions, CompletionParams, CompletionResponse, DidChangeTextDocumentParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, DocumentFormattingParams, DocumentSymbolParams,
    DocumentSymbolResponse, GotoDefinitionParams, GotoDefinitionResponse, Hover, HoverContents, HoverParams,
    HoverProviderCapability, Location, MarkupContent, MarkupKind, OneOf, PublishDiagnosticsParams,
    ServerCapabilities, TextDocumentPositionParams, TextDocumentSyncCapability, TextDocumentSyncKind,
    TextEdit, Url,
};
use serde::de::DeserializeOwned;
use skript_frontend::ast::Module;
use skript_frontend::diagnostics::Sink;
use skript_frontend::format::format;
use skript_frontend::limits::Limits;
use skript_frontend::source::Span;
use std::collections::{BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// The stack size of the thread that parses texts, which suffices for the nesting limits.
const STACK_BYTES: usize = 1 << 30;

fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::FULL)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some([".", "@", "{", "`"].map(str::to_owned).to_vec()),
            ..CompletionOptions::default()
        }),
        ..ServerCapabilities::default()
    }
}

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
    connection.initialize(serde_json::to_value(capabilities())?)?;
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
    let answer = catch_unwind(AssertUnwindSafe(|| server.answer(request)));
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
                read(notification.params).and_then(|mut p: DidChangeTextDocumentParams| {
                    let path = path_of(&p.text_document.uri)?;
                    // Each change is a full text; only the last change counts.
                    self.workspace.set(path.clone(), p.content_changes.pop()?.text);
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

    fn answer(&self, request: Request) -> Response {
        let Request { id, method, params } = request;
        let value = match method.as_str() {
            HoverRequest::METHOD => read(params).map(|p| to_value(self.hover(p))),
            GotoDefinition::METHOD => read(params).map(|p| to_value(self.definition(p))),
            Completion::METHOD => read(params).map(|p| to_value(self.complete(p))),
            Formatting::METHOD => read(params).map(|p| to_value(self.format(&p))),
            DocumentSymbolRequest::METHOD => read(params).map(|p| to_value(self.outline(p))),
            _ => {
                let text = format!("`{method}` is not supported");
                return Response::new_err(id, ErrorCode::MethodNotFound as i32, text);
            }
        };
        match value {
            Some(value) => Response::new_ok(id, value),
            None => {
                let text = format!("the parameters of `{method}` are malformed");
                Response::new_err(id, ErrorCode::InvalidParams as i32, text)
            }
        }
    }

    fn hover(&self, params: HoverParams) -> Option<Hover> {
        let location = params.text_document_position_params;
        self.look(&location, |analysis, key, module, offset| {
            let entity = Entity::at_offset(analysis, key, module, offset)?;
            let text = analysis.text(module.file);
            let (words, end) = words_at(text, offset)?;
            let start = end - words.last().map_or(0, |word| word.len());
            Some(Hover {
                contents: HoverContents::Markup(MarkupContent {
                    kind: MarkupKind::Markdown,
                    value: hover::text(analysis, &entity),
                }),
                range: Some(analysis.lines(module.file).range(text, start, end)),
            })
        })
    }

    fn definition(&self, params: GotoDefinitionParams) -> Option<GotoDefinitionResponse> {
        let location = params.text_document_position_params;
        self.look(&location, |analysis, key, module, offset| {
            let span = match Entity::at_offset(analysis, key, module, offset)? {
                Entity::Declared { declared, .. } | Entity::Attribute { declared, .. } => declared.span,
                Entity::Operator { definition, .. } => definition.name.span,
                Entity::Module(module) => Span::new(module.file, 0, 0),
            };
            let (shown, text) = analysis.location(span)?;
            let path = if shown.to_string_lossy().starts_with("<stdlib") {
                library_files::file_of(shown, text)?
            } else {
                shown.to_path_buf()
            };
            let range = analysis.range(span);
            Some(GotoDefinitionResponse::Scalar(Location::new(url_of(&path)?, range)))
        })
    }

    fn complete(&self, params: CompletionParams) -> Option<CompletionResponse> {
        let location = params.text_document_position;
        self.look(&location, |analysis, key, module, offset| {
            let items = completion::items(analysis, key, module, offset);
            Some(CompletionResponse::Array(items))
        })
    }

    fn outline(&self, params: DocumentSymbolParams) -> Option<DocumentSymbolResponse> {
        let path = path_of(&params.text_document.uri)?;
        let analysis = self.workspace.analyse(&path);
        let (_, module) = analysis.module_of(&path)?;
        Some(DocumentSymbolResponse::Nested(outline::symbols(&analysis, module)))
    }

    /// One edit that replaces the full text, or no edit if the text is already formatted; `None` for a text with errors.
    fn format(&self, params: &DocumentFormattingParams) -> Option<Vec<TextEdit>> {
        let path = path_of(&params.text_document.uri)?;
        let analysis = self.workspace.analyse(&path);
        let (_, module) = analysis.module_of(&path)?;
        let text = analysis.text(module.file);
        let formatted = format(module.file, text, &Limits::default(), &mut Sink::default())?;
        if formatted == text {
            return Some(Vec::new());
        }
        let whole = analysis.lines(module.file).range(text, 0, text.len());
        Some(vec![TextEdit::new(whole, formatted)])
    }

    /// Answers a request at a position of a file.
    fn look<T>(
        &self,
        location: &TextDocumentPositionParams,
        look: impl FnOnce(&Analysis, &str, &Module, usize) -> Option<T>,
    ) -> Option<T> {
        let path = path_of(&location.text_document.uri)?;
        let analysis = self.workspace.analyse(&path);
        let (key, module) = analysis.module_of(&path)?;
        let offset = positions::offset(analysis.text(module.file), location.position);
        look(&analysis, key, module, offset)
    }
}

fn read<T: DeserializeOwned>(params: serde_json::Value) -> Option<T> {
    serde_json::from_value(params).ok()
}

fn to_value(value: impl serde::Serialize) -> serde_json::Value {
    serde_json::to_value(value).unwrap_or_else(|error| unreachable!("not JSON: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::positions::Lines;
    use lsp_types::{TextDocumentIdentifier, WorkDoneProgressParams};

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

    /// Truncates every file of the library at several positions.
    #[test]
    fn requests_succeed_on_any_prefix_of_the_library() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../frontend/stdlib"));
        let mut server = Server::default();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            // A path outside of the library, so that the library does not shadow the module.
            let path = Path::new("/nowhere/broken.sknd").with_file_name(path.file_name().unwrap());
            for part in 1..=4 {
                let end = text.floor_char_boundary(text.len() * part / 5 + part);
                let piece = &text[..end];
                server.workspace.set(path.clone(), piece.to_owned());
                let uri = url_of(&path).unwrap();
                let location = TextDocumentPositionParams::new(
                    TextDocumentIdentifier::new(uri),
                    Lines::new(piece).position(piece, end),
                );
                server.look(&location, |analysis, key, module, offset| {
                    completion::items(analysis, key, module, offset);
                    outline::symbols(analysis, module);
                    diagnostics::by_file(analysis);
                    Some(())
                });
                server.hover(HoverParams {
                    text_document_position_params: location,
                    work_done_progress_params: WorkDoneProgressParams::default(),
                });
            }
        }
    }
}
