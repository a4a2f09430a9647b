// SPDX-License-Identifier: Apache-2.0
//! Inlay hints: the composed types of tensors whose types are not written, with the lengths of packs, and the defaults of attributes that
//! an invocation omits.

use crate::names::{Entity, Names, declared_in};
use lsp_types::{InlayHint, InlayHintKind, InlayHintLabel, InlayHintTooltip, Position};
use skript_frontend::ast::{Definition, Invocation};
use std::ops::Range;

/// Maximum number of characters of a hint; the tooltip of a longer one has all of its text.
const MAX_CHARACTERS: usize = 60;

/// The hints in a range of bytes.
pub(crate) fn hints(names: &Names, within: &Range<usize>) -> Vec<InlayHint> {
    let is_within = |start: u32, end: u32| start as usize <= within.end && within.start <= end as usize;
    let mut hints = Vec::new();
    for definition in names.module.definitions.iter().filter(|d| is_within(d.span.start, d.span.end)) {
        let inferred = ["tensor", "carried tensor", "scanned item"];
        let declared = declared_in(definition).into_iter().filter(|d| inferred.contains(&d.role));
        for declared in declared.filter(|d| is_within(d.span.start, d.span.end)) {
            let is_written = names.text().get(declared.span.end as usize..);
            let is_written = is_written.is_some_and(|rest| rest.trim_start().starts_with(':'));
            let composed = names.analysis.composed_type(definition, &declared.name).filter(|_| !is_written);
            let position = names.analysis.range(declared.span).end;
            hints.extend(composed.map(|text| hint(position, format!(": {text}"), InlayHintKind::TYPE)));
        }
        let invocations = invocations(definition).filter(|i| is_within(i.span.start, i.span.end));
        hints.extend(invocations.filter_map(|invocation| defaults(names, invocation)));
    }
    hints.sort_by_key(|hint| hint.position);
    hints
}

fn invocations(definition: &Definition) -> impl Iterator<Item = &Invocation> {
    let components = definition.composes.iter().chain(&definition.updates);
    components.flat_map(|component| component.value.invocations())
}

/// The defaults of the attributes that an invocation omits, after those that it has: `stride=2` *, dilation=1*.
fn defaults(names: &Names, invocation: &Invocation) -> Option<InlayHint> {
    let Entity::Operator { definition, .. } = names.operator(&invocation.operator.text())? else {
        return None;
    };
    let is_given = |name: &str| invocation.attributes.iter().any(|given| given.name.name == name);
    let others = definition.attributes.iter().filter(|attribute| !is_given(&attribute.name.name));
    let assignments = others.filter_map(|attribute| {
        let value = names.analysis.program.sources.text(attribute.default.as_ref()?.span);
        Some(format!("{}={value}", attribute.name.name))
    });
    let omitted = assignments.collect::<Vec<_>>().join(", ");
    if omitted.is_empty() {
        return None;
    }
    let operator = invocation.operator.span.end as usize;
    let bracket = operator + names.text().get(operator..)?.find(['{', '('])?;
    let (at, text) = match invocation.attributes.last() {
        Some(last) => (last.span.end as usize, format!(", {omitted}")),
        None if names.text().as_bytes().get(bracket) == Some(&b'{') => (bracket + 1, omitted),
        None => (bracket, format!("{{{omitted}}}")),
    };
    let lines = names.analysis.lines(names.module.file);
    let position = lines.range(names.text(), at, at).start;
    Some(hint(position, text, InlayHintKind::PARAMETER))
}

fn hint(position: Position, text: String, kind: InlayHintKind) -> InlayHint {
    let is_long = text.chars().nth(MAX_CHARACTERS).is_some();
    let shown =
        if is_long { text.chars().take(MAX_CHARACTERS - 1).chain(['…']).collect() } else { text.clone() };
    InlayHint {
        position,
        label: InlayHintLabel::String(shown),
        kind: Some(kind),
        text_edits: None,
        tooltip: is_long.then_some(InlayHintTooltip::String(text)),
        padding_left: None,
        padding_right: None,
        data: None,
    }
}
