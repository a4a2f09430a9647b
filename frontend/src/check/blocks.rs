// SPDX-License-Identifier: Apache-2.0
//! Blocks, names and generic types of a definition (2.2, 2.13).

use crate::ast::{
    BlockKind, Component, ComponentValue, DefinitionKind, Ident, Invocation, Target, TargetItem,
};
use crate::check::checker::{Checker, Hidden};
use crate::check::scope::SymbolKind;
use crate::check::signatures::base_named;
use crate::check::types::{Base, Bound, Generic};
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::rc::Rc;

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

/// Checks that every kind of block occurs at most once, and that a graph has a body.
pub(super) fn check_blocks(checker: &mut Checker) {
    let definition = checker.definition;
    for (i, block) in definition.blocks.iter().enumerate() {
        if let Some(first) = definition.blocks.iter().take(i).find(|b| b.kind == block.kind) {
            let word = block.kind.word();
            let message = format!("`{}` has two `{word}` blocks", definition.name.name);
            let help = format!("move its items into the first `{word}`");
            let diagnostic = Diagnostic::error(&codes::DUPLICATE_BLOCK, block.span, message);
            checker.sink.report(diagnostic.with_label_at(first.span, "the first one").with_help(help));
        }
    }
    if definition.kind != DefinitionKind::Graph {
        return;
    }
    let mut blocks = definition.blocks.iter();
    if let Some(formulas) = blocks.find(|b| b.kind == BlockKind::Lower) {
        let message =
            format!("the graph `{}` has formulas; a graph is composed of operators", definition.name.name);
        let help = "move them into an operator, and invoke that in `@compose`";
        let diagnostic = Diagnostic::error(&codes::GRAPH_WITHOUT_BODY, formulas.span, message);
        checker.sink.report(diagnostic.with_help(help));
    } else if !definition.has_block(BlockKind::Compose) && definition.unread.is_empty() {
        let message = format!("the graph `{}` has no body", definition.name.name);
        let help = "compute its outputs in `@compose`; only operators may omit the body";
        let diagnostic = Diagnostic::error(&codes::GRAPH_WITHOUT_BODY, definition.name.span, message);
        checker.sink.report(diagnostic.with_help(help));
    }
}

/// `@dtype`: names, bounds, defaults.
pub(super) fn check_type_parameters(checker: &mut Checker) {
    for parameter in &checker.definition.dtypes {
        let name = &parameter.name;
        let bound = Bound::from_parameter(parameter);
        if bound == Bound::Unknown && !parameter.bound.name.is_empty() {
            let message = format!("`{}` is not a restriction of generic types", parameter.bound.name);
            let help = "write `type` (all types), `arith` (int, real, bool) or `num` (int, real)";
            let diagnostic = Diagnostic::error(&codes::TYPE_BOUND, parameter.bound.span, message);
            checker.sink.report(diagnostic.with_help(help));
        }
        let default = parameter.default.as_ref().and_then(|default| {
            let base = Base::concrete(&default.name);
            match &base {
                None if !default.name.is_empty() => checker.sink.report(
                    Diagnostic::error(
                        &codes::UNKNOWN_TYPE,
                        default.span,
                        format!("`{}` is not a concrete type", default.name),
                    )
                    .with_help("a default type is int, real, bool or str"),
                ),
                Some(base) if !bound.admits(base) => checker.sink.report(
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
        checker.generics.push((generic, default));
    }
}

/// Checks that no name is declared twice, in any blocks; collects names that are not visible yet.
pub(super) fn check_names(checker: &mut Checker) {
    let definition = checker.definition;
    let mut declared: Vec<(&Ident, &'static str)> = Vec::new();
    declared.extend(definition.dtypes.iter().map(|d| (&d.name, "a type")));
    let blocks = [(&definition.attributes, SymbolKind::Attribute), (&definition.inputs, SymbolKind::Input)];
    for (declarations, kind) in blocks {
        declared.extend(declarations.iter().map(|d| (&d.name, kind.describe())));
    }
    for using in &definition.usings {
        for name in using.target.names() {
            declared.push((name, SymbolKind::Using.describe()));
            hide(checker, name, SymbolKind::Using);
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
            hide(checker, &declaration.name, kind);
        }
    }
    for name in definition.composes.iter().chain(&definition.updates).flat_map(Component::names) {
        hide(checker, name, SymbolKind::Intermediate);
    }
    declared.sort_by_key(|(name, _)| name.span);
    let mut first: FxHashMap<&str, (Span, &'static str)> = FxHashMap::default();
    for (name, kind) in declared {
        if name.name.is_empty() {
            continue;
        }
        match first.get(name.name.as_str()) {
            Some((span, first_kind)) => {
                report_duplicate(checker, name, kind, *span, first_kind);
                checker.ambiguous.insert(name.name.clone());
            }
            None => {
                first.insert(&name.name, (name.span, kind));
            }
        }
    }
}

fn hide(checker: &mut Checker, name: &Ident, kind: SymbolKind) {
    checker.hidden.entry(name.name.clone()).or_insert(Hidden { kind, span: name.span });
}

pub(super) fn report_duplicate(
    checker: &mut Checker,
    name: &Ident,
    kind: &str,
    first: Span,
    first_kind: &str,
) {
    let message = if kind == first_kind {
        format!("`{}` is declared twice", name.name)
    } else {
        format!("`{}` is already the name of {first_kind}", name.name)
    };
    checker.sink.report(
        Diagnostic::error(&codes::DUPLICATE_NAME, name.span, message)
            .with_label(format!("again as {kind}"))
            .with_label_at(first, format!("first as {first_kind}"))
            .with_help("names are unique within an operator or graph; rename one of them"),
    );
}

/// Warns of written labels that another instance on the same level already has. Labels may be repeated in other blocks
/// and in other branches.
pub(super) fn check_labels(checker: &mut Checker, components: &[Component]) {
    let mut known: FxHashMap<&str, (Span, bool)> = FxHashMap::default();
    for component in components {
        let Some((label, is_written)) = label(component) else {
            continue;
        };
        let Some((first, first_is_written)) = known.get(label.name.as_str()).copied() else {
            known.insert(&label.name, (label.span, is_written));
            continue;
        };
        // A name that is assigned twice is a separate error.
        if !is_written && !first_is_written {
            continue;
        }
        let name = &label.name;
        checker.sink.report(
            Diagnostic::warning(
                &codes::LABEL_TWICE,
                label.span,
                format!("two instances have the label `{name}`"),
            )
            .with_label_at(first, "the first")
            .with_help(format!(
                "they share their variables: write another label if they are to have their own, `{name}2: …`"
            )),
        );
    }
}

/// The target of `label: y = op(x)`, which is parsed as a type of a tensor `label` (reported).
pub(super) fn behind_label<'c>(checker: &mut Checker, component: &'c Component) -> Option<&'c Ident> {
    let [Target::Item(TargetItem::Name { name, type_spec: Some(spec), pack: None, span })] =
        &*component.targets
    else {
        return None;
    };
    let ComponentValue::Invocation(Invocation { label: None, operator, .. }) = &component.value else {
        return None;
    };
    let is_name = !spec.optional && spec.shape.is_none() && spec.pack.is_none();
    if !is_name || base_named(&spec.base.name, &checker.generics).is_some() {
        return None;
    }
    let before = Span { end: operator.span.start, ..*span };
    let operator = checker.text(operator.span);
    let message = format!("the label `{}` precedes a result", name.name);
    let help = format!("write it before the operator: `{} = {}: {operator}(…)`", spec.base.name, name.name);
    let text = format!("{} = {}: ", spec.base.name, name.name);
    checker.sink.report(Diagnostic::error(&codes::SYNTAX, *span, message).with_fix(help, before, text));
    Some(&spec.base)
}

/// The label of a statement's instance, and whether it is written.
fn label(component: &Component) -> Option<(&Ident, bool)> {
    match &component.value {
        ComponentValue::Invocation(invocation) => match (&invocation.label, &*component.targets) {
            (Some(label), _) => Some((label, true)),
            (None, [Target::Item(TargetItem::Name { name, .. })]) => Some((name, false)),
            _ => None,
        },
        ComponentValue::Block(block) => block.label.as_ref().map(|label| (label, true)),
        _ => None,
    }
}
