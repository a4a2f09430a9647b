// SPDX-License-Identifier: Apache-2.0
//! Evaluates assertions on the shapes of arguments: custom calls that `jax.export` emits.

use super::integers::Known;
use crate::import::to_linalg::SourceOp;
use crate::typed::CustomCall;
use melior::ir::OperationRef;
use melior::ir::attribute::StringAttribute;
use melior::ir::operation::OperationLike;
use skript_dialect::{PassError, melior};

/// The target of the custom call: a condition, then the values in its message.
pub(crate) const TARGET: &str = "shape_assertion";

/// The attribute with the message of an assertion: `{0}` stands for the first value.
pub(crate) const MESSAGE: &str = "error_message";

pub(super) fn is_assertion(operation: OperationRef) -> bool {
    CustomCall::cast(operation).is_some_and(|call| call.target() == TARGET)
}

/// Evaluates an assertion.
///
/// # Errors
/// Returns the message of the program if the condition is false, and a message about data dependence if it is unknown.
pub(super) fn check(source: &SourceOp, known: &Known) -> Result<(), PassError> {
    let mut values = source.values.iter().map(|value| known.get(*value)?.scalar());
    match values.next() {
        Some(Some(0)) => {}
        Some(Some(_)) => return Ok(()),
        _ => return Err("asserts what depends on data: an assertion is on shapes".into()),
    }
    let message = source.op.attribute(MESSAGE);
    let message = message.and_then(StringAttribute::try_from);
    let mut message = message.map_or(String::new(), |text| text.value().to_owned());
    for (n, value) in values.enumerate() {
        let value = value.map_or_else(|| "?".to_owned(), |value| value.to_string());
        message = message.replace(&format!("{{{n}}}"), &value);
    }
    Err(PassError::from(format!("is false for the shapes of this call: {message}")))
}
