// SPDX-License-Identifier: Apache-2.0
//! The call hierarchy: which definitions invoke an operator, and which operators a definition invokes.

use crate::analysis::Analysis;
use crate::names::{Entity, Names};
use crate::outline;
use crate::references::in_module;
use lsp_types::{CallHierarchyIncomingCall, CallHierarchyItem, CallHierarchyOutgoingCall, Location, Range};
use skript_frontend::ast::{Definition, Module};
use skript_frontend::source::Span;
use std::collections::BTreeMap;

/// The item of an operator or a graph.
pub(crate) fn item(
    analysis: &Analysis,
    module: &Module,
    definition: &Definition,
    location: &dyn Fn(Span) -> Option<Location>,
) -> Option<CallHierarchyItem> {
    let place = location(definition.span)?;
    Some(CallHierarchyItem {
        name: definition.name.name.clone(),
        kind: outline::kind(definition).0,
        tags: None,
        detail: Some(module.name.clone()),
        uri: place.uri,
        range: place.range,
        selection_range: analysis.range(definition.name.span),
        data: None,
    })
}

/// The definitions of the model that invoke an operator, with the invocations.
pub(crate) fn incoming(
    analysis: &Analysis,
    operator: &Definition,
    location: &dyn Fn(Span) -> Option<Location>,
) -> Vec<CallHierarchyIncomingCall> {
    let mut calls = Vec::new();
    for (key, module) in analysis.program.modules.iter().filter(|(_, module)| !module.file.is_library()) {
        let names = Names::new(analysis, key, module);
        let mut by_caller: BTreeMap<u32, (&Definition, Vec<Range>)> = BTreeMap::new();
        for span in in_module(&names, operator.name.span, &operator.name.name) {
            let around = module.definitions.iter().find(|d| d.span.holds(span) && d.name.span != span);
            if let Some(caller) = around {
                let (_, ranges) = by_caller.entry(caller.span.start).or_insert((caller, Vec::new()));
                ranges.push(analysis.range(span));
            }
        }
        calls.extend(by_caller.into_values().filter_map(|(caller, from_ranges)| {
            let from = item(analysis, module, caller, location)?;
            Some(CallHierarchyIncomingCall { from, from_ranges })
        }));
    }
    calls
}

/// The operators that a definition invokes, with the invocations.
pub(crate) fn outgoing(
    names: &Names,
    caller: &Definition,
    location: &dyn Fn(Span) -> Option<Location>,
) -> Vec<CallHierarchyOutgoingCall> {
    let analysis = names.analysis;
    let mut by_operator: BTreeMap<Span, (&Module, &Definition, Vec<Range>)> = BTreeMap::new();
    let within = |span: Span| caller.span.holds(span) && span != caller.name.span;
    for at in 0..names.tokens.len() {
        let span = names.span(at);
        if within(span)
            && let Some(Entity::Operator { module, definition }) = names.entity(at)
        {
            let invoked = by_operator.entry(definition.name.span).or_insert((module, definition, Vec::new()));
            invoked.2.push(analysis.range(span));
        }
    }
    let calls = by_operator.into_values().filter_map(|(module, definition, from_ranges)| {
        let to = item(analysis, module, definition, location)?;
        Some(CallHierarchyOutgoingCall { to, from_ranges })
    });
    calls.collect()
}
