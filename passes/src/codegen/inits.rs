// SPDX-License-Identifier: Apache-2.0
//! `skript-separate-inits`: gives each destination a separate init tensor.
//!
//! `cse` merges equal `tensor.empty` and `linalg.fill`. Bufferization treats everything that is written to the merged
//! tensor as states of one tensor. It would copy a fill for each writer except one. A copy is more expensive than another
//! fill, so the pass creates a separate fill for each destination.
//!
//! An elementwise operation can overwrite its input in a shared empty tensor, but the analysis compares every reader with
//! every writer. So at most 16 consecutive users share an empty tensor. Users in different blocks do not share an empty
//! tensor, and neither do users of tensors with one element. A read-only argument (`bufferization.writable = false`) is
//! split in the same way: each group of readers gets a tensor with the argument's buffer. A destination with many
//! consecutive writers, as in unrolled formulas, is split too. Tensors that depend only on variables do not share an init
//! tensor: `skript-prepare-variables` computes them once, unless a call writes their buffer.
//!
//! The pass runs before `skript-write-carried`, which copies a tensor that one operation writes and others read, so that
//! fills with one user are not copied. It moves the fill of a border before the computation of the interior: MLIR would
//! move it too, but would renumber the operations of the block for each move.

use super::loop_carried::{is_destination, written};
use super::order::Order;
use super::write_chains::{cut_chains, same_buffer};
use crate::error::CodegenError;
use crate::invoke;
use crate::ir::shape::InsertSlice;
use crate::ir::walk::named;
use crate::ir::{self, Builder, context, key, ops, types};
use crate::prepare::constant_tensors::ConstantTensors;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{BlockRef, Value, ValueLike};
use skript_dialect::{Dialect, Pass, op};
use std::collections::{HashMap, HashSet};

/// The pass `skript-separate-inits`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-separate-inits",
    summary: "give each destination a separate init tensor",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Bufferization],
    run: |root, _, _| Ok(separate_inits(root)?),
    ..Pass::NONE
};

/// Maximum number of users of one empty tensor or argument: the analysis is quadratic in the number of users.
const MAX_USERS: usize = 16;

/// Copies the shared init tensors of the module.
fn separate_inits(module: OperationRef) -> Result<(), CodegenError> {
    // Fills are separated first, because their copies are additional users of their empty tensors.
    for fill in fills(module) {
        for (user, operand) in uses(fill).into_iter().flatten() {
            if is_destination(user, operand) {
                ir::use_instead(user, operand, copy_before(fill, user)?);
            }
        }
        if fill.result(0).is_ok_and(|result| !op::is_used(result)) {
            ir::erase(fill);
        }
    }
    fill_borders_early(module);
    separate_constants(module)?;
    for empty in named(module, ops::tensor::EMPTY) {
        for users in uses(empty) {
            // The first group in the block of the empty tensor uses the original.
            let is_local = users.first().is_some_and(|(user, _)| user.block() == empty.block());
            let max_users = if is_scalar(empty) { 1 } else { MAX_USERS };
            for group in users.chunks(max_users).skip(usize::from(is_local)) {
                let Some((first, _)) = group.first() else {
                    continue;
                };
                let copy = copy_before(empty, *first)?;
                for (user, operand) in group {
                    ir::use_instead(*user, *operand, copy);
                }
            }
        }
    }
    for function in named(module, ops::func::FUNC) {
        separate_arguments(function)?;
    }
    cut_chains(module)
}

/// Creates separate empty tensors for destinations whose results depend only on variables.
fn separate_constants(module: OperationRef) -> Result<(), CodegenError> {
    for function in named(module, ops::func::FUNC) {
        let constants = ConstantTensors::new(function);
        if constants.is_empty() {
            continue;
        }
        for empty in named(function, ops::tensor::EMPTY) {
            for (user, operand) in uses(empty).into_iter().flatten() {
                let is_constant = user.results().all(|result| constants.contains(result.into()));
                if is_constant && is_destination(user, operand) {
                    ir::use_instead(user, operand, copy_before(empty, user)?);
                }
            }
            if empty.result(0).is_ok_and(|result| !op::is_used(result)) {
                ir::erase(empty);
            }
        }
    }
    Ok(())
}

/// Whether a tensor has one element. Users do not share such tensors, so that a result that can be computed once is not
/// overwritten.
fn is_scalar(empty: OperationRef) -> bool {
    empty.result(0).is_ok_and(|result| types::shape(result.r#type()).iter().all(|extent| *extent == 1))
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
        let (Some(first), Some(fill)) = (beginning(inside), ir::defining_op(border)) else {
            continue;
        };
        if !is_fill(fill) || ir::users(border).len() != 1 {
            continue;
        }
        let order: &mut Order =
            orders.entry(block.to_raw().ptr as usize).or_insert_with(|| Order::new(block));
        let mut inits = fill.operands().filter_map(ir::defining_op);
        if inits.all(|init| ir::name(init) != ops::tensor::EMPTY || order.move_before(init, first)) {
            order.move_before(fill, first);
        }
    }
}

/// Maximum number of operations that write one tensor between its first state and an insertion.
const MAX_WRITERS: usize = 8;

/// Returns the first operation that writes a tensor: the operation that writes into the empty tensor.
fn beginning<'c: 'a, 'a>(tensor: Value<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    let mut tensor = tensor;
    for _ in 0..MAX_WRITERS {
        let (writer, number) = ir::definition(tensor)?;
        tensor = writer.operand(written(writer, number)?).ok()?;
        if ir::name(ir::defining_op(tensor)?) == ops::tensor::EMPTY {
            return Some(writer);
        }
    }
    None
}

/// Creates a tensor with the argument's buffer for each group of the argument's readers.
fn separate_arguments(function: OperationRef) -> Result<(), CodegenError> {
    let Some(body) = ir::first_block(function) else {
        return Ok(());
    };
    let holder = function.context();
    let context = context::borrow(&holder);
    let order = ir::nested(function).into_iter().enumerate().map(|(n, op)| (key(op), n)).collect();
    for argument in invoke::read_only_arguments(function) {
        let mut users = uses_below(body, argument, &order);
        users.retain(|(_, user, _)| !starts_group(*user));
        for group in users.chunks(MAX_USERS).skip(1) {
            let Some((first, ..)) = group.first() else {
                continue;
            };
            let tensor = same_buffer(context, argument, *first, true)?;
            for (_, user, operand) in group {
                ir::use_instead(*user, *operand, tensor);
            }
        }
    }
    Ok(())
}

/// Returns the uses in a block and in the regions of its operations, in textual order. Each has the ancestor of the user in
/// the block, the user, and the operand number. `order` has the position of each operation.
fn uses_below<'c, 'a>(
    block: BlockRef<'c, 'a>,
    shared: Value<'c, 'a>,
    order: &HashMap<usize, usize>,
) -> Vec<(OperationRef<'c, 'a>, OperationRef<'c, 'a>, usize)> {
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for user in ir::users(shared) {
        let Some(outer) = ir::ancestor_in(block, user) else {
            continue;
        };
        if seen.insert(key(user)) {
            all.extend(positions(user, shared).into_iter().map(|n| (outer, user, n)));
        }
    }
    all.sort_by_key(|(_, user, operand)| (order.get(&key(*user)).copied(), *operand));
    all
}

/// Returns the operand positions at which an operation uses a value.
fn positions<'c: 'a, 'a>(user: OperationRef<'c, 'a>, value: Value<'c, 'a>) -> Vec<usize> {
    user.operands().enumerate().filter(|(_, operand)| *operand == value).map(|(n, _)| n).collect()
}

/// Whether an operation provides the argument's buffer to a group of readers.
fn starts_group(op: OperationRef) -> bool {
    let buffer = op.results().next().map(Value::from);
    ir::name(op) == ops::bufferization::TO_BUFFER
        && buffer.is_some_and(|buffer| {
            ir::users(buffer).iter().all(|user| ir::name(*user) == ops::bufferization::TO_TENSOR)
        })
}

/// Returns the operations that overwrite their destination without reading tensors: `linalg.fill`, and equivalent generic
/// operations.
fn fills<'c, 'a>(module: OperationRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let mut operations = ir::nested(module);
    operations.retain(|op| is_fill(*op));
    operations
}

fn is_fill(op: OperationRef) -> bool {
    match ir::name(op).as_str() {
        ops::linalg::FILL => true,
        ops::linalg::GENERIC => op.operand_count() == 1 && op.result_count() == 1,
        _ => false,
    }
}

/// Returns the users of an init, with the operand positions, if it has several users: by block, in textual order within each
/// block.
fn uses<'c, 'a>(init: OperationRef<'c, 'a>) -> Vec<Vec<(OperationRef<'c, 'a>, usize)>> {
    let Ok(shared) = init.result(0).map(Value::from) else {
        return Vec::new();
    };
    let users: HashSet<usize> = ir::users(shared).into_iter().map(key).collect();
    if users.len() < 2 {
        return Vec::new();
    }
    let mut seen = HashSet::new();
    let blocks = ir::users(shared).into_iter().filter_map(|user| user.block());
    // The use list begins with the last use, so it is reversed below.
    let blocks: Vec<BlockRef> = blocks.filter(|block| seen.insert(block.to_raw().ptr)).collect();
    let of_block = |block: BlockRef<'c, 'a>| {
        let users = ir::operations(block).into_iter().filter(|user| users.contains(&key(*user)));
        users.flat_map(|user| positions(user, shared).into_iter().map(move |n| (user, n))).collect()
    };
    blocks.into_iter().rev().map(of_block).collect()
}

/// Copies an init before its user.
pub(super) fn copy_before<'c, 'a>(
    init: OperationRef<'c, 'a>,
    user: OperationRef<'c, 'a>,
) -> Result<Value<'c, 'a>, CodegenError> {
    let result = init.result(0)?.r#type();
    let operands: Vec<Value> = init.operands().collect();
    let copy = Builder::at(user).insert(op::clone_with(&init, &operands, &[result]));
    Ok(copy.result(0)?.into())
}
