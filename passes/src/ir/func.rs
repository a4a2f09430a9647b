// SPDX-License-Identifier: Apache-2.0
//! Functions and calls: the operations of the dialect `func`, the entry of a module, signatures, arguments.

use super::builder::{Builder, operations};
use super::copy::operation_name as name;
use super::mutation::set as set_attribute;
use super::parse::parse_attribute;
use super::typed;
use super::walk::{blocks, first_block, nested};
use super::{attribute_names, context, ops};
use crate::error::CodegenError;
use melior::Error;
use melior::ir::attribute::{ArrayAttribute, FlatSymbolRefAttribute, TypeAttribute};
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::r#type::FunctionType;
use melior::ir::{Attribute, BlockRef, Location, OperationRef, Region, RegionLike, Type, Value, ValueLike};
use std::collections::{HashMap, HashSet};

/// Attribute of a function: a dictionary for each argument.
const ARGUMENTS: &str = "arg_attrs";

/// The symbol that an operation defines.
pub fn symbol(op: OperationRef) -> Option<String> {
    typed::string(op, "sym_name")
}

/// The symbol of the function that a `func.call` or a `skript.invoke` calls.
pub fn callee(call: OperationRef) -> Option<String> {
    typed::symbol(call, "callee")
}

/// The attribute of the function that a `func.call` or a `skript.invoke` calls.
///
/// # Errors
/// The call has no attribute `callee`.
pub fn callee_attribute<'c>(call: OperationRef<'c, '_>) -> Result<Attribute<'c>, Error> {
    call.attribute("callee")
}

/// Whether a function is private to its module.
pub fn is_private(function: OperationRef) -> bool {
    typed::string(function, "sym_visibility").as_deref() == Some("private")
}

/// Inserts a call of a function without results before an operation, with a location of its own.
///
/// # Errors
/// The builder's error.
pub(crate) fn call_before<'c: 'a, 'a>(
    anchor: OperationRef<'c, 'a>,
    function: &str,
    arguments: &[Value<'c, 'a>],
    location: Location<'c>,
) -> Result<(), Error> {
    let context = context::of(anchor);
    let callee = FlatSymbolRefAttribute::new(context, function).into();
    let at = Builder::before(context, anchor)?.with_location(location);
    at.create(ops::func::CALL, arguments, &[("callee", callee)], &[], Vec::new())?;
    Ok(())
}

/// Declares a C function, unless the module has its name.
///
/// # Errors
/// The builder's error.
pub(crate) fn declare<'c: 'a, 'a>(
    module: OperationRef<'c, 'a>,
    name: &str,
    operands: &[Type<'c>],
    results: &[Type<'c>],
) -> Result<(), Error> {
    let context = context::of(module);
    let body = blocks(module).first().copied();
    let body = body.ok_or(Error::OperationBuild)?;
    let known = operations(body).into_iter().filter_map(symbol);
    if known.into_iter().any(|known| known == name) {
        return Ok(());
    }
    let r#type = FunctionType::new(context, operands, results);
    let entries = [
        ("sym_name", super::attributes::string(context, name)),
        ("sym_visibility", super::attributes::string(context, "private")),
        ("function_type", TypeAttribute::new(r#type.into()).into()),
    ];
    let at = Builder::at_end(context, body, module.location());
    at.create(ops::func::FUNC, &[], &entries, &[], vec![Region::new()])?;
    Ok(())
}

/// The type of a function of any dialect that has builtin function types.
///
/// # Errors
/// The operation has no attribute `function_type`.
pub fn function_type<'c>(function: OperationRef<'c, '_>) -> Result<FunctionType<'c>, Error> {
    let r#type = TypeAttribute::try_from(function.attribute("function_type")?)?;
    FunctionType::try_from(r#type.value())
}

/// All `func.func` below an operation, by name.
pub(crate) fn functions<'c, 'a>(root: OperationRef<'c, 'a>) -> HashMap<String, OperationRef<'c, 'a>> {
    skript_dialect::op::collect(&root, |op| skript_dialect::op::is(&op, ops::func::FUNC))
        .into_iter()
        .filter_map(|function| Some((symbol(function)?, function)))
        .collect()
}

/// The names of a module's symbols.
pub(crate) fn symbols(module: OperationRef) -> HashSet<String> {
    let operations = blocks(module).into_iter().flat_map(operations);
    operations.filter_map(symbol).collect()
}

/// The function that `skript.entry` marks, or the only public one with a body.
///
/// # Errors
/// [`CodegenError::Module`] if there is no such function.
pub fn entry<'c, 'a>(module: OperationRef<'c, 'a>) -> Result<OperationRef<'c, 'a>, CodegenError> {
    let functions: Vec<_> = blocks(module)
        .into_iter()
        .flat_map(operations)
        .filter(|op| name(*op) == ops::func::FUNC)
        .filter(|op| op.regions().any(|r| r.first_block().is_some()))
        .collect();
    let marked = functions.iter().find(|op| op.has_attribute(attribute_names::ENTRY));
    if let Some(op) = marked {
        return Ok(*op);
    }
    let public: Vec<_> = functions.into_iter().filter(|op| !op.has_attribute("sym_visibility")).collect();
    match public.as_slice() {
        [op] => Ok(*op),
        _ => Err(CodegenError::Module(format!(
            "the module has {} public functions and none is marked `skript.entry`",
            public.len()
        ))),
    }
}

/// The entry of a module, if nothing calls it: changed arguments would require changed calls.
pub(crate) fn uncalled_entry<'c, 'a>(
    module: OperationRef<'c, 'a>,
) -> Result<OperationRef<'c, 'a>, CodegenError> {
    let entry = entry(module)?;
    let symbol = symbol(entry);
    let calls = |op: &&OperationRef| symbol.is_some() && callee(**op) == symbol;
    match nested(module).iter().find(calls) {
        Some(call) => Err(CodegenError::Module(format!(
            "the entry is called by a '{}' of the module, and cannot get other arguments",
            name(*call)
        ))),
        None => Ok(entry),
    }
}

/// The body of a function with one block.
///
/// # Errors
/// [`CodegenError::Module`] if the function has no body.
pub fn body<'c, 'a>(function: OperationRef<'c, 'a>) -> Result<BlockRef<'c, 'a>, CodegenError> {
    match first_block(function) {
        Some(block) if block.next_in_region().is_none() => Ok(block),
        _ => Err(CodegenError::Module("the entry is not one block".to_owned())),
    }
}

/// A dictionary for each argument of a function; empty if no argument has attributes.
pub(crate) fn argument_attributes<'c>(function: OperationRef<'c, '_>) -> Vec<Attribute<'c>> {
    typed::array(function, ARGUMENTS)
}

/// Moves the attributes of the arguments of a function or a call behind those of `count` new ones, which have none.
///
/// # Errors
/// None that a valid context has.
pub(crate) fn shift_attributes(op: OperationRef, count: usize) -> Result<(), Error> {
    let own = typed::array(op, ARGUMENTS);
    if own.is_empty() {
        return Ok(());
    }
    let none = Attribute::parse(context::of(op), "{}").ok_or(Error::OperationBuild)?;
    let all = [vec![none; count], own].concat();
    set_attribute(op, ARGUMENTS, ArrayAttribute::new(context::of(op), &all).into());
    Ok(())
}

/// Appends an argument to a function; `attributes` is a dictionary's text, `{}` if none.
pub(crate) fn append_argument<'c, 'a>(
    function: OperationRef<'c, 'a>,
    r#type: Type<'c>,
    attributes: &str,
) -> Result<Value<'c, 'a>, CodegenError> {
    let missing = || CodegenError::Module("the entry has no body".to_owned());
    let block = blocks(function).first().copied().ok_or_else(missing)?;
    let argument = block.add_argument(r#type, function.location());
    let mut dictionaries = argument_attributes(function);
    dictionaries.resize(block.argument_count() - 1, parse_attribute(function.context(), "{}")?);
    dictionaries.push(parse_attribute(function.context(), attributes)?);
    sign(function, block, None)?;
    let context = context::of(function);
    set_attribute(function, ARGUMENTS, ArrayAttribute::new(context, &dictionaries).into());
    Ok(argument)
}

/// Sets the function's type from its block arguments, with `results` or with those it has.
pub(crate) fn set_signature<'c>(
    function: OperationRef<'c, '_>,
    results: Option<&[Type<'c>]>,
) -> Result<(), CodegenError> {
    let block = body(function)?;
    sign(function, block, results)
}

/// As [`set_signature`], for functions of several blocks.
///
/// # Errors
/// [`CodegenError`] if the function has no body or no type.
pub fn retype<'c>(function: OperationRef<'c, '_>, results: &[Type<'c>]) -> Result<(), CodegenError> {
    let missing = || CodegenError::Module("the entry has no body".to_owned());
    let block = blocks(function).first().copied().ok_or_else(missing)?;
    sign(function, block, Some(results))
}

fn sign<'c>(
    function: OperationRef<'c, '_>,
    block: BlockRef<'c, '_>,
    results: Option<&[Type<'c>]>,
) -> Result<(), CodegenError> {
    let mut inputs = Vec::new();
    for n in 0..block.argument_count() {
        let argument = block.argument(n).map_err(|e| CodegenError::Module(e.to_string()))?;
        inputs.push(argument.r#type());
    }
    let results = match results {
        Some(results) => results.to_vec(),
        None => signature(function)?.1,
    };
    let r#type = FunctionType::new(context::of(function), &inputs, &results);
    set_attribute(function, "function_type", TypeAttribute::new(r#type.into()).into());
    Ok(())
}

/// Types of a function's arguments and results.
///
/// # Errors
/// [`CodegenError`] if the operation is not a function.
pub fn signature<'c>(function: OperationRef<'c, '_>) -> Result<(Vec<Type<'c>>, Vec<Type<'c>>), CodegenError> {
    let wrong = |e: melior::Error| CodegenError::Module(e.to_string());
    let r#type = function_type(function).map_err(wrong)?;
    let inputs = (0..r#type.input_count()).map(|n| r#type.input(n));
    let results = (0..r#type.result_count()).map(|n| r#type.result(n));
    Ok((inputs.collect::<Result<_, _>>().map_err(wrong)?, results.collect::<Result<_, _>>().map_err(wrong)?))
}
