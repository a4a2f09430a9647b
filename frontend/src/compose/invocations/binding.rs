// SPDX-License-Identifier: Apache-2.0
//! Binding of an invocation: types, attributes, inputs, in the order of 2.6.1.

use crate::ast::{BlockKind, Declaration, Expr, TypeSpec};
use crate::compose::calls::{Composed, Reported};
use crate::compose::context::Context;
use crate::compose::declarations::tensors::declared_tensors;
use crate::compose::declarations::types::tensor_kind;
use crate::compose::invocations::arguments::{Argument, ArgumentList};
use crate::compose::invocations::attribute_lengths::{
    attribute_lengths, deferred_attributes, packed_lengths, spread_attributes,
};
use crate::compose::invocations::attributes::given_attributes;
use crate::compose::invocations::builder::{Builder, Form};
use crate::compose::invocations::default_input::{
    default_input, replaced_default, report_unknown_extent, unknown_extent_of_default,
};
use crate::compose::invocations::generic_types::{converts, deduce_types};
use crate::compose::packs::dynamic_length::{input_length, length_awaits_others, stack, stacked_length};
use crate::compose::shapes::affine_extent::{Bound, collect_names, unify, unknown_names};
use crate::compose::shapes::input_shape::{
    bind_shapes, check_length_bound, declare_bounded, shape_is_bindable,
};
use crate::compose::shapes::size::check_size;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{ARGUMENT_KIND, ARGUMENT_MISSING, RANK_MISMATCH, SHAPE_NOT_BOUND};
use crate::eval::value::count;
use crate::eval::{Atom, ItemType, Pack, TensorRef, Value};
use crate::model::{self, Extent, Port, PortTensors, TensorType};
use crate::source::Span;
use skript_semantics::ScalarKind;
use std::collections::BTreeMap;
use std::rc::Rc;

pub(crate) fn bind(context: &mut Context, builder: &mut Builder, list: &ArgumentList) -> Composed<()> {
    deduce_types(context, builder, list)?;
    given_attributes(context, builder, list)?;
    if builder.entry {
        // No arguments determine these lengths, and inputs may be declared by them.
        packed_lengths(context, builder, list)?;
    }
    bind_inputs(context, builder, list)?;
    spread_attributes(context, builder, list)?;
    deferred_attributes(context, builder, list)?;
    attribute_lengths(context, builder, list)
}

/// Step 2: binds inputs in binding order.
fn bind_inputs(context: &mut Context, builder: &mut Builder, list: &ArgumentList) -> Composed<()> {
    let definition = builder.operator.definition;
    if list.arguments.len() > definition.inputs.len() {
        return Err(context.unchecked(list.span(definition.inputs.len())));
    }
    // Inputs with fixed extents come first: they determine names that other inputs share.
    let fixed =
        |input: &Declaration| builder.entry && context.options.input_shapes.contains_key(&input.name.name);
    let (first, then): (Vec<_>, Vec<_>) =
        definition.inputs.iter().enumerate().partition(|(_, input)| fixed(input));
    let given = |index: usize, input: &Declaration| {
        if builder.entry {
            !is_absent(context, input)
        } else {
            !matches!(list.arguments.get(index), None | Some(Argument::Null))
        }
    };
    let inputs = first.into_iter().chain(then);
    let (mut waiting, optional): (Vec<_>, Vec<_>) =
        inputs.partition(|(index, input)| given(*index, input) && !input.type_spec.optional);
    let mut optional = Some(optional);
    let mut ports = BTreeMap::new();
    let mut declared = !builder.entry;
    loop {
        let before = waiting.len();
        let mut next = Vec::new();
        for (index, input) in waiting {
            match try_input(context, builder, list, index, input)? {
                Some(port) => {
                    ports.insert(index, port);
                }
                None => next.push((index, input)),
            }
        }
        waiting = next;
        if waiting.len() < before {
            continue;
        }
        if !declared && !waiting.is_empty() && optional.is_some() {
            declared = true;
            for (_, input) in &waiting {
                declare_bounded(context, builder, input)?;
            }
        } else if let Some(inputs) = optional.take() {
            waiting.extend(inputs);
        } else if let Some((_, input)) = waiting.first() {
            return Err(unbound_input(context, builder, input, list));
        } else {
            break;
        }
    }
    builder.function.inputs = ports.into_values().collect();
    Ok(())
}

fn unbound_input(
    context: &mut Context,
    builder: &mut Builder,
    input: &Declaration,
    list: &ArgumentList,
) -> Reported {
    if let Some(extent) = unknown_extent_of_default(builder, input) {
        return report_unknown_extent(context, input, extent, list.invocation);
    }
    if builder.entry && graph_input(context, builder, input).is_err() {
        // The missing value of a name has been reported.
        return Reported;
    }
    let message = format!("the shape of input `{}` has several parts of unknown length", input.name.name);
    let diagnostic = Diagnostic::error(&SHAPE_NOT_BOUND, input.type_spec.span, message);
    context.report(diagnostic.with_label_at(list.invocation, "invoked here"))
}

/// Binds one input; `None` if its shape cannot be bound yet.
fn try_input(
    context: &mut Context,
    builder: &mut Builder,
    list: &ArgumentList,
    index: usize,
    input: &Declaration,
) -> Composed<Option<Port>> {
    spread_attributes(context, builder, list)?;
    let (argument, location) = if builder.entry && !is_absent(context, input) {
        replaced_default(context, builder, input);
        match context.options.input_shapes.get(&input.name.name).cloned() {
            Some(shapes) => (fixed_input(context, builder, input, shapes)?, input.name.span),
            None if awaits_others(builder, input) => return Ok(None),
            None => return graph_input(context, builder, input).map(Some),
        }
    } else {
        (list.arguments.get(index).cloned().unwrap_or(Argument::Null), list.span(index))
    };
    if matches!(argument, Argument::Null) {
        return absent_input(context, builder, input, location);
    }
    let spec = &input.type_spec;
    let what = format!("input `{}`", input.name.name);
    let kind = tensor_kind(context, builder, &spec.base)?;
    check_argument(context, input, &argument, kind, location)?;
    let known = argument.typed_items().iter().map(|item| match item {
        ItemType::Tensor(tensor) => (**tensor).clone(),
        ItemType::Scalar(_) => TensorType { kind, shape: Vec::new() },
    });
    let known: Vec<TensorType> = known.collect();
    let rank = known.first().map(|t| t.shape.len());
    if !shape_is_bindable(context, builder, spec, rank, &what, location)? {
        return Ok(None);
    }
    if let Some(pack) = &spec.pack
        && let Some(length) = &pack.length
    {
        let what = format!("the length of {what}");
        let bound = Bound { what: &what, location };
        let actual = match &argument {
            Argument::Stack(_, whole) => match whole.shape.first() {
                Some(length) => extents(context, builder, std::slice::from_ref(length), location)?.pop(),
                None => None,
            },
            _ => Some(Atom::Int(count(argument.items().len()))),
        };
        let actual = actual.map_or(Value::Null, Value::Atom);
        check_length_bound(context, builder, pack, &actual, &bound)?;
        unify(context, builder, length, &actual, &bound)?;
    }
    let length = bound_length(context, builder, spec, &argument, location)?;
    let mut shapes = Vec::with_capacity(known.len());
    for tensor in &known {
        if let Some(first) = rank
            && tensor.shape.len() != first
        {
            let other = tensor.shape.len();
            let message =
                format!("the tensors of a pack must have the same rank; here are {first} and {other}");
            return Err(context.error(&RANK_MISMATCH, location, message));
        }
        shapes.push(extents(context, builder, &tensor.shape, location)?);
    }
    let packed = spec.pack.is_some();
    bind_shapes(context, builder, spec, &shapes, packed, length.as_ref(), &what, location)?;
    Ok(Some(argument_tensors(builder, list, (index, input), (&argument, kind), &known)))
}

fn extents(
    context: &mut Context,
    builder: &Builder,
    shape: &[Extent],
    location: Span,
) -> Composed<Vec<Atom>> {
    context.evaluated(builder, |evaluator| {
        shape.iter().map(|extent| evaluator.extent_atom(extent, location)).collect()
    })
}

/// An input without an argument: its default, or null.
fn absent_input(
    context: &mut Context,
    builder: &mut Builder,
    input: &Declaration,
    location: Span,
) -> Composed<Option<Port>> {
    let name = &input.name.name;
    if let Some(default) = &input.default {
        if unknown_extent_of_default(builder, input).is_some() {
            return Ok(None);
        }
        default_input(context, builder, input, default)?;
    } else if input.type_spec.optional {
        builder.scope.set(name.clone(), Value::Null);
        null_symbols(builder, input);
    } else {
        // The check accepts an argument that only the value of an attribute makes null.
        let message = format!("input `{name}` has no argument");
        let diagnostic = Diagnostic::error(&ARGUMENT_MISSING, location, message);
        return Err(context.report(diagnostic.with_label_at(input.span, "declared here")));
    }
    Ok(Some(Port { name: name.clone(), tensors: PortTensors::Null, span: input.name.span }))
}

/// Checks that an argument has the declared type, and that it is a pack exactly if the input is declared as one.
fn check_argument(
    context: &mut Context,
    input: &Declaration,
    argument: &Argument,
    kind: ScalarKind,
    location: Span,
) -> Composed<()> {
    let fits = |item: &&ItemType| match item {
        ItemType::Tensor(tensor) => tensor.kind == kind,
        ItemType::Scalar(scalar) => converts(*scalar, kind),
    };
    let packed = input.type_spec.pack.is_some();
    let is_pack = matches!(argument, Argument::Pack(_) | Argument::Empty(_) | Argument::Stack(..));
    let (declared, given) = if let Some(item) = argument.typed_items().iter().find(|item| !fits(item)) {
        (kind.name(), item.kind().name())
    } else if packed == is_pack {
        return Ok(());
    } else if packed {
        ("a pack", "a single tensor")
    } else {
        ("a single tensor", "a pack")
    };
    let message = format!("input `{}` is {declared}, this is {given}", input.name.name);
    let diagnostic = Diagnostic::error(&ARGUMENT_KIND, location, message);
    Err(context.report(diagnostic.with_label_at(input.span, "declared here")))
}

/// Declares the tensors of an argument in the callee, and binds the name of the input to them.
fn argument_tensors(
    builder: &mut Builder,
    list: &ArgumentList,
    (index, input): (usize, &Declaration),
    (argument, kind): (&Argument, ScalarKind),
    known: &[TensorType],
) -> Port {
    let (form, types) = match argument {
        Argument::Stack(_, whole) => (Form::Stack, vec![(**whole).clone()]),
        Argument::Pack(items) => (Form::Pack(items.len()), known.to_vec()),
        Argument::Empty(_) => (Form::Pack(0), Vec::new()),
        Argument::Single(_) | Argument::Null => (Form::Single, known.to_vec()),
    };
    let port = builder.declare(&input.name, form, types.clone());
    let tensors = port.tensors.values().iter().zip(types).enumerate().map(|(item, (id, tensor))| {
        let tensor = TensorRef { id: *id, tensor: Rc::new(tensor) };
        builder.one_of(list, list.location(index, item), tensor)
    });
    let tensors: Vec<TensorRef> = tensors.collect();
    // The declaration determines the type of an empty pack.
    let item_type =
        || known.first().map_or(ItemType::Scalar(kind), |tensor| ItemType::Tensor(Rc::new(tensor.clone())));
    let value = match form.value(&mut tensors.into_iter()) {
        Value::Pack(pack) => Value::Pack(pack.with_type(Some(item_type()))),
        // Formulas unroll packs of static length.
        Value::Atom(Atom::Stack(whole))
            if whole.tensor.shape.first() == Some(&Extent::Fixed(0))
                && builder.operator.definition.has_block(BlockKind::Lower) =>
        {
            Value::Pack(Pack::from_iter([]).with_type(Some(item_type())))
        }
        value => value,
    };
    builder.scope.set(input.name.name.clone(), value);
    port
}

/// The length of a pack of dynamic length, in terms of its declaration: packs that declare the same name have the same
/// length.
fn bound_length(
    context: &mut Context,
    builder: &Builder,
    spec: &TypeSpec,
    argument: &Argument,
    location: Span,
) -> Composed<Option<Atom>> {
    let whole = match argument {
        Argument::Stack(_, whole) => whole,
        Argument::Empty(_) => return Ok(Some(Atom::Int(0))),
        _ => return Ok(None),
    };
    let declared = spec.pack.as_ref().and_then(|p| p.length.as_ref());
    let length = match (declared, whole.shape.first()) {
        (Some(declared), _) => context.value(builder, declared)?,
        (None, Some(extent)) => {
            Value::Atom(context.evaluated(builder, |evaluator| evaluator.extent_atom(extent, location))?)
        }
        (None, None) => Value::Null,
    };
    match length {
        Value::Atom(atom) => Ok(Some(atom)),
        _ => Ok(None),
    }
}

/// 2.6.1: names that only an absent input would bind are null.
fn null_symbols(builder: &mut Builder, input: &Declaration) {
    let mut names = Vec::new();
    let spec = &input.type_spec;
    let mut exprs: Vec<&Expr> = Vec::new();
    exprs.extend(&spec.rank);
    exprs.extend(spec.pack.iter().filter_map(|p| p.length.as_ref()));
    for extent in spec.shape.iter().flatten() {
        exprs.extend(&extent.extent);
        exprs.extend(extent.pack.iter().filter_map(|p| p.length.as_ref()));
    }
    for expr in exprs {
        collect_names(expr, &mut names);
    }
    for name in names {
        if builder.scope.get(&name).is_none() {
            builder.scope.set(name, Value::Null);
        }
    }
}

/// Whether an input of the entry graph is absent: one with a default unless callers pass it, an optional one if callers
/// omit it.
fn is_absent(context: &Context, input: &Declaration) -> bool {
    let name = &input.name.name;
    match input.default {
        Some(_) => !context.options.given_inputs.contains(name),
        None => input.type_spec.optional && context.options.absent_inputs.contains(name),
    }
}

/// Whether an extent of an input of the entry graph, or its bound, uses a name that only another input can bind:
/// `real[s]` or `real[r|s]` where `real[s|4]` comes later (2.6.1).
fn awaits_others(builder: &Builder, input: &Declaration) -> bool {
    if length_awaits_others(builder, input) {
        return true;
    }
    let extents = || input.type_spec.shape.iter().flatten();
    let bounded = extents().filter(|extent| extent.bound.is_some());
    let names = bounded.flat_map(|extent| &extent.extent);
    let unknown: Vec<String> = names.flat_map(|expr| unknown_names(builder, expr)).collect();
    extents().any(|extent| {
        let known = extent.bound.as_ref().or(extent.extent.as_ref());
        let names = known.map(|expr| unknown_names(builder, expr));
        let mut names = names.into_iter().flatten();
        names.any(|name| extent.bound.is_none() || !unknown.contains(&name))
    })
}

/// An input of the entry graph whose extents were fixed: bound as if it were an argument.
fn fixed_input(
    context: &mut Context,
    builder: &Builder,
    input: &Declaration,
    shapes: Vec<Vec<u64>>,
) -> Composed<Argument> {
    let kind = tensor_kind(context, builder, &input.type_spec.base)?;
    let mut items = Vec::with_capacity(shapes.len());
    for extents in shapes {
        let shape = extents.into_iter().map(model::Extent::Fixed).collect();
        let tensor = TensorType { kind, shape };
        check_size(context, &tensor, input.span)?;
        items.push(ItemType::Tensor(Rc::new(tensor)));
    }
    Ok(match (input.type_spec.pack.is_some(), items.as_slice()) {
        (false, [single]) => Argument::Single(single.clone()),
        _ => Argument::Pack(items),
    })
}

/// An input of the entry graph, with the declared shape.
fn graph_input(context: &mut Context, builder: &mut Builder, input: &Declaration) -> Composed<Port> {
    if let Some(length) = stacked_length(context, builder, input)? {
        return stack(context, builder, input, length);
    }
    let form = Form::declared(input_length(context, builder, input)?);
    let tensors = declared_tensors(context, builder, input, form.count())?;
    Ok(builder.declare(&input.name, form, tensors))
}
