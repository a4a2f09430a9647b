// SPDX-License-Identifier: Apache-2.0
//! Makes kernels fit upstream's lowering to SPIR-V: calls are inlined, and results of loops without iterations are defined.
//!
//! Upstream's inliner does not inline into `gpu.func`, and its lowering of `scf.for` stores results in the body alone.

use crate::ir::func::{callee, symbol};
use crate::ir::{self, Builder, ops, regions, types};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Operation, Type, Value, ValueLike};
use skript_dialect::PassError;
use std::collections::HashMap;

/// Functions that call each other more deeply are recursive.
const DEEPEST: usize = 16;

/// Inlines the calls of a kernel of functions of its module, which have one block each.
///
/// # Errors
/// A call of another function.
pub(super) fn inline_calls<'c: 'a, 'a>(
    kernel: OperationRef<'c, 'a>,
    module: OperationRef<'c, 'a>,
) -> Result<(), PassError> {
    let functions = ir::walk::named(module, ops::func::FUNC).into_iter();
    let functions: HashMap<String, OperationRef> =
        functions.filter_map(|function| Some((symbol(function)?, function))).collect();
    for _ in 0..DEEPEST {
        let calls = ir::walk::named(kernel, ops::func::CALL);
        if calls.is_empty() {
            return Ok(());
        }
        for call in calls {
            let function = callee(call).and_then(|name| functions.get(&name).copied());
            let function = function.ok_or_else(|| PassError::at(call, "calls no function"))?;
            if ir::blocks(function).len() != 1 {
                return Err(PassError::at(call, "calls a function of several blocks"));
            }
            let at = Builder::before(ir::context::of(call), call)?;
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

/// Selects the initial values of loops without iterations.
///
/// # Errors
/// The builder's error.
pub(super) fn define_results(kernel: OperationRef) -> Result<(), PassError> {
    for op in ir::walk::named(kernel, ops::scf::FOR) {
        let context = ir::context::of(op);
        let next = op.next_in_block();
        let (Some(next), true) = (next, op.result_count() > 0) else {
            continue;
        };
        let at = Builder::before(context, next)?.with_location(op.location());
        let operands: Vec<Value> = op.operands().collect();
        let (Some(lower), Some(upper)) = (operands.first(), operands.get(1)) else {
            continue;
        };
        // The predicate `slt`.
        let runs = at.compare(2, *lower, *upper)?;
        for (result, init) in op.results().zip(operands.iter().skip(3)) {
            let result: Value = result.into();
            let users = ir::users(result);
            let chosen = [runs, result, *init];
            let chosen = at.value(ops::arith::SELECT, &chosen, &[], result.r#type())?;
            for user in users {
                ir::outline::replace_operands(user, |operand| (operand == result).then_some(chosen));
            }
        }
    }
    Ok(())
}

/// Replaces conversions without a sign between indices and integers, which upstream does not lower.
///
/// # Errors
/// The builder's error.
pub(super) fn convert_indices(kernel: OperationRef) -> Result<(), PassError> {
    use melior::ir::TypeLike;
    for op in ir::walk::named(kernel, ops::arith::INDEX_CASTUI) {
        let context = ir::context::of(op);
        let at = Builder::before(context, op)?;
        let result: Value = op.result(0)?.into();
        let mut operand = ir::operand(op)?;
        let word = types::word(context);
        let r#type: Type = operand.r#type();
        if r#type.is_integer() && r#type != word {
            operand = at.value(ops::arith::EXTUI, &[operand], &[], word)?;
        }
        let value = at.value(ops::arith::INDEX_CAST, &[operand], &[], result.r#type())?;
        ir::replace_uses(result, value);
        ir::erase(op);
    }
    Ok(())
}
