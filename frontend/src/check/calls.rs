// SPDX-License-Identifier: Apache-2.0
//! The definitions that a program invokes.

use crate::ast::{Component, Definition, Invocation};
use crate::diagnostics::{Severity, Sink};
use crate::program::Program;
use crate::source::Span;
use rustc_hash::FxHashSet;

/// The definitions that some statement of the program invokes: keys of modules, and names.
pub fn called(program: &Program) -> FxHashSet<(&str, &str)> {
    let mut called = FxHashSet::default();
    for (key, module) in &program.modules {
        let statements = module.definitions.iter().flat_map(composed);
        let invocations = statements.flat_map(|c| c.value.invocations());
        called.extend(invocations.filter_map(|invocation| named(program, key, invocation)));
    }
    called
}

/// Decides which graphs of the main module are free of errors with everything that they invoke. Then the errors of their
/// composition are not consequences of reported ones.
pub struct Soundness<'p> {
    program: &'p Program,
    /// The definitions with errors, by address; `None` if an error may affect any definition.
    wrong: Option<FxHashSet<*const Definition>>,
}

impl<'p> Soundness<'p> {
    /// With the errors in `sink`.
    pub fn new(program: &'p Program, sink: &Sink) -> Self {
        let mut sorted: Vec<&Definition> = program.modules.values().flat_map(|m| &m.definitions).collect();
        sorted.sort_by_key(|definition| (definition.span.file, definition.span.start));
        // An error between definitions may hide a definition.
        let around = |location: &Span| {
            let key = (location.file, location.start);
            let after = sorted.partition_point(|d| (d.span.file, d.span.start) <= key);
            let last = sorted.get(after.checked_sub(1)?)?;
            let is_in = last.span.file == location.file && location.start <= last.span.end;
            is_in.then_some(std::ptr::from_ref::<Definition>(last))
        };
        let wrong = error_spans(sink).and_then(|spans| spans.iter().map(around).collect());
        Soundness { program, wrong }
    }

    /// Whether a graph of the main module and everything that it invokes have no errors.
    pub fn is_sound(&self, graph: &str) -> bool {
        let Some(wrong) = &self.wrong else {
            return false;
        };
        let mut open = vec![(self.program.main.as_str(), graph)];
        let mut seen: FxHashSet<(&str, &str)> = open.iter().copied().collect();
        while let Some((module, name)) = open.pop() {
            let Some((_, definition)) = self.program.definition(module, name) else {
                return false;
            };
            if !definition.unread.is_empty() || wrong.contains(&std::ptr::from_ref::<Definition>(definition))
            {
                return false;
            }
            for invocation in composed(definition).flat_map(|c| c.value.invocations()) {
                let Some(callee) = named(self.program, module, invocation) else {
                    return false;
                };
                if seen.insert(callee) {
                    open.push(callee);
                }
            }
        }
        true
    }
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
    use super::Soundness;
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
            let soundness = Soundness::new(&program, &sink);
            [soundness.is_sound("One"), soundness.is_sound("Two")]
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
