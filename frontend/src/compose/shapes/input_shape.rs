// SPDX-License-Identifier: Apache-2.0
//! Binds declared shapes to actual shapes (2.6, 2.6.1).

use crate::ast::{self, Declaration, ExtentSpec, PackSpec, TypeSpec};
use crate::compose::calls::{Composed, Reported};
use crate::compose::context::Context;
use crate::compose::declarations::tensors::{declare_symbol, upper_extents};
use crate::compose::invocations::builder::Builder;
use crate::compose::packs::dynamic_length::declare_length;
use crate::compose::shapes::affine_extent::{Bound, unify, unknown_names};
use crate::compose::shapes::block_checks::test_result;
use crate::compose::shapes::checks::{keep, parts, text};
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{EXTENT_MISMATCH, RANK_MISMATCH, UNEXPECTED_VALUE};
use crate::eval::broadcast::repeat;
use crate::eval::ranges::decided;
use crate::eval::stop::stop;
use crate::eval::value::count;
use crate::eval::{Atom, Series, Value};
use crate::model::{Check, CheckKind, Expr, MessagePart};
use crate::source::Span;

/// The number of dimensions that an item of a declared shape covers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Width {
    Known(usize),
    /// A pack whose length follows only from the rank.
    Flexible,
    /// `s..(condition)`: an optional single extent.
    Optional(bool),
}

impl Width {
    fn dimensions(self) -> usize {
        match self {
            Width::Known(n) => n,
            Width::Optional(present) => usize::from(present),
            Width::Flexible => 0,
        }
    }
}

/// Declares the bounded names of an input of the main graph, if inputs depend on each other: `real[n|3,m]` and
/// `real[n,m|4]`.
pub(crate) fn declare_bounded(
    context: &mut Context,
    builder: &mut Builder,
    input: &Declaration,
) -> Composed<()> {
    for spec in input.type_spec.shape.iter().flatten() {
        let known = |bound| unknown_names(builder, bound).is_empty();
        if !spec.per_item && spec.bound.as_ref().is_some_and(known) {
            let _ = declare_symbol(context, builder, spec, None)?;
        }
    }
    let bound = input.type_spec.pack.as_ref().and_then(|p| p.bound.as_ref());
    match bound {
        Some(bound) if unknown_names(builder, bound).is_empty() => declare_length(context, builder, input),
        _ => Ok(()),
    }
}

/// Binds the rank symbol, and returns whether the shape can be bound now.
pub(crate) fn shape_is_bindable(
    context: &mut Context,
    builder: &mut Builder,
    spec: &TypeSpec,
    rank: Option<usize>,
    what: &str,
    location: Span,
) -> Composed<bool> {
    if let (Some(expr), Some(rank)) = (&spec.rank, rank) {
        let what = format!("the rank of {what}");
        let bound = Bound { what: &what, location };
        unify(context, builder, expr, &Value::int(count(rank)), &bound)?;
    }
    let Some(shape) = &spec.shape else {
        return Ok(true);
    };
    let mut flexible = 0;
    for extent in shape {
        if width(context, builder, extent)? == Width::Flexible {
            flexible += 1;
        }
    }
    Ok(flexible <= 1)
}

fn width(context: &mut Context, builder: &mut Builder, spec: &ExtentSpec) -> Composed<Width> {
    let known = |builder: &Builder, expr| unknown_names(builder, expr).is_empty();
    let Some(pack) = &spec.pack else {
        return match &spec.extent {
            Some(expr) if known(builder, expr) => {
                let value = context.value(builder, expr)?;
                Ok(match value {
                    Value::Null => Width::Known(0),
                    Value::Pack(pack) => Width::Known(pack.len()),
                    Value::Atom(_) => Width::Known(1),
                })
            }
            _ => Ok(Width::Known(1)),
        };
    };
    match (&pack.length, &spec.extent) {
        (Some(length), _) if known(builder, length) => match context.value(builder, length)? {
            Value::Null => Ok(Width::Flexible),
            Value::Atom(Atom::Bool(present)) => Ok(Width::Optional(present)),
            Value::Atom(Atom::Int(n)) => match usize::try_from(n) {
                Ok(n) => Ok(Width::Known(n)),
                Err(_) => {
                    let text = context.source_text(length.span);
                    let message = format!("`{text}` dimensions are declared, that is {n}");
                    Err(context.error(&RANK_MISMATCH, length.span, message))
                }
            },
            other => Err(context.error(
                &UNEXPECTED_VALUE,
                length.span,
                format!("a number of dimensions must be an int, this is {}", other.text()),
            )),
        },
        (Some(_), _) => Ok(Width::Flexible),
        (None, Some(expr)) if known(builder, expr) => match context.value(builder, expr)? {
            Value::Pack(pack) => Ok(Width::Known(pack.len())),
            Value::Null => Ok(Width::Known(0)),
            Value::Atom(_) => Ok(Width::Flexible),
        },
        _ => Ok(Width::Flexible),
    }
}

/// Binds the shapes of an input's tensors, one tensor or all items of a pack; `length`: the length of a pack of dynamic
/// length, whose items have one shape.
#[allow(clippy::too_many_arguments)]
pub(crate) fn bind_shapes(
    context: &mut Context,
    builder: &mut Builder,
    spec: &TypeSpec,
    shapes: &[Vec<Atom>],
    packed: bool,
    length: Option<&Atom>,
    what: &str,
    location: Span,
) -> Composed<()> {
    let Some(declared) = &spec.shape else {
        return Ok(());
    };
    let mut per_item: Vec<Vec<Atom>> = vec![Vec::new(); declared.len()];
    for (item, shape) in shapes.iter().enumerate() {
        let item_name = if packed { format!("item {item} of {what}") } else { what.to_string() };
        bind_shape(context, builder, spec, declared, shape, packed, &mut per_item, &item_name, location)?;
    }
    for (extent, values) in declared.iter().zip(per_item) {
        if packed
            && extent.per_item
            && let Some(expr) = &extent.extent
        {
            let bound = Bound { what, location };
            let actual = match length {
                Some(length) => shared_extents(context, builder, length, &values, extent.span)?,
                None => Value::pack(values),
            };
            unify(context, builder, expr, &actual, &bound)?;
        }
    }
    Ok(())
}

/// The extents `..t` of a pack of dynamic length: one extent for each item, all equal.
fn shared_extents(
    context: &mut Context,
    builder: &Builder,
    length: &Atom,
    values: &[Atom],
    span: Span,
) -> Composed<Value> {
    let evaluator = builder.evaluator(context.limits);
    let value = match (length, values, length.to_expr()) {
        (Atom::Int(n), [extent], _) => {
            evaluator.length(*n, span).and_then(|n| repeat(&evaluator, extent.clone(), n, span))
        }
        (_, [extent], Some(length)) => match extent.to_expr() {
            Some(extent) => Ok(Series::uniform(extent, length).into_value()),
            None => return Err(Reported),
        },
        _ => {
            stop(&UNEXPECTED_VALUE, span, "in a pack of dynamic length, `..` names one extent of each tensor")
        }
    };
    value.map_err(|s| context.failed(s))
}

#[allow(clippy::too_many_arguments)]
fn bind_shape(
    context: &mut Context,
    builder: &mut Builder,
    spec: &TypeSpec,
    declared: &[ExtentSpec],
    shape: &[Atom],
    packed: bool,
    per_item: &mut [Vec<Atom>],
    what: &str,
    location: Span,
) -> Composed<()> {
    let mut widths = Vec::with_capacity(declared.len());
    for extent in declared {
        widths.push(width(context, builder, extent)?);
    }
    let fixed: usize = widths.iter().map(|w| w.dimensions()).sum();
    let flexible = widths.contains(&Width::Flexible);
    if shape.len() < fixed || (!flexible && shape.len() != fixed) {
        let at_least = if flexible { "at least " } else { "" };
        let shape_text = Value::pack(shape.to_vec()).text();
        let dimensions = if fixed == 1 { "dimension" } else { "dimensions" };
        let message = format!("{what} must have {at_least}{fixed} {dimensions}, its shape is {shape_text}");
        let diagnostic = Diagnostic::error(&RANK_MISMATCH, spec.span, message);
        return Err(context.report(diagnostic.with_label_at(location, format!("shape {shape_text}"))));
    }
    let mut remaining = shape.len() - fixed;
    let mut position = 0;
    let mut absent = Vec::new();
    for ((extent, width), collected) in declared.iter().zip(widths).zip(per_item) {
        let length = match width {
            Width::Flexible => std::mem::take(&mut remaining),
            known => known.dimensions(),
        };
        let actual: Vec<Atom> = shape.iter().skip(position).take(length).cloned().collect();
        let dimension = format!("extent {position} of {what}");
        let bound = Bound { what: &dimension, location };
        position += length;
        let value = match (&extent.pack, width) {
            (Some(_), Width::Optional(_)) => actual.into_iter().next().map_or(Value::Null, Value::Atom),
            (Some(pack), _) => {
                if let Some(expr) = &pack.length
                    && width == Width::Flexible
                {
                    let length_of =
                        format!("the number of dimensions `{}` of {what}", context.source_text(extent.span));
                    let bound = Bound { what: &length_of, location };
                    unify(context, builder, expr, &Value::int(count(length)), &bound)?;
                }
                Value::pack(actual)
            }
            (None, _) if length == 1 => match actual.into_iter().next() {
                Some(atom) => Value::Atom(atom),
                None => Value::Null,
            },
            (None, _) if length == 0 => continue,
            (None, _) => Value::pack(actual),
        };
        check_upper_bounds(context, builder, extent, &value, &bound, Tested::Before)?;
        let Some(expr) = &extent.extent else {
            continue;
        };
        if packed && extent.per_item {
            collected.extend(value.atoms());
            continue;
        }
        if value.is_null() {
            absent.extend(unknown_names(builder, expr));
            continue;
        }
        unify(context, builder, expr, &value, &bound)?;
    }
    // An absent optional extent makes its name null, unless the name is also used elsewhere:
    // `[c..(first),s..,c..(!first)]`.
    for name in absent {
        if builder.scope.get(&name).is_none() {
            builder.scope.set(name, Value::Null);
        }
    }
    Ok(())
}

/// When a bound that composition cannot check is checked at run time.
#[derive(Clone, Copy)]
pub(crate) enum Tested {
    /// Before the body: inputs determine the extent.
    Before,
    /// As soon as the body has computed the tensor with the extent.
    After,
}

/// Checks actual extents against the declared upper bound: at compile time if it is known, else at run time.
pub(crate) fn check_upper_bounds(
    context: &mut Context,
    builder: &mut Builder,
    declared: &ExtentSpec,
    actual: &Value,
    location: &Bound,
    when: Tested,
) -> Composed<()> {
    let Some(bound) = &declared.bound else {
        return Ok(());
    };
    check_bound(context, builder, (bound, declared.pack.as_ref(), declared.span), actual, (location, when))
}

/// Like [`check_upper_bounds`], for the length of a pack, `..(s|5)`.
pub(crate) fn check_length_bound(
    context: &mut Context,
    builder: &mut Builder,
    declared: &PackSpec,
    actual: &Value,
    location: &Bound,
) -> Composed<()> {
    let Some(bound) = &declared.bound else {
        return Ok(());
    };
    let location = (location, Tested::Before);
    check_bound(context, builder, (bound, None, bound.span), actual, location)
}

fn check_bound(
    context: &mut Context,
    builder: &mut Builder,
    (bound, pack, span): (&ast::Expr, Option<&PackSpec>, Span),
    actual: &Value,
    (location, when): (&Bound, Tested),
) -> Composed<()> {
    if !unknown_names(builder, bound).is_empty() {
        return Ok(());
    }
    let limits = context.evaluated(builder, |evaluator| upper_extents(evaluator, bound, pack))?;
    for (atom, limit) in actual.atoms().zip(limits) {
        let extent = match &atom {
            Atom::Int(n) => Expr::int(*n),
            Atom::Runtime(expr) => (**expr).clone(),
            _ => continue,
        };
        let condition = limit.holds(extent.clone());
        let what = location.what;
        match decided(&condition) {
            Some(true) => {}
            Some(false) => {
                let message = format!(
                    "{what} must not be larger than {}, this is {}",
                    Atom::from_expr(limit.value).text(),
                    atom.text()
                );
                let diagnostic = Diagnostic::error(&EXTENT_MISMATCH, span, message);
                return Err(context.report(diagnostic.with_label_at(location.location, "given here")));
            }
            None => {
                let mut message = Vec::new();
                text(&format!("{what} must not be larger than "), &mut message);
                parts(&Value::Atom(Atom::from_expr(limit.value)), &mut message);
                text(", this is ", &mut message);
                message.push(MessagePart::Value(extent));
                let check = Check { kind: CheckKind::Extent, condition, message, span: location.location };
                match when {
                    Tested::Before => keep(&mut builder.function.checks, check),
                    Tested::After => test_result(context, builder, check)?,
                }
            }
        }
    }
    Ok(())
}
