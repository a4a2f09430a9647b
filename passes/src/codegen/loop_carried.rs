// SPDX-License-Identifier: Apache-2.0
//! `skript-write-carried`: writes loop-carried tensors in place: the tensor that an iteration yields is written to the initial
//! tensor of the loop.
//!
//! Bufferization requires that a loop-carried buffer is the same in each iteration, and rejects other loops. It still inserts a copy
//! if an iteration reads the old value after it computes the new one. The pass copies an initial tensor of a loop if it has later
//! readers, and also a tensor with later readers of which an operation writes a slice. Otherwise, upstream could assign the buffer of
//! an output to both tensors. Functions of kept invocations do not write their arguments; external functions get copies of arguments
//! with later readers.

use super::conflict_copies;
use super::while_arguments::align;
use crate::error::CodegenError;
use crate::invoke;
use crate::ir;
use crate::ir::bufferization::Materialization;
use crate::ir::func::callee;
use crate::ir::ops;
use crate::ir::{Builder, context};
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
        summary: "copy the tensors that iterations yield and branches select: true, false, or if-refused (only if \
                  one-shot-bufferize otherwise rejects the module)",
        default: "false",
    }],
    run: |root, options, _| {
        let with_copies = match options.get::<String>("apart")?.as_str() {
            "if-refused" => conflict_copies::is_needed(root),
            _ => options.get("apart")?,
        };
        Ok(write_carried(root, with_copies)?)
    },
};

/// Rewrites the terminators of all `scf.for` and `scf.while`. If `with_copies` is set, copies the tensors that branches select and
/// iterations yield.
pub(super) fn write_carried(module: OperationRef, with_copies: bool) -> Result<(), CodegenError> {
    let functions = ir::func::functions(module);
    // Inner loops first, because rebuilding an outer loop moves them.
    for op in ir::nested(module).into_iter().rev() {
        if ir::name(op) == ops::scf::WHILE {
            align(op)?;
        }
    }
    if with_copies {
        conflict_copies::copy_joined(module);
    }
    for op in ir::nested(module).into_iter().rev() {
        match ir::name(op).as_str() {
            // The first argument of the body is the induction variable.
            ops::scf::FOR => {
                start_with_copies(op, 3, true);
                blocks_of(op).for_each(|body| write(body, 1, 0));
            }
            // `scf.condition` passes all operands after the first to the second region.
            ops::scf::WHILE => {
                start_with_copies(op, 0, true);
                for (n, block) in blocks_of(op).enumerate() {
                    write(block, 0, usize::from(n == 0));
                }
            }
            ops::tensor::INSERT | ops::tensor::INSERT_SLICE => start_with_copies(op, 1, false),
            ops::scf::IF => separate_loops(op),
            _ => {}
        }
    }
    // At this point, loops yield the tensors that they write in place.
    let invokes = |op: &OperationRef| ir::name(*op) == ops::skript::INVOKE;
    let mut invocations = ir::nested(module).into_iter().filter(invokes);
    invocations.try_for_each(|op| keep_arguments(op, &functions))
}

/// Protects the arguments of an invocation. They are marked as read-only in the function of a kept invocation. An external function
/// gets copies of arguments with later readers.
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
        // A result may have the buffer of an argument. Then a later write to the result would change the argument.
        let is_last_use = reads_last(op, *operand)
            && !ir::users(*operand).into_iter().any(|user| overwrites(user, *operand));
        if operand.r#type().is_ranked_tensor() && !is_last_use {
            *operand = copied(*operand, op);
        }
    }
    ir::set_operands(op, &operands);
    Ok(())
}

fn blocks_of<'c, 'a>(op: OperationRef<'c, 'a>) -> impl Iterator<Item = BlockRef<'c, 'a>> {
    ir::blocks(op).into_iter()
}

/// Whether a value is already in place, because it is the result of an inner loop whose initial tensor is the argument, and the
/// argument has no later readers.
fn goes_through_a_loop(value: Value, argument: Value) -> bool {
    let Some((inner, number)) = ir::definition(value) else {
        return false;
    };
    let through = match ir::name(inner).as_str() {
        ops::scf::FOR => true,
        ops::scf::WHILE => forwards(inner, number),
        _ => false,
    };
    let into = destination(inner, number).and_then(|operand| ir::operand_at(inner, operand));
    through && into == Some(argument) && reads_last(inner, argument)
}

/// Whether a value is the result of a write to the argument.
fn is_written_to(value: Value, argument: Value) -> bool {
    ir::definition(value).is_some_and(|(op, _)| overwrites(op, argument))
}

/// Whether an operation reads a value once, and all other readers precede it.
fn reads_last(op: OperationRef, value: Value) -> bool {
    let (itself, others): (Vec<_>, Vec<_>) = readers(value).into_iter().partition(|u| *u == op);
    if others.is_empty() {
        return itself.len() == 1;
    }
    let Some(block) = op.block() else {
        return false;
    };
    let precedes = |user| ir::ancestor_in(block, user).is_some_and(|outer| ir::is_before(outer, op));
    itself.len() == 1 && others.into_iter().all(precedes)
}

/// Whether an operation overwrites all elements of a value.
fn overwrites(op: OperationRef, value: Value) -> bool {
    Materialization::cast(op).is_some_and(|op| op.source() != Ok(value) && op.destination() == Ok(value))
}

/// The readers of a value, including those of results of branches that yield it.
fn readers<'c, 'a>(value: Value<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let mut readers = Vec::new();
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
            readers.push(user);
            let branch = user.parent_operation().filter(|op| ir::name(*op) == ops::scf::IF);
            if let Some(branch) = branch.filter(|_| ir::name(user) == ops::scf::YIELD) {
                let yielded = user.operands().enumerate().filter(|(_, operand)| *operand == value);
                pending.extend(yielded.filter_map(|(n, _)| branch.result(n).ok()).map(Value::from));
            }
        }
    }
    readers
}

pub(super) fn is_defined_by(value: Value, name: &str) -> bool {
    ir::defined_by(value, name).is_some()
}

/// The values that the branches of an `scf.if` yield for a result; for other values, the value.
fn sources<'c: 'a, 'a>(value: Value<'c, 'a>) -> Vec<Value<'c, 'a>> {
    let Some((op, number)) = ir::definition(value) else {
        return vec![value];
    };
    if ir::name(op) != ops::scf::IF {
        return vec![value];
    }
    yielded(op, number).flat_map(sources).collect()
}

/// The values that the branches of an `scf.if` yield for the result with this number.
fn yielded<'c: 'a, 'a>(branch: OperationRef<'c, 'a>, number: usize) -> impl Iterator<Item = Value<'c, 'a>> {
    let terminators = blocks_of(branch).filter_map(|block| ir::operations(block).last().copied());
    terminators.filter_map(move |terminator| ir::operand_at(terminator, number))
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

/// The operand that an operation writes into to compute a result.
pub(super) fn written(op: OperationRef, result: usize) -> Option<usize> {
    match ir::name(op).as_str() {
        ops::tensor::INSERT | ops::tensor::INSERT_SLICE | ops::bufferization::MATERIALIZE_IN_DESTINATION => {
            Some(1)
        }
        // The bounds and the step precede the initial values.
        ops::scf::FOR => Some(result + 3),
        ops::scf::WHILE => Some(result),
        name if name.starts_with("linalg.") => (op.operand_count() + result).checked_sub(op.result_count()),
        _ => None,
    }
}

/// Whether an operation writes into this operand.
pub(super) fn is_destination(op: OperationRef, operand: usize) -> bool {
    (0..op.result_count()).any(|result| written(op, result) == Some(operand))
}

/// The tensors whose buffers a value may have: the value, and the destinations that it was written to.
pub(super) fn origins<'c: 'a, 'a>(value: Value<'c, 'a>) -> Vec<Value<'c, 'a>> {
    let mut origins = Vec::new();
    let mut pending = sources(value);
    while let Some(value) = pending.pop() {
        origins.push(value);
        let Some((op, number)) = ir::definition(value) else {
            continue;
        };
        let into = destination(op, number).and_then(|operand| ir::operand_at(op, operand));
        pending.extend(into.into_iter().flat_map(sources));
    }
    origins
}

/// An initial tensor of a value: the destination of its first write, or a value that a branch yields.
pub(super) struct Beginning<'c, 'a> {
    pub(super) value: Value<'c, 'a>,
    /// The operation that writes into it, and the number of the operand.
    pub(super) writer: Option<(OperationRef<'c, 'a>, usize)>,
    /// Whether an `scf.if` yields it.
    is_selected: bool,
    /// Whether an intermediate tensor between it and the value has other users.
    is_shared: bool,
    /// The last loop that writes into it, and the number of the operand.
    last_loop: Option<(OperationRef<'c, 'a>, usize)>,
}

pub(super) fn beginnings<'c, 'a>(value: Value<'c, 'a>) -> Vec<Beginning<'c, 'a>> {
    let mut beginnings = Vec::new();
    let mut pending =
        vec![Beginning { value, writer: None, is_selected: false, is_shared: false, last_loop: None }];
    let mut seen = HashSet::new();
    while let Some(state) = pending.pop() {
        let writer = state.writer.map(|(op, operand)| (op.to_raw().ptr, operand));
        let flags = (state.is_selected, state.is_shared, state.last_loop.is_some());
        if !seen.insert((state.value.to_raw().ptr, writer, flags)) {
            continue;
        }
        let Some((op, number)) = ir::definition(state.value) else {
            beginnings.push(state);
            continue;
        };
        let is_shared = state.is_shared || ir::users(state.value).len() > 1;
        if ir::name(op) == ops::scf::IF {
            pending.extend(yielded(op, number).map(|value| Beginning {
                value,
                writer: None,
                is_selected: true,
                is_shared,
                last_loop: state.last_loop,
            }));
            continue;
        }
        let into = destination(op, number).and_then(|operand| Some((operand, ir::operand_at(op, operand)?)));
        match into.filter(|(_, value)| value.r#type().is_ranked_tensor()) {
            Some((operand, value)) => pending.push(Beginning {
                value,
                writer: Some((op, operand)),
                is_selected: state.is_selected,
                is_shared,
                last_loop: state.last_loop.or(is_loop(op).then_some((op, operand))),
            }),
            None => beginnings.push(state),
        }
    }
    beginnings
}

fn is_loop(op: OperationRef) -> bool {
    matches!(ir::name(op).as_str(), ops::scf::FOR | ops::scf::WHILE)
}

fn is_fresh(value: Value) -> bool {
    is_defined_by(value, ops::tensor::EMPTY) || is_defined_by(value, ops::bufferization::ALLOC_TENSOR)
}

/// Allocates distinct buffers for tensors that branches compute for a loop-carried value, unless the branches select only
/// these tensors and the loop-carried tensor, and none of them has later readers. Upstream replaces an empty tensor by
/// the destination that it is later inserted into, and would otherwise assign one buffer to all operands of a select.
pub(super) fn separate_branches(value: Value, carried: Value, block: BlockRef) {
    let all = beginnings(value);
    let is_local = |b: &Beginning| {
        let writer = b.writer.map(|(op, _)| op);
        is_defined_by(b.value, ops::tensor::EMPTY)
            && writer.is_some_and(|op| ir::ancestor_in(block, op).is_some())
    };
    let is_exclusive = |b: &Beginning| {
        let is_plain = b.value == carried || is_local(b);
        let is_read = |(op, _)| is_read_after(carried, op, block);
        is_plain && !(b.is_selected && (b.is_shared || b.writer.is_some_and(is_read)))
    };
    if all.iter().all(is_exclusive) {
        return;
    }
    for Beginning { value, writer, .. } in all.into_iter().filter(|b| b.is_selected) {
        if let Some((op, operand)) = writer {
            allocate(op, operand, value);
        }
    }
}

/// Copies the initial tensors of a loop whose result a branch yields. Otherwise, the other branch would have the same buffer.
fn separate_loops(branch: OperationRef) {
    for value in branch.results().map(Value::from) {
        if !value.r#type().is_ranked_tensor() {
            continue;
        }
        for (op, operand) in beginnings(value).into_iter().filter_map(|begin| begin.last_loop) {
            let init = ir::operand_at(op, operand);
            if let Some(init) = init.filter(|init| !is_fresh(*init)) {
                ir::use_instead(op, operand, copied(init, op));
            }
        }
    }
}

/// Copies a tensor before an operation.
pub(super) fn copied<'c, 'a>(value: Value<'c, 'a>, op: OperationRef<'c, 'a>) -> Value<'c, 'a> {
    let at = Builder::at(op);
    at.make(ops::bufferization::ALLOC_TENSOR, &[value], &[at.segments(&[0, 1, 0])], value.r#type())
}

/// Whether an operation of the block reads a value after the ancestor of `op`.
fn is_read_after(value: Value, op: OperationRef, block: BlockRef) -> bool {
    let order = ir::operations(block);
    let position = |op: OperationRef| {
        let outer = ir::ancestor_in(block, op)?;
        order.iter().position(|o| *o == outer)
    };
    let reference = position(op);
    ir::users(value).into_iter().any(|user| position(user) > reference)
}

/// Replaces an empty tensor that an operation writes into by an allocation.
pub(super) fn allocate<'c, 'a>(op: OperationRef<'c, 'a>, operand: usize, tensor: Value<'c, 'a>) {
    let Some(empty) = ir::defined_by(tensor, ops::tensor::EMPTY) else {
        return;
    };
    let extents: Vec<Value> = empty.operands().collect();
    let at = Builder::at(op);
    let segments = [at.segments(&[ir::segment(extents.len()), 0, 0])];
    let allocation = at.make(ops::bufferization::ALLOC_TENSOR, &extents, &segments, tensor.r#type());
    ir::use_instead(op, operand, allocation);
}

/// Copies the tensors that an operation writes, from operand `first` on, if they are read by another operation inside or
/// after it. For loops, also copies tensors that may be read as buffers, which bufferization does not analyze: after
/// canonicalization, formulas that are already loops read the allocation of a `bufferization.to_tensor`.
fn start_with_copies(op: OperationRef, first: usize, is_loop: bool) {
    let mut operands: Vec<Value> = op.operands().collect();
    for operand in operands.iter_mut().skip(first) {
        // Skip scalars early, because they may have many readers.
        if !operand.r#type().is_ranked_tensor() || is_defined_by(*operand, ops::tensor::EMPTY) {
            continue;
        }
        let is_buffer = |source: &Value| is_defined_by(*source, ops::bufferization::TO_TENSOR);
        let may_be_buffer = is_loop && sources(*operand).iter().any(is_buffer);
        // A branch may yield one of several existing tensors.
        let is_existing = |b: &Beginning| b.is_selected && (b.is_shared || !is_fresh(b.value));
        let is_mixed = is_loop && beginnings(*operand).iter().any(is_existing);
        if !reads_last(op, *operand) || may_be_buffer || is_mixed {
            *operand = copied(*operand, op);
        }
    }
    ir::set_operands(op, &operands);
}

/// Whether an `scf.while` passes argument `number` of its first region to the same position of the second.
fn forwards(op: OperationRef, number: usize) -> bool {
    let Some(block) = ir::first_block(op) else {
        return false;
    };
    let condition = ir::operations(block).last().copied();
    let passed = condition.and_then(|condition| ir::operand_at(condition, number + 1));
    passed.is_some() && passed == ir::arguments(block).get(number).copied()
}

/// Writes the operands of the terminator, from `first_operand` on, to the arguments of the block, from `first_argument` on.
fn write(block: BlockRef, first_argument: usize, first_operand: usize) {
    let Some(terminator) = ir::operations(block).last().copied() else {
        return;
    };
    let arguments = ir::arguments(block);
    let carried = || arguments.get(first_argument..).into_iter().flatten();
    let mut operands: Vec<Value> = terminator.operands().collect();
    let mut yielded = HashSet::new();
    // Copies permuted values before they are overwritten, and values that are yielded more than once.
    for (n, operand) in operands.iter_mut().enumerate().skip(first_operand) {
        let argument = carried().nth(n - first_operand).copied();
        if argument == Some(*operand) {
            yielded.insert(operand.to_raw().ptr);
            continue;
        }
        if let Some(argument) = argument.filter(|argument| argument.r#type().is_ranked_tensor()) {
            separate_branches(*operand, argument, block);
        }
        let is_repeated = !yielded.insert(operand.to_raw().ptr);
        let mut others = origins(*operand).into_iter().filter(|origin| Some(*origin) != argument);
        if operand.r#type().is_ranked_tensor()
            && (is_repeated || others.any(|origin| arguments.contains(&origin)))
        {
            *operand = copied(*operand, terminator);
        }
    }
    for (operand, argument) in operands.iter_mut().skip(first_operand).zip(carried()) {
        let r#type = operand.r#type();
        if r#type.is_ranked_tensor()
            && argument.r#type() == r#type
            && argument != operand
            && !goes_through_a_loop(*operand, *argument)
            && !is_written_to(*operand, *argument)
        {
            let name = ops::bufferization::MATERIALIZE_IN_DESTINATION;
            *operand = Builder::at(terminator).make(name, &[*operand, *argument], &[], r#type);
        }
    }
    ir::set_operands(terminator, &operands);
}
