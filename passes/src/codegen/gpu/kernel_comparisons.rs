// SPDX-License-Identifier: Apache-2.0
//! Comparisons of widened integers with constants, in the type that was widened.
//!
//! They have the same results, and Mesa 22.3 computes those of 64 bits with some constants wrong where it narrows them itself.

use crate::ir::{self, Builder, arith, ops};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::IntegerType;
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::PassError;

/// Replaces comparisons of numbers of 32 bits that were widened with their sign, and constants that have 32 bits.
pub(super) fn narrow(function: OperationRef) -> Result<(), PassError> {
    for op in ir::walk::named(function, ops::arith::CMPI) {
        let context = ir::context::of(op);
        let number: Type = IntegerType::new(context, 32).into();
        let [left, right] = ir::both_operands(op)?;
        let at = Builder::before(context, op)?;
        let of = |value: i64| {
            let value = IntegerAttribute::new(number, value).into();
            at.value(ops::arith::CONSTANT, &[], &[("value", value)], number)
        };
        let operands = match (widened(left, number), constant(left), widened(right, number), constant(right))
        {
            (Some(left), _, _, Some(right)) => [left, of(right)?],
            (_, Some(left), Some(right), _) => [of(left)?, right],
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

/// What was widened to a value, if it has this type.
fn widened<'c: 'a, 'a>(value: Value<'c, 'a>, number: Type<'c>) -> Option<Value<'c, 'a>> {
    let (cast, _) = ir::definition(value)?;
    let names = [ops::arith::EXTSI, ops::arith::INDEX_CAST];
    let source = names.contains(&ir::name(cast).as_str()).then(|| ir::operand(cast));
    let source = source?.ok()?;
    (source.r#type() == number).then_some(source)
}

/// A constant of 32 bits.
fn constant(value: Value) -> Option<i64> {
    let known = arith::Constant::of(value).and_then(arith::Constant::integer)?;
    i32::try_from(known).ok().map(i64::from)
}
