// SPDX-License-Identifier: Apache-2.0
//! Operators that invoke themselves in every branch: such invocations never end (2.10).

use crate::ast::{BlockKind, Component, ComponentValue, Definition, Invocation};
use crate::check::calls::named;
use crate::diagnostics::{Diagnostic, Sink, codes};
use crate::program::Program;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// A definition, and the invocations that each of its instances executes.
struct Node<'p> {
    definition: &'p Definition,
    invocations: Vec<(usize, &'p Invocation)>,
}

/// Reports each cycle of operators once, at its first operator.
pub(super) fn check_recursion(program: &Program, sink: &mut Sink) {
    let mut nodes = nodes(program);
    retain_cycles(&mut nodes);
    let mut reported = vec![false; nodes.len()];
    for start in 0..nodes.len() {
        if reported.get(start) == Some(&true) {
            continue;
        }
        let Some(cycle) = cycle(&nodes, start) else {
            continue;
        };
        if cycle.iter().any(|(node, _)| reported.get(*node) == Some(&true)) {
            continue;
        }
        for (node, _) in &cycle {
            if let Some(reported) = reported.get_mut(*node) {
                *reported = true;
            }
        }
        report(&nodes, &cycle, sink);
    }
}

/// All composed definitions, with their invocations outside of branches and loops. Formulas invoke nothing; if a
/// definition has formulas, its composition is an alternative description.
fn nodes(program: &Program) -> Vec<Node<'_>> {
    let all =
        || program.modules.iter().flat_map(|(key, module)| module.definitions.iter().map(move |d| (key, d)));
    let mut numbers: FxHashMap<(&str, &str), usize> = FxHashMap::default();
    for (number, (key, definition)) in all().enumerate() {
        numbers.entry((key, &definition.name.name)).or_insert(number);
    }
    let mut nodes = Vec::new();
    for (key, definition) in all() {
        let composed = !definition.has_block(BlockKind::Lower);
        let statements = definition.composes.iter().chain(&definition.updates);
        let executed = statements.filter(|_| composed).flat_map(unconditional_invocations);
        let invocations = executed.filter_map(|invocation| {
            let callee = named(program, key, invocation)?;
            Some((*numbers.get(&callee)?, invocation))
        });
        nodes.push(Node { definition, invocations: invocations.collect() });
    }
    nodes
}

/// The invocations of a statement that are executed unconditionally.
fn unconditional_invocations(component: &Component) -> Vec<&Invocation> {
    let mut calls = Vec::new();
    let mut values = vec![&component.value];
    while let Some(value) = values.pop() {
        match value {
            ComponentValue::Invocation(invocation) => calls.push(invocation),
            ComponentValue::Block(block) => values.extend(block.components.iter().map(|c| &c.value)),
            ComponentValue::If(branching) => {
                values.extend(branching.arms.first().map(|(condition, _)| condition))
            }
            // A loop may have no iterations.
            ComponentValue::Loop(_) | ComponentValue::Expr(_) | ComponentValue::Error(_) => {}
        }
    }
    calls
}

/// Removes invocations of operators that terminate: of definitions without invocations, and transitively of definitions
/// that invoke only such definitions.
fn retain_cycles(nodes: &mut [Node]) {
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut open: Vec<usize> = Vec::new();
    for (caller, node) in nodes.iter().enumerate() {
        open.push(node.invocations.len());
        for (callee, _) in &node.invocations {
            if let Some(callers) = callers.get_mut(*callee) {
                callers.push(caller);
            }
        }
    }
    let mut ends: Vec<usize> = (0..nodes.len()).filter(|node| open.get(*node) == Some(&0)).collect();
    while let Some(ended) = ends.pop() {
        for caller in callers.get(ended).into_iter().flatten() {
            if let Some(open) = open.get_mut(*caller) {
                *open -= 1;
                if *open == 0 {
                    ends.push(*caller);
                }
            }
        }
    }
    let endless: Vec<bool> = open.iter().map(|open| *open > 0).collect();
    for node in &mut *nodes {
        node.invocations.retain(|(callee, _)| endless.get(*callee) == Some(&true));
    }
    drop_uncalled(nodes);
}

/// Removes the invocations of operators that no operator with invocations invokes: they are in no cycle.
fn drop_uncalled(nodes: &mut [Node]) {
    let mut calls = vec![0_usize; nodes.len()];
    for (callee, _) in nodes.iter().flat_map(|node| &node.invocations) {
        if let Some(calls) = calls.get_mut(*callee) {
            *calls += 1;
        }
    }
    let mut uncalled: Vec<usize> = (0..nodes.len()).filter(|node| calls.get(*node) == Some(&0)).collect();
    while let Some(node) = uncalled.pop() {
        let invocations =
            nodes.get_mut(node).map_or_else(Vec::new, |node| std::mem::take(&mut node.invocations));
        for (callee, _) in invocations {
            if let Some(calls) = calls.get_mut(callee) {
                *calls -= 1;
                if *calls == 0 {
                    uncalled.push(callee);
                }
            }
        }
    }
}

/// The shortest cycle from a definition to itself: definitions, each with the invocation that leads to the next.
fn cycle<'p>(nodes: &[Node<'p>], start: usize) -> Option<Vec<(usize, &'p Invocation)>> {
    let mut from: FxHashMap<usize, (usize, &'p Invocation)> = FxHashMap::default();
    let mut next = VecDeque::from([start]);
    while let Some(node) = next.pop_front() {
        for (callee, invocation) in &nodes.get(node)?.invocations {
            if from.contains_key(callee) {
                continue;
            }
            from.insert(*callee, (node, invocation));
            if *callee == start {
                let mut cycle = Vec::new();
                let mut at = start;
                loop {
                    let (before, invocation) = *from.get(&at)?;
                    cycle.push((before, invocation));
                    if before == start {
                        cycle.reverse();
                        return Some(cycle);
                    }
                    at = before;
                }
            }
            next.push_back(*callee);
        }
    }
    None
}

/// The maximum number of names in a message.
const MAX_NAMED: usize = 32;

fn report(nodes: &[Node], cycle: &[(usize, &Invocation)], sink: &mut Sink) {
    let name = |node: &usize| nodes.get(*node).map_or("", |n| n.definition.name.name.as_str());
    let Some(((first, invocation), others)) = cycle.split_first() else {
        return;
    };
    let message = match others {
        [] => format!("`{}` invokes itself in every branch: it never ends", name(first)),
        _ => {
            let ways: Vec<String> = others.iter().map(|(node, _)| format!("`{}`", name(node))).collect();
            let named = ways.get(..MAX_NAMED).unwrap_or(&ways).join(", ");
            let more = match ways.len().saturating_sub(MAX_NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("`{}` invokes itself through {named}{more} in every branch: it never ends", name(first))
        }
    };
    let mut diagnostic = Diagnostic::error(&codes::ENDLESS_RECURSION, invocation.operator.span, message);
    for (_, invocation) in others {
        diagnostic = diagnostic.with_label_at(invocation.operator.span, "and on");
    }
    sink.report(diagnostic.with_help("let a branch end it: `if n > 0 then f{n=n - 1}(x) else x`"));
}
