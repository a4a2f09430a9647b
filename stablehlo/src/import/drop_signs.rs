// SPDX-License-Identifier: Apache-2.0
//! `skript-drop-signs`: converts unsigned integer types to signless types, which `arith`, memrefs and LLVM use.
//!
//! Requires: the semantics of no remaining operation depends on the signedness of a type. Guarantees: no value has an
//! unsigned integer type, and no casts between signless and unsigned integers remain.

use melior::ir::attribute::TypeAttribute;
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::r#type::{FunctionType, IntegerType};
use melior::ir::{OperationRef, Type, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::{Pass, PassError, op};
use skript_passes::ir;
use skript_passes::ir::vector::shaped_like;
use skript_passes::ir::{context, mutation, ops, types};

/// The pass `skript-drop-signs`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-drop-signs",
    summary: "unsigned integers become signless ones",
    anchor: Some(ops::builtin::MODULE),
    run: |root, _, _| {
        for op in op::collect(&root, |_| true) {
            for block in ir::blocks(op) {
                for n in 0..block.argument_count() {
                    retype(block.argument(n)?.into());
                }
            }
            for result in op.results() {
                retype(result.into());
            }
            if op::is(&op, ops::func::FUNC) {
                sign(op)?;
            }
        }
        for cast in op::collect(&root, |op| op::is(&op, ops::builtin::UNREALIZED_CONVERSION_CAST)) {
            let (Ok(from), Ok(to)) = (ir::operand(cast), ir::result(cast)) else {
                continue;
            };
            if cast.operand_count() == 1 && from.r#type() == to.r#type() {
                ir::replace_uses(to, from);
                ir::erase(cast);
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

fn retype(value: Value) {
    if let Some(new) = signless(value.r#type()) {
        mutation::retype(value, new);
    }
}

/// The type with signless integers; `None` if it has no unsigned integers.
fn signless(r#type: Type<'_>) -> Option<Type<'_>> {
    let element = types::element_of(r#type).unwrap_or(r#type);
    let integer = IntegerType::try_from(element).ok().filter(IntegerType::is_unsigned)?;
    Some(shaped_like(r#type, types::int(types::context_of(r#type), integer.width())))
}

/// Converts the function type. Converting block arguments is not enough, because declarations have none.
fn sign<'c>(function: OperationRef<'c, '_>) -> Result<(), PassError> {
    let (inputs, results) = ir::signature(function)?;
    let all = |types: Vec<Type<'c>>| types.into_iter().map(|t| signless(t).unwrap_or(t)).collect::<Vec<_>>();
    let r#type = FunctionType::new(context::of(function), &all(inputs), &all(results));
    ir::set_attribute(function, "function_type", TypeAttribute::new(r#type.into()).into());
    Ok(())
}
