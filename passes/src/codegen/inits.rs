// SPDX-License-Identifier: Apache-2.0
//! `skript-separate-inits`: gives destinations init tensors of their own.
//!
//! `cse` merges equal `tensor.empty` and `linalg.fill`. For bufferization, all that is written to the one tensor is
//! then one tensor in many states. Of a fill it would make a copy for each writer but one, which costs more than
//! filling again, so each destination gets its own fill.
//!
//! Sharing an empty tensor lets a map overwrite what it reads, but the analysis compares every reader with every
//! writer: at most 16 users in a row share one, those of one element none, and users in a loop or branch share none with code outside. An argument
//! that is never written (`bufferization.writable = false`) is split in the same way: each group of readers gets a
//! tensor with the argument's buffer. So is a destination that many operations in a row write, as unrolled formulas do.
//! What is computed from variables alone shares no tensor: `skript-prepare-variables` computes it once, unless its buffer is written in
//! each call.
//!
//! Run it before `skript-write-carried`, which copies what is written in one place and read in others, so that fills
//! with one user are not copied. Fills of a border come before the insertion of the interior: upstream would move them,
//! and renumber the operations of the block for each.

use super::loop_carried::{is_destination, written};
use super::order::Order;
use super::write_chains::{cut_chains, same_buffer};
use crate::error::CodegenError;
use crate::invoke;
use crate::ir;
use crate::ir::context;
use crate::ir::ops;
use crate::ir::shape::InsertSlice;
use crate::ir::types;
use crate::prepare::constant_tensors::ConstantTensors;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{BlockRef, Value, ValueLike};
use skript_dialect::{Dialect, Pass, op};
use std::collections::{HashMap, HashSet};

/// The pass `skript-separate-inits`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-separate-inits",
    summary: "give destinations init tensors of their own",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Bufferization],
    run: |root, _, _| Ok(separate_inits(root)?),
    ..Pass::NONE
};

/// Maximum number of users of one empty tensor or argument: the analysis takes quadratic time in them.
const MOST_USERS: usize = 16;

/// Copies shared inits below the module.
///
/// # Errors
/// [`CodegenError::Module`] if an op is malformed.
pub(crate) fn separate_inits(module: OperationRef) -> Result<(), CodegenError> {
    // Fills first: copies of them use their empty tensors again.
    for fill in fills(module) {
        for (user, operand) in uses(fill)?.into_iter().flatten() {
            if is_destination(user, operand) {
                let own = copy_before(fill, user)?;
                ir::use_instead(user, operand, own);
            }
        }
        if fill.result(0).is_ok_and(|result| !op::is_used(result)) {
            ir::erase(fill);
        }
    }
    fill_borders_early(module);
    separate_constants(module)?;
    for empty in named(module, ops::tensor::EMPTY) {
        for users in uses(empty)? {
            let is_own = users.first().is_some_and(|(user, _)| user.block() == empty.block());
            // The first ones of its own block keep it.
            let most = if is_scalar(empty) { 1 } else { MOST_USERS };
            for group in users.chunks(most).skip(usize::from(is_own)) {
                let Some((first, _)) = group.first() else {
                    continue;
                };
                let own = copy_before(empty, *first)?;
                for (user, operand) in group {
                    ir::use_instead(*user, *operand, own);
                }
            }
        }
    }
    for function in named(module, ops::func::FUNC) {
        separate_arguments(function)?;
    }
    cut_chains(module)
}

/// Gives each destination of what is computed from variables alone a tensor of its own.
fn separate_constants(module: OperationRef) -> Result<(), CodegenError> {
    for function in named(module, ops::func::FUNC) {
        let constants = ConstantTensors::of(function);
        if constants.is_empty() {
            continue;
        }
        for empty in named(function, ops::tensor::EMPTY) {
            for (user, operand) in uses(empty)?.into_iter().flatten() {
                let mut results = user.results();
                let is_constant = results.all(|result| constants.contains(result.into()));
                if is_constant && is_destination(user, operand) {
                    let own = copy_before(empty, user)?;
                    ir::use_instead(user, operand, own);
                }
            }
            if empty.result(0).is_ok_and(|result| !op::is_used(result)) {
                ir::erase(empty);
            }
        }
    }
    Ok(())
}

/// Whether a tensor has one element: each user has its own, so that what can be computed once is not overwritten.
fn is_scalar(empty: OperationRef) -> bool {
    let extents = empty.result(0).ok();
    let extents = extents.and_then(|result| types::extents(result.r#type()));
    extents.is_some_and(|extents| extents.iter().all(|extent| *extent == 1))
}

/// Moves fills before the computation of the tensors that are inserted into them.
fn fill_borders_early<'c: 'a, 'a>(module: OperationRef<'c, 'a>) {
    let mut orders = HashMap::new();
    for insert in named(module, ops::tensor::INSERT_SLICE) {
        let Some(insertion) = InsertSlice::cast(insert) else {
            continue;
        };
        let (Some(block), Ok(inside), Ok(border)) =
            (insert.block(), insertion.source(), insertion.destination())
        else {
            continue;
        };
        let (Some(first), Some(fill)) = (beginning(inside), maker(border)) else {
            continue;
        };
        if !is_fill(fill) || ir::users(border).len() != 1 {
            continue;
        }
        let order = orders.entry(block.to_raw().ptr as usize);
        let order: &mut Order = order.or_insert_with(|| Order::of(block));
        let mut inits = fill.operands().filter_map(maker);
        if inits.all(|init| ir::name(init) != ops::tensor::EMPTY || order.move_before(init, first)) {
            order.move_before(fill, first);
        }
    }
}

/// Maximum number of ops that write one tensor between its first state and an insertion.
const MOST_WRITERS: usize = 8;

/// The op that begins a tensor: it writes into an empty one.
fn beginning<'c: 'a, 'a>(tensor: Value<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    let mut tensor = tensor;
    for _ in 0..MOST_WRITERS {
        let (writer, number) = ir::definition(tensor)?;
        tensor = writer.operand(written(writer, number)?).ok()?;
        if ir::name(maker(tensor)?) == ops::tensor::EMPTY {
            return Some(writer);
        }
    }
    None
}

/// The op that makes a value.
pub(super) fn maker<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    ir::definition(value).map(|(op, _)| op)
}

/// Gives each group of an argument's readers a tensor with the argument's buffer.
fn separate_arguments(function: OperationRef) -> Result<(), CodegenError> {
    let Some(body) = ir::first_block(function) else {
        return Ok(());
    };
    let holder = function.context();
    let context = context::borrow(&holder);
    let order = ir::nested(function).into_iter().enumerate();
    let order = order.map(|(n, op)| (key(op), n)).collect();
    for argument in invoke::read_only_arguments(function) {
        let mut users = uses_below(body, argument, &order);
        users.retain(|(_, user, _)| !is_of_a_group(*user));
        for group in users.chunks(MOST_USERS).skip(1) {
            let Some((first, ..)) = group.first() else {
                continue;
            };
            let own = same_buffer(context, argument, *first, true)?;
            for (_, user, operand) in group {
                ir::use_instead(*user, *operand, own);
            }
        }
    }
    Ok(())
}

/// Users in the block and in the regions of its ops, in textual order: the op of the block that is or holds the user,
/// the user, and the operand number. `order` has the position of each op.
fn uses_below<'c, 'a>(
    block: BlockRef<'c, 'a>,
    shared: Value<'c, 'a>,
    order: &HashMap<usize, usize>,
) -> Vec<(OperationRef<'c, 'a>, OperationRef<'c, 'a>, usize)> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for user in ir::users(shared) {
        let Some(outer) = ir::ancestor_in(block, user) else {
            continue;
        };
        if seen.insert(key(user)) {
            let uses = user.operands().enumerate().filter(|(_, operand)| *operand == shared);
            found.extend(uses.map(|(n, _)| (outer, user, n)));
        }
    }
    found.sort_by_key(|(_, user, operand)| (order.get(&key(*user)).copied(), *operand));
    found
}

/// Whether an op gives a group of readers the argument's buffer.
fn is_of_a_group(op: OperationRef) -> bool {
    let buffer = op.results().next().map(Value::from);
    ir::name(op) == ops::bufferization::TO_BUFFER
        && buffer.is_some_and(|buffer| {
            let users = ir::users(buffer);
            users.iter().all(|user| ir::name(*user) == ops::bufferization::TO_TENSOR)
        })
}

/// Operations that overwrite their destination without reading tensors: `linalg.fill`, and equal generic operations.
fn fills<'c, 'a>(module: OperationRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let mut found = ir::nested(module);
    found.retain(|op| is_fill(*op));
    found
}

fn is_fill(op: OperationRef) -> bool {
    match ir::name(op).as_str() {
        ops::linalg::FILL => true,
        ops::linalg::GENERIC => op.operand_count() == 1 && op.result_count() == 1,
        _ => false,
    }
}

fn named<'c, 'a>(module: OperationRef<'c, 'a>, name: &str) -> Vec<OperationRef<'c, 'a>> {
    let mut found = ir::nested(module);
    found.retain(|op| ir::name(*op) == name);
    found
}

/// Users of an init, if there are several, block by block, those of a block in the order of the text, with the operand that it is.
fn uses<'c, 'a>(init: OperationRef<'c, 'a>) -> Result<Vec<Vec<(OperationRef<'c, 'a>, usize)>>, CodegenError> {
    let Ok(shared) = init.result(0).map(Value::from) else {
        return Ok(Vec::new());
    };
    let users: HashSet<usize> = ir::users(shared).into_iter().map(key).collect();
    if users.len() < 2 {
        return Ok(Vec::new());
    }
    let mut seen = HashSet::new();
    let blocks = ir::users(shared).into_iter().filter_map(|user| user.block());
    // The list of users begins with the last one.
    let blocks: Vec<BlockRef> = blocks.filter(|block| seen.insert(block.to_raw().ptr)).collect();
    let of_block = |block: BlockRef<'c, 'a>| {
        let all = ir::operations(block).into_iter();
        let own = all.filter(|user| users.contains(&key(*user)));
        own.flat_map(|user| {
            let places = user.operands().enumerate().filter(|(_, operand)| *operand == shared);
            places.map(|(n, _)| (user, n)).collect::<Vec<_>>()
        })
        .collect()
    };
    Ok(blocks.into_iter().rev().map(of_block).collect())
}

/// A copy of an init in front of its user.
pub(super) fn copy_before<'c, 'a>(
    init: OperationRef<'c, 'a>,
    user: OperationRef<'c, 'a>,
) -> Result<Value<'c, 'a>, CodegenError> {
    let wrong = |e: melior::Error| CodegenError::Module(e.to_string());
    let result = init.result(0).map_err(wrong)?.r#type();
    let operands: Vec<Value> = init.operands().collect();
    let copy = op::clone_with(&init, &operands, &[result]);
    let block = user.block();
    let block = block.ok_or_else(|| CodegenError::Module("an op in no block".to_owned()))?;
    let copy = block.insert_operation_before(user, copy);
    Ok(copy.result(0).map_err(wrong)?.into())
}

fn key(op: OperationRef) -> usize {
    op.to_raw().ptr as usize
}
