// SPDX-License-Identifier: Apache-2.0
//! The types of a graph's tensors in a program with errors, for editors.

use super::{ComposeOptions, STACK_BYTES};
use crate::ast::{Declaration, Definition, DefinitionKind, Module};
use crate::compose::composer::Composer;
use crate::compose::operators::OperatorRef;
use crate::diagnostics::Sink;
use crate::limits::Limits;
use crate::model;
use crate::program::Program;
use crate::source::Span;
use skript_host::on_stack;

/// Returns the tensors of the main module's first graph, with the types that can be inferred although the program has
/// errors at these locations.
///
/// Statements that cannot be composed leave their names without a type; an operator whose body cannot be composed has
/// its declared outputs.
pub fn inferred_tensors(program: &Program, errors: &[Span], limits: &Limits) -> Vec<model::Value> {
    let main = program.modules.get_key_value(&program.main);
    let Some((module, graph)) = main.and_then(|(key, main)| Some((key, first_graph(main)?.clone()))) else {
        return Vec::new();
    };
    let mut definition = graph;
    leave_out(&mut definition, errors);
    let mut known = Vec::new();
    let compose = || {
        let mut sink = Sink::default();
        let limits = &limits.metered(program, 0);
        let options = ComposeOptions::default();
        let mut composer = Composer::new(program, limits, &options, &mut sink);
        composer.known = Some(&mut known);
        composer.model_of(OperatorRef { definition: &definition, module })
    };
    let composed = on_stack("compose", STACK_BYTES, compose).ok().and_then(|composed| composed.ok()?);
    let entry = composed.as_ref().and_then(|m| m.function(m.entry));
    known.extend(entry.iter().flat_map(|entry| &entry.values).cloned());
    known
}

fn first_graph(main: &Module) -> Option<&Definition> {
    main.definitions.iter().find(|d| d.kind == DefinitionKind::Graph)
}

/// Removes declarations and assertions with errors, because a single error would prevent all binding.
fn leave_out(graph: &mut Definition, errors: &[Span]) {
    let is_right = |span: Span| !errors.iter().any(|error| span.holds(*error));
    let keep = |list: &mut Vec<Declaration>| list.retain(|d| is_right(d.span));
    keep(&mut graph.attributes);
    keep(&mut graph.inputs);
    keep(&mut graph.constants);
    keep(&mut graph.variables);
    graph.usings.retain(|u| is_right(u.span));
    graph.asserts.retain(|a| is_right(a.span));
}
