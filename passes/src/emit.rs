// SPDX-License-Identifier: Apache-2.0
//! Emits a model in the `skript` dialect, with one file per construct.
//!
//! The entry graph becomes a public function, and every other operator instance a private function; see the rationale of the dialect.

mod block;
mod branch;
mod check;
mod constant;
mod error;
mod expression;
mod extent;
mod formula;
mod function;
mod intrinsic;
mod repeat;
mod scalars;
mod scope;
mod signature;

pub use error::EmitError;

use crate::ir::{location, types};
use melior::Context;
use melior::ir::operation::OperationLike;
use melior::ir::{Location, Module, Type};
use skript_frontend::model::compute_types::callees;
use skript_frontend::model::{Function, FunctionId, Model, ValueId};
use skript_frontend::source::{SourceMap, Span};
use std::collections::HashSet;

/// Builds and verifies the module of a composed model.
///
/// # Errors
/// Fails for constructs that the dialect lacks (operators without a body), and if the IR does not verify.
pub fn emit<'c>(model: &Model, sources: &SourceMap, context: &'c Context) -> Result<Module<'c>, EmitError> {
    let emitter = Emitter { context, model, sources, symbols: symbols(model) };
    let entry = model.function(model.entry).ok_or(EmitError::Malformed("the entry is not a function"))?;
    let module = Module::new(emitter.location(&entry.name, entry.span));
    let body = module.body();
    for id in emitter.reachable() {
        function::emit(&emitter, id, body)?;
    }
    if !module.as_operation().verify() {
        return Err(EmitError::Invalid);
    }
    Ok(module)
}

/// The state that all functions share.
struct Emitter<'c, 'm> {
    context: &'c Context,
    model: &'m Model,
    sources: &'m SourceMap,
    /// Symbol names by function.
    symbols: Vec<String>,
}

impl<'c> Emitter<'c, '_> {
    /// The location of a span, named after an operator.
    fn location(&self, name: &str, span: Span) -> Location<'c> {
        let position = match self.sources.get(span.file) {
            Some(file) => {
                let (start, end) = (file.line_column(span.start), file.line_column(span.end));
                location::location(self.context, &file.path.to_string_lossy(), start, end)
            }
            None => Location::unknown(self.context),
        };
        Location::name(self.context, name, position)
    }

    /// The element type of a function's tensor.
    fn element(&self, function: &Function, id: ValueId) -> Result<Type<'c>, EmitError> {
        let value = function.values.get(id.0 as usize).ok_or(EmitError::Malformed("no such tensor"))?;
        let numbers = function.numbers_of(value);
        Ok(types::element(self.context, value.tensor.kind, numbers))
    }

    fn symbol(&self, id: FunctionId) -> &str {
        self.symbols.get(id.0 as usize).map_or("", String::as_str)
    }

    /// The entry and the functions that it invokes, without duplicates. Callees precede callers.
    fn reachable(&self) -> Vec<FunctionId> {
        let mut order = Vec::new();
        let mut seen = HashSet::new();
        let mut stack = vec![(self.model.entry, false)];
        while let Some((id, done)) = stack.pop() {
            if done {
                order.push(id);
            } else if seen.insert(id) {
                stack.push((id, true));
                if let Some(function) = self.model.function(id) {
                    stack.extend(callees(function).into_iter().map(|c| (c, false)));
                }
            }
        }
        order
    }
}

/// The symbol of each function: the unqualified name of the graph, such as `AlexNet`, for the entry; the unqualified name of the
/// operator and the number of the function for instances.
fn symbols(model: &Model) -> Vec<String> {
    let unqualified = |name: &str| name.rsplit('.').next().unwrap_or(name).to_string();
    let entry = model.function(model.entry).map_or_else(String::new, |f| unqualified(&f.name));
    model
        .functions
        .iter()
        .enumerate()
        .map(|(number, function)| {
            if model.entry.0 as usize == number {
                return entry.clone();
            }
            let mut name = format!("{}_{number}", unqualified(&function.name));
            while name == entry {
                name.push('_');
            }
            name
        })
        .collect()
}
