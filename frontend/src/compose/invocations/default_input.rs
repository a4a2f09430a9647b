// SPDX-License-Identifier: Apache-2.0
//! Inputs without an argument, which have their default value (2.6).

use crate::ast::{Declaration, Expr, ExprKind, ExtentSpec};
use crate::compose::calls::{Composed, Reported};
use crate::compose::context::Context;
use crate::compose::declarations::tensors::declared_tensors;
use crate::compose::declarations::types::{declared_length, tensor_kind};
use crate::compose::invocations::builder::{Builder, Form};
use crate::compose::invocations::generic_types::coerced;
use crate::compose::shapes::affine_extent::{Bound, unify, unknown_names};
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{ARGUMENT_KIND, SHAPE_NOT_BOUND};
use crate::eval::value::count;
use crate::eval::{Atom, TypeName, Value};
use crate::model::ConstantData;
use crate::source::Span;

/// An extent that is unknown if the input has its default value, which is one number without a shape.
pub(crate) fn unknown_extent_of_default<'d>(
    builder: &Builder,
    input: &'d Declaration,
) -> Option<&'d ExtentSpec> {
    input.default.as_ref()?;
    // A list determines its length.
    let length = input.type_spec.pack.as_ref();
    let length = length.and_then(|pack| pack.length.as_ref());
    let is_known =
        |name: &String| length.is_some_and(|e| matches!(&e.kind, ExprKind::Name(n) if n.name == *name));
    let is_unknown = |expr: &Expr| !unknown_names(builder, expr).iter().all(is_known);
    let mut extents = input.type_spec.shape.iter().flatten();
    extents.find(|spec| {
        let length = spec.pack.as_ref().and_then(|pack| pack.length.as_ref());
        spec.extent.as_ref().is_none_or(is_unknown) || length.is_some_and(is_unknown)
    })
}

pub(crate) fn report_unknown_extent(
    context: &mut Context,
    input: &Declaration,
    extent: &ExtentSpec,
    invocation: Span,
) -> Reported {
    let name = &input.name.name;
    let text = context.source_text(extent.span);
    let message = format!(
        "nothing determines the extent `{text}` of input `{name}`, which has its default value because no tensor is passed"
    );
    let diagnostic =
        Diagnostic::error(&SHAPE_NOT_BOUND, extent.span, message).with_label_at(invocation, "invoked here");
    context.report(diagnostic.with_help(format!(
        "a default is one number and has no shape: pass `{name}`, or declare an extent that attributes or other inputs determine"
    )))
}

/// Constants of this function, each uniform over the declared shape (errata 26).
pub(crate) fn default_input(
    context: &mut Context,
    builder: &mut Builder,
    input: &Declaration,
    default: &Expr,
) -> Composed<()> {
    let kind = tensor_kind(context, builder, &input.type_spec.base)?;
    let value = context.value(builder, default)?;
    let Some(value) = coerced(&value, TypeName::Scalar(kind)) else {
        let message = format!("the default of input `{}` must be {}", input.name.name, kind.name());
        return Err(context.error(&ARGUMENT_KIND, default.span, message));
    };
    let atoms = default_items(context, builder, input, &value, default)?;
    let tensors = declared_tensors(context, builder, input, atoms.len())?;
    let mut items = Vec::with_capacity(atoms.len());
    for (tensor, atom) in tensors.into_iter().zip(&atoms) {
        let Some(scalar) = atom.scalar() else {
            return Err(Reported);
        };
        let value = builder.value(Some(input.name.name.clone()), tensor, input.name.span);
        let data = ConstantData::Splat(scalar);
        builder.function.constants.push((value.id, data));
        items.push(value);
    }
    let length = input.type_spec.pack.as_ref().map(|_| items.len());
    builder.scope.set(input.name.name.clone(), Form::declared(length).value(&mut items.into_iter()));
    Ok(())
}

/// Records the default of an input for which callers pass a tensor, if bound names determine it.
pub(crate) fn replaced_default(context: &mut Context, builder: &Builder, input: &Declaration) {
    let Some(default) = &input.default else {
        return;
    };
    let Ok(kind) = tensor_kind(context, builder, &input.type_spec.base) else {
        return;
    };
    let value = builder.evaluator(context.limits).eval(default).ok();
    let value = value.and_then(|value| coerced(&value, TypeName::Scalar(kind)));
    let numbers = value.map(|value| value.atoms().map(|item| item.scalar()).collect());
    if let Some(Some(numbers)) = numbers {
        let name = input.name.name.clone();
        context.defaults.retain(|(recorded, _)| *recorded != name);
        context.defaults.push((name, numbers));
    }
}

/// One number for each tensor: a list has the declared length or determines it; a single number is repeated to a
/// known length.
fn default_items(
    context: &mut Context,
    builder: &mut Builder,
    input: &Declaration,
    value: &Value,
    default: &Expr,
) -> Composed<Vec<Atom>> {
    let items = value.atoms().collect::<Vec<_>>();
    let Some(pack) = &input.type_spec.pack else {
        return Ok(items);
    };
    if let (Value::Pack(_), length) = (value, &pack.length) {
        if let Some(length) = length {
            let what = format!("the length of the default of input `{}`", input.name.name);
            let location = default.span;
            let bound = Bound { what: &what, location };
            unify(context, builder, length, &Value::int(count(items.len())), &bound)?;
        }
        return Ok(items);
    }
    let length = declared_length(context, builder, input)?;
    let Some((length, item)) = length.zip(items.first()) else {
        return Ok(items);
    };
    Ok(vec![item.clone(); length])
}
