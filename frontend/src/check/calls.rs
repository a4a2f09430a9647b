// SPDX-License-Identifier: Apache-2.0
//! The definitions that a program invokes.

use crate::ast::{Component, Definition, Invocation};
use crate::diagnostics::{Severity, Sink};
use crate::program::Program;
use crate::source::Span;
use rustc_hash::FxHashSet;

/// Whether a statement of the program invokes `name` of the module with key `module`.
pub fn is_called(program: &Program, module: &str, name: &str) -> bool {
    program.modules.iter().any(|(key, m)| {
        let statements = m.definitions.iter().flat_map(composed);
        let mut invocations = statements.flat_map(|c| c.value.invocations());
        invocations.any(|i| named(program, key, i) == Some((module, name)))
    })
}

/// Whether a graph of the main module and everything that it invokes have no errors. Then the errors of its composition
/// are not consequences of reported ones.
pub fn is_sound(program: &Program, sink: &Sink, graph: &str) -> bool {
    let Some(locations) = error_spans(sink) else {
        return false;
    };
    let within = |d: &Definition, location: &Span| {
        location.file == d.span.file && d.span.start <= location.start && location.start <= d.span.end
    };
    let definitions = || program.modules.values().flat_map(|m| &m.definitions);
    // An error between definitions may hide a definition.
    let inside = |location: &Span| definitions().any(|d| within(d, location));
    if !locations.iter().all(inside) {
        return false;
    }
    let mut open = vec![(program.main.as_str(), graph)];
    let mut seen: FxHashSet<(&str, &str)> = open.iter().copied().collect();
    while let Some((module, name)) = open.pop() {
        let mut candidates = program.modules.get(module).into_iter().flat_map(|m| &m.definitions);
        let Some(definition) = candidates.find(|d| d.name.name == name) else {
            return false;
        };
        if !definition.unread.is_empty() || locations.iter().any(|location| within(definition, location)) {
            return false;
        }
        for invocation in composed(definition).flat_map(|c| c.value.invocations()) {
            let Some(callee) = named(program, module, invocation) else {
                return false;
            };
            if seen.insert(callee) {
                open.push(callee);
            }
        }
    }
    true
}

/// All locations of errors; `None` if an error has no location.
fn error_spans(sink: &Sink) -> Option<Vec<Span>> {
    let mut locations = Vec::new();
    for error in sink.diagnostics().iter().filter(|d| d.severity == Severity::Error) {
        locations.push(error.span?);
        locations.extend(error.labels.iter().map(|label| label.span));
        locations.extend(error.notes.iter().filter_map(|note| note.span));
    }
    Some(locations)
}

fn composed(definition: &Definition) -> impl Iterator<Item = &Component> {
    definition.composes.iter().chain(&definition.updates)
}

/// The definition that an invocation in the module with key `module` refers to: the key of a module, and the name in
/// it.
pub(super) fn named<'p>(
    program: &'p Program,
    module: &'p str,
    invocation: &'p Invocation,
) -> Option<(&'p str, &'p str)> {
    let (last, qualifier) = invocation.operator.parts.split_last()?;
    let qualifier: Vec<&str> = qualifier.iter().map(|p| p.name.as_str()).collect();
    let module = if qualifier.is_empty() { module } else { program.resolve(module, &qualifier.join("."))?.0 };
    Some((module, last.name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::is_sound;
    use crate::check::testing::{checked, in_document};
    use crate::program::Edition;

    #[test]
    fn errors_elsewhere_leave_a_graph_sound() {
        let operator = |name: &str, body: &str| {
            format!(
                "operator {name} {{ @input {{ x: real[a]; }} @output {{ y: real[a]; }} @compose {{ {body} }} }} "
            )
        };
        let graph = |name: &str, callee: &str| {
            format!(
                "graph {name} {{ @input {{ x: real[2]; }} @output {{ y: real[2]; }} @compose {{ y = {callee}(x); }} }} "
            )
        };
        let sound = |operators: &str| {
            let text = operators.to_string() + &graph("One", "f") + &graph("Two", "g");
            let (program, sink) = checked(&in_document(&text), Edition::Draft6);
            assert!(sink.has_errors());
            [is_sound(&program, &sink, "One"), is_sound(&program, &sink, "Two")]
        };
        let fine = operator("h", "y = x;");
        let first = fine.clone() + &operator("f", "y = h(x);");
        assert_eq!(sound(&(first.clone() + &operator("g", "y = z;"))), [true, false]);
        // An unparsed text may contain the invoked operator.
        assert_eq!(
            sound(&(first.clone() + "} @using { a = 1; } " + &operator("g", "y = x;"))),
            [false, false]
        );
        assert_eq!(sound(&first), [true, false]);
        let through = operator("h", "y = z;") + &operator("f", "y = h(x);");
        assert_eq!(sound(&(through + &operator("g", "y = x;"))), [false, true]);
    }
}
