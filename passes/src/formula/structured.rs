//! What the conversions of formulas share: finding them, replacing them by loops.

use super::Refusal;
use super::loops::{self, Loops};
use crate::mlir::{Builder, context};
use crate::structure::Reading;
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::melior::ir::{OperationRef, Type, ValueLike};
use skript_dialect::{PassError, Rewriter, op};

/// All formulas below an operation, in order.
pub fn formulas<'c: 'a, 'a>(root: &OperationRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    op::collect(root, |op| op::is(&op, "skript.formula"))
}

/// The type of the only result.
pub fn result_type<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<Type<'c>, PassError> {
    Ok(op.result(0)?.r#type())
}

/// Replaces all formulas by loops of one dialect; reports every one that cannot be.
pub fn to_loops<'c>(
    root: OperationRef<'c, '_>,
    loops: Loops,
    rewriter: &Rewriter<'c>,
) -> Result<(), PassError> {
    let holder = root.context();
    let context = context::borrow(&holder);
    let mut failure = None;
    for formula in formulas(&root) {
        let at = Builder::before(context, formula)?;
        let lowered = Reading::of(formula)
            .map_err(Refusal::from)
            .and_then(|reading| loops::lower(&reading, loops, &at));
        match lowered {
            Ok(values) => rewriter.replace_op_with_values(formula, &values),
            Err(refusal) => {
                failure = Some(PassError::at(
                    formula,
                    format!("cannot become loops: {refusal}"),
                ));
            }
        }
    }
    failure.map_or(Ok(()), Err)
}
