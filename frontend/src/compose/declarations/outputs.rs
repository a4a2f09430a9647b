// SPDX-License-Identifier: Apache-2.0
//! Checks the outputs of a composition against their declarations (2.6, 2.10).

use crate::ast::{Declaration, ExprKind, Ident, TypeSpec};
use crate::compose::calls::{Composed, Reported};
use crate::compose::context::Context;
use crate::compose::declarations::tensors::{DeclaredExtent, declared_shape, set_tensors};
use crate::compose::declarations::types::{declared_length, tensor_kind};
use crate::compose::invocations::builder::{Builder, Form};
use crate::compose::packs::dynamic_length::{
    item_of_none, name_dynamic_length, name_length, one_shape, with_written_length,
};
use crate::compose::shapes::affine_extent::unknown_names;
use crate::compose::shapes::block_checks::test_result;
use crate::compose::shapes::checks::{Verdict, equality, parts, text};
use crate::compose::shapes::input_shape::Tested;
use crate::compose::synthesized_functions::materialize;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{OUTPUT_MISMATCH, UNEXPECTED_VALUE};
use crate::eval::ranges::{decided, extent_expr};
use crate::eval::{Atom, TensorRef, Value};
use crate::model::{Check, CheckKind, Extent, MessagePart, Port, PortTensors, shape_text};
use crate::source::Span;

/// Takes the outputs of a composition from the scope and checks them against their declarations.
pub(crate) fn composed_outputs(context: &mut Context, builder: &mut Builder) -> Composed<()> {
    let definition = builder.operator.definition;
    let mut result = Ok(());
    for declaration in &definition.outputs {
        match composed_output(context, builder, declaration) {
            Ok(port) => builder.function.outputs.push(port),
            Err(reported) => result = Err(reported),
        }
    }
    result
}

/// Reports wrong outputs that do not depend on the errors in the body, in addition to these errors.
pub(crate) fn compare_outputs_that_are_known(context: &mut Context, builder: &mut Builder) {
    for declaration in &builder.operator.definition.outputs {
        let spec = &declaration.type_spec;
        let extents = spec.shape.iter().flatten();
        let lengths = extents.clone().filter_map(|extent| extent.pack.as_ref());
        let lengths = lengths.chain(&spec.pack).map(|pack| &pack.length);
        let mut named = extents.map(|e| &e.extent).chain(lengths).flatten();
        let value = builder.scope.get(&declaration.name.name);
        let is_known = value.is_some_and(|value| !value.is_poisoned() && !value.is_null());
        if is_known && named.all(|expr| unknown_names(builder, expr).is_empty()) {
            // Only its diagnostics are needed.
            let _ = composed_output(context, builder, declaration);
        }
    }
}

fn composed_output(
    context: &mut Context,
    builder: &mut Builder,
    declaration: &Declaration,
) -> Composed<Port> {
    let name = &declaration.name.name;
    let Some(value) = builder.scope.get(name).cloned() else {
        return Err(context.unchecked(declaration.span));
    };
    if value.is_poisoned() {
        return Err(Reported);
    }
    if value.is_null() {
        let message = format!("output `{name}` is null here");
        return Err(context.error(&UNEXPECTED_VALUE, declaration.span, message));
    }
    let value = match (&declaration.type_spec.pack, value) {
        (Some(pack), Value::Atom(Atom::Stack(stack))) => {
            with_written_length(context, builder, pack, stack, declaration.span)?
        }
        (_, value) => value,
    };
    let kind = tensor_kind(context, builder, &declaration.type_spec.base)?;
    if let Value::Atom(Atom::Stack(stack)) = &value
        && declaration.type_spec.pack.is_some()
    {
        return stack_output(context, builder, declaration, stack);
    }
    let items = materialize(context, builder, &value, kind, declaration.span)?;
    let packed = matches!(value, Value::Pack(_));
    if packed != declaration.type_spec.pack.is_some() {
        let (declared, given) =
            if packed { ("a single tensor", "a pack") } else { ("a pack", "a single tensor") };
        let message = format!("output `{name}` is declared as {declared}, but computed as {given}");
        return Err(context.error(&OUTPUT_MISMATCH, declaration.span, message));
    }
    if packed && declaration.type_spec.pack.as_ref().is_some_and(|p| p.length.is_some()) {
        let pack = declaration.type_spec.pack.as_ref();
        if let Some(pack) = pack {
            name_length(builder, pack, items.len());
        }
        if let Some(length) = declared_length(context, builder, declaration)?
            && length != items.len()
        {
            let message =
                format!("output `{name}` is declared with {length} tensors, {} are computed", items.len());
            return Err(context.error(&OUTPUT_MISMATCH, declaration.span, message));
        }
    }
    let what = format!("output `{name}`");
    for (item, tensor) in items.iter().enumerate() {
        let produced = builder.function.values.get(tensor.id.0 as usize).map_or(declaration.span, |v| v.span);
        check_declared(context, builder, declaration, &what, item, tensor, produced)?;
    }
    if packed
        && items.is_empty()
        && let Some(item) = item_of_none(context, builder, declaration)?
    {
        let position = builder.function.outputs.len();
        builder.function.items_of_none.push((position, item));
    }
    let tensors = Form::new(&value).port(items.iter().map(|t| t.id).collect());
    builder.tensors.insert(name.clone());
    Ok(Port { name: name.clone(), tensors, span: declaration.name.span })
}

/// An assigned output defines the names of its dynamic extents and of its length, for later statements (2.10.1).
pub(crate) fn name_output(
    context: &mut Context,
    builder: &mut Builder,
    name: &Ident,
    value: &Value,
) -> Composed<()> {
    let mut outputs = builder.operator.definition.outputs.iter();
    let Some(declaration) = outputs.find(|o| o.name.name == name.name) else {
        return Ok(());
    };
    if let Some(pack) = &declaration.type_spec.pack {
        match value {
            Value::Pack(items) => name_length(builder, pack, items.len()),
            Value::Atom(Atom::Stack(stack)) => {
                if let Some(length) = stack.tensor.shape.first() {
                    name_dynamic_length(context, builder, pack, length, name.span)?;
                }
            }
            _ => {}
        }
    }
    match value.atoms().next() {
        Some(Atom::Tensor(tensor)) => {
            name_extents(builder, declaration, &tensor.tensor.shape);
        }
        Some(Atom::Stack(stack)) => {
            if let [_, shape @ ..] = stack.tensor.shape.as_slice() {
                name_extents(builder, declaration, shape);
            }
        }
        _ => {}
    }
    Ok(())
}

/// Checks the results of a statement, or the initial value of a loop variable, against the written type and shape,
/// `t: real[2,n] = …` (2.10.1, 2.16).
pub(crate) fn check_written(
    context: &mut Context,
    builder: &mut Builder,
    name: &Ident,
    spec: &TypeSpec,
    value: &Value,
    computed: Span,
) -> Composed<()> {
    let declaration = Declaration {
        name: name.clone(),
        type_spec: spec.clone(),
        default: None,
        bounds: Vec::new(),
        span: name.span.to(spec.span),
    };
    let what = format!("`{}`", name.name);
    for (item, atom) in value.atoms().enumerate() {
        match atom {
            Atom::Tensor(tensor) => {
                check_declared(context, builder, &declaration, &what, item, &tensor, computed)?;
            }
            Atom::Stack(stack) => check_stack(context, builder, &declaration, &what, &stack)?,
            _ => {}
        }
    }
    Ok(())
}

/// Checks a computed tensor against a declaration; `what` is its name in messages.
pub(crate) fn check_declared(
    context: &mut Context,
    builder: &mut Builder,
    declaration: &Declaration,
    what: &str,
    item: usize,
    tensor: &TensorRef,
    produced: Span,
) -> Composed<()> {
    let kind = tensor_kind(context, builder, &declaration.type_spec.base)?;
    let mismatch = |declared: String, computed: String| {
        Diagnostic::error(
            &OUTPUT_MISMATCH,
            declaration.span,
            format!("{what} is declared as {declared}, but computed as {computed}"),
        )
        .with_label_at(produced, "computed here")
    };
    if tensor.tensor.kind != kind {
        let diagnostic = mismatch(kind.name().to_string(), tensor.tensor.kind.name().to_string());
        return Err(context.report(diagnostic));
    }
    name_extents(builder, declaration, &tensor.tensor.shape);
    let Some(shape) = declared_shape(context, builder, declaration, item, Tested::After)? else {
        return Ok(());
    };
    let mut agrees = shape.len() == tensor.tensor.shape.len();
    let mut open = Vec::new();
    for (dimension, (declared, computed)) in shape.iter().zip(&tensor.tensor.shape).enumerate() {
        match output_verdict(declared, computed) {
            Verdict::Holds => {}
            Verdict::Fails => agrees = false,
            Verdict::Open(condition) => open.push((dimension, condition, declared, computed)),
        }
    }
    if agrees {
        for (dimension, condition, declared, computed) in open {
            let mut message = Vec::new();
            text(&format!("extent {dimension} of {what} must be "), &mut message);
            match declared {
                DeclaredExtent::Is(extent) => extent_part(extent, &mut message),
                DeclaredExtent::Bounded(bound) => {
                    text("at most ", &mut message);
                    parts(&Value::Atom(Atom::from_expr(bound.value.clone())), &mut message);
                }
                DeclaredExtent::Any => {}
            }
            text(", it is ", &mut message);
            extent_part(computed, &mut message);
            let check = Check { kind: CheckKind::Extent, condition, message, span: declaration.span };
            test_result(context, builder, check)?;
        }
        return Ok(());
    }
    let declared: Vec<String> = shape
        .iter()
        .map(|extent| match extent {
            DeclaredExtent::Any => "~".to_string(),
            DeclaredExtent::Bounded(bound) => format!("~|{}", bound.maximum),
            DeclaredExtent::Is(extent) => extent.to_string(),
        })
        .collect();
    let diagnostic = mismatch(
        format!("{}[{}]", kind.name(), declared.join(",")),
        format!("{}{}", kind.name(), shape_text(&tensor.tensor.shape)),
    );
    Err(context.report(diagnostic))
}

/// Binds the new name r of `r|8` to the computed extent, also for other outputs.
fn name_extents(builder: &mut Builder, declaration: &Declaration, shape: &[Extent]) {
    let Some(specs) = &declaration.type_spec.shape else {
        return;
    };
    let rank = shape.len();
    let packs = specs.iter().filter(|s| s.pack.is_some()).count();
    if packs > 1 || specs.len() > rank + packs {
        // The declared shape is compared as a whole.
        return;
    }
    let mut start = 0;
    for spec in specs {
        let length = match spec.pack {
            Some(_) => rank + packs - specs.len(),
            None => 1,
        };
        let computed = shape.iter().skip(start).take(length);
        start += length;
        let (Some(expr), Some(_)) = (&spec.extent, &spec.bound) else {
            continue;
        };
        let ExprKind::Name(name) = &expr.kind else {
            continue;
        };
        if builder.scope.get(&name.name).is_some() {
            continue;
        }
        let atoms: Vec<Atom> = computed.map(|e| Atom::from_expr(extent_expr(e))).collect();
        set_tensors(builder, &name.name, atoms, spec.pack.is_some());
    }
}

/// Checks a computed extent against the declared extent. Dynamic extents with different expressions may still be equal.
fn output_verdict(declared: &DeclaredExtent, computed: &Extent) -> Verdict {
    match declared {
        DeclaredExtent::Any => Verdict::Holds,
        DeclaredExtent::Bounded(bound) => {
            let holds = bound.holds(extent_expr(computed));
            match decided(&holds) {
                Some(true) => Verdict::Holds,
                Some(false) => Verdict::Fails,
                None => Verdict::Open(holds),
            }
        }
        DeclaredExtent::Is(extent) => {
            equality(&Atom::from_expr(extent_expr(extent)), &Atom::from_expr(extent_expr(computed)))
        }
    }
}

fn extent_part(extent: &Extent, message: &mut Vec<MessagePart>) {
    parts(&Value::Atom(Atom::from_expr(extent_expr(extent))), message);
}

/// An output that is a pack of dynamic length.
pub(crate) fn stack_output(
    context: &mut Context,
    builder: &mut Builder,
    declaration: &Declaration,
    stack: &TensorRef,
) -> Composed<Port> {
    let name = &declaration.name;
    check_stack(context, builder, declaration, &format!("output `{}`", name.name), stack)?;
    builder.tensors.insert(name.name.clone());
    let none = stack.tensor.shape.first() == Some(&Extent::Fixed(0));
    if none {
        let position = builder.function.outputs.len();
        let item = stack.tensor.item();
        builder.function.items_of_none.push((position, item));
    }
    Ok(Port {
        name: name.name.clone(),
        tensors: if none { PortTensors::Pack(Vec::new()) } else { PortTensors::Stack(stack.id) },
        span: name.span,
    })
}

/// Checks the tensors of a pack of dynamic length against a declaration; `what` is its name in messages.
pub(crate) fn check_stack(
    context: &mut Context,
    builder: &mut Builder,
    declaration: &Declaration,
    what: &str,
    stack: &TensorRef,
) -> Composed<()> {
    one_shape(context, builder, declaration)?;
    let item = TensorRef { id: stack.id, tensor: std::rc::Rc::new(stack.tensor.item()) };
    let produced = builder.function.values.get(stack.id.0 as usize);
    let produced = produced.map_or(declaration.span, |v| v.span);
    check_declared(context, builder, declaration, what, 0, &item, produced)
}
