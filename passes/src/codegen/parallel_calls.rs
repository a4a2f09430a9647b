// SPDX-License-Identifier: Apache-2.0
//! `skript-parallelize-calls`: calls of functions with independent steps become parallel loops of the runtime's threads.
//!
//! A function with the attribute `skript.steps` ends with two arguments: the first step and the one after the last.
//! Each of its calls computes all steps, from 0 to the call's last operand. The pass replaces the call by one of a function that stores the other arguments
//! in a struct and passes it to `skript_parallel`, with a function that loads them again and computes a range of steps.
//!
//! The symbol `skript_parallel` is weak: in a program without the runtime's threads, the calling thread computes all
//! steps.
//!
//! A call within a function with steps stays: the thread of its caller computes all steps.
//!
//! Requires: the LLVM dialect. Guarantees: results do not depend on the number of threads, as each step is computed by
//! one call.

use crate::error::CodegenError;
use crate::ir::attribute_names::STEPS;
use crate::ir::ops;
use crate::ir::{self, attributes, func, mutation, regions};
use melior::ir::attribute::{FlatSymbolRefAttribute, StringAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Type, ValueLike};
use skript_dialect::{Dialect, Pass};
use std::collections::HashMap;
use std::fmt::Write as _;

/// The pass `skript-parallelize-calls`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-parallelize-calls",
    summary: "run functions with independent steps on the threads of the runtime",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Llvm],
    run: |root, _, _| Ok(parallelize_calls(root)?),
    ..Pass::NONE
};

/// The function that uses threads where there are any.
const SHARE: &str = "\
llvm.func extern_weak @skript_parallel(!llvm.ptr, !llvm.ptr, i64)
llvm.func internal @skript.share(%task: !llvm.ptr, %context: !llvm.ptr, %steps: i64) attributes {passthrough = [\"noinline\"]} {
  %parallel = llvm.mlir.addressof @skript_parallel : !llvm.ptr
  %null = llvm.mlir.zero : !llvm.ptr
  %present = llvm.icmp \"ne\" %parallel, %null : !llvm.ptr
  llvm.cond_br %present, ^threads, ^alone
^threads:
  llvm.call @skript_parallel(%task, %context, %steps) : (!llvm.ptr, !llvm.ptr, i64) -> ()
  llvm.return
^alone:
  %zero = llvm.mlir.constant(0 : i64) : i64
  llvm.call %task(%context, %zero, %steps) : !llvm.ptr, (!llvm.ptr, i64, i64) -> ()
  llvm.return
}
";

/// Replaces the calls of all functions with steps.
///
/// # Errors
/// [`CodegenError::Module`] if a function with steps does not end with a range.
fn parallelize_calls(module: OperationRef) -> Result<(), CodegenError> {
    let mut text = String::new();
    let mut with_steps = HashMap::new();
    let block = ir::blocks(module).first().copied();
    for function in block.map(ir::operations).unwrap_or_default() {
        if !function.has_attribute(STEPS) {
            continue;
        }
        let name = function.attribute("sym_name");
        let name = name.and_then(StringAttribute::try_from);
        let name = name.map_err(|e| CodegenError::Module(e.to_string()))?.value();
        let block = ir::first_block(function);
        let arguments = block.map(ir::arguments).unwrap_or_default();
        let types: Vec<Type> = arguments.iter().map(|a| a.r#type()).collect();
        let Some((captured, [from, to])) = types.split_last_chunk::<2>() else {
            return Err(without_range(name));
        };
        if [from, to].iter().any(|t| t.to_string() != "i64") {
            return Err(without_range(name));
        }
        text.push_str(&functions(name, captured));
        with_steps.insert(name.to_owned(), captured.len());
        mutation::remove(function, STEPS);
    }
    if with_steps.is_empty() {
        return Ok(());
    }
    // What a step calls runs on the thread of the step.
    let functions = block.map(ir::operations).unwrap_or_default().into_iter();
    let outside = functions.filter(|function| {
        let name = func::symbol(*function);
        name.is_none_or(|name| !with_steps.contains_key(&name))
    });
    for call in outside.flat_map(ir::nested) {
        let callee = call.attribute("callee").ok();
        let callee = callee.and_then(|c| FlatSymbolRefAttribute::try_from(c).ok());
        let Some(callee) = callee.filter(|_| ir::name(call) == ops::llvm::CALL) else {
            continue;
        };
        if let Some(captured) = with_steps.get(callee.value()) {
            share(call, callee.value(), *captured)?;
        }
    }
    ir::append_functions(module, &format!("{SHARE}{text}"))
}

fn without_range(name: &str) -> CodegenError {
    CodegenError::Module(format!(
        "the function '{name}' has the attribute '{STEPS}', but its last two arguments are not a range of steps"
    ))
}

/// Replaces a call of all steps.
fn share(call: OperationRef, callee: &str, captured: usize) -> Result<(), CodegenError> {
    let wrong = |e: melior::Error| CodegenError::Module(e.to_string());
    let owner = call.context();
    let at = regions::before(call, &owner).map_err(wrong)?;
    // All but the first step, which is 0.
    let steps = call.operands().skip(captured + 1);
    let operands: Vec<_> = call.operands().take(captured).chain(steps).collect();
    let segments = i32::try_from(operands.len()).unwrap_or_default();
    let callee = FlatSymbolRefAttribute::new(at.context, &format!("{callee}.shared"));
    let others =
        [("callee", callee.into()), ("operandSegmentSizes", attributes::i32s(at.context, &[segments, 0]))];
    ir::copy::with_attributes(call, &operands, &[], Vec::new(), &others, &at).map_err(wrong)?;
    ir::erase(call);
    Ok(())
}

/// The functions that start the loop and that compute a range of it.
fn functions(name: &str, captured: &[Type]) -> String {
    let types: Vec<String> = captured.iter().map(ToString::to_string).collect();
    let fields: Vec<&str> = types.iter().map(|t| t.trim_start_matches("!llvm.")).collect();
    let context = format!("!llvm.struct<({})>", fields.join(", "));
    let field =
        |n: usize| format!("llvm.getelementptr %context[0, {n}] : (!llvm.ptr) -> !llvm.ptr, {context}");
    let numbered =
        |prefix: &str| -> Vec<String> { (0..types.len()).map(|n| format!("%{prefix}{n}")).collect() };
    let mut text = format!(
        "llvm.func internal @\"{name}.task\"(%context: !llvm.ptr {{llvm.noalias, llvm.readonly}}, %from: i64, %to: i64) {{\n"
    );
    for (n, r#type) in types.iter().enumerate() {
        let _ = writeln!(text, "  %f{n} = {}", field(n));
        let _ = writeln!(text, "  %v{n} = llvm.load %f{n} : !llvm.ptr -> {type}");
    }
    let values = [numbered("v"), vec!["%from".into(), "%to".into()]].concat();
    let value_types = [types.clone(), vec!["i64".into(), "i64".into()]].concat();
    let declaration = value_types.join(", ");
    let _ = write!(
        text,
        "  llvm.call @\"{name}\"({}) : ({declaration}) -> ()\n  llvm.return\n}}\n",
        values.join(", ")
    );
    let arguments: Vec<String> = numbered("a")
        .iter()
        .zip(&types)
        .map(|(name, r#type)| format!("{name}: {type}"))
        .chain(["%steps: i64".to_owned()])
        .collect();
    let _ = write!(
        text,
        "llvm.func internal @\"{name}.shared\"({}) {{\n  %one = llvm.mlir.constant(1 : i64) : i64\n  \
         %context = llvm.alloca %one x {context} : (i64) -> !llvm.ptr\n",
        arguments.join(", ")
    );
    for (n, r#type) in types.iter().enumerate() {
        let _ = writeln!(text, "  %f{n} = {}", field(n));
        let _ = writeln!(text, "  llvm.store %a{n}, %f{n} : {type}, !llvm.ptr");
    }
    let _ = write!(
        text,
        "  %task = llvm.mlir.addressof @\"{name}.task\" : !llvm.ptr\n  \
         llvm.call @skript.share(%task, %context, %steps) : (!llvm.ptr, !llvm.ptr, i64) -> ()\n  llvm.return\n}}\n"
    );
    // A stand-in for the function, which the text does not define.
    let _ = writeln!(text, "llvm.func @\"{name}\"({declaration})");
    text
}
