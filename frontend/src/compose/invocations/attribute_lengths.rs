// SPDX-License-Identifier: Apache-2.0
//! Lengths of packed attributes (2.5, 2.6.1): from packs and from other uses of their names; single values are repeated.

use crate::ast::{Declaration, Expr};
use crate::compose::calls::Composed;
use crate::compose::context::Context;
use crate::compose::invocations::arguments::ArgumentList;
use crate::compose::invocations::attributes::default_attribute;
use crate::compose::invocations::builder::Builder;
use crate::compose::shapes::affine_extent::{Bound, collect_names, unify, unknown_names};
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{SHAPE_NOT_BOUND, UNIFORM_LENGTH_UNKNOWN};
use crate::eval::broadcast::repeat_by;
use crate::eval::{Atom, Value};
use crate::source::Span;
use indexmap::IndexMap;
use std::collections::VecDeque;

pub(crate) fn check_attribute_length(
    context: &mut Context,
    builder: &mut Builder,
    attribute: &Declaration,
    length: &Expr,
    actual: &Value,
    list: &ArgumentList,
) -> Composed<()> {
    let location = value_span(attribute, list);
    let what = format!("the length of attribute `{}`", attribute.name.name);
    let bound = Bound { what: &what, location };
    unify(context, builder, length, actual, &bound)
}

/// Binds lengths of packed attributes whose items are known.
pub(crate) fn packed_lengths(
    context: &mut Context,
    builder: &mut Builder,
    list: &ArgumentList,
) -> Composed<()> {
    let definition = builder.operator.definition;
    for attribute in &definition.attributes {
        let Some(length) = declared_length(attribute) else {
            continue;
        };
        let value = builder.scope.get(&attribute.name.name);
        if let Some(actual) = value.and_then(Value::item_count) {
            check_attribute_length(context, builder, attribute, length, &actual, list)?;
        }
    }
    Ok(())
}

/// Step 4: checks or deduces lengths, and repeats single values.
pub(crate) fn attribute_lengths(
    context: &mut Context,
    builder: &mut Builder,
    list: &ArgumentList,
) -> Composed<()> {
    // Packs determine lengths that single values need.
    packed_lengths(context, builder, list)?;
    let definition = builder.operator.definition;
    for attribute in &definition.attributes {
        if spread_attribute(context, builder, attribute, list)? {
            continue;
        }
        let name = &attribute.name.name;
        match builder.scope.get(name).cloned() {
            Some(Value::Atom(atom)) => {
                let message = format!(
                    "attribute `{name}` is a pack whose length is not known here; the single value {} cannot be \
                     repeated",
                    atom.text()
                );
                let location = value_span(attribute, list);
                return Err(context.report(
                    Diagnostic::error(&UNIFORM_LENGTH_UNKNOWN, location, message)
                        .with_label_at(attribute.span, "declared here")
                        .with_help("write a list with all items"),
                ));
            }
            // Only an attribute without a value would determine these lengths.
            _ => {
                let length = declared_length(attribute);
                let unknown = length.map(|length| unknown_names(builder, length));
                for name in unknown.into_iter().flatten() {
                    builder.scope.set(name, Value::Null);
                }
            }
        }
    }
    Ok(())
}

/// Repeats single values of packed attributes whose lengths are known, so that expressions that read them get packs.
pub(crate) fn spread_attributes(
    context: &mut Context,
    builder: &mut Builder,
    list: &ArgumentList,
) -> Composed<()> {
    let definition = builder.operator.definition;
    for attribute in &definition.attributes {
        spread_attribute(context, builder, attribute, list)?;
    }
    Ok(())
}

/// Repeats a single value if the length is known. Returns whether the attribute has all its items, or is null and has a
/// known length.
fn spread_attribute(
    context: &mut Context,
    builder: &mut Builder,
    attribute: &Declaration,
    list: &ArgumentList,
) -> Composed<bool> {
    let name = &attribute.name.name;
    if attribute.type_spec.pack.is_none() {
        return Ok(true);
    }
    let value = match builder.scope.get(name) {
        Some(Value::Atom(Atom::Series(_)) | Value::Pack(_)) | None => return Ok(true),
        Some(value) => value.clone(),
    };
    let known = |length: &&Expr| unknown_names(builder, length).is_empty();
    let Some(declared) = declared_length(attribute).filter(known) else {
        return Ok(false);
    };
    let location = value_span(attribute, list);
    let spread = {
        let mut evaluator = builder.evaluator(context.limits);
        evaluator.eval(declared).and_then(|length| match &value {
            Value::Atom(atom) => repeat_by(&evaluator, atom.clone(), length, location),
            _ => Ok(Some(length)),
        })
    };
    match (value, spread.map_err(|s| context.failed(s))?) {
        (Value::Null, Some(length)) => builder.scope.set_null_length(name.clone(), length),
        (_, Some(pack)) => builder.scope.set(name.clone(), pack),
        (_, None) => return Ok(false),
    }
    Ok(true)
}

/// Names in an expression that must be known before a single value of a packed attribute becomes a pack.
pub(crate) fn awaited_lengths(builder: &Builder, names: &[String]) -> Vec<String> {
    let read = builder
        .operator
        .definition
        .attributes
        .iter()
        .filter(|attribute| names.contains(&attribute.name.name));
    let single = read.filter(|attribute| {
        let value = builder.scope.get(&attribute.name.name);
        matches!(value, Some(Value::Atom(atom)) if !matches!(atom, Atom::Series(_)))
    });
    let lengths = single.filter_map(declared_length);
    lengths.flat_map(|length| unknown_names(builder, length)).collect()
}

fn declared_length(attribute: &Declaration) -> Option<&Expr> {
    let pack = attribute.type_spec.pack.as_ref();
    pack.and_then(|pack| pack.length.as_ref())
}

fn value_span(attribute: &Declaration, list: &ArgumentList) -> Span {
    let given = list.attributes.get(&attribute.name.name);
    given.map_or(list.invocation, |(_, span)| *span)
}

/// The number of attributes that are examined for a length in one step of work.
const ATTRIBUTES_PER_WORK: usize = 8;

/// Attributes by the name that they wait for.
type Waiting<'a> = IndexMap<String, Vec<&'a Declaration>>;

/// Step 3: evaluates defaults that depend on other symbols as soon as these are known.
pub(crate) fn deferred_attributes(
    context: &mut Context,
    builder: &mut Builder,
    list: &ArgumentList,
) -> Composed<()> {
    let definition = builder.operator.definition;
    let mut open: VecDeque<&Declaration> = definition.attributes.iter().collect();
    // The awaited name is the key.
    let mut waiting: Waiting = IndexMap::new();
    // Whether defaults wait for the lengths of packs that they read.
    let mut patient = true;
    loop {
        while let Some(attribute) = open.pop_front() {
            let name = &attribute.name.name;
            let Some(default) = &attribute.default else {
                continue;
            };
            if builder.scope.get(name).is_some() {
                continue;
            }
            let mut unknown = unknown_names(builder, default);
            if patient && unknown.is_empty() {
                let mut names = Vec::new();
                collect_names(default, &mut names);
                unknown = awaited_lengths(builder, &names);
            }
            match unknown.into_iter().next() {
                Some(unknown) => waiting.entry(unknown).or_default().push(attribute),
                None => {
                    context.charge(definition.attributes.len() / ATTRIBUTES_PER_WORK, attribute.span)?;
                    default_attribute(context, builder, attribute, default, list)?;
                    spread_attributes(context, builder, list)?;
                    open.extend(waiting.swap_remove(name).into_iter().flatten());
                }
            }
        }
        // A default may have determined a length as well; lengths of given packs may determine names that defaults need.
        release(builder, &mut waiting, &mut open);
        while open.is_empty() && !waiting.is_empty() && given_lengths(context, builder, list)? {
            release(builder, &mut waiting, &mut open);
        }
        spread_attributes(context, builder, list)?;
        if !open.is_empty() {
            continue;
        }
        if std::mem::take(&mut patient) {
            open.extend(waiting.drain(..).flat_map(|(_, attributes)| attributes));
            continue;
        }
        let mut stuck = waiting.values().flatten();
        let Some(attribute) = stuck.next() else {
            return Ok(());
        };
        let first = stuck.fold(
            *attribute,
            |first, other| {
                if other.span.start < first.span.start { other } else { first }
            },
        );
        let default = first.default.as_ref();
        let unknown = default.map_or_else(String::new, |d| unknown_names(builder, d).join(", "));
        let message = format!(
            "the default of attribute `{}` depends on {unknown}, which has no value here",
            first.name.name
        );
        return Err(context.error(&SHAPE_NOT_BOUND, first.span, message));
    }
}

/// Binds length symbols of packs whose values are packs already; returns whether any symbol was new.
fn given_lengths(context: &mut Context, builder: &mut Builder, list: &ArgumentList) -> Composed<bool> {
    let definition = builder.operator.definition;
    let mut progress = false;
    for attribute in &definition.attributes {
        let Some(length) = attribute.type_spec.pack.as_ref().and_then(|p| p.length.as_ref()) else {
            continue;
        };
        if unknown_names(builder, length).is_empty() {
            continue;
        }
        let value = builder.scope.get(&attribute.name.name);
        let Some(actual) = value.and_then(Value::item_count) else {
            continue;
        };
        check_attribute_length(context, builder, attribute, length, &actual, list)?;
        progress = true;
    }
    Ok(progress)
}

/// Moves the attributes whose awaited names are known now to `open`.
fn release<'a>(builder: &Builder, waiting: &mut Waiting<'a>, open: &mut VecDeque<&'a Declaration>) {
    waiting.retain(|name, attributes| {
        let still = builder.scope.get(name).is_none();
        if !still {
            open.extend(attributes.drain(..));
        }
        still
    });
}
