// SPDX-License-Identifier: Apache-2.0
//! Variables that instances share by name.

use crate::compose::calls::Composed;
use crate::compose::context::Context;
use crate::compose::instances::CaptureName;
use crate::compose::invocations::builder::Builder;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::SHARED_VARIABLE;
use crate::eval::TensorRef;

/// A variable that the body or one of its invocations declares: instances share it by name.
pub(crate) fn capture(
    context: &mut Context,
    builder: &mut Builder,
    name: CaptureName,
    value_name: Option<String>,
) -> Composed<TensorRef> {
    let (path, tensor) = (name.path.clone(), name.tensor.clone());
    let location = name.invocation.unwrap_or(name.span);
    builder.capture(name, value_name).map_err(|known| {
        let message = format!(
            "variable `{path}` is {} here, but another instance has it as {}",
            tensor.text(),
            known.tensor.text()
        );
        context.report(
            Diagnostic::error(&SHARED_VARIABLE, location, message)
                .with_label_at(
                    known.invocation.unwrap_or(known.span),
                    format!("{} here", known.tensor.text()),
                )
                .with_help(
                    "one file cannot hold both: write another label for one of the instances, `y = label: op(x)`",
                ),
        )
    })
}
