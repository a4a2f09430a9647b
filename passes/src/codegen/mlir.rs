//! MLIR for this module beyond melior: uses, replacement, erasure, templates, pipelines.

use super::error::CodegenError;
pub use crate::mlir::builder::operations;
pub use crate::mlir::copy::{arguments, operation_name as name};
pub use crate::mlir::mutation::{set as set_attribute, set_operand as use_instead};
use crate::mlir::{attributes, context as holder};
use melior::diagnostic::DiagnosticSeverity;
use melior::ir::attribute::{ArrayAttribute, StringAttribute, TypeAttribute};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationMutLike};
use melior::ir::r#type::FunctionType;
use melior::ir::{
    Attribute, BlockRef, Location, Module, Operation, OperationRef, RegionLike, Type, Value,
    ValueLike,
};
use melior::{Context, ContextRef};
use std::sync::{Arc, Mutex};

/// A context with `skript` and everything that code generation makes, loaded; one thread, so that messages keep order.
pub fn context() -> Context {
    let context = Context::new();
    load_all(&context);
    context
}

/// Makes of a context one as [`context`] returns.
pub fn load_all(context: &Context) {
    context.enable_multi_threading(false);
    skript_dialect::add_all(context);
    context.load_all_available_dialects();
}

/// So many errors are kept of one stage, and so many bytes of each: text that MLIR prints may be much larger than what was
/// read.
const MESSAGES: usize = 100;
const BYTES: usize = 4000;

/// Runs `work` with every error that MLIR reports collected.
pub fn collecting<T>(context: &Context, work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let messages = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&messages);
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        if matches!(diagnostic.severity(), DiagnosticSeverity::Error)
            && let Ok(mut messages) = sink.lock()
            && messages.len() < MESSAGES
        {
            let message = format!("{}: {diagnostic}", diagnostic.location());
            messages.push(bounded(message, BYTES));
        }
        true
    });
    let result = work();
    context.detach_diagnostic_handler(handler);
    let messages = messages.lock().map(|m| m.clone()).unwrap_or_default();
    (result, messages)
}

/// A message of at most `bytes`, and what stands for the rest.
pub fn bounded(mut message: String, bytes: usize) -> String {
    if message.len() > bytes {
        let end = (0..=bytes).rev().find(|at| message.is_char_boundary(*at));
        message.truncate(end.unwrap_or(0));
        message.push('…');
    }
    message
}

/// Runs a pass pipeline given as text.
pub fn run_pipeline(
    module: &Module,
    stage: &'static str,
    pipeline: &str,
) -> Result<(), CodegenError> {
    let text = format!("builtin.module({pipeline})");
    skript_dialect::pipeline::run(module, &text).map_err(|failure| {
        let mut messages = failure.messages;
        messages.retain(|m| m.severity == "error");
        if messages.is_empty() {
            return CodegenError::Module(format!("{stage} failed and gave no reason"));
        }
        CodegenError::Stage { stage, messages }
    })
}

/// Every op below `root`, outer ones first.
pub fn nested<'c, 'a>(root: OperationRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let mut found = Vec::new();
    let mut pending = vec![root];
    while let Some(op) = pending.pop() {
        found.push(op);
        let below: Vec<_> = blocks(op).into_iter().flat_map(operations).collect();
        pending.extend(below.into_iter().rev());
    }
    found.remove(0);
    found
}

/// Inherent attributes of an `arith` or `math` operation, as generic form prints them.
pub fn inherent(op: OperationRef<'_, '_>) -> Option<String> {
    let mut parts = Vec::new();
    for (name, attribute) in op.attributes() {
        let name = name.as_string_ref();
        parts.push(format!("{} = {attribute}", name.as_str().ok()?));
    }
    Some(parts.join(", "))
}

/// The blocks of all regions of an op.
pub fn blocks<'c, 'a>(op: OperationRef<'c, 'a>) -> Vec<BlockRef<'c, 'a>> {
    let mut found = Vec::new();
    for region in op.regions() {
        let mut block = region.first_block();
        while let Some(b) = block {
            found.push(b);
            block = b.next_in_region();
        }
    }
    found
}

/// The block where a function begins.
pub fn first_block<'c, 'a>(function: OperationRef<'c, 'a>) -> Option<BlockRef<'c, 'a>> {
    function.region(0).ok()?.first_block()
}

/// Whether an op precedes another one of its block.
pub fn is_before(op: OperationRef, other: OperationRef) -> bool {
    // SAFETY: both ops are alive and in one block.
    unsafe { mlir_sys::mlirOperationIsBeforeInBlock(op.to_raw(), other.to_raw()) }
}

/// Moves an op before another one of its block.
pub fn move_before(op: OperationRef, other: OperationRef) {
    // SAFETY: both ops are alive and in one block.
    unsafe { mlir_sys::mlirOperationMoveBefore(op.to_raw(), other.to_raw()) }
}

/// Ops that use `value`.
pub fn users<'c, 'a>(value: Value<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let mut found = Vec::new();
    // SAFETY: the chain of uses of a live value; nothing is changed while it is followed.
    unsafe {
        let mut operand = mlir_sys::mlirValueGetFirstUse(value.to_raw());
        while !mlir_sys::mlirOpOperandIsNull(operand) {
            found.push(OperationRef::from_raw(mlir_sys::mlirOpOperandGetOwner(
                operand,
            )));
            operand = mlir_sys::mlirOpOperandGetNextUse(operand);
        }
    }
    found
}

/// Replaces all uses of `old` by `new`, which has the same type.
pub fn replace_uses(old: Value, new: Value) {
    // SAFETY: both values are alive.
    unsafe { mlir_sys::mlirValueReplaceAllUsesOfWith(old.to_raw(), new.to_raw()) }
}

/// Removes an op without uses from its block and frees it.
pub fn erase(op: OperationRef) {
    // SAFETY: callers hold no other reference to the op; its results have no uses.
    unsafe { mlir_sys::mlirOperationDestroy(op.to_raw()) }
}

/// Parses a type; the text is the compiler's own.
pub fn parse_type<'c>(context: ContextRef<'c>, text: &str) -> Result<Type<'c>, CodegenError> {
    // SAFETY: a context outlives what is parsed in it.
    let context: &'c Context = unsafe { context.to_ref() };
    Type::parse(context, text).ok_or_else(|| CodegenError::Module(format!("no type: {text}")))
}

/// Parses an attribute; the text is the compiler's own.
pub fn parse_attribute<'c>(
    context: ContextRef<'c>,
    text: &str,
) -> Result<Attribute<'c>, CodegenError> {
    // SAFETY: a context outlives what is parsed in it.
    let context: &'c Context = unsafe { context.to_ref() };
    Attribute::parse(context, text)
        .ok_or_else(|| CodegenError::Module(format!("no attribute: {text}")))
}

/// The function that `skript.entry` marks, or the only public one with a body.
pub fn entry<'c, 'a>(module: OperationRef<'c, 'a>) -> Result<OperationRef<'c, 'a>, CodegenError> {
    let functions: Vec<_> = blocks(module)
        .into_iter()
        .flat_map(operations)
        .filter(|op| name(*op) == "func.func")
        .filter(|op| op.regions().any(|r| r.first_block().is_some()))
        .collect();
    let marked = functions.iter().find(|op| op.has_attribute("skript.entry"));
    if let Some(op) = marked {
        return Ok(*op);
    }
    let public: Vec<_> = functions
        .into_iter()
        .filter(|op| !op.has_attribute("sym_visibility"))
        .collect();
    match public.as_slice() {
        [op] => Ok(*op),
        _ => Err(CodegenError::Module(format!(
            "the module has {} public functions and none is marked `skript.entry`",
            public.len()
        ))),
    }
}

/// The entry of a module, if nothing calls it: changed arguments would require changed calls.
pub fn uncalled_entry<'c, 'a>(
    module: OperationRef<'c, 'a>,
) -> Result<OperationRef<'c, 'a>, CodegenError> {
    let entry = entry(module)?;
    let symbol = entry.attribute("sym_name");
    let symbol = symbol.and_then(StringAttribute::try_from);
    let symbol = symbol.map_err(|e| CodegenError::Module(e.to_string()))?;
    let calls = |op: &OperationRef| {
        let callee = op.attribute("callee").ok();
        callee.is_some_and(|callee| callee.to_string() == format!("@{}", symbol.value()))
    };
    match nested(module).iter().find(|op| calls(op)) {
        Some(call) => Err(CodegenError::Module(format!(
            "the entry is called by a '{}' of the module, and cannot get other arguments",
            name(*call)
        ))),
        None => Ok(entry),
    }
}

/// The body of a function with one block.
pub fn body<'c, 'a>(function: OperationRef<'c, 'a>) -> Result<BlockRef<'c, 'a>, CodegenError> {
    match first_block(function) {
        Some(block) if block.next_in_region().is_none() => Ok(block),
        _ => Err(CodegenError::Module(
            "the entry is not one block".to_owned(),
        )),
    }
}

/// A dictionary for each argument of a function; none at all if no argument ever had one.
pub fn argument_attributes<'c>(function: OperationRef<'c, '_>) -> Vec<Attribute<'c>> {
    let all = function.attribute("arg_attrs").ok();
    let all = all.and_then(|a| ArrayAttribute::try_from(a).ok());
    let all = all
        .iter()
        .flat_map(|array| (0..array.len()).map(|n| array.element(n)));
    all.filter_map(Result::ok).collect()
}

/// Appends an argument to a function; `attributes` is a dictionary's text, `{}` if none.
pub fn append_argument<'c, 'a>(
    function: OperationRef<'c, 'a>,
    r#type: Type<'c>,
    attributes: &str,
) -> Result<Value<'c, 'a>, CodegenError> {
    let context = function.context();
    let missing = || CodegenError::Module("the entry has no body".to_owned());
    let block = blocks(function).first().copied().ok_or_else(missing)?;
    let argument = block.add_argument(r#type, function.location());
    let mut dictionaries = argument_attributes(function);
    dictionaries.resize(block.argument_count() - 1, parse_attribute(context, "{}")?);
    dictionaries.push(parse_attribute(context, attributes)?);
    sign(function, block, None)?;
    // SAFETY: a context outlives its modules.
    let context: &'c Context = unsafe { context.to_ref() };
    set_attribute(
        function,
        "arg_attrs",
        ArrayAttribute::new(context, &dictionaries).into(),
    );
    Ok(argument)
}

/// Sets the function's type from its block arguments, with `results` or with those it has.
pub fn set_signature<'c>(
    function: OperationRef<'c, '_>,
    results: Option<&[Type<'c>]>,
) -> Result<(), CodegenError> {
    let block = body(function)?;
    sign(function, block, results)
}

/// As [`set_signature`], for functions of several blocks.
pub fn retype<'c>(
    function: OperationRef<'c, '_>,
    results: &[Type<'c>],
) -> Result<(), CodegenError> {
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
        let argument = block
            .argument(n)
            .map_err(|e| CodegenError::Module(e.to_string()))?;
        inputs.push(argument.r#type());
    }
    let results = match results {
        Some(results) => results.to_vec(),
        None => signature(function)?.1,
    };
    // SAFETY: a context outlives its modules.
    let owner = function.context();
    let context: &'c Context = unsafe { owner.to_ref() };
    let r#type = FunctionType::new(context, &inputs, &results);
    set_attribute(
        function,
        "function_type",
        TypeAttribute::new(r#type.into()).into(),
    );
    Ok(())
}

/// Types of a function's arguments and results.
pub fn signature<'c>(
    function: OperationRef<'c, '_>,
) -> Result<(Vec<Type<'c>>, Vec<Type<'c>>), CodegenError> {
    let wrong = |e: melior::Error| CodegenError::Module(e.to_string());
    let attribute = function.attribute("function_type").map_err(wrong)?;
    let r#type = TypeAttribute::try_from(attribute).map_err(wrong)?.value();
    let r#type = FunctionType::try_from(r#type).map_err(wrong)?;
    let inputs = (0..r#type.input_count()).map(|n| r#type.input(n));
    let results = (0..r#type.result_count()).map(|n| r#type.result(n));
    Ok((
        inputs.collect::<Result<_, _>>().map_err(wrong)?,
        results.collect::<Result<_, _>>().map_err(wrong)?,
    ))
}

/// Sets a string attribute.
pub fn set_string(op: OperationRef, name: &str, value: &str) {
    let owner = op.context();
    set_attribute(op, name, attributes::string(holder::borrow(&owner), value));
}

/// Creates an op from text over operands `%0`, `%1`, … of the given types, to be inserted by the caller. The last op of
/// `text` is used; its operands must be among these.
pub fn template<'c>(
    context: &'c Context,
    operands: &[Value<'c, '_>],
    text: &str,
    location: Location<'c>,
) -> Result<Operation<'c>, CodegenError> {
    let arguments: Vec<String> = operands
        .iter()
        .enumerate()
        .map(|(n, v)| format!("%{n}: {}", v.r#type()))
        .collect();
    let source = format!(
        "func.func private @t({}) {{ {text}\n return }}",
        arguments.join(", ")
    );
    let (parsed, messages) = collecting(context, || Module::parse(context, &source));
    let parsed = parsed.ok_or_else(|| {
        CodegenError::Module(format!("template does not parse: {}", messages.join("; ")))
    })?;
    let missing = || CodegenError::Module("template has no op".to_owned());
    let function = operations(parsed.body())
        .first()
        .copied()
        .ok_or_else(missing)?;
    let block = body(function)?;
    let op = operations(block)
        .into_iter()
        .rev()
        .nth(1)
        .ok_or_else(missing)?;
    let mut copy = Operation::clone(&op);
    for n in 0..copy.operand_count() {
        let used = copy
            .operand(n)
            .map_err(|e| CodegenError::Module(e.to_string()))?;
        for (position, operand) in operands.iter().enumerate() {
            let argument = block.argument(position).map_err(|_| missing())?;
            if Value::from(argument) == used {
                // SAFETY: the operand is alive in the module that receives the op.
                let operand = unsafe { Value::from_raw(operand.to_raw()) };
                copy.set_operand(n, operand);
            }
        }
    }
    copy.set_location(location);
    Ok(copy)
}
