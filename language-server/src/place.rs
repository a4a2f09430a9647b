// SPDX-License-Identifier: Apache-2.0
//! Answers requests about a position in a file.

use crate::analysis::Analysis;
use crate::names::{Entity, Names};
use crate::workspace::{Workspace, path_of, url_of};
use crate::{calls, hover, library_files, positions, references};
use lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyItem, CallHierarchyOutgoingCall, DocumentHighlight,
    DocumentHighlightKind, DocumentLink, GotoDefinitionResponse, Hover, HoverContents, Location,
    MarkupContent, MarkupKind, PrepareRenameResponse, ReferenceContext, TextDocumentPositionParams, TextEdit,
    WorkspaceEdit,
};
use skript_frontend::diagnostics::Sink;
use skript_frontend::format::format;
use skript_frontend::limits::Limits;
use skript_frontend::source::Span;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::rc::Rc;

pub(crate) struct Place {
    pub(crate) analysis: Rc<Analysis>,
    path: PathBuf,
    /// In bytes.
    pub(crate) offset: usize,
}

impl Place {
    /// Analyses the model of the file.
    ///
    /// # Errors
    /// The URI has no path.
    pub(crate) fn new(workspace: &Workspace, at: &TextDocumentPositionParams) -> Result<Place, String> {
        let uri = &at.text_document.uri;
        let path = path_of(uri).ok_or_else(|| format!("`{uri}` is not a file of this machine"))?;
        let analysis = workspace.analyse(&path);
        let text = analysis.module_of(&path).map_or("", |(_, module)| analysis.text(module.file));
        let offset = positions::offset(text, at.position);
        Ok(Place { analysis, path, offset })
    }

    /// The names of the file; `None` if it cannot be read.
    pub(crate) fn names(&self) -> Option<Names<'_>> {
        let (key, module) = self.analysis.module_of(&self.path)?;
        Some(Names::new(&self.analysis, key, module))
    }

    pub(crate) fn hover(&self) -> Option<Hover> {
        let names = self.names()?;
        let (at, entity) = names.entity_at(self.offset)?;
        let value = hover::text(&self.analysis, &entity);
        let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value });
        Some(Hover { contents, range: Some(self.analysis.range(names.span(at))) })
    }

    pub(crate) fn definition(&self) -> Option<GotoDefinitionResponse> {
        let (_, entity) = self.names()?.entity_at(self.offset)?;
        Some(GotoDefinitionResponse::Scalar(location(&self.analysis, entity.declaration()?)?))
    }

    /// The imports with their files.
    pub(crate) fn links(&self) -> Option<Vec<DocumentLink>> {
        let names = self.names()?;
        let links = names.module.imports.iter().filter_map(|import| {
            let module = names.resolve(&import.path.text())?;
            let target = location(&self.analysis, Span::new(module.file, 0, 0))?.uri;
            let range = self.analysis.range(import.path.span);
            Some(DocumentLink { range, target: Some(target), tooltip: None, data: None })
        });
        Some(links.collect())
    }

    /// The occurrences of the name at the position, in the models of all open files.
    pub(crate) fn references(
        &self,
        workspace: &Workspace,
        context: &ReferenceContext,
    ) -> Option<Vec<Location>> {
        let names = self.names()?;
        let (at, entity) = names.entity_at(self.offset)?;
        let declaration = entity.declaration()?;
        let mut all = self.occurrences(workspace, declaration, names.tokens.get(at)?.text);
        let declared = location(&self.analysis, declaration);
        all.retain(|found| context.include_declaration || Some(found) != declared.as_ref());
        Some(all)
    }

    fn occurrences(&self, workspace: &Workspace, declaration: Span, name: &str) -> Vec<Location> {
        let Some((path, _)) = self.analysis.location(declaration) else { return Vec::new() };
        let mut seen = BTreeSet::new();
        let mut locations = Vec::new();
        for analysis in workspace.analyses() {
            let mut files = analysis.program.sources.files();
            let Some((file, _)) = files.find(|(_, file)| file.path == path) else { continue };
            let declaration = Span::new(file, declaration.start, declaration.end);
            let spans = references::occurrences(&analysis, declaration, name);
            for place in spans.into_iter().filter_map(|span| location(&analysis, span)) {
                let start = place.range.start;
                if seen.insert((place.uri.clone(), start.line, start.character)) {
                    locations.push(place);
                }
            }
        }
        locations
    }

    /// The occurrences of the name at the position in its file.
    pub(crate) fn highlights(&self) -> Option<Vec<DocumentHighlight>> {
        let names = self.names()?;
        let (at, entity) = names.entity_at(self.offset)?;
        let declaration = entity.declaration()?;
        let spans = references::in_module(&names, declaration, names.tokens.get(at)?.text);
        let highlights = spans.into_iter().map(|span| DocumentHighlight {
            range: self.analysis.range(span),
            kind: Some(if span == declaration {
                DocumentHighlightKind::WRITE
            } else {
                DocumentHighlightKind::READ
            }),
        });
        Some(highlights.collect())
    }

    /// The range of the name that can be changed at the position.
    ///
    /// # Errors
    /// The name cannot be changed.
    pub(crate) fn prepare_rename(&self) -> Result<Option<PrepareRenameResponse>, String> {
        let Some(names) = self.names() else { return Ok(None) };
        let Some((at, entity)) = names.entity_at(self.offset) else { return Ok(None) };
        match references::refusal(&entity) {
            Some(reason) => Err(reason),
            None => Ok(Some(PrepareRenameResponse::Range(self.analysis.range(names.span(at))))),
        }
    }

    /// Changes the name at the position wherever it occurs.
    ///
    /// # Errors
    /// The name cannot be changed, or the new name is not valid.
    pub(crate) fn rename(&self, workspace: &Workspace, new: &str) -> Result<Option<WorkspaceEdit>, String> {
        let Some(names) = self.names() else { return Ok(None) };
        let (at, entity) =
            names.entity_at(self.offset).ok_or_else(|| "this position has no name".to_owned())?;
        let refused = references::refusal(&entity).or_else(|| references::conflict(&names, &entity, new));
        if let Some(reason) = refused {
            return Err(reason);
        }
        let (Some(declaration), Some(token)) = (entity.declaration(), names.tokens.get(at)) else {
            return Ok(None);
        };
        let mut changes: HashMap<_, Vec<TextEdit>> = HashMap::new();
        for place in self.occurrences(workspace, declaration, token.text) {
            changes.entry(place.uri).or_default().push(TextEdit::new(place.range, new.to_owned()));
        }
        Ok(Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }))
    }

    pub(crate) fn call_item(&self) -> Option<Vec<CallHierarchyItem>> {
        let Entity::Operator { module, definition } = self.names()?.entity_at(self.offset)?.1 else {
            return None;
        };
        let place = |span| location(&self.analysis, span);
        Some(vec![calls::item(&self.analysis, module, definition, &place)?])
    }

    pub(crate) fn incoming(&self) -> Option<Vec<CallHierarchyIncomingCall>> {
        let Entity::Operator { definition, .. } = self.names()?.entity_at(self.offset)?.1 else {
            return None;
        };
        Some(calls::incoming(&self.analysis, definition, &|span| location(&self.analysis, span)))
    }

    pub(crate) fn outgoing(&self) -> Option<Vec<CallHierarchyOutgoingCall>> {
        let names = self.names()?;
        let Entity::Operator { module, definition } = names.entity_at(self.offset)?.1 else { return None };
        let names = self.analysis.names_of(module.file)?;
        Some(calls::outgoing(&names, definition, &|span| location(&self.analysis, span)))
    }

    /// One edit that replaces the full text, or no edit if the text is already formatted; `None` for a text with errors.
    pub(crate) fn format(&self) -> Option<Vec<TextEdit>> {
        let names = self.names()?;
        let (file, text) = (names.module.file, names.text());
        let formatted = format(file, text, &Limits::default(), &mut Sink::default())?;
        if formatted == text {
            return Some(Vec::new());
        }
        let whole = self.analysis.lines(file).range(text, 0, text.len());
        Some(vec![TextEdit::new(whole, formatted)])
    }
}

/// The location of a span. The library is written to files, so that an editor can open them.
fn location(analysis: &Analysis, span: Span) -> Option<Location> {
    let (shown, text) = analysis.location(span)?;
    let path =
        if span.file.is_library() { library_files::file_of(shown, text)? } else { shown.to_path_buf() };
    Some(Location::new(url_of(&path)?, analysis.range(span)))
}
