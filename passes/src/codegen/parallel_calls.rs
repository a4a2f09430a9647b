// SPDX-License-Identifier: Apache-2.0
//! `skript-parallelize-calls`: computes the independent steps of functions on the runtime's thread pool.
//!
//! The last two arguments of a function with the attribute `skript.steps` are the first step and the end of the range. Each of
//! its calls computes all steps, from 0 to the call's last operand. The pass replaces the call by a call of a new function. The
//! new function stores the other arguments in a struct, and passes the struct to `skript_parallel`, with a task function that
//! loads the arguments and computes a range of steps.
//!
//! The symbol `skript_parallel` is weak: in a program without the thread pool, the calling thread computes all steps.
//!
//! Calls within functions with steps are not changed: the thread of the caller computes all steps.
//!
//! Requires: the LLVM dialect. Guarantees: results do not depend on the number of threads, as one call computes each step.

use crate::error::CodegenError;
use crate::ir::attribute_names::STEPS;
use crate::ir::builder::arith::Integers;
use crate::ir::builder::llvm::Callee;
use crate::ir::func::Definition;
use crate::ir::ops;
use crate::ir::{self, Builder, attributes, func, mutation, typed, types};
use melior::Context;
use melior::dialect::llvm::r#type::{pointer, r#struct};
use melior::ir::attribute::{FlatSymbolRefAttribute, TypeAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, Location, Operation, OperationRef, Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass};
use std::collections::HashMap;

/// The pass `skript-parallelize-calls`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-parallelize-calls",
    summary: "compute the independent steps of functions on the runtime's thread pool",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Llvm],
    run: |root, _, _| Ok(parallelize_calls(root)?),
    ..Pass::NONE
};

/// Replaces the calls of all functions with steps.
fn parallelize_calls(module: OperationRef) -> Result<(), CodegenError> {
    let (mut with_steps, mut tasks) = (HashMap::new(), Vec::new());
    for function in ir::children(module) {
        if !function.has_attribute(STEPS) {
            continue;
        }
        let name = typed::verified_string(function, "sym_name");
        let arguments = ir::first_block(function).into_iter().flat_map(ir::arguments);
        let types: Vec<Type> = arguments.map(|argument| argument.r#type()).collect();
        let range = types.split_last_chunk::<2>();
        let Some((captured, _)) = range.filter(|(_, range)| range.iter().all(|t| t.to_string() == "i64"))
        else {
            return Err(without_range(&name));
        };
        with_steps.insert(name.clone(), captured.len());
        tasks.push((name, captured.to_vec()));
        mutation::remove(function, STEPS);
    }
    if with_steps.is_empty() {
        return Ok(());
    }
    // Calls within functions with steps are not changed.
    let outside = ir::children(module).into_iter().filter(|function| {
        let name = func::symbol(*function);
        name.is_none_or(|name| !with_steps.contains_key(&name))
    });
    for call in outside.flat_map(ir::nested) {
        if ir::name(call) == ops::llvm::CALL
            && let Some(callee) = typed::symbol(call, "callee")
            && let Some(captured) = with_steps.get(callee.as_str())
        {
            share(call, &callee, *captured)?;
        }
    }
    let functions = Functions { context: ir::context::of(module), location: module.location() };
    let defined = tasks
        .iter()
        .flat_map(|(name, captured)| [functions.task(name, captured), functions.shared(name, captured)]);
    func::append(module, [functions.declaration(), functions.share()].into_iter().chain(defined))
}

fn without_range(name: &str) -> CodegenError {
    CodegenError::Module(format!(
        "the function '{name}' has the attribute '{STEPS}', but its last two arguments are not a range of steps"
    ))
}

/// Replaces a call that computes all steps.
fn share(call: OperationRef, callee: &str, captured: usize) -> Result<(), CodegenError> {
    let at = Builder::at(call);
    // All operands except the first step, which is 0.
    let steps = call.operands().skip(captured + 1);
    let operands: Vec<_> = call.operands().take(captured).chain(steps).collect();
    let callee = FlatSymbolRefAttribute::new(at.context, &format!("{callee}.shared"));
    let others = [("callee", callee.into()), at.segments(&[ir::segment(operands.len()), 0])];
    ir::copy::with_attributes(call, &operands, &[], Vec::new(), &others, &at)?;
    ir::erase(call);
    Ok(())
}

/// Builds the functions that start parallel loops, and the task functions that compute ranges of steps.
struct Functions<'c> {
    context: &'c Context,
    location: Location<'c>,
}

/// The function of the runtime that computes the steps on its thread pool.
const PARALLEL: &str = "skript_parallel";

/// The function that calls [`PARALLEL`] if the program has it, and computes all steps otherwise.
const SHARE: &str = "skript.share";

impl<'c: 'a, 'a> Functions<'c> {
    fn define(&self, arguments: &[(Type<'c>, &[&str])]) -> Definition<'c, 'a> {
        Definition::new(self.context, self.location, arguments)
    }

    fn pointer(&self) -> Type<'c> {
        pointer(self.context, 0)
    }

    fn word(&self) -> Type<'c> {
        types::word(self.context)
    }

    /// The struct of the captured arguments.
    fn task_context(&self, captured: &[Type<'c>]) -> Type<'c> {
        r#struct(self.context, captured, false)
    }

    fn internal(&self) -> (&'static str, Attribute<'c>) {
        ("linkage", attributes::internal(self.context))
    }

    /// The declaration of [`PARALLEL`].
    fn declaration(&self) -> Operation<'c> {
        let arguments = [self.pointer(), self.pointer(), self.word()];
        let linkage = ("linkage", attributes::linkage(self.context, "extern_weak"));
        ir::llvm::declaration(self.context, self.location, PARALLEL, &arguments, &[linkage])
    }

    /// The definition of [`SHARE`].
    fn share(&self) -> Operation<'c> {
        let pointer = (self.pointer(), &[][..]);
        let function = self.define(&[pointer, pointer, (self.word(), &[])]);
        let (at, arguments) = (function.at, function.arguments.clone());
        let parallel = at.address_of(PARALLEL);
        let null = at.make(ops::llvm::MLIR_ZERO, &[], &[], self.pointer());
        let differs = [("predicate", attributes::i64(self.context, Integers::NotEqual as i64))];
        let present = at.make(ops::llvm::ICMP, &[parallel, null], &differs, types::flag(self.context));
        let [threads, alone] = [0; 2].map(|_| function.block());
        at.branch(present, [threads.block, alone.block]);
        threads.call_llvm(Callee::Symbol(PARALLEL), &arguments, &[]);
        threads.op(ops::llvm::RETURN, &[], &[], &[], Vec::new());
        let zero = ir::llvm::constant(&alone, 0, self.word());
        let zero = zero.unwrap_or_else(|error| unreachable!("internal compiler error: {error}"));
        let (task, context, steps) = (arguments[0], arguments[1], arguments[2]);
        alone.call_llvm(Callee::Pointer(task), &[context, zero, steps], &[]);
        alone.op(ops::llvm::RETURN, &[], &[], &[], Vec::new());
        let passthrough = ("passthrough", attributes::strings(self.context, &["noinline"]));
        function.complete_llvm(SHARE, None, &[self.internal(), passthrough])
    }

    /// The task function, which computes a range of steps.
    fn task(&self, name: &str, captured: &[Type<'c>]) -> Operation<'c> {
        let context = (self.pointer(), &["llvm.noalias", "llvm.readonly"][..]);
        let word = (self.word(), &[][..]);
        let function = self.define(&[context, word, word]);
        let at = function.at;
        let kind = self.task_context(captured);
        let values = (0_i32..)
            .zip(captured)
            .map(|(n, field)| at.load_from(at.element_pointer(function.arguments[0], &[0, n], kind), *field));
        let operands: Vec<Value> = values.chain(function.arguments[1..].iter().copied()).collect();
        at.call_llvm(Callee::Symbol(name), &operands, &[]);
        function.finish_llvm(&format!("{name}.task"), None, &[self.internal()])
    }

    /// The function that starts the loop.
    fn shared(&self, name: &str, captured: &[Type<'c>]) -> Operation<'c> {
        let arguments: Vec<_> = captured.iter().chain([&self.word()]).map(|kind| (*kind, &[][..])).collect();
        let function = self.define(&arguments);
        let (at, kind) = (function.at, self.task_context(captured));
        let one = ir::llvm::constant(&at, 1, self.word());
        let one = one.unwrap_or_else(|error| unreachable!("internal compiler error: {error}"));
        let element = [("elem_type", TypeAttribute::new(kind).into())];
        let context = at.make(ops::llvm::ALLOCA, &[one], &element, self.pointer());
        for ((n, _), value) in (0_i32..).zip(captured).zip(&function.arguments) {
            at.store_to(*value, at.element_pointer(context, &[0, n], kind));
        }
        let task = at.address_of(&format!("{name}.task"));
        let steps = function.arguments[captured.len()];
        at.call_llvm(Callee::Symbol(SHARE), &[task, context, steps], &[]);
        function.finish_llvm(&format!("{name}.shared"), None, &[self.internal()])
    }
}
