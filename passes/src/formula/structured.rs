// SPDX-License-Identifier: Apache-2.0
//! Code shared by the lowerings of formulas.

use crate::ir;
use crate::ir::ops;
use crate::ir::walk::parents;
use crate::ir::{Builder, replace_each};
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::melior::ir::{OperationRef, Type, Value, ValueLike};
use skript_dialect::{PassError, Rewriter, op};

/// Returns all formulas nested in an operation, in order.
pub(crate) fn formulas<'c: 'a, 'a>(root: &OperationRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    op::collect(root, |op| op::is(&op, ops::skript::FORMULA))
}

/// Whether a step of a formula has side effects, such as a call. Each step then executes once. An invoked operator has none.
pub(crate) fn has_effects(formula: OperationRef) -> bool {
    let mut steps = ir::nested(formula).into_iter();
    steps.any(|op| op.region_count() == 0 && !op::is(&op, ops::skript::INVOKE) && !op::is_pure(&op))
}

/// Returns the type of the operation's only result.
pub(crate) fn result_type<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<Type<'c>, PassError> {
    Ok(ir::result(op)?.r#type())
}

/// Replaces the element reads outside of formulas by `tensor.extract`. The lowering of a formula handles the element reads inside it.
pub(crate) fn extract_elements<'c: 'a, 'a>(
    root: &OperationRef<'c, 'a>,
    rewriter: &Rewriter<'c>,
) -> Result<(), PassError> {
    let is_formula = |op: OperationRef| op::is(&op, ops::skript::FORMULA);
    let accesses = op::collect(root, |op| op::is(&op, ops::skript::ACCESS) && !parents(op).any(is_formula));
    replace_each(accesses, rewriter, |access| {
        let operands: Vec<Value> = access.operands().collect();
        let at = Builder::before(rewriter.context(), access)?;
        let element = result_type(access)?;
        Ok(vec![at.value(ops::tensor::EXTRACT, &operands, &[], element)?])
    })
}
