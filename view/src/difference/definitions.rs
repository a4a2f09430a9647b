// SPDX-License-Identifier: Apache-2.0
//! The differences between the texts of operators that both models define.

use super::matching::edits;
use super::{Change, Detail, Difference, short};
use crate::picture::{Definition, Picture};
use similar::DiffTag;
use skript_frontend::syntax::token::scan;
use std::collections::{BTreeMap, BTreeSet};

/// The operators that both models invoke, or name in `@quantize`, and whose definitions differ, without those whose graphs were compared and differ.
pub(super) fn changed(models: [&Picture; 2], explained: &BTreeSet<&str>) -> Vec<Difference> {
    let [first, second] = models.map(|model| {
        let others = model.instances.iter().enumerate().filter(|(n, _)| *n != model.entry);
        let defined = others.filter_map(|(_, instance)| {
            let definition = model.definitions.get(instance.definition?)?;
            Some((short(model, &instance.name), definition))
        });
        let quantizers = model
            .interface
            .quantizers
            .iter()
            .filter_map(|(name, number)| Some((short(model, name), model.definitions.get(*number)?)));
        defined.chain(quantizers).collect::<BTreeMap<&str, &Definition>>()
    });
    let mut differences = Vec::new();
    for (name, one) in first.iter().filter(|(name, _)| !explained.contains(*name)) {
        let Some(other) = second.get(name) else { continue };
        let details = lines(&code(&one.text), &code(&other.text));
        if !details.is_empty() {
            differences.push(Difference {
                change: Change::Changed,
                item: "operator",
                name: (*name).to_owned(),
                locations: [one, other].map(|definition| Some(definition.location.clone())),
                details,
            });
        }
    }
    differences
}

/// A line of a definition: its tokens, and its text without indentation and comment.
struct Line<'t> {
    tokens: Vec<&'t str>,
    shown: &'t str,
}

/// The lines of a definition that have tokens.
fn code(text: &str) -> Vec<Line<'_>> {
    let lines = text.lines().filter_map(|line| {
        let tokens = scan(line);
        let shown = line.get(tokens.first()?.start..tokens.last()?.end)?;
        Some(Line { tokens: tokens.iter().map(|token| token.text).collect(), shown })
    });
    lines.collect()
}

/// The lines that differ; none if the texts differ only in their layout.
fn lines(first: &[Line], second: &[Line]) -> Vec<Detail> {
    let [one, other] = [first, second].map(|lines| lines.iter().flat_map(|line| &line.tokens));
    if one.eq(other) {
        return Vec::new();
    }
    let [old, new] = [first, second].map(|lines| lines.iter().map(|line| &line.tokens).collect::<Vec<_>>());
    let changed = edits(&old, &new).into_iter().filter(|operation| operation.tag() != DiffTag::Equal);
    let details = changed.map(|operation| {
        let lines = [first.get(operation.old_range()), second.get(operation.new_range())];
        let shown = |lines: &[Line]| lines.iter().map(|line| line.shown).collect::<Vec<_>>().join("\n");
        let values = lines.map(|lines| lines.filter(|lines| !lines.is_empty()).map(shown));
        Detail { part: "formula".to_owned(), values }
    });
    details.collect()
}
