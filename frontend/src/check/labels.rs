// SPDX-License-Identifier: Apache-2.0
//! Labels of a sequence of statements: each names one instance (2.10).

use rustc_hash::FxHashMap;

use super::definition::Checker;
use super::signatures::base_named;
use crate::ast::{Component, ComponentValue, Ident, Invocation, Target, TargetItem};
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;

impl Checker<'_> {
    /// Warns of written labels that another instance on the same level has. Labels may be repeated in other blocks, and
    /// in other branches.
    pub(super) fn check_labels(&mut self, components: &[Component]) {
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
            self.sink.report(
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
    pub(super) fn behind_label<'c>(&mut self, component: &'c Component) -> Option<&'c Ident> {
        let [Target::Item(TargetItem::Name { name, type_spec: Some(spec), pack: None, span })] =
            &*component.targets
        else {
            return None;
        };
        let ComponentValue::Invocation(Invocation { label: None, operator, .. }) = &component.value else {
            return None;
        };
        let is_name = !spec.optional && spec.shape.is_none() && spec.pack.is_none();
        if !is_name || base_named(&spec.base.name, &self.generics).is_some() {
            return None;
        }
        let operator = self.text(operator.span);
        self.sink.report(
            Diagnostic::error(&codes::SYNTAX, *span, format!("the label `{}` precedes a result", name.name))
                .with_help(format!(
                    "write it before the operator: `{} = {}: {operator}(…)`",
                    spec.base.name, name.name
                )),
        );
        Some(&spec.base)
    }
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
