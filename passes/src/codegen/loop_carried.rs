// SPDX-License-Identifier: Apache-2.0
//! `skript-write-carried`: writes loop-carried tensors in place: what an iteration yields is written to the tensor that
//! the loop started with.
//!
//! Bufferization requires that a loop-carried buffer is the same in each iteration, and refuses other loops. It still
//! copies if an iteration reads the old value after it made the new one. A loop starts with a copy of a tensor that is
//! read elsewhere later, and so does an operation that writes a part of such a tensor; otherwise the buffers of the
//! outputs, which upstream assigns to tensors that become outputs, would hold both. Functions of kept invocations do
//! not write their arguments; external functions get copies of what is read later.

use super::conflict_copies;
use super::while_arguments::align;
use crate::error::CodegenError;
use crate::invoke;
use crate::ir;
use crate::ir::bufferization::Materialization;
use crate::ir::func::callee;
use crate::ir::ops;
use crate::ir::{Builder, attributes, context};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{BlockRef, TypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassOption};
use std::collections::{HashMap, HashSet};

/// The pass `skript-write-carried`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-write-carried",
    summary: "write loop-carried tensors in place",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Bufferization, Dialect::MemRef],
    options: &[PassOption {
        name: "apart",
        summary: "copy what iterations yield and branches select: true, false, or if-refused (only if \
                  one-shot-bufferize refuses the module otherwise)",
        default: "false",
    }],
    run: |root, options, _| {
        let apart = match options.get::<String>("apart")?.as_str() {
            "if-refused" => conflict_copies::is_needed(root),
            _ => options.get("apart")?,
        };
        Ok(write_carried(root, apart)?)
    },
};

/// Rewrites the terminators of all `scf.for` and `scf.while`. With `apart`, it copies the tensors that branches select
/// and iterations yield.
///
/// # Errors
/// [`CodegenError::Module`] if a loop is malformed.
pub(crate) fn write_carried(module: OperationRef, apart: bool) -> Result<(), CodegenError> {
    let functions = ir::func::functions(module);
    // Inner loops first, because rebuilding an outer loop moves them.
    for op in ir::nested(module).into_iter().rev() {
        if ir::name(op) == ops::scf::WHILE {
            align(op)?;
        }
    }
    if apart {
        conflict_copies::part(module)?;
    }
    for op in ir::nested(module).into_iter().rev() {
        match ir::name(op).as_str() {
            // The body's first argument is the counter.
            ops::scf::FOR => {
                start_with_copies(op, 3, true)?;
                blocks_of(op).try_for_each(|body| write(body, 1, 0))?;
            }
            // `scf.condition` passes all operands after the first to the second region.
            ops::scf::WHILE => {
                start_with_copies(op, 0, true)?;
                for (n, block) in blocks_of(op).enumerate() {
                    write(block, 0, usize::from(n == 0))?;
                }
            }
            ops::tensor::INSERT | ops::tensor::INSERT_SLICE => start_with_copies(op, 1, false)?,
            ops::scf::IF => separate_loops(op)?,
            _ => {}
        }
    }
    // At this point loops yield what they wrote in place.
    let invokes = |op: &OperationRef| ir::name(*op) == ops::skript::INVOKE;
    let mut invocations = ir::nested(module).into_iter().filter(invokes);
    invocations.try_for_each(|op| keep_arguments(op, &functions))
}

/// Keeps the arguments of invocations unchanged: the function of a kept invocation does not write them, and an external
/// function gets copies of those that are read later.
fn keep_arguments(op: OperationRef, functions: &HashMap<String, OperationRef>) -> Result<(), CodegenError> {
    let Some(function) = callee(op).and_then(|name| functions.get(&name)) else {
        return Ok(());
    };
    if ir::first_block(*function).is_some() {
        let owner = op.context();
        let marked = invoke::read_only(*function, context::borrow(&owner));
        return marked.map_err(|error| CodegenError::Module(error.to_string()));
    }
    let mut operands: Vec<Value> = op.operands().collect();
    for operand in &mut operands {
        // A result may have the buffer of an argument; a later write to the result would then change the argument.
        let is_own = reads_last(op, *operand)
            && !ir::users(*operand).into_iter().any(|user| overwrites(user, *operand));
        if operand.r#type().is_ranked_tensor() && !is_own {
            *operand = copied(*operand, op)?;
        }
    }
    ir::set_operands(op, &operands);
    Ok(())
}

fn blocks_of<'c, 'a>(op: OperationRef<'c, 'a>) -> impl Iterator<Item = BlockRef<'c, 'a>> {
    ir::blocks(op).into_iter()
}

/// Whether a value is the result of an inner loop that starts with the argument, and the argument has no later readers:
/// it is in place already.
fn goes_through_a_loop(value: Value, argument: Value) -> bool {
    let Some((inner, number)) = ir::definition(value) else {
        return false;
    };
    let through = match ir::name(inner).as_str() {
        ops::scf::FOR => true,
        ops::scf::WHILE => forwards(inner, number),
        _ => false,
    };
    let into = destination(inner, number).and_then(|operand| inner.operand(operand).ok());
    through && into == Some(argument) && reads_last(inner, argument)
}

/// Whether a value is the result of a write to the argument.
fn is_written_to(value: Value, argument: Value) -> bool {
    ir::definition(value).is_some_and(|(op, _)| overwrites(op, argument))
}

/// Whether an op has a value as operand once, and all other readers precede the op.
fn reads_last(op: OperationRef, value: Value) -> bool {
    let (itself, others): (Vec<_>, Vec<_>) = readers(value).into_iter().partition(|u| *u == op);
    if others.is_empty() {
        return itself.len() == 1;
    }
    let Some(block) = op.block() else {
        return false;
    };
    let stands_before = |user| ir::ancestor_in(block, user).is_some_and(|outer| ir::is_before(outer, op));
    itself.len() == 1 && others.into_iter().all(stands_before)
}

/// Whether an op writes over all of a value.
fn overwrites(op: OperationRef, value: Value) -> bool {
    Materialization::cast(op).is_some_and(|op| op.source() != Ok(value) && op.destination() == Ok(value))
}

/// The readers of a value, through branches that yield it.
fn readers<'c, 'a>(value: Value<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        if !seen.insert(value.to_raw().ptr) {
            continue;
        }
        for user in ir::users(value) {
            if overwrites(user, value) {
                continue;
            }
            found.push(user);
            let branch = (user.parent_operation()).filter(|op| ir::name(*op) == ops::scf::IF);
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
    ir::name(op) == ops::scf::YIELD
}

pub(super) fn is_made_by(value: Value, name: &str) -> bool {
    ir::definition(value).is_some_and(|(op, _)| ir::name(op) == name)
}

/// The values that a value may be: those that the branches of an `scf.if` yield.
fn sources<'c: 'a, 'a>(value: Value<'c, 'a>) -> Vec<Value<'c, 'a>> {
    let Some((op, number)) = ir::definition(value) else {
        return vec![value];
    };
    if ir::name(op) != ops::scf::IF {
        return vec![value];
    }
    let ends = blocks_of(op).filter_map(|block| ir::operations(block).last().copied());
    let yielded = ends.filter_map(|end| end.operand(number).ok());
    yielded.flat_map(sources).collect()
}

/// The operand whose buffer a result may have: the destination, or the source of a view.
pub(super) fn destination(op: OperationRef, result: usize) -> Option<usize> {
    match ir::name(op).as_str() {
        ops::tensor::CAST
        | ops::tensor::EXTRACT_SLICE
        | ops::tensor::EXPAND_SHAPE
        | ops::tensor::COLLAPSE_SHAPE => Some(0),
        _ => written(op, result),
    }
}

/// The operand that an op writes into to make a result.
pub(super) fn written(op: OperationRef, result: usize) -> Option<usize> {
    match ir::name(op).as_str() {
        ops::tensor::INSERT | ops::tensor::INSERT_SLICE | ops::bufferization::MATERIALIZE_IN_DESTINATION => {
            Some(1)
        }
        // Bounds and step come before the inits.
        ops::scf::FOR => Some(result + 3),
        ops::scf::WHILE => Some(result),
        name if name.starts_with("linalg.") => (op.operand_count() + result).checked_sub(op.result_count()),
        _ => None,
    }
}

/// Whether an op writes into this operand.
pub(super) fn is_destination(op: OperationRef, operand: usize) -> bool {
    (0..op.result_count()).any(|result| written(op, result) == Some(operand))
}

/// The tensors whose buffers a value may have: itself, and the destinations that it was written to.
fn origins<'c: 'a, 'a>(value: Value<'c, 'a>) -> Vec<Value<'c, 'a>> {
    let mut found = Vec::new();
    let mut pending = sources(value);
    while let Some(value) = pending.pop() {
        found.push(value);
        let Some((op, number)) = ir::definition(value) else {
            continue;
        };
        let into = destination(op, number);
        let into = into.and_then(|operand| op.operand(operand).ok());
        pending.extend(into.into_iter().flat_map(sources));
    }
    found
}

/// The first state of a value: the destination of its first write, or what a branch yields.
pub(super) struct Beginning<'c, 'a> {
    pub(super) value: Value<'c, 'a>,
    /// The op that writes into it, and the operand that it is.
    pub(super) writer: Option<(OperationRef<'c, 'a>, usize)>,
    /// Whether an `scf.if` yields it.
    is_chosen: bool,
    /// Whether something on the way is read for another purpose, too.
    is_shared: bool,
    /// The last loop that writes into it, and the operand that starts it.
    looped: Option<(OperationRef<'c, 'a>, usize)>,
}

pub(super) fn beginnings<'c, 'a>(value: Value<'c, 'a>) -> Vec<Beginning<'c, 'a>> {
    let mut found = Vec::new();
    let mut pending =
        vec![Beginning { value, writer: None, is_chosen: false, is_shared: false, looped: None }];
    let mut seen = HashSet::new();
    while let Some(here) = pending.pop() {
        let writer = here.writer.map(|(op, place)| (op.to_raw().ptr, place));
        let flags = (here.is_chosen, here.is_shared, here.looped.is_some());
        if !seen.insert((here.value.to_raw().ptr, writer, flags)) {
            continue;
        }
        let Some((op, number)) = ir::definition(here.value) else {
            found.push(here);
            continue;
        };
        let is_shared = here.is_shared || ir::users(here.value).len() > 1;
        if ir::name(op) == ops::scf::IF {
            let ends = blocks_of(op).filter_map(|block| ir::operations(block).last().copied());
            let yielded = ends.filter_map(|end| end.operand(number).ok());
            pending.extend(yielded.map(|value| Beginning {
                value,
                writer: None,
                is_chosen: true,
                is_shared,
                looped: here.looped,
            }));
            continue;
        }
        let place = destination(op, number);
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
    matches!(ir::name(op).as_str(), ops::scf::FOR | ops::scf::WHILE)
}

fn is_fresh(value: Value) -> bool {
    is_made_by(value, ops::tensor::EMPTY) || is_made_by(value, ops::bufferization::ALLOC_TENSOR)
}

/// Gives tensors that branches compute, on the way to a loop-carried value, distinct buffers. It does not if only they
/// and the loop-carried tensor are selected, and none of them has other readers later. Upstream replaces an empty
/// tensor by the destination that it is inserted into later, and then assigns one buffer to all operands of a
/// selection.
pub(super) fn separate_branches(value: Value, carried: Value, block: BlockRef) -> Result<(), CodegenError> {
    let all = beginnings(value);
    let is_made_here = |b: &Beginning| {
        let writer = b.writer.map(|(op, _)| op);
        is_made_by(b.value, ops::tensor::EMPTY)
            && writer.is_some_and(|op| ir::ancestor_in(block, op).is_some())
    };
    let is_alone = |b: &Beginning| {
        let is_plain = b.value == carried || is_made_here(b);
        let is_read = |(op, _)| is_read_after(carried, op, block);
        is_plain && !(b.is_chosen && (b.is_shared || b.writer.is_some_and(is_read)))
    };
    if all.iter().all(is_alone) {
        return Ok(());
    }
    let chosen = all.into_iter().filter(|b| b.is_chosen);
    for Beginning { value, writer, .. } in chosen {
        if let Some((op, place)) = writer.filter(|_| is_made_by(value, ops::tensor::EMPTY)) {
            allocate(op, place, value)?;
        }
    }
    Ok(())
}

/// Copies the initial tensors of a loop whose result a branch yields: otherwise its buffer would be that of the other
/// branch too.
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
            ir::set_operands(op, &operands);
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
    let context = ir::context::of(op);
    let at = Builder::before(context, op).map_err(wrong)?;
    let segments = attributes::i32s(context, &[0, 1, 0]);
    let segments = [("operandSegmentSizes", segments)];
    let name = ops::bufferization::ALLOC_TENSOR;
    at.value(name, &[value], &segments, value.r#type()).map_err(wrong)
}

/// Whether an op of the block reads a value after the op that holds `op`.
fn is_read_after(value: Value, op: OperationRef, block: BlockRef) -> bool {
    let order = ir::operations(block);
    let position = |op: OperationRef| {
        let outer = ir::ancestor_in(block, op)?;
        order.iter().position(|o| *o == outer)
    };
    let own = position(op);
    ir::users(value).into_iter().any(|user| position(user) > own)
}

/// Replaces the empty tensor that an op writes by an allocation.
pub(super) fn allocate(op: OperationRef, place: usize, empty: Value) -> Result<(), CodegenError> {
    let wrong = |e: melior::Error| CodegenError::Module(e.to_string());
    let Some((made, _)) = ir::definition(empty) else {
        return Ok(());
    };
    let extents: Vec<Value> = made.operands().collect();
    let open = i32::try_from(extents.len()).map_err(|e| CodegenError::Module(e.to_string()))?;
    let owner = op.context();
    let at = Builder::before(context::borrow(&owner), op).map_err(wrong)?;
    let segments = attributes::i32s(at.context, &[open, 0, 0]);
    let own = at
        .value(
            ops::bufferization::ALLOC_TENSOR,
            &extents,
            &[("operandSegmentSizes", segments)],
            empty.r#type(),
        )
        .map_err(wrong)?;
    let mut operands: Vec<Value> = op.operands().collect();
    if let Some(operand) = operands.get_mut(place) {
        *operand = own;
    }
    ir::set_operands(op, &operands);
    Ok(())
}

/// Copies the tensors that an op writes, from operand `first`, if another op reads them inside of it or after it. For
/// loops it also copies those that may be read as buffers, which bufferization does not see: after canonicalization,
/// formulas that are already loops read the allocation of a `bufferization.to_tensor`.
fn start_with_copies(op: OperationRef, first: usize, is_loop: bool) -> Result<(), CodegenError> {
    let mut operands: Vec<Value> = op.operands().collect();
    for operand in operands.iter_mut().skip(first) {
        // Checked first: a scalar may have readers all over the function.
        if !operand.r#type().is_ranked_tensor() || is_made_by(*operand, ops::tensor::EMPTY) {
            continue;
        }
        let is_hidden = |source: &Value| is_made_by(*source, ops::bufferization::TO_TENSOR);
        let hides = is_loop && sources(*operand).iter().any(is_hidden);
        // A branch may yield one of several tensors from elsewhere.
        let is_foreign = |b: &Beginning| b.is_chosen && (b.is_shared || !is_fresh(b.value));
        let is_mixed = is_loop && beginnings(*operand).iter().any(is_foreign);
        let is_own = reads_last(op, *operand) && !hides && !is_mixed;
        if !is_own {
            *operand = copied(*operand, op)?;
        }
    }
    ir::set_operands(op, &operands);
    Ok(())
}

/// Whether an `scf.while` passes argument `number` of its first region to the same position of the second.
fn forwards(op: OperationRef, number: usize) -> bool {
    let Some(block) = ir::blocks(op).first().copied() else {
        return false;
    };
    let end = ir::operations(block).last().copied();
    let handed = end.and_then(|end| end.operand(number + 1).ok());
    let argument = block.argument(number).ok().map(Value::from);
    handed.is_some() && handed == argument
}

/// Whether a value is an argument of the block.
fn is_argument_of(value: Value, block: BlockRef) -> bool {
    ir::arguments(block).contains(&value)
}

/// Pairs the terminator's operands from `first_operand` with the block's arguments from `first_argument`.
fn write(block: BlockRef, first_argument: usize, first_operand: usize) -> Result<(), CodegenError> {
    let wrong = |e: melior::Error| CodegenError::Module(e.to_string());
    let Some(terminator) = ir::operations(block).last().copied() else {
        return Ok(());
    };
    let context = ir::context::of(terminator);
    let mut operands: Vec<Value> = terminator.operands().collect();
    let mut handed = HashSet::new();
    // Permuted values are read before any is written, and a value that is yielded twice gets two tensors.
    for (n, operand) in operands.iter_mut().enumerate().skip(first_operand) {
        let own = block.argument(n - first_operand + first_argument);
        let stays = (own.as_ref()).is_ok_and(|own| Value::from(*own) == *operand);
        let r#type = operand.r#type();
        let own = own.ok().map(Value::from);
        if let Some(own) = own.filter(|own| !stays && own.r#type().is_ranked_tensor()) {
            separate_branches(*operand, own, block)?;
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
        let write = ir::template(
            context,
            &[*operand, argument],
            &format!("%r = bufferization.materialize_in_destination %0 in %1 : ({type}, {type}) -> {type}"),
            terminator.location(),
        )?;
        let write = block.insert_operation_before(terminator, write);
        *operand = write.result(0).map_err(wrong)?.into();
    }
    ir::set_operands(terminator, &operands);
    Ok(())
}
