// SPDX-License-Identifier: Apache-2.0
//! The requests of an editor, and the capabilities that announce them.

use crate::place::Place;
use crate::workspace::Workspace;
use crate::{actions, completion, highlighting, hints, nesting, outline, positions, signature_help};
use lsp_server::{ErrorCode, Request, Response};
use lsp_types::request::{
    CallHierarchyIncomingCalls, CallHierarchyOutgoingCalls, CallHierarchyPrepare, CodeActionRequest,
    Completion, DocumentHighlightRequest, DocumentLinkRequest, DocumentSymbolRequest, FoldingRangeRequest,
    Formatting, GotoDeclaration, GotoDefinition, HoverRequest, InlayHintRequest, PrepareRenameRequest,
    References, Rename, Request as Kind, ResolveCompletionItem, SelectionRangeRequest,
    SemanticTokensFullRequest, SemanticTokensRangeRequest, SignatureHelpRequest, WorkspaceSymbolRequest,
};
use lsp_types::{
    CallHierarchyItem, CallHierarchyServerCapability, CodeActionKind, CodeActionOptions,
    CodeActionProviderCapability, CompletionOptions, CompletionResponse, DeclarationCapability,
    DocumentLinkOptions, DocumentSymbolResponse, FoldingRangeProviderCapability, HoverProviderCapability,
    OneOf, Position, Range, RenameOptions, SelectionRangeProviderCapability, SemanticTokens,
    SemanticTokensFullOptions, SemanticTokensOptions, ServerCapabilities, SignatureHelpOptions,
    TextDocumentIdentifier, TextDocumentPositionParams, TextDocumentSyncCapability, TextDocumentSyncKind,
    Url, WorkDoneProgressOptions, WorkspaceSymbolResponse,
};
use std::ops::Range as Bytes;

/// The capabilities of the server.
pub(crate) fn capabilities() -> ServerCapabilities {
    let triggers = |signs: &[&str]| Some(signs.iter().map(|sign| (*sign).to_owned()).collect());
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::INCREMENTAL)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        declaration_provider: Some(DeclarationCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        })),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        document_link_provider: Some(DocumentLinkOptions {
            resolve_provider: None,
            work_done_progress_options: WorkDoneProgressOptions::default(),
        }),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        selection_range_provider: Some(SelectionRangeProviderCapability::Simple(true)),
        call_hierarchy_provider: Some(CallHierarchyServerCapability::Simple(true)),
        inlay_hint_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        })),
        semantic_tokens_provider: Some(
            SemanticTokensOptions {
                legend: highlighting::legend(),
                range: Some(true),
                full: Some(SemanticTokensFullOptions::Bool(true)),
                ..SemanticTokensOptions::default()
            }
            .into(),
        ),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: triggers(&["(", "{", ",", "="]),
            ..SignatureHelpOptions::default()
        }),
        completion_provider: Some(CompletionOptions {
            trigger_characters: triggers(&[".", "@", "{", "`"]),
            resolve_provider: Some(true),
            ..CompletionOptions::default()
        }),
        ..ServerCapabilities::default()
    }
}

/// A request that cannot be carried out: the message for the user.
type Refused = String;

/// Answers a request.
pub(crate) fn answer(workspace: &Workspace, request: Request) -> Response {
    let place = |location: &TextDocumentPositionParams| Place::new(workspace, location);
    let dispatch = Dispatch { request, response: None };
    let dispatch = dispatch
        .on::<HoverRequest>(|p| Ok(place(&p.text_document_position_params)?.hover()))
        .on::<GotoDefinition>(|p| Ok(place(&p.text_document_position_params)?.definition()))
        .on::<GotoDeclaration>(|p| Ok(place(&p.text_document_position_params)?.definition()))
        .on::<References>(|p| place(&p.text_document_position).map(|at| at.references(workspace, &p.context)))
        .on::<DocumentHighlightRequest>(|p| Ok(place(&p.text_document_position_params)?.highlights()))
        .on::<PrepareRenameRequest>(|p| place(&p)?.prepare_rename())
        .on::<Rename>(|p| place(&p.text_document_position)?.rename(workspace, &p.new_name))
        .on::<Completion>(|p| {
            let place = place(&p.text_document_position)?;
            let mut answer = place.names().map(|names| completion::completions(&names, place.offset));
            let items = match &mut answer {
                Some(CompletionResponse::Array(items)) => items.as_mut_slice(),
                Some(CompletionResponse::List(list)) => list.items.as_mut_slice(),
                None => &mut [],
            };
            // The file in which the names of the items have their meaning.
            for data in items.iter_mut().filter_map(|item| item.data.as_mut()) {
                *data = serde_json::json!([p.text_document_position.text_document.uri, data]);
            }
            Ok(answer)
        })
        .on::<ResolveCompletionItem>(|mut item| {
            let data = item.data.take().and_then(|data| serde_json::from_value(data).ok());
            let Some((uri, data)): Option<(Url, serde_json::Value)> = data else { return Ok(item) };
            item.data = Some(data);
            let place = place(&start_of(&TextDocumentIdentifier::new(uri)))?;
            Ok(match place.names() {
                Some(names) => completion::resolved(&names, item),
                None => item,
            })
        })
        .on::<SignatureHelpRequest>(|p| {
            let place = place(&p.text_document_position_params)?;
            Ok(place.names().and_then(|names| signature_help::help(&names, place.offset)))
        })
        .on::<CallHierarchyPrepare>(|p| Ok(place(&p.text_document_position_params)?.call_item()))
        .on::<CallHierarchyIncomingCalls>(|p| Ok(of_item(workspace, &p.item)?.incoming()))
        .on::<CallHierarchyOutgoingCalls>(|p| Ok(of_item(workspace, &p.item)?.outgoing()));
    of_files(workspace, dispatch).finish()
}

/// Answers the requests about whole files.
fn of_files(workspace: &Workspace, dispatch: Dispatch) -> Dispatch {
    let file = |document: &TextDocumentIdentifier| Place::new(workspace, &start_of(document));
    dispatch
        .on::<DocumentSymbolRequest>(|p| {
            let file = file(&p.text_document)?;
            let names = file.names();
            Ok(names.map(|n| DocumentSymbolResponse::Nested(outline::symbols(n.analysis, n.module))))
        })
        .on::<WorkspaceSymbolRequest>(|p| {
            let symbols = workspace.analyses().into_iter().flat_map(|a| outline::definitions(&a, &p.query));
            Ok(Some(WorkspaceSymbolResponse::Flat(symbols.collect())))
        })
        .on::<Formatting>(|p| Ok(file(&p.text_document)?.format()))
        .on::<DocumentLinkRequest>(|p| Ok(file(&p.text_document)?.links()))
        .on::<FoldingRangeRequest>(|p| {
            let file = file(&p.text_document)?;
            Ok(file.names().map(|n| nesting::folding(n.text(), &n.analysis.lines(n.module.file))))
        })
        .on::<SelectionRangeRequest>(|p| {
            let file = file(&p.text_document)?;
            Ok(file.names().map(|names| {
                let (text, lines) = (names.text(), names.analysis.lines(names.module.file));
                let offsets = p.positions.iter().map(|position| positions::offset(text, *position));
                offsets.map(|offset| nesting::selection(text, &lines, offset)).collect()
            }))
        })
        .on::<SemanticTokensFullRequest>(|p| {
            let file = file(&p.text_document)?;
            let data = file.names().map(|names| highlighting::tokens(&names, 0..names.text().len()));
            Ok(data.map(|data| SemanticTokens { result_id: None, data }.into()))
        })
        .on::<SemanticTokensRangeRequest>(|p| {
            let file = file(&p.text_document)?;
            let data = file.names().map(|names| highlighting::tokens(&names, bytes(names.text(), p.range)));
            Ok(data.map(|data| SemanticTokens { result_id: None, data }.into()))
        })
        .on::<InlayHintRequest>(|p| {
            let file = file(&p.text_document)?;
            Ok(file.names().map(|names| hints::hints(&names, &bytes(names.text(), p.range))))
        })
        .on::<CodeActionRequest>(|p| {
            let file = file(&p.text_document)?;
            Ok(Some(actions::fixes(&file.analysis, &p.text_document.uri, p.range)))
        })
}

/// A request that is compared with one kind after the other.
struct Dispatch {
    request: Request,
    response: Option<Response>,
}

impl Dispatch {
    /// Answers the request if it is of this kind.
    fn on<R: Kind>(mut self, answer: impl FnOnce(R::Params) -> Result<R::Result, Refused>) -> Self {
        if self.request.method != R::METHOD || self.response.is_some() {
            return self;
        }
        let id = self.request.id.clone();
        let refused = |code: ErrorCode, text: String| Response::new_err(id.clone(), code as i32, text);
        self.response = Some(match serde_json::from_value(self.request.params.take()) {
            Err(_) => {
                refused(ErrorCode::InvalidParams, format!("the parameters of `{}` are malformed", R::METHOD))
            }
            Ok(params) => match answer(params) {
                Ok(result) => Response::new_ok(id, result),
                Err(text) => refused(ErrorCode::RequestFailed, text),
            },
        });
        self
    }

    fn finish(self) -> Response {
        let Request { id, method, .. } = self.request;
        let text = || format!("`{method}` is not supported");
        self.response.unwrap_or_else(|| Response::new_err(id, ErrorCode::MethodNotFound as i32, text()))
    }
}

fn start_of(document: &TextDocumentIdentifier) -> TextDocumentPositionParams {
    TextDocumentPositionParams::new(document.clone(), Position::default())
}

/// The bytes of a range of the protocol.
fn bytes(text: &str, range: Range) -> Bytes<usize> {
    positions::offset(text, range.start)..positions::offset(text, range.end)
}

/// The definition that an item of a call hierarchy stands for.
fn of_item(workspace: &Workspace, item: &CallHierarchyItem) -> Result<Place, Refused> {
    let document = TextDocumentIdentifier::new(item.uri.clone());
    Place::new(workspace, &TextDocumentPositionParams::new(document, item.selection_range.start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::url_of;
    use std::path::Path;

    /// Truncates every file of the library at several positions.
    #[test]
    fn requests_succeed_on_any_prefix_of_the_library() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../frontend/stdlib"));
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            // A path outside of the library, so that the library does not shadow the module.
            let path = Path::new("/nowhere/broken.sknd").with_file_name(path.file_name().unwrap());
            for part in 1..=4 {
                let end = text.floor_char_boundary(text.len() * part / 5 + part);
                every_request(&path, &text[..end]);
            }
        }
    }

    fn every_request(path: &Path, text: &str) {
        let mut workspace = Workspace::default();
        workspace.set(path.to_path_buf(), text.to_owned(), 1);
        let position = crate::positions::Lines::new(text).position(text, text.len());
        let params = serde_json::json!({
            "textDocument": {"uri": url_of(path).unwrap()},
            "position": position,
            "positions": [position],
            "range": {"start": Position::default(), "end": position},
            "context": {"includeDeclaration": true, "diagnostics": [], "triggerKind": 1, "isRetrigger": false},
            "newName": "other",
            "query": "a",
        });
        for method in [
            HoverRequest::METHOD,
            GotoDefinition::METHOD,
            References::METHOD,
            DocumentHighlightRequest::METHOD,
            PrepareRenameRequest::METHOD,
            Rename::METHOD,
            Completion::METHOD,
            SignatureHelpRequest::METHOD,
            CallHierarchyPrepare::METHOD,
            DocumentSymbolRequest::METHOD,
            WorkspaceSymbolRequest::METHOD,
            DocumentLinkRequest::METHOD,
            FoldingRangeRequest::METHOD,
            SelectionRangeRequest::METHOD,
            SemanticTokensFullRequest::METHOD,
            SemanticTokensRangeRequest::METHOD,
            InlayHintRequest::METHOD,
            CodeActionRequest::METHOD,
        ] {
            let request = Request::new(1.into(), method.to_owned(), params.clone());
            let error = answer(&workspace, request).error;
            let is_refusal = |code| code == ErrorCode::RequestFailed as i32;
            assert!(error.as_ref().is_none_or(|e| is_refusal(e.code)), "{method}: {error:?}");
        }
    }
}
