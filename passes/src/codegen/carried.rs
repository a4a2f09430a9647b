//! Values that loops carry are written where they came from: what a turn yields goes into the tensor it started with.
//!
//! Bufferization wants a loop's carried buffer to be the same in every turn, and refuses a turn that yields another. It
//! still copies where a turn reads the old value after the new one is made. A loop starts with a copy of what is read elsewhere
//! later, and so does what writes into a part of a tensor: else the outputs' places, which upstream hands to the tensors that
//! become outputs, would hold both. Functions that invocations call do not write their arguments; those that are defined
//! elsewhere are handed copies of what is read later. With `apart` each turn and each arm of a branch makes
//! copies: so do named pipelines, `skript run` and `skript compile` where bufferization refuses the module without.

use super::aligned::align;
use super::apart;
use super::error::CodegenError;
use super::{memory, mlir};
use crate::invoke;
use crate::mlir::{Builder, attributes, context};
use melior::Context;
use melior::ir::block::BlockLike;
use melior::ir::operation::{
    OperationLike, OperationMutLike, OperationRef, OperationRefMut, OperationResult,
};
use melior::ir::{BlockRef, TypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassOption};
use std::collections::{HashMap, HashSet};

/// The pass `skript-write-carried`.
pub const PASS: Pass = Pass {
    flag: "skript-write-carried",
    summary: "loops write what they carry where it came from",
    anchor: Some("builtin.module"),
    dependent_dialects: &[Dialect::Bufferization, Dialect::MemRef],
    options: &[PassOption {
        name: "apart",
        summary: "what branches choose and turns make is copied: true, false, or if-refused: where one-shot-bufferize refuses the \
                  module otherwise, which is tried",
        default: "false",
    }],
    run: |root, options, _| {
        let apart = match options.get::<String>("apart")?.as_str() {
            "if-refused" => apart::is_needed(root),
            _ => options.get("apart")?,
        };
        Ok(write_carried(root, apart)?)
    },
};

/// Rewrites the yields of all `scf.for` and `scf.while`; `apart`: of copies of what branches choose and turns make.
///
/// # Errors
/// [`CodegenError::Module`] if a loop is malformed.
pub fn write_carried(module: OperationRef, apart: bool) -> Result<(), CodegenError> {
    let functions = invoke::functions(module);
    // Inner loops first: an outer one that is rebuilt takes them along.
    for op in mlir::nested(module).into_iter().rev() {
        if mlir::name(op) == "scf.while" {
            align(op)?;
        }
    }
    if apart {
        apart::part(module)?;
    }
    for op in mlir::nested(module).into_iter().rev() {
        match mlir::name(op).as_str() {
            // The body's first argument is the counter.
            "scf.for" => {
                start_with_copies(op, 3, true)?;
                blocks_of(op).try_for_each(|body| write(body, 1, 0))?;
            }
            // `scf.condition` hands on all operands after the first to the second region.
            "scf.while" => {
                start_with_copies(op, 0, true)?;
                for (n, block) in blocks_of(op).enumerate() {
                    write(block, 0, usize::from(n == 0))?;
                }
            }
            "tensor.insert" | "tensor.insert_slice" => start_with_copies(op, 1, false)?,
            "scf.if" => separate_loops(op)?,
            _ => {}
        }
    }
    // What loops yield is written to its place by now.
    let invokes = |op: &OperationRef| mlir::name(*op) == "skript.invoke";
    let mut invocations = mlir::nested(module).into_iter().filter(invokes);
    invocations.try_for_each(|op| keep_arguments(op, &functions))
}

/// What an invocation takes is as it was behind it: the function that it invokes does not write its arguments, and one that is
/// defined elsewhere gets copies of what is read later.
fn keep_arguments(
    op: OperationRef,
    functions: &HashMap<String, OperationRef>,
) -> Result<(), CodegenError> {
    let Some(function) = invoke::callee(op).and_then(|name| functions.get(&name)) else {
        return Ok(());
    };
    if mlir::first_block(*function).is_some() {
        let owner = op.context();
        let told = invoke::read_only(*function, context::borrow(&owner));
        return told.map_err(|error| CodegenError::Module(error.to_string()));
    }
    let mut operands: Vec<Value> = op.operands().collect();
    for operand in &mut operands {
        // A result may be in the place of an argument: what is written there next would be read from there.
        let is_own = reads_last(op, *operand)
            && !mlir::users(*operand)
                .into_iter()
                .any(|user| overwrites(user, *operand));
        if operand.r#type().is_ranked_tensor() && !is_own {
            *operand = copied(*operand, op)?;
        }
    }
    // SAFETY: the invocation is alive and nobody else refers to its operands.
    unsafe { OperationRefMut::from_raw(op.to_raw()) }.set_operands(&operands);
    Ok(())
}

fn blocks_of<'c, 'a>(op: OperationRef<'c, 'a>) -> impl Iterator<Item = BlockRef<'c, 'a>> {
    mlir::blocks(op).into_iter()
}

/// Whether a value is what an inner loop made of the argument, which nobody reads from then on: it is in place already.
fn goes_through_a_loop(value: Value, argument: Value) -> bool {
    let Ok(result) = OperationResult::try_from(value) else {
        return false;
    };
    let (inner, number) = (result.owner(), result.result_number());
    let through = match mlir::name(inner).as_str() {
        "scf.for" => true,
        "scf.while" => hands_on(inner, number),
        _ => false,
    };
    let into = destination(inner, number).and_then(|operand| inner.operand(operand).ok());
    through && into == Some(argument) && reads_last(inner, argument)
}

/// Whether a value is what was written to the place of the argument.
fn is_written_to(value: Value, argument: Value) -> bool {
    OperationResult::try_from(value).is_ok_and(|result| {
        // SAFETY: the op lives as long as its results.
        let op = unsafe { OperationRef::from_raw(result.owner().to_raw()) };
        overwrites(op, argument)
    })
}

/// Whether an op takes a value once, and everything else that reads it stands before the op.
fn reads_last(op: OperationRef, value: Value) -> bool {
    let (itself, others): (Vec<_>, Vec<_>) = readers(value).into_iter().partition(|u| *u == op);
    if others.is_empty() {
        return itself.len() == 1;
    }
    let Some(block) = op.block() else {
        return false;
    };
    let stands_before =
        |user| memory::ancestor_in(block, user).is_some_and(|outer| mlir::is_before(outer, op));
    itself.len() == 1 && others.into_iter().all(stands_before)
}

/// Whether an op writes over all of a value.
fn overwrites(op: OperationRef, value: Value) -> bool {
    mlir::name(op) == "bufferization.materialize_in_destination"
        && op.operand(0) != Ok(value)
        && op.operand(1) == Ok(value)
}

/// The ops that read a value, also those that read what a branch hands on of it.
fn readers<'c, 'a>(value: Value<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        if !seen.insert(value.to_raw().ptr) {
            continue;
        }
        for user in mlir::users(value) {
            if overwrites(user, value) {
                continue;
            }
            found.push(user);
            let branch = (user.parent_operation()).filter(|op| mlir::name(*op) == "scf.if");
            for (n, operand) in user.operands().enumerate() {
                let handed = branch.filter(|_| operand == value && is_yield(user));
                let result = handed.and_then(|branch| branch.result(n).ok());
                pending.extend(result.map(Value::from));
            }
        }
    }
    found
}

fn is_yield(op: OperationRef) -> bool {
    mlir::name(op) == "scf.yield"
}

pub(super) fn is_made_by(value: Value, name: &str) -> bool {
    OperationResult::try_from(value).is_ok_and(|r| mlir::name(r.owner()) == name)
}

/// What a value may be: that of either branch of an `scf.if`.
fn sources<'c, 'a>(value: Value<'c, 'a>) -> Vec<Value<'c, 'a>> {
    let Ok(result) = OperationResult::try_from(value) else {
        return vec![value];
    };
    // SAFETY: the op lives as long as its results.
    let op = unsafe { OperationRef::from_raw(result.owner().to_raw()) };
    if mlir::name(op) != "scf.if" {
        return vec![value];
    }
    let ends = blocks_of(op).filter_map(|block| mlir::operations(block).last().copied());
    let yielded = ends.filter_map(|end| end.operand(result.result_number()).ok());
    yielded.flat_map(sources).collect()
}

/// The operand whose buffer a result may be in: what is written, or looked at.
pub(super) fn destination(op: OperationRef, result: usize) -> Option<usize> {
    match mlir::name(op).as_str() {
        "tensor.cast"
        | "tensor.extract_slice"
        | "tensor.expand_shape"
        | "tensor.collapse_shape" => Some(0),
        _ => written(op, result),
    }
}

/// The operand that an op writes into to make a result.
pub(super) fn written(op: OperationRef, result: usize) -> Option<usize> {
    match mlir::name(op).as_str() {
        "tensor.insert" | "tensor.insert_slice" | "bufferization.materialize_in_destination" => {
            Some(1)
        }
        // Bounds and step come before the inits.
        "scf.for" => Some(result + 3),
        "scf.while" => Some(result),
        name if name.starts_with("linalg.") => {
            (op.operand_count() + result).checked_sub(op.result_count())
        }
        _ => None,
    }
}

/// Whether an op writes into this operand.
pub(super) fn is_destination(op: OperationRef, operand: usize) -> bool {
    (0..op.result_count()).any(|result| written(op, result) == Some(operand))
}

/// The tensors in whose buffers a value may be: itself, and what was written into to make it.
fn origins<'c, 'a>(value: Value<'c, 'a>) -> Vec<Value<'c, 'a>> {
    let mut found = Vec::new();
    let mut pending = sources(value);
    while let Some(value) = pending.pop() {
        found.push(value);
        let Ok(result) = OperationResult::try_from(value) else {
            continue;
        };
        // SAFETY: the op lives as long as its results.
        let op = unsafe { OperationRef::from_raw(result.owner().to_raw()) };
        let into = destination(op, result.result_number());
        let into = into.and_then(|operand| op.operand(operand).ok());
        pending.extend(into.into_iter().flat_map(sources));
    }
    found
}

/// Where a value begins: what is written into to make it, or what one arm of a branch hands on.
pub(super) struct Beginning<'c, 'a> {
    pub(super) value: Value<'c, 'a>,
    /// The op that writes into it, and the operand that it is.
    pub(super) writer: Option<(OperationRef<'c, 'a>, usize)>,
    /// Whether an `scf.if` chooses it.
    is_chosen: bool,
    /// Whether something on the way is read for another purpose, too.
    is_shared: bool,
    /// The last loop that writes into it, and the operand that starts it.
    looped: Option<(OperationRef<'c, 'a>, usize)>,
}

pub(super) fn beginnings<'c, 'a>(value: Value<'c, 'a>) -> Vec<Beginning<'c, 'a>> {
    let mut found = Vec::new();
    let mut pending = vec![Beginning {
        value,
        writer: None,
        is_chosen: false,
        is_shared: false,
        looped: None,
    }];
    let mut seen = HashSet::new();
    while let Some(here) = pending.pop() {
        let writer = here.writer.map(|(op, place)| (op.to_raw().ptr, place));
        let flags = (here.is_chosen, here.is_shared, here.looped.is_some());
        if !seen.insert((here.value.to_raw().ptr, writer, flags)) {
            continue;
        }
        let Ok(result) = OperationResult::try_from(here.value) else {
            found.push(here);
            continue;
        };
        // SAFETY: the op lives as long as its results.
        let op = unsafe { OperationRef::from_raw(result.owner().to_raw()) };
        let is_shared = here.is_shared || mlir::users(here.value).len() > 1;
        if mlir::name(op) == "scf.if" {
            let ends = blocks_of(op).filter_map(|block| mlir::operations(block).last().copied());
            let yielded = ends.filter_map(|end| end.operand(result.result_number()).ok());
            pending.extend(yielded.map(|value| Beginning {
                value,
                writer: None,
                is_chosen: true,
                is_shared,
                looped: here.looped,
            }));
            continue;
        }
        let place = destination(op, result.result_number());
        let into = place.and_then(|place| Some((place, op.operand(place).ok()?)));
        match into.filter(|(_, value)| value.r#type().is_ranked_tensor()) {
            Some((place, value)) => pending.push(Beginning {
                value,
                writer: Some((op, place)),
                is_chosen: here.is_chosen,
                is_shared,
                looped: here.looped.or(is_loop(op).then_some((op, place))),
            }),
            None => found.push(here),
        }
    }
    found
}

fn is_loop(op: OperationRef) -> bool {
    matches!(mlir::name(op).as_str(), "scf.for" | "scf.while")
}

fn is_fresh(value: Value) -> bool {
    is_made_by(value, "tensor.empty") || is_made_by(value, "bufferization.alloc_tensor")
}

/// What arms of a branch make on the way to a carried value has buffers of its own, unless nothing but that and the carried
/// tensor is chosen from, and nobody else reads any of it or the carried tensor later. Upstream lets an empty tensor behind a
/// value that is written somewhere be that place, and then takes all that a branch chooses from for one buffer.
pub(super) fn part_branches(
    value: Value,
    carried: Value,
    block: BlockRef,
) -> Result<(), CodegenError> {
    let all = beginnings(value);
    let is_made_here = |b: &Beginning| {
        let writer = b.writer.map(|(op, _)| op);
        is_made_by(b.value, "tensor.empty")
            && writer.is_some_and(|op| memory::ancestor_in(block, op).is_some())
    };
    let is_alone = |b: &Beginning| {
        let is_plain = b.value == carried || is_made_here(b);
        let is_read = |(op, _)| is_read_behind(carried, op, block);
        is_plain && !(b.is_chosen && (b.is_shared || b.writer.is_some_and(is_read)))
    };
    if all.iter().all(is_alone) {
        return Ok(());
    }
    let chosen = all.into_iter().filter(|b| b.is_chosen);
    for Beginning { value, writer, .. } in chosen {
        if let Some((op, place)) = writer.filter(|_| is_made_by(value, "tensor.empty")) {
            allocate(op, place, value)?;
        }
    }
    Ok(())
}

/// A loop whose result a branch chooses starts with a copy: what it changes would else be one tensor with what else is chosen.
fn separate_loops(branch: OperationRef) -> Result<(), CodegenError> {
    for value in branch.results().map(Value::from) {
        if !value.r#type().is_ranked_tensor() {
            continue;
        }
        for begin in beginnings(value) {
            let Some((op, place)) = begin.looped else {
                continue;
            };
            let mut operands: Vec<Value> = op.operands().collect();
            let Some(start) = operands.get_mut(place).filter(|start| !is_fresh(**start)) else {
                continue;
            };
            *start = copied(*start, op)?;
            // SAFETY: the loop is alive and nobody else refers to its operands.
            unsafe { OperationRefMut::from_raw(op.to_raw()) }.set_operands(&operands);
        }
    }
    Ok(())
}

/// A copy of a tensor in front of an op.
pub(super) fn copied<'c, 'a>(
    value: Value<'c, 'a>,
    op: OperationRef<'c, 'a>,
) -> Result<Value<'c, 'a>, CodegenError> {
    let wrong = |e: melior::Error| CodegenError::Module(e.to_string());
    let context = op.context();
    // SAFETY: a context outlives its modules.
    let context: &'c Context = unsafe { context.to_ref() };
    let at = Builder::before(context, op).map_err(wrong)?;
    let segments = attributes::i32s(context, &[0, 1, 0]);
    let segments = [("operandSegmentSizes", segments)];
    let name = "bufferization.alloc_tensor";
    at.value(name, &[value], &segments, value.r#type())
        .map_err(wrong)
}

/// Whether an op of the block reads a value behind that which holds `op`.
fn is_read_behind(value: Value, op: OperationRef, block: BlockRef) -> bool {
    let order = mlir::operations(block);
    let position = |op: OperationRef| {
        let outer = memory::ancestor_in(block, op)?;
        order.iter().position(|o| *o == outer)
    };
    let own = position(op);
    mlir::users(value)
        .into_iter()
        .any(|user| position(user) > own)
}

/// Lets an op write into an allocation in place of an empty tensor.
pub(super) fn allocate(op: OperationRef, place: usize, empty: Value) -> Result<(), CodegenError> {
    let wrong = |e: melior::Error| CodegenError::Module(e.to_string());
    let Ok(made) = OperationResult::try_from(empty) else {
        return Ok(());
    };
    let extents: Vec<Value> = made.owner().operands().collect();
    let open = i32::try_from(extents.len()).map_err(|e| CodegenError::Module(e.to_string()))?;
    let owner = op.context();
    let at = Builder::before(context::borrow(&owner), op).map_err(wrong)?;
    let segments = attributes::i32s(at.context, &[open, 0, 0]);
    let own = at
        .value(
            "bufferization.alloc_tensor",
            &extents,
            &[("operandSegmentSizes", segments)],
            empty.r#type(),
        )
        .map_err(wrong)?;
    let mut operands: Vec<Value> = op.operands().collect();
    if let Some(operand) = operands.get_mut(place) {
        *operand = own;
    }
    // SAFETY: the op is alive and nobody else refers to its operands.
    unsafe { OperationRefMut::from_raw(op.to_raw()) }.set_operands(&operands);
    Ok(())
}

/// The tensors that an op writes into, from operand `first`, are copied where somebody else reads them in it or behind it. What
/// loops write into is copied, too, where others may read it as a buffer, which bufferization does not see: canonicalization
/// lets formulas that are loops already read the allocation behind a `bufferization.to_tensor`.
fn start_with_copies(op: OperationRef, first: usize, is_loop: bool) -> Result<(), CodegenError> {
    let mut operands: Vec<Value> = op.operands().collect();
    for operand in operands.iter_mut().skip(first) {
        // Asked first: a number may have readers all over the function.
        if !operand.r#type().is_ranked_tensor() || is_made_by(*operand, "tensor.empty") {
            continue;
        }
        let is_hidden = |source: &Value| is_made_by(*source, "bufferization.to_tensor");
        let hides = is_loop && sources(*operand).iter().any(is_hidden);
        // What a branch may hand on from elsewhere is more than one tensor.
        let is_foreign = |b: &Beginning| b.is_chosen && (b.is_shared || !is_fresh(b.value));
        let is_mixed = is_loop && beginnings(*operand).iter().any(is_foreign);
        let is_own = reads_last(op, *operand) && !hides && !is_mixed;
        if !is_own {
            *operand = copied(*operand, op)?;
        }
    }
    // SAFETY: the loop is alive and nobody else refers to its operands.
    let mut op = unsafe { OperationRefMut::from_raw(op.to_raw()) };
    op.set_operands(&operands);
    Ok(())
}

/// Whether a `scf.while` hands argument `number` of its first region on at its place.
fn hands_on(op: OperationRef, number: usize) -> bool {
    let Some(block) = mlir::blocks(op).first().copied() else {
        return false;
    };
    let end = mlir::operations(block).last().copied();
    let handed = end.and_then(|end| end.operand(number + 1).ok());
    let argument = block.argument(number).ok().map(Value::from);
    handed.is_some() && handed == argument
}

/// Whether a value is an argument of the block.
fn is_argument_of(value: Value, block: BlockRef) -> bool {
    mlir::arguments(block).contains(&value)
}

/// Pairs the terminator's operands from `first_operand` with the block's arguments from `first_argument`.
fn write(block: BlockRef, first_argument: usize, first_operand: usize) -> Result<(), CodegenError> {
    let wrong = |e: melior::Error| CodegenError::Module(e.to_string());
    let Some(terminator) = mlir::operations(block).last().copied() else {
        return Ok(());
    };
    // SAFETY: a context outlives its modules.
    let owner = terminator.context();
    let context = unsafe { owner.to_ref() };
    let mut operands: Vec<Value> = terminator.operands().collect();
    let mut handed = HashSet::new();
    // What changes places is read before anything is written, and what goes to two places is two tensors.
    for (n, operand) in operands.iter_mut().enumerate().skip(first_operand) {
        let own = block.argument(n - first_operand + first_argument);
        let stays = (own.as_ref()).is_ok_and(|own| Value::from(*own) == *operand);
        let r#type = operand.r#type();
        let own = own.ok().map(Value::from);
        if let Some(own) = own.filter(|own| !stays && own.r#type().is_ranked_tensor()) {
            part_branches(*operand, own, block)?;
        }
        let again = !handed.insert(operand.to_raw().ptr);
        let mut others = origins(*operand).into_iter().filter(|s| Some(*s) != own);
        if stays
            || !r#type.is_ranked_tensor()
            || !(again || others.any(|source| is_argument_of(source, block)))
        {
            continue;
        }
        *operand = copied(*operand, terminator)?;
    }
    for (n, operand) in operands.iter_mut().enumerate().skip(first_operand) {
        let Ok(argument) = block.argument(n - first_operand + first_argument) else {
            break;
        };
        let argument = Value::from(argument);
        let r#type = operand.r#type();
        if !r#type.is_ranked_tensor()
            || argument.r#type() != r#type
            || argument == *operand
            || goes_through_a_loop(*operand, argument)
            || is_written_to(*operand, argument)
        {
            continue;
        }
        let write = mlir::template(
            context,
            &[*operand, argument],
            &format!(
                "%r = bufferization.materialize_in_destination %0 in %1 : ({type}, {type}) -> {type}"
            ),
            terminator.location(),
        )?;
        let write = block.insert_operation_before(terminator, write);
        *operand = write.result(0).map_err(wrong)?.into();
    }
    // SAFETY: the terminator is alive and nobody else refers to its operands.
    let mut terminator = unsafe { OperationRefMut::from_raw(terminator.to_raw()) };
    terminator.set_operands(&operands);
    Ok(())
}
