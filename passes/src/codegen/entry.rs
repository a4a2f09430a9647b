// SPDX-License-Identifier: Apache-2.0
//! The C entry: loads the pointers from the table and calls the model.
//!
//! `skript-name-entry` renames the entry before it is lowered to LLVM; after that, `skript-add-entry` adds the C function
//! that calls it.

use super::{checks, table};
use crate::error::CodegenError;
use crate::ir;
use crate::ir::attribute_names;
use crate::ir::builder::llvm::Callee;
use crate::ir::func::Definition;
use crate::ir::func::symbol;
use crate::ir::ops;
use crate::ir::typed::verified_string;
use crate::ir::{Builder, types};
use crate::ir::{attributes, mutation};
use melior::dialect::llvm::r#type::pointer;
use melior::ir::attribute::{ArrayAttribute, TypeAttribute};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Value, ValueLike};
use skript_dialect::{Dialect, Pass};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Symbol of the C entry in every object.
pub(crate) const SYMBOL: &str = "skript_entry";
/// Symbol of the C function that prepares variables, `void (void *const *tensors)`, in objects that have one.
const PREPARE: &str = "skript_prepare";
/// Symbol of the model's function: not a C identifier, so C libraries cannot define it.
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

/// Renames the entry, and makes it internal.
fn name_model(module: OperationRef) -> Result<(), CodegenError> {
    let entry = ir::entry(module)?;
    ir::set_string(entry, "sym_name", MODEL);
    ir::set_attribute(entry, "llvm.linkage", attributes::internal(ir::context::of(entry)));
    Ok(())
}

/// Removes the attributes of arguments and results that are not of the LLVM dialect. The translation to LLVM IR would warn
/// about each of them, with the text of the whole function.
fn drop_foreign(function: OperationRef) {
    let context = ir::context::of(function);
    for list in ["arg_attrs", "res_attrs"] {
        if function.has_attribute(list) {
            let dictionaries = ir::typed::array(function, list).into_iter();
            let kept: Vec<_> =
                dictionaries.map(|entries| attributes::with_prefix(context, entries, "llvm.")).collect();
            ir::set_attribute(function, list, ArrayAttribute::new(context, &kept).into());
        }
    }
}

/// Adds the C entry to a module in the LLVM dialect. The model's last argument is the arena, or, in a module with run-time
/// checks, the context after the arena. Each other argument is the pointer in its slot, or the table of pointers.
fn add_entry(module: OperationRef) -> Result<(), CodegenError> {
    let has_checks = !checks::table(module)?.is_empty();
    let body = ir::first_block(module);
    let body = body.ok_or_else(|| CodegenError::Module("a module without a body".to_owned()))?;
    let functions = ir::operations(body);
    if functions.iter().any(|op| symbol(*op).as_deref() == Some(SYMBOL)) {
        return Ok(());
    }
    let model = functions
        .iter()
        .copied()
        .find(|op| ir::name(*op) == ops::llvm::FUNC && symbol(*op).as_deref() == Some(MODEL))
        .ok_or_else(|| {
            CodegenError::Module(
                "the module has no function `skript.model`: run `skript-name-entry` before it is lowered"
                    .to_owned(),
            )
        })?;
    let dictionaries = ir::argument_attributes(model);
    let table = table::position(model);
    for function in functions {
        table::add_alias_scopes(function)?;
        drop_foreign(function);
    }
    let count = ir::first_block(model).map_or(0, |b| b.argument_count());
    let is_checked = returns_status(model);
    let context = ir::context::of(model);
    let (word, pointer) = (types::int(context, 32), pointer(context, 0));
    let parameters = [(pointer, TENSORS), (pointer, &[]), (pointer, &[])];
    let function = Definition::new(context, model.location(), &parameters);
    let [tensors, arena, state] = [0, 1, 2].map(|n| function.arguments[n]);
    let at = function.at;
    let mut arguments = Vec::new();
    for n in 0..count.saturating_sub(1 + usize::from(has_checks)) {
        if table == Some(n) {
            arguments.push(tensors);
            continue;
        }
        let slot = dictionaries.get(n).and_then(|entries| attributes::entry(*entries, attribute_names::SLOT));
        let slot = slot.and_then(attributes::number).unwrap_or_else(|| ir::signed(n));
        arguments.push(tensor(&at, tensors, slot)?);
    }
    arguments.push(arena);
    if has_checks {
        arguments.push(state);
    }
    let model = Callee::Symbol(MODEL);
    let status = if is_checked {
        at.result(at.call_llvm(model, &arguments, &[word]), 0)
    } else {
        at.call_llvm(model, &arguments, &[]);
        ir::llvm::constant(&at, 0, word)?
    };
    body.append_operation(function.finish_llvm(SYMBOL, Some(status), &[]));
    add_preparation(module)
}

/// The attributes of the table of tensors.
const TENSORS: &[&str] = &["llvm.noalias", "llvm.readonly"];

/// Loads the pointer in a slot of the table of tensors.
fn tensor<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    tensors: Value<'c, 'a>,
    slot: i64,
) -> Result<Value<'c, 'a>, CodegenError> {
    let pointer = tensors.r#type();
    let slot = i32::try_from(slot).map_err(|_| CodegenError::Module(format!("there is no slot {slot}")))?;
    Ok(at.load_from(at.element_pointer(tensors, &[slot], pointer), pointer))
}

/// Adds the C function that calls all functions that prepare variables, if there are any.
fn add_preparation(module: OperationRef) -> Result<(), CodegenError> {
    let functions: Vec<_> =
        ir::children(module).into_iter().filter(|op| op.has_attribute(attribute_names::PREPARES)).collect();
    let Some(block) = ir::first_block(module).filter(|_| !functions.is_empty()) else {
        return Ok(());
    };
    let context = ir::context::of(module);
    let parameters = [(pointer(context, 0), TENSORS)];
    let definition = Definition::new(context, module.location(), &parameters);
    let at = definition.at;
    let mut loaded: HashMap<i64, Value> = HashMap::new();
    for function in functions {
        let mut arguments: Vec<Value> = Vec::new();
        for slot in ir::typed::i64s(function, attribute_names::PREPARES) {
            let value = match loaded.entry(slot) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(place) => *place.insert(tensor(&at, definition.arguments[0], slot)?),
            };
            arguments.push(value);
        }
        at.call_llvm(Callee::Symbol(&verified_string(function, "sym_name")), &arguments, &[]);
        mutation::remove(function, attribute_names::PREPARES);
    }
    block.append_operation(definition.finish_llvm(PREPARE, None, &[]));
    Ok(())
}

fn returns_status(model: OperationRef) -> bool {
    let r#type = model.attribute("function_type").ok();
    let r#type = r#type.and_then(|t| TypeAttribute::try_from(t).ok());
    r#type.is_some_and(|t| t.value().to_string().starts_with("!llvm.func<i32"))
}
