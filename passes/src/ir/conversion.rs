// SPDX-License-Identifier: Apache-2.0
//! Conversions of one operation at a time.

use melior::ir::Value;
use skript_dialect::melior;
use skript_dialect::melior::ir::OperationRef;
use skript_dialect::{PassError, Rewriter};

/// Replaces each operation by the values that `replace` returns for it.
///
/// It continues after a failure, to report every operation that cannot be converted. A message without a location is
/// reported at the operation.
///
/// # Errors
/// The last failure; all have been reported.
pub fn replace_each<'c, 'a>(
    operations: Vec<OperationRef<'c, 'a>>,
    rewriter: &Rewriter<'c>,
    replace: impl Fn(OperationRef<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, PassError>,
) -> Result<(), PassError>
where
    'c: 'a,
{
    let mut failure = None;
    for found in operations {
        match replace(found) {
            Ok(values) => rewriter.replace_op_with_values(found, &values),
            Err(error) => {
                failure = Some(match error.message() {
                    Some(message) => PassError::at(found, message),
                    None => error,
                });
            }
        }
    }
    failure.map_or(Ok(()), Err)
}
