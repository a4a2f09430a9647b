// SPDX-License-Identifier: Apache-2.0
//! The types and lengths that declarations name.

use crate::ast::{Declaration, PackSpec};
use crate::compose::calls::Composed;
use crate::compose::context::Context;
use crate::compose::invocations::builder::Builder;
use crate::diagnostics::codes::{ARGUMENT_KIND, ATTRIBUTE_LENGTH};
use crate::eval::TypeName;
use crate::eval::stop::EvalResult;
use skript_semantics::ScalarKind;

pub(crate) fn named_type(
    context: &mut Context,
    builder: &Builder,
    name: &crate::ast::Ident,
) -> Composed<TypeName> {
    context.evaluated(builder, |evaluator| evaluator.type_named(name))
}

/// The element kind of a declared tensor.
pub(crate) fn tensor_kind(
    context: &mut Context,
    builder: &Builder,
    name: &crate::ast::Ident,
) -> Composed<ScalarKind> {
    match named_type(context, builder, name)? {
        TypeName::Scalar(kind) => Ok(kind),
        TypeName::Str => {
            Err(context.error(&ARGUMENT_KIND, name.span, "tensors cannot have elements of type str"))
        }
    }
}

/// The declared number of tensors of a pack; `None` for a single tensor.
pub(crate) fn declared_length(
    context: &mut Context,
    builder: &Builder,
    declaration: &Declaration,
) -> Composed<Option<usize>> {
    let Some(pack) = &declaration.type_spec.pack else {
        return Ok(None);
    };
    let name = &declaration.name.name;
    let (span, problem) = match &pack.length {
        None => (declaration.span, "unknown"),
        Some(length) => match evaluated_length(context, builder, pack)? {
            Some(n) => return Ok(Some(n)),
            None => (length.span, "null"),
        },
    };
    Err(context.error(&ATTRIBUTE_LENGTH, span, format!("the length of the pack `{name}` is {problem}")))
}

pub(crate) fn hinted(context: &Context, builder: &Builder, pack: &PackSpec) -> EvalResult<Option<usize>> {
    let Some(expr) = &pack.length else {
        return Ok(None);
    };
    let mut evaluator = builder.evaluator(context.limits);
    match evaluator.int(expr)? {
        Some(n) => evaluator.length(n, expr.span).map(Some),
        None => Ok(None),
    }
}

/// The length written after `..`.
pub(crate) fn evaluated_length(
    context: &mut Context,
    builder: &Builder,
    pack: &PackSpec,
) -> Composed<Option<usize>> {
    hinted(context, builder, pack).map_err(|s| context.failed(s))
}
