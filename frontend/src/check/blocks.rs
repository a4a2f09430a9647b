// SPDX-License-Identifier: Apache-2.0
//! Blocks, names and generic types of a definition (2.2, 2.13).

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::ast::{BlockKind, DefinitionKind, Ident, TargetItem, UsingListItem, UsingTarget};
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;

use super::definition::{Checker, Hidden};
use super::scope::SymbolKind;
use super::types::{Base, Bound, Generic};

impl BlockKind {
    /// The name as written: `@lower`.
    pub(super) fn word(self) -> &'static str {
        match self {
            BlockKind::Dtype => "@dtype",
            BlockKind::Attrib => "@attrib",
            BlockKind::Input => "@input",
            BlockKind::Using => "@using",
            BlockKind::Constant => "@constant",
            BlockKind::Variable => "@variable",
            BlockKind::Output => "@output",
            BlockKind::Assert => "@assert",
            BlockKind::Lower => "@lower",
            BlockKind::Compose => "@compose",
            BlockKind::Update => "@update",
            BlockKind::Quantize => "@quantize",
        }
    }
}

/// The names that the left side of a `@using` line declares.
pub(super) fn using_names(target: &UsingTarget) -> Vec<&Ident> {
    match target {
        UsingTarget::Name(item) => vec![&item.name],
        UsingTarget::List(items) => items
            .iter()
            .flat_map(|i| match i {
                UsingListItem::Item(item) => vec![&item.name],
                UsingListItem::Zip { names, .. } => names.iter().collect(),
                UsingListItem::Omitted(_) => Vec::new(),
            })
            .collect(),
    }
}

/// The names that a left side of a composition declares.
pub(super) fn target_names(item: &TargetItem) -> Vec<&Ident> {
    match item {
        TargetItem::Name { name, .. } => vec![name],
        TargetItem::Zip { names, .. } => names.iter().collect(),
        TargetItem::Omitted(_) => Vec::new(),
    }
}

impl Checker<'_> {
    /// Checks that every kind of block occurs at most once, and that a graph has a body.
    pub(super) fn check_blocks(&mut self) {
        let definition = self.definition;
        for (i, block) in definition.blocks.iter().enumerate() {
            if let Some(first) = definition.blocks.iter().take(i).find(|b| b.kind == block.kind) {
                let word = block.kind.word();
                self.sink.report(
                    Diagnostic::error(
                        &codes::DUPLICATE_BLOCK,
                        block.span,
                        format!("`{}` has two `{word}` blocks", definition.name.name),
                    )
                    .with_label_at(first.span, "the first one")
                    .with_help(format!("move its items into the first `{word}`")),
                );
            }
        }
        if definition.kind != DefinitionKind::Graph {
            return;
        }
        let mut blocks = definition.blocks.iter();
        if let Some(formulas) = blocks.find(|b| b.kind == BlockKind::Lower) {
            self.sink.report(
                Diagnostic::error(
                    &codes::GRAPH_WITHOUT_BODY,
                    formulas.span,
                    format!(
                        "the graph `{}` has formulas; a graph is composed of operators",
                        definition.name.name
                    ),
                )
                .with_help("move them into an operator, and invoke that in `@compose`"),
            );
        } else if !definition.has_block(BlockKind::Compose) && definition.unread.is_empty() {
            self.sink.report(
                Diagnostic::error(
                    &codes::GRAPH_WITHOUT_BODY,
                    definition.name.span,
                    format!("the graph `{}` has no body", definition.name.name),
                )
                .with_help("compute its outputs in `@compose`; only operators may omit the body"),
            );
        }
    }

    /// `@dtype`: names, bounds, defaults.
    pub(super) fn check_type_parameters(&mut self) {
        for parameter in &self.definition.dtypes {
            let name = &parameter.name;
            let bound = Bound::of(parameter);
            if bound == Bound::Unknown && !parameter.bound.name.is_empty() {
                self.sink.report(
                    Diagnostic::error(
                        &codes::TYPE_BOUND,
                        parameter.bound.span,
                        format!("`{}` is not a restriction of generic types", parameter.bound.name),
                    )
                    .with_help("write `type` (all types), `arith` (int, real, bool) or `num` (int, real)"),
                );
            }
            let default = parameter.default.as_ref().and_then(|default| {
                let base = Base::concrete(&default.name);
                match &base {
                    None if !default.name.is_empty() => self.sink.report(
                        Diagnostic::error(
                            &codes::UNKNOWN_TYPE,
                            default.span,
                            format!("`{}` is not a concrete type", default.name),
                        )
                        .with_help("a default type is int, real, bool or str"),
                    ),
                    Some(base) if !bound.admits(base) => self.sink.report(
                        Diagnostic::error(
                            &codes::TYPE_OUTSIDE_BOUND,
                            default.span,
                            format!(
                                "the default type {base} of `{}` is not admitted by `{}`",
                                name.name,
                                bound.name()
                            ),
                        )
                        .with_label(format!("{} expected", bound.members())),
                    ),
                    _ => {}
                }
                base
            });
            let generic = Rc::new(Generic { name: name.name.clone(), bound });
            self.generics.push((generic, default));
        }
    }

    /// Checks that no name is declared twice, in any blocks; collects names that are not visible yet.
    pub(super) fn check_names(&mut self) {
        let definition = self.definition;
        let mut declared: Vec<(&Ident, &'static str)> = Vec::new();
        declared.extend(definition.dtypes.iter().map(|d| (&d.name, "a type")));
        let blocks =
            [(&definition.attributes, SymbolKind::Attribute), (&definition.inputs, SymbolKind::Input)];
        for (declarations, kind) in blocks {
            declared.extend(declarations.iter().map(|d| (&d.name, kind.describe())));
        }
        for using in &definition.usings {
            for name in using_names(&using.target) {
                declared.push((name, SymbolKind::Using.describe()));
                self.hide(name, SymbolKind::Using);
            }
        }
        let blocks = [
            (&definition.constants, SymbolKind::Constant),
            (&definition.variables, SymbolKind::Variable),
            (&definition.outputs, SymbolKind::Output),
        ];
        for (declarations, kind) in blocks {
            for declaration in declarations {
                declared.push((&declaration.name, kind.describe()));
                self.hide(&declaration.name, kind);
            }
        }
        for components in [&definition.composes, &definition.updates] {
            for component in components {
                for target in &component.targets {
                    let items = match target {
                        crate::ast::Target::Item(item) => std::slice::from_ref(item),
                        crate::ast::Target::List { items, .. } => items.as_slice(),
                    };
                    for name in items.iter().flat_map(target_names) {
                        self.hide(name, SymbolKind::Intermediate);
                    }
                }
            }
        }
        declared.sort_by_key(|(name, _)| name.span);
        let mut first: FxHashMap<&str, (Span, &'static str)> = FxHashMap::default();
        for (name, kind) in declared {
            if name.name.is_empty() {
                continue;
            }
            match first.get(name.name.as_str()) {
                Some((span, first_kind)) => {
                    self.report_duplicate(name, kind, *span, first_kind);
                    self.ambiguous.insert(name.name.clone());
                }
                None => {
                    first.insert(&name.name, (name.span, kind));
                }
            }
        }
    }

    fn hide(&mut self, name: &Ident, kind: SymbolKind) {
        self.hidden.entry(name.name.clone()).or_insert(Hidden { kind, span: name.span });
    }

    pub(super) fn report_duplicate(&mut self, name: &Ident, kind: &str, first: Span, first_kind: &str) {
        let message = if kind == first_kind {
            format!("`{}` is declared twice", name.name)
        } else {
            format!("`{}` is already the name of {first_kind}", name.name)
        };
        self.sink.report(
            Diagnostic::error(&codes::DUPLICATE_NAME, name.span, message)
                .with_label(format!("again as {kind}"))
                .with_label_at(first, format!("first as {first_kind}"))
                .with_help("names are unique within an operator or graph; rename one of them"),
        );
    }
}
