// SPDX-License-Identifier: Apache-2.0
//! Operands and results at positions that are common to many operations: casts, unary and binary operations, terminators with
//! one value, operations with destinations.

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

/// An operand by its number; `None` if the operation has fewer operands. For a missing operand, this is faster than
/// [`OperationLike::operand`], whose error contains the text of the operation, which MLIR prints after verifying the module.
pub(crate) fn operand_at<'c: 'a, 'a>(op: OperationRef<'c, 'a>, number: usize) -> Option<Value<'c, 'a>> {
    let exists = number < op.operand_count();
    exists.then(|| op.operand(number).ok()).flatten()
}

/// A result; `None` if the operation has fewer. The error of [`OperationLike::result`] contains the text of the operation, which takes
/// long to print.
pub(crate) fn result_at<'c: 'a, 'a>(op: OperationRef<'c, 'a>, number: usize) -> Option<Value<'c, 'a>> {
    let exists = number < op.result_count();
    exists.then(|| op.result(number).ok().map(Value::from)).flatten()
}

/// The operands of a binary operation.
///
/// # Errors
/// The operation has fewer than two operands.
pub fn both_operands<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<[Value<'c, 'a>; 2], Error> {
    operand_at(op, 0).zip(operand_at(op, 1)).map(<[_; 2]>::from).ok_or(Error::OperationBuild)
}

/// The first result of an operation.
///
/// # Errors
/// The operation has no result.
pub fn result<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
    Ok(op.result(0)?.into())
}

/// The destination of a result. Destinations are the last operands.
pub(crate) fn destination<'c: 'a, 'a>(op: OperationRef<'c, 'a>, result: usize) -> Option<Value<'c, 'a>> {
    let before = op.operand_count().checked_sub(op.result_count())?;
    op.operand(before + result).ok()
}
