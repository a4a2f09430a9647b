// SPDX-License-Identifier: Apache-2.0
//! Prepares kernels for the SPIR-V lowering in MLIR: inlines calls, and defines the results of loops without iterations.
//!
//! The MLIR inliner does not inline into `gpu.func`, and the SPIR-V lowering of `scf.for` stores the results only in the body.

use crate::ir::builder::arith::Integers;
use crate::ir::func::callee;
use crate::ir::{self, Builder, ops, regions, types};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Operation, Type, TypeLike, Value, ValueLike};
use skript_dialect::PassError;

/// Maximum depth of calls; deeper calls count as recursion.
const MAX_DEPTH: usize = 16;

/// Inlines all calls in a kernel; the functions are in its module, and have one block each.
pub(super) fn inline_calls<'c: 'a, 'a>(
    kernel: OperationRef<'c, 'a>,
    module: OperationRef<'c, 'a>,
) -> Result<(), PassError> {
    let functions = ir::func::functions(module);
    for _ in 0..MAX_DEPTH {
        let calls = ir::walk::named(kernel, ops::func::CALL);
        if calls.is_empty() {
            return Ok(());
        }
        for call in calls {
            let function = callee(call).and_then(|name| functions.get(&name).copied());
            let function =
                function.ok_or_else(|| PassError::at(call, "calls a function that its module lacks"))?;
            if ir::blocks(function).len() != 1 {
                return Err(PassError::at(call, "calls a function of several blocks"));
            }
            let at = Builder::at(call);
            let copy = at.insert(Operation::clone(&function));
            let body = ir::body(copy)?;
            for (argument, operand) in ir::arguments(body).into_iter().zip(call.operands()) {
                ir::replace_uses(argument, operand);
            }
            let region = regions::take(copy, 0)?;
            let values = regions::inline(call, &region)?;
            for (result, value) in call.results().zip(values) {
                ir::replace_uses(result.into(), value);
            }
            ir::erase(copy);
            ir::erase(call);
        }
    }
    Err(PassError::at(kernel, "calls a recursive function"))
}

/// Replaces the results of each loop by selects: the results of a loop without iterations are its initial values.
pub(super) fn define_results(kernel: OperationRef) {
    for op in ir::walk::named(kernel, ops::scf::FOR) {
        let next = op.next_in_block();
        let (Some(next), true) = (next, op.result_count() > 0) else {
            continue;
        };
        let at = Builder::at(next).with_location(op.location());
        let operands: Vec<Value> = op.operands().collect();
        let (Some(lower), Some(upper)) = (operands.first(), operands.get(1)) else {
            continue;
        };
        let runs = at.cmpi(Integers::SignedLess, *lower, *upper);
        for (result, init) in op.results().zip(operands.iter().skip(3)) {
            let result: Value = result.into();
            let users = ir::users(result);
            let selected = at.select(runs, result, *init);
            for user in users {
                ir::outline::replace_operands(user, |operand| (operand == result).then_some(selected));
            }
        }
    }
}

/// Replaces `arith.index_castui`, which MLIR does not lower to SPIR-V.
pub(super) fn convert_indices(kernel: OperationRef) -> Result<(), PassError> {
    for op in ir::walk::named(kernel, ops::arith::INDEX_CASTUI) {
        let at = Builder::at(op);
        let result: Value = op.result(0)?.into();
        let mut operand = ir::operand(op)?;
        let word = types::word(at.context);
        let r#type: Type = operand.r#type();
        if r#type.is_integer() && r#type != word {
            operand = at.convert(ops::arith::EXTUI, operand, word);
        }
        ir::replace_uses(result, at.index_cast(operand, result.r#type()));
        ir::erase(op);
    }
    Ok(())
}
