// SPDX-License-Identifier: Apache-2.0
//! Names, types, packs, optionality and binding order of definitions, proven without any invocation.
//!
//! Works on the syntax tree alone and reports all errors in source order. Nothing valid is ever reported: the composition
//! checks properties that depend on values of an invocation (assertions, extents, lengths). An expression without a type
//! suppresses errors of the expressions that use it.

mod access;
mod binding;
mod blocks;
mod calls;
mod checker;
mod composition;
mod control;
mod declarations;
mod definition;
mod dynamic;
mod expressions;
mod follow_ups;
mod formulas;
mod invocations;
mod lengths;
mod local_tensors;
mod modules;
mod operators;
mod packs;
mod quantization;
mod recursion;
mod resolution;
mod scope;
mod signatures;
mod types;
mod using;

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod recovery;
#[cfg(test)]
mod suggestions;
#[cfg(test)]
pub(crate) mod testing;

pub use calls::{Soundness, called};

use crate::diagnostics::Sink;
use crate::program::Program;
use crate::value_types::ValueTypes;
use skript_host::on_stack;
use std::sync::Arc;

/// The stack size for the deepest nesting that the parser accepts.
const STACK: usize = 64 << 20;

/// Checks all definitions of all modules of a program, by the rules of chapter 2 that do not depend on an invocation.
///
/// It runs on a thread with its own stack, because expressions may nest deeper than the caller's stack allows.
pub fn check_program(program: &Program, sink: &mut Sink) {
    let (diagnostics, types) = checked(program);
    program.value_types.get_or_init(|| Arc::new(types));
    for diagnostic in follow_ups::without(diagnostics.into_sorted(), program) {
        sink.report(diagnostic);
    }
}

/// The types of expressions in a program, which is checked unless it was checked before.
pub(crate) fn value_types(program: &Program) -> Arc<ValueTypes> {
    Arc::clone(program.value_types.get_or_init(|| Arc::new(checked(program).1)))
}

fn checked(program: &Program) -> (Sink, ValueTypes) {
    let check = || {
        let (mut sink, mut types) = (Sink::default(), ValueTypes::default());
        check_modules(program, &mut sink, &mut types);
        (sink, types)
    };
    match on_stack("check", STACK, check) {
        Ok(checked) => checked.unwrap_or_else(|cause| std::panic::resume_unwind(cause)),
        Err(_) => check(),
    }
}

fn check_modules(program: &Program, sink: &mut Sink, types: &mut ValueTypes) {
    let env = signatures::Environment::new(program);
    for (key, module) in &program.modules {
        modules::check_module(program, key, module, sink);
        for definition in &module.definitions {
            definition::check_definition(&env, key, definition, (sink, types));
        }
    }
    recursion::check_recursion(program, sink);
}
