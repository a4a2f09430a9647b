// SPDX-License-Identifier: Apache-2.0
//! The limit on sizes of tensors.

use crate::compose::calls::Composed;
use crate::compose::context::Context;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::LIMIT_EXCEEDED;
use crate::model::{TensorType, shape_text};
use crate::source::Span;

pub(crate) fn check_size(context: &mut Context, tensor: &TensorType, span: Span) -> Composed<()> {
    let elements = tensor.shape.iter().try_fold(1u64, |product, extent| product.checked_mul(extent.bound()));
    let fits = elements.is_some_and(|n| n <= context.limits.tensor_elements)
        && tensor.shape.iter().all(|extent| extent.bound() <= context.limits.tensor_elements)
        && tensor.shape.len() <= context.limits.rank;
    if fits {
        return Ok(());
    }
    let message = format!(
        "a tensor of shape {} has more than {} elements (limit `tensor_elements`) or {} dimensions (limit `rank`)",
        shape_text(&tensor.shape),
        context.limits.tensor_elements,
        context.limits.rank
    );
    let diagnostic = Diagnostic::error(&LIMIT_EXCEEDED, span, message);
    let is_dynamic = tensor.shape.iter().any(|extent| extent.fixed().is_none());
    Err(context.report(if is_dynamic { diagnostic.with_help(SMALLER) } else { diagnostic }))
}

/// Help for a tensor with dynamic dimensions that exceeds the limit.
pub(crate) const SMALLER: &str = "smaller upper bounds of its dynamic dimensions (`--bound`; in a document `real[n|8]`) or static shapes (`--input-shape`) \
     make it smaller";
