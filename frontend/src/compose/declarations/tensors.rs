// SPDX-License-Identifier: Apache-2.0
//! Declared tensors: constants, variables, outputs (2.6, 2.7).

use crate::ast::{Declaration, Expr, ExprKind, ExtentSpec, PackSpec};
use crate::compose::calls::Composed;
use crate::compose::context::Context;
use crate::compose::declarations::captures::capture;
use crate::compose::declarations::constant_elements::{
    computed_elements, hold_constant, known_while_composing,
};
use crate::compose::declarations::types::{declared_length, tensor_kind};
use crate::compose::instances::CaptureName;
use crate::compose::invocations::builder::{Builder, Form};
use crate::compose::invocations::generic_types::coerced;
use crate::compose::packs::dynamic_length::{item_of_none, run_time_length, stack};
use crate::compose::shapes::affine_extent::{Bound, unify, unknown_names};
use crate::compose::shapes::checks::keep_extent_check;
use crate::compose::shapes::dynamic_extent::extent_of;
use crate::compose::shapes::input_shape::{Tested, check_upper_bounds};
use crate::compose::shapes::size::check_size;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{
    CONSTANT_VALUE, PACK_LENGTHS_DIFFER, SHAPE_NOT_BOUND, UNDETERMINED_EXTENT, UNEXPECTED_VALUE,
    VARIABLE_EXTENT,
};
use crate::eval::ranges::{decided, extent_expr, upper_bound};
use crate::eval::stop::{EvalResult, stop, stop_with_help};
use crate::eval::{Atom, Evaluator, TypeName, Value, runtime};
use crate::model::{self, ConstantData, Extent, MessagePart, ShapeExpr, TensorType, shape_text};
use crate::source::Span;
use crate::syntax::OPEN_EXTENT;
use rustc_hash::{FxHashMap, FxHashSet};
use skript_semantics::{Scalar, ScalarKind, ScalarOp};
use std::sync::Arc;

/// One extent of a declared output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DeclaredExtent {
    Is(Extent),
    /// `~`: the extent of the computed tensor.
    Any,
    /// `~|k`: at most k.
    Bounded(Limit),
}

/// The value of a bound after `|` at run time, and its maximum.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Limit {
    pub value: model::Expr,
    pub maximum: u64,
}

impl Limit {
    fn fixed(n: u64) -> Self {
        Limit { value: extent_expr(&Extent::Fixed(n)), maximum: n }
    }

    /// Whether an extent is within the bound.
    pub(crate) fn holds(&self, extent: model::Expr) -> model::Expr {
        runtime::compare(ScalarOp::Le, extent, self.value.clone())
    }
}

/// The types of a declared tensor, or of the `count` tensors of a declared pack.
pub(crate) fn declared_tensors(
    context: &mut Context,
    builder: &mut Builder,
    declaration: &Declaration,
    count: usize,
) -> Composed<Vec<TensorType>> {
    let kind = tensor_kind(context, builder, &declaration.type_spec.base)?;
    if declaration.type_spec.pack.is_some() {
        let specs = declaration.type_spec.shape.iter().flatten();
        for own in specs.filter(|spec| spec.per_item && spec.pack.is_none()) {
            let _ = declare_symbol(context, builder, own, Some(count))?;
        }
    }
    let mut tensors = Vec::with_capacity(count);
    for item in 0..count {
        let shape = declared_shape(context, builder, declaration, item, Tested::Before)?;
        let Some(shape) = shape else {
            let message = format!(
                "the shape of `{}` must be written; only outputs of a composition, and inputs of invoked graphs, may omit it",
                declaration.name.name
            );
            return Err(context.error(&SHAPE_NOT_BOUND, declaration.span, message));
        };
        let mut extents = Vec::with_capacity(shape.len());
        for (dimension, extent) in shape.into_iter().enumerate() {
            match extent {
                DeclaredExtent::Is(extent) => extents.push(extent),
                DeclaredExtent::Bounded(bound) => extents.push(Extent::Dynamic {
                    expr: Arc::new(ShapeExpr::Symbol(format!(
                        "{}.{item}.{dimension}",
                        declaration.name.name
                    ))),
                    bound: bound.maximum,
                }),
                DeclaredExtent::Any => {
                    let message = format!(
                        "extent {dimension} of `{}` needs an upper bound: `~|n`",
                        declaration.name.name
                    );
                    return Err(context.error(&SHAPE_NOT_BOUND, declaration.span, message));
                }
            }
        }
        let tensor = TensorType { kind, shape: extents };
        check_size(context, &tensor, declaration.span)?;
        tensors.push(tensor);
    }
    Ok(tensors)
}

/// `s|k` with a new name s: a symbol of the function; `..s|k` is one for each of `items` tensors. Returns whether
/// it is new.
pub(crate) fn declare_symbol(
    context: &mut Context,
    builder: &mut Builder,
    spec: &ExtentSpec,
    items: Option<usize>,
) -> Composed<bool> {
    let (Some(expr), Some(bound)) = (&spec.extent, &spec.bound) else {
        return Ok(false);
    };
    let ExprKind::Name(name) = &expr.kind else {
        return Ok(false);
    };
    if builder.scope.get(&name.name).is_some() {
        return Ok(false);
    }
    let packed = spec.pack.is_some() || items.is_some();
    let atoms = context.evaluated(builder, |evaluator| {
        let bounds = upper_extents(evaluator, bound, spec.pack.as_ref());
        bounds.and_then(|bounds| {
            let bounds = match (items, bounds.as_slice()) {
                (Some(items), [all]) => vec![all.clone(); items],
                (Some(items), each) if each.len() != items => {
                    let message = format!("a pack of {items} tensors has {} bounds", each.len());
                    return stop(&PACK_LENGTHS_DIFFER, bound.span, message);
                }
                _ => bounds,
            };
            let mut atoms = Vec::with_capacity(bounds.len());
            for (position, bound) in bounds.into_iter().enumerate() {
                let symbol = if packed { format!("{}.{position}", name.name) } else { name.name.clone() };
                let extent =
                    Extent::Dynamic { expr: Arc::new(ShapeExpr::Symbol(symbol)), bound: bound.maximum };
                atoms.push(evaluator.extent_atom(&extent, spec.span)?);
            }
            Ok(atoms)
        })
    })?;
    set_tensors(builder, &name.name, atoms, packed);
    Ok(true)
}

/// The declared extents of one item; `None` if no shape is written.
pub(crate) fn declared_shape(
    context: &mut Context,
    builder: &mut Builder,
    declaration: &Declaration,
    item: usize,
    when: Tested,
) -> Composed<Option<Vec<DeclaredExtent>>> {
    let Some(specs) = &declaration.type_spec.shape else {
        return Ok(None);
    };
    let packed = declaration.type_spec.pack.is_some();
    let mut solved = FxHashMap::default();
    let mut made_here = FxHashSet::default();
    for (position, spec) in specs.iter().enumerate() {
        if declare_symbol(context, builder, spec, None)? && !is_input(builder, declaration) {
            made_here.insert(position);
        }
        let (Some(expr), Some(bound)) = (&spec.extent, &spec.bound) else {
            continue;
        };
        let unknown = unknown_names(builder, expr);
        let Some(name) = unknown.first() else {
            continue;
        };
        if let (true, [_]) = (may_be_solved(builder, declaration, spec), &*unknown) {
            let location = (item, position);
            let extent = solved_extent(context, builder, declaration, location, (expr, bound))?;
            solved.insert(position, extent);
            continue;
        }
        let text = context.source_text(expr.span);
        let message = format!(
            "nothing determines `{name}` in `{text}`: an upper bound belongs to a name, not to an expression"
        );
        let diagnostic = Diagnostic::error(&UNDETERMINED_EXTENT, spec.span, message);
        return Err(context.report(diagnostic.with_help(format!(
            "declare the upper bound of `{name}` where it stands alone, `{name}|2`, and remove the bound of `{text}`"
        ))));
    }
    let mut computed = Vec::new();
    let extents = context.evaluated(builder, |evaluator| {
        declared_extents(evaluator, specs, (packed, item), &solved, &mut computed)
    })?;
    for (expr, span) in computed {
        check_sign(context, builder, declaration, expr, span)?;
    }
    for (position, spec) in specs.iter().enumerate() {
        let when = match when {
            // The extent is not determined yet.
            Tested::Before if made_here.contains(&position) => Tested::After,
            known => known,
        };
        if !solved.contains_key(&position) {
            check_declared_bound(context, builder, declaration, spec, when)?;
        }
    }
    Ok(Some(extents))
}

/// `2 * s|10` of an input of the main graph: the dynamic extent of the input determines `s`.
fn solved_extent(
    context: &mut Context,
    builder: &mut Builder,
    declaration: &Declaration,
    (item, position): (usize, usize),
    (expr, bound): (&Expr, &Expr),
) -> Composed<Extent> {
    let name = &declaration.name;
    let (extent, atom) = context.evaluated(builder, |evaluator| {
        let bounds = upper_extents(evaluator, bound, None);
        bounds.and_then(|bounds| {
            let symbol = format!("{}.{item}.{position}.solved", name.name);
            let extent = Extent::Dynamic {
                expr: Arc::new(ShapeExpr::Symbol(symbol)),
                bound: bounds.first().map_or(0, |b| b.maximum),
            };
            let atom = evaluator.extent_atom(&extent, expr.span)?;
            Ok((extent, atom))
        })
    })?;
    let what = format!("extent {position} of input `{}`", name.name);
    let location = name.span;
    let bound = Bound { what: &what, location };
    unify(context, builder, expr, &Value::Atom(atom), &bound)?;
    Ok(extent)
}

/// Checks `n|k` for the extent of `n`, independent of what determined it.
fn check_declared_bound(
    context: &mut Context,
    builder: &mut Builder,
    declaration: &Declaration,
    spec: &ExtentSpec,
    when: Tested,
) -> Composed<()> {
    let (Some(expr), Some(_)) = (&spec.extent, &spec.bound) else {
        return Ok(());
    };
    let extent = context.evaluated(builder, |evaluator| match &spec.pack {
        Some(pack) => evaluator.expand(expr, pack.length.as_ref(), spec.span),
        None => evaluator.eval(expr),
    })?;
    let (source, name) = (context.source_text(expr.span), &declaration.name.name);
    let what = format!("the extent `{source}` of `{name}`");
    let location = declaration.name.span;
    let location = Bound { what: &what, location };
    check_upper_bounds(context, builder, spec, &extent, &location, when)
}

/// Adds a run-time check that a computed dynamic extent, such as `n - 2`, is not negative.
pub(crate) fn check_sign(
    context: &mut Context,
    builder: &mut Builder,
    declaration: &Declaration,
    expr: model::Expr,
    span: Span,
) -> Composed<()> {
    let condition = runtime::compare(ScalarOp::Ge, expr.clone(), model::Expr::int(0));
    let source = context.source_text(span);
    let name = &declaration.name.name;
    match decided(&condition) {
        Some(true) => Ok(()),
        Some(false) => {
            let message = format!("an extent cannot be negative, but `{source}` of `{name}` always is");
            Err(context.error(&UNEXPECTED_VALUE, span, message))
        }
        None => {
            let message = vec![
                MessagePart::Text(format!("an extent cannot be negative, but `{source}` of `{name}` is ")),
                MessagePart::Value(expr),
            ];
            keep_extent_check(builder, condition, message, span);
            Ok(())
        }
    }
}

/// Constants and variables.
pub(crate) fn local_tensors(context: &mut Context, builder: &mut Builder) -> Composed<()> {
    let definition = builder.operator.definition;
    for declaration in &definition.constants {
        constant(context, builder, declaration)?;
    }
    for declaration in &definition.variables {
        let form = Form::declared(declared_length(context, builder, declaration)?);
        let tensors = declared_tensors(context, builder, declaration, form.count())?;
        let name = &declaration.name.name;
        if let Some(tensor) = tensors.iter().find(|t| !is_static(t)) {
            let diagnostic = Diagnostic::error(
                &VARIABLE_EXTENT,
                declaration.type_spec.span,
                format!("the shape of the variable `{name}` must be static"),
            )
            .with_label(shape_text(&tensor.shape))
            .with_help("declare its extents by attributes, or by the static extents of another tensor");
            return Err(context.report(diagnostic));
        }
        let mut captured = Vec::new();
        for (item, tensor) in tensors.into_iter().enumerate() {
            let (path, aliases) = match form {
                Form::Pack(_) => (format!("{name}:{}", item + 1), vec![format!("{name}_{}", item + 1)]),
                _ => (name.clone(), Vec::new()),
            };
            let captured_name = CaptureName {
                absolute: false,
                path: path.clone(),
                aliases,
                tensor,
                span: declaration.name.span,
                invocation: None,
            };
            captured.push(capture(context, builder, captured_name, Some(path))?);
        }
        builder.tensors.insert(name.clone());
        builder.scope.set(name.clone(), form.value(&mut captured.into_iter()));
    }
    Ok(())
}

fn constant(context: &mut Context, builder: &mut Builder, declaration: &Declaration) -> Composed<()> {
    let name = &declaration.name.name;
    let Some(default) = &declaration.default else {
        let message = format!("constant `{name}` needs a value");
        return Err(context.error(&CONSTANT_VALUE, declaration.span, message));
    };
    let form = Form::declared(declared_length(context, builder, declaration)?);
    let tensors = declared_tensors(context, builder, declaration, form.count())?;
    let kind = tensor_kind(context, builder, &declaration.type_spec.base)?;
    let mut data = Vec::new();
    if form != Form::Single {
        let value = constant_items(context, builder, declaration, kind)?;
        if value.len() != tensors.len() {
            let message =
                format!("`{name}` has {} tensors, but there are {} values", tensors.len(), value.len());
            return Err(context.error(&CONSTANT_VALUE, default.span, message));
        }
        data.extend(value.into_iter().map(ConstantData::Splat));
    } else if let Some(tensor) = tensors.first() {
        data.push(constant_data(context, builder, declaration, tensor)?);
    }
    let mut values = Vec::new();
    for (tensor, data) in tensors.into_iter().zip(data) {
        let value = builder.value(Some(name.clone()), tensor, declaration.name.span);
        builder.function.constants.push((value.id, data));
        values.push(value);
    }
    builder.tensors.insert(name.clone());
    builder.scope.set(name.clone(), form.value(&mut values.into_iter()));
    Ok(())
}

/// The compile-time scalars of a constant's value.
fn constant_items(
    context: &mut Context,
    builder: &Builder,
    declaration: &Declaration,
    kind: ScalarKind,
) -> Composed<Vec<Scalar>> {
    let Some(default) = &declaration.default else {
        return Ok(Vec::new());
    };
    let value = context.value(builder, default)?;
    known_while_composing(declaration, &value).map_err(|s| context.failed(s))?;
    let scalars = coerced(&value, TypeName::Scalar(kind))
        .map(|v| v.atoms().filter_map(|item| item.scalar()).collect::<Vec<Scalar>>());
    match scalars {
        Some(scalars) if !value.is_null() => Ok(scalars),
        _ => Err(context.error(
            &CONSTANT_VALUE,
            default.span,
            format!("constant `{}` is {}, its value is {}", declaration.name.name, kind.name(), value.text()),
        )),
    }
}

fn constant_data(
    context: &mut Context,
    builder: &Builder,
    declaration: &Declaration,
    tensor: &TensorType,
) -> Composed<ConstantData> {
    let name = &declaration.name.name;
    let volume = tensor
        .shape
        .iter()
        .try_fold(1u64, |product, extent| product.checked_mul(extent.bound()))
        .unwrap_or(u64::MAX);
    let scalars = if declaration.bounds.is_empty() {
        let scalars = constant_items(context, builder, declaration, tensor.kind)?;
        let is_pack =
            declaration.default.as_ref().is_some_and(|d| matches!(d.kind, crate::ast::ExprKind::List(_)));
        if let ([single], false) = (scalars.as_slice(), is_pack && volume != 1) {
            return Ok(ConstantData::Splat(*single));
        }
        scalars
    } else {
        hold_constant(context, name, volume, declaration.span)?;
        let computed = computed_elements(builder, declaration, tensor, context.limits);
        computed.map_err(|s| context.failed(s))?
    };
    if u64::try_from(scalars.len()) != Ok(volume) {
        let message = format!(
            "constant `{name}` of shape {} has {volume} elements, but there are {} values",
            shape_text(&tensor.shape),
            scalars.len()
        );
        return Err(context.error(&CONSTANT_VALUE, declaration.span, message));
    }
    Ok(match tensor.kind {
        ScalarKind::Bool => {
            ConstantData::Bool(scalars.iter().map(|s| matches!(s, Scalar::Bool(true))).collect())
        }
        ScalarKind::Int => {
            ConstantData::Int(scalars.iter().map(|s| if let Scalar::Int(i) = s { *i } else { 0 }).collect())
        }
        ScalarKind::Real => ConstantData::Real(
            scalars.iter().map(|s| if let Scalar::Real(r) = s { *r } else { 0.0 }).collect(),
        ),
    })
}

/// Creates the outputs as new tensors of the declared types (formulas and intrinsics).
pub(crate) fn declare_outputs(context: &mut Context, builder: &mut Builder) -> Composed<()> {
    let definition = builder.operator.definition;
    for declaration in &definition.outputs {
        let port = match run_time_length(context, builder, declaration)? {
            Some(length) => stack(context, builder, declaration, length)?,
            None => {
                let form = Form::declared(declared_length(context, builder, declaration)?);
                let tensors = declared_tensors(context, builder, declaration, form.count())?;
                if form == Form::Pack(0)
                    && let Some(item) = item_of_none(context, builder, declaration)?
                {
                    let position = builder.function.outputs.len();
                    builder.function.items_of_none.push((position, item));
                }
                builder.declare(&declaration.name, form, tensors)
            }
        };
        builder.function.outputs.push(port);
    }
    Ok(())
}

/// Whether a bounded extent with one undetermined name determines that name.
fn may_be_solved(builder: &Builder, declaration: &Declaration, spec: &ExtentSpec) -> bool {
    let single = spec.pack.is_none() && !spec.per_item;
    builder.entry && is_input(builder, declaration) && single
}

fn is_input(builder: &Builder, declaration: &Declaration) -> bool {
    let mut inputs = builder.operator.definition.inputs.iter();
    inputs.any(|input| std::ptr::eq(input, declaration))
}

fn is_static(tensor: &TensorType) -> bool {
    let mut extents = tensor.shape.iter();
    extents.all(|extent| extent.fixed().is_some())
}

/// The extents of a declared shape, for item `item` if it is one of a pack; some are `solved` already.
fn declared_extents(
    evaluator: &mut Evaluator,
    specs: &[ExtentSpec],
    (packed, item): (bool, usize),
    solved: &FxHashMap<usize, Extent>,
    computed: &mut Vec<(model::Expr, Span)>,
) -> EvalResult<Vec<DeclaredExtent>> {
    let mut extents = Vec::new();
    for (position, spec) in specs.iter().enumerate() {
        if let Some(extent) = solved.get(&position) {
            extents.push(DeclaredExtent::Is(extent.clone()));
            continue;
        }
        let Some(expr) = &spec.extent else {
            extents.extend(unwritten_extents(evaluator, spec)?);
            continue;
        };
        let value = match &spec.pack {
            Some(pack) => evaluator.expand(expr, pack.length.as_ref(), spec.span)?,
            None => evaluator.eval(expr)?,
        };
        let value = if packed && spec.per_item { extent_of_item(value, item, spec.span)? } else { value };
        for atom in value.atoms() {
            if let Atom::Runtime(run) = &atom {
                computed.push(((**run).clone(), spec.span));
            }
            extents.push(DeclaredExtent::Is(written_extent(&atom, spec.span)?));
        }
    }
    Ok(extents)
}

/// The extents `~`, or those of which only bounds are written.
fn unwritten_extents(evaluator: &mut Evaluator, spec: &ExtentSpec) -> EvalResult<Vec<DeclaredExtent>> {
    if let Some(bound) = &spec.bound {
        let bounds = upper_extents(evaluator, bound, spec.pack.as_ref())?;
        return Ok(bounds.into_iter().map(DeclaredExtent::Bounded).collect());
    }
    let count = match spec.pack.as_ref().and_then(|p| p.length.as_ref()) {
        Some(length) => match evaluator.int(length)? {
            Some(n) => evaluator.length(n, length.span)?,
            None => 0,
        },
        None => 1,
    };
    Ok((0..count).map(|_| DeclaredExtent::Any).collect())
}

/// The extent of one tensor of a pack, from the extents of all of them.
fn extent_of_item(extents: Value, item: usize, span: Span) -> EvalResult<Value> {
    Ok(match &extents {
        Value::Pack(pack) => match pack.get(item) {
            Some(extent) => Value::Atom(extent),
            None => {
                let message = format!("the extents of the pack have only {} items", pack.len());
                return stop(&PACK_LENGTHS_DIFFER, span, message);
            }
        },
        Value::Atom(Atom::Series(series)) => {
            series.shared().map_or(extents.clone(), |shared| Value::Atom(Atom::from_expr(shared.clone())))
        }
        _ => extents,
    })
}

fn written_extent(atom: &Atom, span: Span) -> EvalResult<Extent> {
    match atom {
        Atom::Int(n) => match u64::try_from(*n) {
            Ok(n) => Ok(Extent::Fixed(n)),
            Err(_) => {
                let message = format!("an extent cannot be negative, this is {n}");
                stop_with_help(&UNEXPECTED_VALUE, span, message, OPEN_EXTENT)
            }
        },
        Atom::Runtime(run) => match extent_of(run) {
            Some(extent) => Ok(extent),
            None => {
                let message = "this dynamic extent has no upper bound that fits in 64 bits; write `… << N` with a largest extent N";
                stop(&UNEXPECTED_VALUE, span, message)
            }
        },
        other => {
            let message = format!("an extent must be an int, this is {}", other.describe());
            stop(&UNEXPECTED_VALUE, span, message)
        }
    }
}

/// The upper bounds after `|`, one for each extent of the item; a dynamic one counts as at least zero.
pub(in crate::compose) fn upper_extents(
    evaluator: &mut Evaluator,
    bound: &Expr,
    pack: Option<&PackSpec>,
) -> EvalResult<Vec<Limit>> {
    let value = match pack {
        Some(pack) => evaluator.expand(bound, pack.length.as_ref(), bound.span)?,
        None => evaluator.eval(bound)?,
    };
    let mut bounds = Vec::new();
    for atom in value.atoms() {
        let limit = match atom {
            Atom::Int(n) => u64::try_from(n).ok().map(Limit::fixed),
            Atom::Runtime(ref run) => {
                upper_bound(run).map(|maximum| Limit { value: (**run).clone(), maximum })
            }
            _ => None,
        };
        match limit {
            Some(limit) => bounds.push(limit),
            None => {
                let message = format!("a bound must be a non-negative int, this is {}", atom.text());
                return stop(&UNEXPECTED_VALUE, bound.span, message);
            }
        }
    }
    Ok(bounds)
}

/// Binds a name to one tensor or to a pack.
pub(crate) fn set_tensors(builder: &mut Builder, name: &str, atoms: Vec<Atom>, packed: bool) {
    let value = match (packed, atoms.first()) {
        (false, Some(single)) => Value::Atom(single.clone()),
        _ => Value::pack(atoms),
    };
    builder.scope.set(name, value);
}
