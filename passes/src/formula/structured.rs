//! What the conversions of formulas share.

use skript_dialect::melior::ir::{OperationRef, Type, ValueLike};
use skript_dialect::{PassError, op};

/// All formulas below an operation, in order.
pub fn formulas<'c: 'a, 'a>(root: &OperationRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    op::collect(root, |op| op::is(&op, "skript.formula"))
}

/// The type of the only result.
pub fn result_type<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<Type<'c>, PassError> {
    Ok(op.result(0)?.r#type())
}
