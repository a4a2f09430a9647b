// SPDX-License-Identifier: Apache-2.0
//! Shared code of the conversions of formulas.

use crate::ir;
use crate::ir::ops;
use crate::ir::{Builder, replace_each};
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::melior::ir::{OperationRef, Type, Value, ValueLike};
use skript_dialect::{PassError, Rewriter, op};

/// All formulas below an operation, in order.
pub(crate) fn formulas<'c: 'a, 'a>(root: &OperationRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    op::collect(root, |op| op::is(&op, ops::skript::FORMULA))
}

/// The type of the only result.
pub(crate) fn result_type<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<Type<'c>, PassError> {
    Ok(ir::result(op)?.r#type())
}

/// Element reads outside of formulas become `tensor.extract`; the formula's lowering handles those within.
pub(crate) fn extract_elements<'c: 'a, 'a>(
    root: &OperationRef<'c, 'a>,
    rewriter: &Rewriter<'c>,
) -> Result<(), PassError> {
    let alone = op::collect(root, |op| op::is(&op, ops::skript::ACCESS) && !is_in_formula(op));
    replace_each(alone, rewriter, |access| {
        let operands: Vec<Value> = access.operands().collect();
        let at = Builder::before(rewriter.context(), access)?;
        let element = result_type(access)?;
        Ok(vec![at.value(ops::tensor::EXTRACT, &operands, &[], element)?])
    })
}

fn is_in_formula(op: OperationRef) -> bool {
    let mut around = op::parent(op);
    while let Some(op) = around {
        if op::is(&op, ops::skript::FORMULA) {
            return true;
        }
        around = op::parent(op);
    }
    false
}
