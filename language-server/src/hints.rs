// SPDX-License-Identifier: Apache-2.0
//! Inlay hints: the composed types of tensors whose types are not written.

use crate::names::{Names, declared_in};
use lsp_types::{InlayHint, InlayHintKind, InlayHintLabel};
use std::ops::Range;

/// The hints for the tensors that are declared in a range of bytes.
pub(crate) fn hints(names: &Names, within: &Range<usize>) -> Vec<InlayHint> {
    let analysis = names.analysis;
    let is_within = |start: u32, end: u32| start as usize <= within.end && within.start <= end as usize;
    let mut hints = Vec::new();
    for definition in names.module.definitions.iter().filter(|d| is_within(d.span.start, d.span.end)) {
        let inferred = ["tensor", "carried tensor", "scanned item"];
        let declared = declared_in(definition).into_iter().filter(|d| inferred.contains(&d.role));
        for declared in declared.filter(|d| is_within(d.span.start, d.span.end)) {
            let is_written = analysis.text(declared.span.file).get(declared.span.end as usize..);
            let is_written = is_written.is_some_and(|rest| rest.trim_start().starts_with(':'));
            let composed = analysis.composed_type(definition, &declared.name).filter(|_| !is_written);
            hints.extend(composed.map(|composed| InlayHint {
                position: analysis.range(declared.span).end,
                label: InlayHintLabel::String(format!(": {composed}")),
                kind: Some(InlayHintKind::TYPE),
                text_edits: None,
                tooltip: None,
                padding_left: None,
                padding_right: None,
                data: None,
            }));
        }
    }
    hints
}
