// SPDX-License-Identifier: Apache-2.0
//! Uses and order of operations: users, replacement, erasure.

use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, OperationRef, Value, ValueLike};

/// The operation that a value is a result of, and the number of the result; `None` for block arguments.
pub fn definition<'c, 'a>(value: Value<'c, 'a>) -> Option<(OperationRef<'c, 'a>, usize)> {
    // SAFETY: the op of a live result lives as long as the result.
    unsafe {
        let raw = value.to_raw();
        mlir_sys::mlirValueIsAOpResult(raw).then(|| {
            let number = mlir_sys::mlirOpResultGetResultNumber(raw);
            let op = OperationRef::from_raw(mlir_sys::mlirOpResultGetOwner(raw));
            (op, number as usize)
        })
    }
}

/// Ops that use `value`.
pub fn users<'c, 'a>(value: Value<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let mut found = Vec::new();
    // SAFETY: the chain of uses of a live value; nothing is changed while it is followed.
    unsafe {
        let mut operand = mlir_sys::mlirValueGetFirstUse(value.to_raw());
        while !mlir_sys::mlirOpOperandIsNull(operand) {
            found.push(OperationRef::from_raw(mlir_sys::mlirOpOperandGetOwner(operand)));
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

/// Removes an unused operation from its block and frees it.
pub fn erase(op: OperationRef) {
    // SAFETY: callers hold no other reference to the op; its results have no uses.
    unsafe { mlir_sys::mlirOperationDestroy(op.to_raw()) }
}

/// Whether an op precedes another one of its block.
pub fn is_before(op: OperationRef, other: OperationRef) -> bool {
    // SAFETY: both ops are alive and in one block.
    unsafe { mlir_sys::mlirOperationIsBeforeInBlock(op.to_raw(), other.to_raw()) }
}

/// Moves an op before another one of its block.
pub(crate) fn move_before(op: OperationRef, other: OperationRef) {
    // SAFETY: both ops are alive and in one block.
    unsafe { mlir_sys::mlirOperationMoveBefore(op.to_raw(), other.to_raw()) }
}

/// Moves an op from its block to the end of another one.
pub(crate) fn move_to_end(op: OperationRef, block: BlockRef) {
    // SAFETY: both are alive; the new block takes the op over at once.
    unsafe {
        mlir_sys::mlirOperationRemoveFromParent(op.to_raw());
        mlir_sys::mlirBlockAppendOwnedOperation(block.to_raw(), op.to_raw());
    }
}

/// Identifies an op while it is alive.
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
