// SPDX-License-Identifier: Apache-2.0
//! Operands and results of operations that many families have in one position: casts, unary and binary operations, ends of
//! regions with one value, operations with destinations.

use melior::Error;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value};

/// The operand of a unary operation, the source of a cast or a view, or the operand of a terminator.
///
/// # Errors
/// The operation has no operand.
pub fn operand<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
    op.operand(0)
}

/// An operand by its number, if there are so many. The error of [`OperationLike::operand`] holds the text of the operation, for which MLIR
/// verifies the whole module: a question costs nothing.
pub(crate) fn operand_at<'c: 'a, 'a>(op: OperationRef<'c, 'a>, number: usize) -> Option<Value<'c, 'a>> {
    let exists = number < op.operand_count();
    exists.then(|| op.operand(number).ok()).flatten()
}

/// The operands of a binary operation.
///
/// # Errors
/// The operation has fewer than two operands.
pub fn both_operands<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<[Value<'c, 'a>; 2], Error> {
    let both = operand_at(op, 0).zip(operand_at(op, 1));
    both.map(<[_; 2]>::from).ok_or(Error::OperationBuild)
}

/// The result of an operation that has one.
///
/// # Errors
/// The operation has no result.
pub fn result<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
    Ok(op.result(0)?.into())
}

/// The destination that a result updates: destinations are the last operands.
pub(crate) fn destination<'c: 'a, 'a>(op: OperationRef<'c, 'a>, result: usize) -> Option<Value<'c, 'a>> {
    let before = op.operand_count().checked_sub(op.result_count())?;
    op.operand(before + result).ok()
}
