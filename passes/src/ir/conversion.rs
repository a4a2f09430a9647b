// SPDX-License-Identifier: Apache-2.0
//! Replaces operations one at a time.

use melior::ir::Value;
use skript_dialect::melior;
use skript_dialect::melior::ir::OperationRef;
use skript_dialect::{PassError, Rewriter};

/// Replaces each operation by the values that `replace` returns for it.
///
/// Continues after a failure to report every operation that cannot be converted. Messages without a location are reported
/// at the operation.
///
/// # Errors
/// The last failure; all failures have been reported.
pub fn replace_each<'c, 'a>(
    operations: Vec<OperationRef<'c, 'a>>,
    rewriter: &Rewriter<'c>,
    replace: impl Fn(OperationRef<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, PassError>,
) -> Result<(), PassError>
where
    'c: 'a,
{
    let mut failure = None;
    for op in operations {
        match replace(op) {
            Ok(values) => rewriter.replace_op_with_values(op, &values),
            Err(error) => {
                failure = Some(match error.message() {
                    Some(message) => PassError::at(op, message),
                    None => error,
                });
            }
        }
    }
    failure.map_or(Ok(()), Err)
}
