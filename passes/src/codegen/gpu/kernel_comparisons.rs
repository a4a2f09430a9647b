// SPDX-License-Identifier: Apache-2.0
//! Narrows comparisons of sign-extended integers with constants to 32 bits.
//!
//! The results do not change. Without this rewrite, Mesa 22.3 narrows 64-bit comparisons itself, and miscompiles some of them.

use crate::ir::{self, Builder, ops, types};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::PassError;

/// Replaces comparisons of sign-extended 32-bit integers with constants that fit 32 bits.
pub(super) fn narrow(function: OperationRef) -> Result<(), PassError> {
    for op in ir::walk::named(function, ops::arith::CMPI) {
        let at = Builder::at(op);
        let number = types::int(at.context, 32);
        let [left, right] = ir::both_operands(op)?;
        let operands = match (widened(left, number), constant(left), widened(right, number), constant(right))
        {
            (Some(left), _, _, Some(right)) => [left, at.int(right, number)],
            (_, Some(left), Some(right), _) => [at.int(left, number), right],
            _ => continue,
        };
        let predicate = [("predicate", op.attribute("predicate")?)];
        let result: Value = op.result(0)?.into();
        let narrow = at.value(ops::arith::CMPI, &operands, &predicate, result.r#type())?;
        ir::replace_uses(result, narrow);
        ir::erase(op);
    }
    Ok(())
}

/// Returns the integer of type `number` whose sign extension is `value`.
fn widened<'c: 'a, 'a>(value: Value<'c, 'a>, number: Type<'c>) -> Option<Value<'c, 'a>> {
    let cast = ir::defining_op(value)?;
    let is_extension = [ops::arith::EXTSI, ops::arith::INDEX_CAST].contains(&ir::name(cast).as_str());
    ir::operand(cast).ok().filter(|source| is_extension && source.r#type() == number)
}

/// Returns the constant value if it fits 32 bits.
fn constant(value: Value) -> Option<i64> {
    i32::try_from(ir::integer(value)?).ok().map(i64::from)
}
