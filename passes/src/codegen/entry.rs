// SPDX-License-Identifier: Apache-2.0
//! The C entry: loads the pointers from the table and calls the model.
//!
//! `skript-name-entry` renames the entry before it is lowered to LLVM, `skript-add-entry` adds the C function that calls it after.

use super::{checks, table};
use crate::error::CodegenError;
use crate::ir;
use crate::ir::attribute_names;
use crate::ir::func::symbol;
use crate::ir::ops;
use crate::ir::{attributes, mutation};
use melior::ir::attribute::{ArrayAttribute, IntegerAttribute, TypeAttribute};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Module, Operation};
use skript_dialect::{Dialect, Pass};
use std::collections::HashSet;
use std::fmt::Write as _;

/// Symbol of the C entry in every object.
pub(crate) const SYMBOL: &str = "skript_entry";
/// Symbol of the C function that prepares variables, `void (void *const *tensors)`, in objects that have one.
const PREPARE: &str = "skript_prepare";
/// Symbol of the model's function: no C library has a function of this name.
const MODEL: &str = "skript.model";

/// The pass `skript-name-entry`.
pub(crate) const NAME: Pass = Pass {
    flag: "skript-name-entry",
    summary: "rename the entry to skript.model and make it internal",
    anchor: Some(ops::builtin::MODULE),
    run: |root, _, _| Ok(name_model(root)?),
    ..Pass::NONE
};

/// The pass `skript-add-entry`.
pub(crate) const ADD: Pass = Pass {
    flag: "skript-add-entry",
    summary: "add the C function skript_entry, which calls the model",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Llvm],
    run: |root, _, _| Ok(add_entry(root)?),
    ..Pass::NONE
};

/// Gives the entry a private name, before the lowering to LLVM.
///
/// # Errors
/// [`CodegenError::Module`] if there is no entry.
fn name_model(module: OperationRef) -> Result<(), CodegenError> {
    let entry = ir::entry(module)?;
    ir::set_string(entry, "sym_name", MODEL);
    let internal = ir::parse_attribute(entry.context(), "#llvm.linkage<internal>")?;
    ir::set_attribute(entry, "llvm.linkage", internal);
    Ok(())
}

/// Removes attributes of arguments and results that are not LLVM's. The translation to LLVM IR warns of each and prints
/// the whole function every time.
fn drop_foreign(function: OperationRef) -> Result<(), CodegenError> {
    let context = ir::context::of(function);
    for list in ["arg_attrs", "res_attrs"] {
        let Ok(present) = function.attribute(list) else {
            continue;
        };
        let wrong = |e: melior::Error| CodegenError::Module(e.to_string());
        let array = ArrayAttribute::try_from(present).map_err(wrong)?;
        let mut kept = Vec::with_capacity(array.len());
        for n in 0..array.len() {
            kept.push(attributes::with_prefix(context, array.element(n).map_err(wrong)?, "llvm."));
        }
        ir::set_attribute(function, list, ArrayAttribute::new(context, &kept).into());
    }
    Ok(())
}

/// Adds the C entry to a module in the LLVM dialect. The model's last argument is the arena; in a module with run-time
/// checks the arena is followed by the context. Each other argument is the pointer in its slot, or the table of
/// pointers.
///
/// # Errors
/// [`CodegenError::Module`] if the model's function is missing, or has arguments that are not pointers.
fn add_entry(module: OperationRef) -> Result<(), CodegenError> {
    let checks = !checks::table(module).is_empty();
    let body = ir::blocks(module).first().copied();
    let body = body.ok_or_else(|| CodegenError::Module("a module without a body".to_owned()))?;
    let is_entry = |op: &OperationRef| symbol(*op).as_deref() == Some(SYMBOL);
    if ir::operations(body).iter().any(is_entry) {
        return Ok(());
    }
    let model = ir::operations(body)
        .into_iter()
        .find(|op| ir::name(*op) == ops::llvm::FUNC && symbol(*op).as_deref() == Some(MODEL))
        .ok_or_else(|| {
            CodegenError::Module(
                "the module has no function `skript.model`: run `skript-name-entry` before it is lowered"
                    .to_owned(),
            )
        })?;
    let passed = ir::argument_attributes(model);
    let tables = table::position(model);
    for function in ir::operations(body) {
        table::add_alias_scopes(function)?;
        drop_foreign(function)?;
    }
    let count = ir::first_block(model).map_or(0, |b| b.argument_count());
    let status = returns_status(model);
    let mut text = format!(
        "llvm.func @{SYMBOL}(%tensors: !llvm.ptr {{llvm.noalias, llvm.readonly}}, %arena: !llvm.ptr, \
         %context: !llvm.ptr) -> i32 {{\n"
    );
    let mut arguments = Vec::new();
    for n in 0..count.saturating_sub(1 + usize::from(checks)) {
        if tables == Some(n) {
            arguments.push("%tensors".to_owned());
            continue;
        }
        let slot = passed.get(n).and_then(|a| attributes::entry(*a, attribute_names::SLOT));
        let slot = slot.and_then(|a| IntegerAttribute::try_from(a).ok());
        let slot = slot.map_or(n as i64, |slot| slot.value());
        text.push_str(&format!(
            "%s{n} = llvm.getelementptr %tensors[{slot}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n\
             %p{n} = llvm.load %s{n} : !llvm.ptr -> !llvm.ptr\n"
        ));
        arguments.push(format!("%p{n}"));
    }
    arguments.push("%arena".to_owned());
    if checks {
        arguments.push("%context".to_owned());
    }
    let types = vec!["!llvm.ptr"; arguments.len()].join(", ");
    let arguments = arguments.join(", ");
    text.push_str(&if status {
        format!("%r = llvm.call @\"{MODEL}\"({arguments}) : ({types}) -> i32\nllvm.return %r : i32\n}}")
    } else {
        format!(
            "llvm.call @\"{MODEL}\"({arguments}) : ({types}) -> ()\n\
             %r = llvm.mlir.constant(0 : i32) : i32\nllvm.return %r : i32\n}}"
        )
    });
    // The call's callee must be known where the text is parsed.
    let declaration = format!("llvm.func @\"{MODEL}\"({types}){}\n", if status { " -> i32" } else { "" });
    let context = ir::context::of(model);
    let (parsed, messages) =
        ir::collecting(context, || Module::parse(context, &format!("{declaration}{text}")));
    let parsed = parsed.ok_or_else(|| CodegenError::Module(messages.join("; ")))?;
    let wrapper = ir::operations(parsed.body())
        .last()
        .copied()
        .ok_or_else(|| CodegenError::Module("no entry was made".to_owned()))?;
    body.append_operation(Operation::clone(&wrapper));
    add_preparation(module)
}

/// Adds the C function that calls all functions that prepare variables, if there are any.
fn add_preparation(module: OperationRef) -> Result<(), CodegenError> {
    let block = ir::blocks(module).first().copied();
    let (mut text, mut declarations) = (String::new(), String::new());
    let mut loaded = HashSet::new();
    for function in block.map(ir::operations).unwrap_or_default() {
        if !function.has_attribute(attribute_names::PREPARES) {
            continue;
        }
        let slots = ir::typed::i64s(function, attribute_names::PREPARES);
        let name = symbol(function).unwrap_or_default();
        let mut arguments = Vec::new();
        for slot in slots {
            if loaded.insert(slot) {
                let _ = write!(
                    text,
                    "%s{slot} = llvm.getelementptr %tensors[{slot}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr\n\
                     %p{slot} = llvm.load %s{slot} : !llvm.ptr -> !llvm.ptr\n"
                );
            }
            arguments.push(format!("%p{slot}"));
        }
        let types = vec!["!llvm.ptr"; arguments.len()].join(", ");
        let arguments = arguments.join(", ");
        let _ = writeln!(text, "llvm.call @\"{name}\"({arguments}) : ({types}) -> ()");
        let _ = writeln!(declarations, "llvm.func @\"{name}\"({types})");
        mutation::remove(function, attribute_names::PREPARES);
    }
    if text.is_empty() {
        return Ok(());
    }
    ir::append_functions(
        module,
        &format!(
            "{declarations}llvm.func @{PREPARE}(%tensors: !llvm.ptr {{llvm.noalias, llvm.readonly}}) {{\n{text}llvm.return\n}}\n"
        ),
    )
}

fn returns_status(model: OperationRef) -> bool {
    let r#type = model.attribute("function_type").ok();
    let r#type = r#type.and_then(|t| TypeAttribute::try_from(t).ok());
    r#type.is_some_and(|t| t.value().to_string().starts_with("!llvm.func<i32"))
}
