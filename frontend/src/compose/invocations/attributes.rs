// SPDX-License-Identifier: Apache-2.0
//! Attributes of an instance (2.6): given ones, and defaults.

use crate::ast::{Declaration, Expr};
use crate::compose::calls::{Composed, Reported};
use crate::compose::context::Context;
use crate::compose::declarations::constant_elements::name_value;
use crate::compose::declarations::types::named_type;
use crate::compose::invocations::arguments::ArgumentList;
use crate::compose::invocations::builder::Builder;
use crate::compose::invocations::generic_types::coerced;
use crate::compose::shapes::affine_extent::collect_names;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{ATTRIBUTE_MISSING, ATTRIBUTE_VALUE};
use crate::eval::{Atom, Value};
use crate::source::Span;

/// Step 1: binds given values and constant defaults, and reports all values that do not have the declared type.
pub(crate) fn given_attributes(
    context: &mut Context,
    builder: &mut Builder,
    list: &ArgumentList,
) -> Composed<()> {
    let mut bound = Ok(());
    for attribute in &builder.operator.definition.attributes {
        bound = given_attribute(context, builder, attribute, list).and(bound);
    }
    bound
}

pub(crate) fn given_attribute(
    context: &mut Context,
    builder: &mut Builder,
    attribute: &Declaration,
    list: &ArgumentList,
) -> Composed<()> {
    let name = &attribute.name.name;
    match list.attributes.get(name) {
        Some((Value::Null, span)) if !attribute.type_spec.optional && attribute.default.is_none() => {
            return Err(missing_attribute(context, builder.entry, attribute, *span));
        }
        // A null value counts as absent: the default is used.
        Some((Value::Null, _)) if !attribute.type_spec.optional => {}
        Some((value, span)) => {
            let value = attribute_value(context, builder, attribute, value, *span)?;
            return name_value(context, builder, name, value, *span);
        }
        None => {}
    }
    match &attribute.default {
        None if attribute.type_spec.optional => {
            builder.scope.set(name.clone(), Value::Null);
        }
        None => {
            let location = if builder.entry { attribute.span } else { list.invocation };
            return Err(missing_attribute(context, builder.entry, attribute, location));
        }
        Some(default) => {
            let mut names = Vec::new();
            collect_names(default, &mut names);
            if names.is_empty() {
                default_attribute(context, builder, attribute, default, list)?;
            }
        }
    }
    Ok(())
}

pub(crate) fn missing_attribute(
    context: &mut Context,
    entry: bool,
    attribute: &Declaration,
    span: Span,
) -> Reported {
    let name = &attribute.name.name;
    let message = format!("attribute `{name}` has no value");
    context.report(
        Diagnostic::error(&ATTRIBUTE_MISSING, span, message)
            .with_label_at(
                attribute.span,
                match attribute.default {
                    Some(_) => "the default is null here",
                    None => "declared here without a default",
                },
            )
            .with_help(if entry {
                format!("write a default, or pass `--set {name}=…`")
            } else {
                format!("write `{{{name}=…}}`")
            }),
    )
}

pub(crate) fn default_attribute(
    context: &mut Context,
    builder: &mut Builder,
    attribute: &Declaration,
    default: &Expr,
    list: &ArgumentList,
) -> Composed<()> {
    let value = context.value(builder, default)?;
    if value.is_null() {
        // 2.5: an optional default that is null counts as absent.
        let location = if builder.entry { attribute.span } else { list.invocation };
        return Err(missing_attribute(context, builder.entry, attribute, location));
    }
    let value = attribute_value(context, builder, attribute, &value, default.span)?;
    name_value(context, builder, &attribute.name.name, value, default.span)
}

/// Converts the value to the declared type. The check compares the types of expressions; values that are passed to a graph
/// from outside, and packs that only the value of an attribute distinguishes from single values, are compared here.
pub(crate) fn attribute_value(
    context: &mut Context,
    builder: &Builder,
    attribute: &Declaration,
    value: &Value,
    span: Span,
) -> Composed<Value> {
    let spec = &attribute.type_spec;
    let declared = named_type(context, builder, &spec.base)?;
    let packed = spec.pack.is_some();
    let converted = coerced(value, declared);
    let fits = packed || !matches!(value, Value::Pack(_) | Value::Atom(Atom::Series(_)));
    match converted {
        Some(value) if fits => Ok(value),
        _ => {
            let pack = if packed { ".." } else { "" };
            let message = format!(
                "attribute `{}` is {}{pack}, it cannot be {}",
                attribute.name.name,
                declared.name(),
                value.text()
            );
            let diagnostic = Diagnostic::error(&ATTRIBUTE_VALUE, span, message);
            Err(context.report(diagnostic.with_label_at(attribute.span, "declared here")))
        }
    }
}
