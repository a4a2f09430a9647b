// SPDX-License-Identifier: Apache-2.0
//! Def-use chains and the order of operations: definitions, users, replacement, erasure, moves.

use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, OperationRef, Value, ValueLike};

/// The operation that defines a value, and the number of the result; `None` for block arguments.
pub fn definition<'c, 'a>(value: Value<'c, 'a>) -> Option<(OperationRef<'c, 'a>, usize)> {
    // SAFETY: the operation of a live result lives as long as the result.
    unsafe {
        let raw = value.to_raw();
        mlir_sys::mlirValueIsAOpResult(raw).then(|| {
            let number = mlir_sys::mlirOpResultGetResultNumber(raw);
            let op = OperationRef::from_raw(mlir_sys::mlirOpResultGetOwner(raw));
            (op, number as usize)
        })
    }
}

/// The operation that defines a value; `None` for block arguments.
pub(crate) fn defining_op<'c, 'a>(value: Value<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    definition(value).map(|(op, _)| op)
}

/// The operation that defines a value, if it has this name.
pub(crate) fn defined_by<'c: 'a, 'a>(value: Value<'c, 'a>, name: &str) -> Option<OperationRef<'c, 'a>> {
    defining_op(value).filter(|op| skript_dialect::op::is(op, name))
}

/// The users of a value, one for each use, starting with the last use.
pub fn users<'c, 'a>(value: Value<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let mut users = Vec::new();
    // SAFETY: the use list of a live value, which does not change meanwhile.
    unsafe {
        let mut operand = mlir_sys::mlirValueGetFirstUse(value.to_raw());
        while !mlir_sys::mlirOpOperandIsNull(operand) {
            users.push(OperationRef::from_raw(mlir_sys::mlirOpOperandGetOwner(operand)));
            operand = mlir_sys::mlirOpOperandGetNextUse(operand);
        }
    }
    users
}

/// Replaces all uses of `old` by `new`, which has the same type.
pub fn replace_uses(old: Value, new: Value) {
    // SAFETY: both values are alive.
    unsafe { mlir_sys::mlirValueReplaceAllUsesOfWith(old.to_raw(), new.to_raw()) }
}

/// Removes an unused operation from its block and frees it.
pub fn erase(op: OperationRef) {
    // SAFETY: callers hold no other reference to the operation; its results have no uses.
    unsafe { mlir_sys::mlirOperationDestroy(op.to_raw()) }
}

/// Whether an operation precedes another one in its block.
pub fn is_before(op: OperationRef, other: OperationRef) -> bool {
    // SAFETY: both operations are alive and in one block.
    unsafe { mlir_sys::mlirOperationIsBeforeInBlock(op.to_raw(), other.to_raw()) }
}

/// Moves an operation before another one in its block.
pub(crate) fn move_before(op: OperationRef, other: OperationRef) {
    // SAFETY: both operations are alive and in one block.
    unsafe { mlir_sys::mlirOperationMoveBefore(op.to_raw(), other.to_raw()) }
}

/// Moves an operation to the end of another block.
pub(crate) fn move_to_end(op: OperationRef, block: BlockRef) {
    // SAFETY: both are alive; the new block owns the operation at once.
    unsafe {
        mlir_sys::mlirOperationRemoveFromParent(op.to_raw());
        mlir_sys::mlirBlockAppendOwnedOperation(block.to_raw(), op.to_raw());
    }
}

/// Identifies an operation until it is erased.
pub fn key(op: OperationRef) -> usize {
    op.to_raw().ptr as usize
}

/// The operation of `block` that is `op` or contains it.
pub(crate) fn ancestor_in<'c, 'a>(
    block: BlockRef<'c, 'a>,
    op: OperationRef<'c, 'a>,
) -> Option<OperationRef<'c, 'a>> {
    let mut op = op;
    loop {
        let owner = op.block()?;
        if owner.to_raw().ptr == block.to_raw().ptr {
            return Some(op);
        }
        op = owner.parent_operation()?;
    }
}
