// SPDX-License-Identifier: Apache-2.0
//! Emits operators without a body: a `skript.intrinsic`, its destinations, and the extents that its kernel computes.

use super::EmitError;
use super::scalars::{segment, signed, within};
use super::scope::Scope;
use crate::ir::ops;
use crate::ir::{Builder, attributes, types};
use melior::ir::attribute::ArrayAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{Type, Value, ValueLike};
use skript_frontend::model::{AttributeValue, Extent, ShapeExpr, ValueId};
use skript_semantics::{Scalar, ScalarKind};

pub(super) fn emit<'c: 'a, 'a>(
    scope: &mut Scope<'_, 'c, 'a, '_>,
    inputs: &[ValueId],
    outputs: &[ValueId],
    at: &Builder<'c, 'a>,
) -> Result<(), EmitError> {
    let context = scope.emitter.context;
    let function = scope.function;
    if skript_intrinsics::kernel(&function.name).is_none() {
        return Err(EmitError::Intrinsic { name: function.name.clone(), span: function.span });
    }
    let mut outs = Vec::new();
    let mut dynamic_outputs = Vec::new();
    for (position, id) in outputs.iter().enumerate() {
        if has_undefined_extent(scope, *id)? {
            dynamic_outputs.push((position, *id));
        }
        outs.push(destination(scope, *id, at)?);
    }
    let word = types::word(context);
    for (_, id) in &dynamic_outputs {
        let rank = signed(scope.tensor(*id)?.shape.len())?;
        let r#type = types::tensor(&[rank], word);
        outs.push((at.value(ops::tensor::EMPTY, &[], &[], r#type)?, r#type));
    }
    let (outs, results): (Vec<Value<'c, 'a>>, Vec<Type<'c>>) = outs.into_iter().unzip();
    let mut operands = scope.all(inputs)?;
    let mut names = Vec::new();
    for (name, value) in &function.attributes {
        if let Some(given) = given(scope, value, at)? {
            names.push(attributes::string(context, name));
            operands.push(given);
        }
    }
    let segments = at.segments(&[segment(operands.len())?, segment(outs.len())?]);
    operands.extend(outs);
    let static_attributes = function.attributes.iter().filter(|(_, v)| !v.is_dynamic());
    let values: Vec<_> = static_attributes
        .map(|(name, value)| (name.as_str(), attributes::attribute(context, value)))
        .collect();
    let positions =
        dynamic_outputs.iter().map(|(position, _)| signed(*position)).collect::<Result<Vec<_>, _>>()?;
    let mut entries = vec![
        ("operator_name", attributes::string(context, &function.name)),
        ("operator_attributes", attributes::dictionary(context, &values)),
        ("dynamic_outputs", attributes::i64s(context, &positions)),
        ("given", ArrayAttribute::new(context, &names).into()),
        segments,
    ];
    if skript_intrinsics::is_random(&function.name) {
        entries.push(("random", attributes::unit(context)));
    }
    let op = at.create(ops::skript::INTRINSIC, &operands, &entries, &results, Vec::new())?;
    let results: Vec<Value<'c, 'a>> = op.results().map(Into::into).collect();
    for ((_, id), extents) in dynamic_outputs.iter().zip(results.iter().skip(outputs.len())) {
        learn(scope, *id, *extents, at)?;
    }
    for (id, result) in outputs.iter().zip(&results) {
        let is_dynamic = dynamic_outputs.iter().any(|(_, other)| other == id);
        let value = if is_dynamic { scope.filled(*id, *result, at)? } else { *result };
        scope.set(*id, value);
    }
    Ok(())
}

/// Emits the input tensor for an attribute with run-time values; returns `None` for a compile-time attribute.
fn given<'c: 'a, 'a>(
    scope: &Scope<'_, 'c, 'a, '_>,
    value: &AttributeValue,
    at: &Builder<'c, 'a>,
) -> Result<Option<Value<'c, 'a>>, EmitError> {
    if !value.is_dynamic() {
        return Ok(None);
    }
    let (items, shape) = match value {
        AttributeValue::List(items) => (items.as_slice(), vec![signed(items.len())?]),
        single => (std::slice::from_ref(single), Vec::new()),
    };
    let mut elements = Vec::with_capacity(items.len());
    for item in items {
        elements.push(scalar(scope, item, at)?);
    }
    let element = elements.first().map(|v| v.r#type());
    let element = element.ok_or(EmitError::Malformed("a run-time attribute has no items"))?;
    let r#type = types::tensor(&shape, element);
    Ok(Some(at.value(ops::tensor::FROM_ELEMENTS, &elements, &[], r#type)?))
}

/// Emits a scalar attribute as i64, f64 or i1.
fn scalar<'c: 'a, 'a>(
    scope: &Scope<'_, 'c, 'a, '_>,
    value: &AttributeValue,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, EmitError> {
    let r#type = |kind: ScalarKind| match kind {
        ScalarKind::Bool => types::flag(at.context),
        ScalarKind::Int => types::word(at.context),
        ScalarKind::Real => Type::float64(at.context),
    };
    let constant = |scalar: Scalar| Ok(at.constant(scalar, r#type(scalar.kind()))?);
    match value {
        AttributeValue::Bool(b) => constant(Scalar::Bool(*b)),
        AttributeValue::Int(i) => constant(Scalar::Int(*i)),
        AttributeValue::Real(x) => constant(Scalar::Real(*x)),
        AttributeValue::Run { kind, value } => {
            let value = scope.shape_value(value, at)?;
            let scalar = r#type(*kind);
            if value.r#type() == scalar {
                return Ok(value);
            }
            Ok(at.value(ops::skript::CAST, &[value], &[], scalar)?)
        }
        _ => Err(EmitError::Malformed("an item of a run-time attribute is not a scalar")),
    }
}

/// Whether an extent depends on symbols that are not defined before the kernel.
fn has_undefined_extent(scope: &Scope<'_, '_, '_, '_>, id: ValueId) -> Result<bool, EmitError> {
    Ok(scope.tensor(id)?.shape.iter().any(|e| !known(scope, e)))
}

fn known(scope: &Scope<'_, '_, '_, '_>, extent: &Extent) -> bool {
    fn all_known(scope: &Scope<'_, '_, '_, '_>, expr: &ShapeExpr) -> bool {
        match expr {
            ShapeExpr::Constant(_) | ShapeExpr::Real(_) => true,
            ShapeExpr::Symbol(name) => scope.symbols.contains_key(name),
            ShapeExpr::Apply { operands, .. } => operands.iter().all(|o| all_known(scope, o)),
        }
    }
    match extent {
        Extent::Fixed(_) => true,
        Extent::Dynamic { expr, .. } => all_known(scope, expr),
    }
}

/// Creates the empty tensor for an output; an extent that the kernel computes is replaced by its upper bound.
fn destination<'c: 'a, 'a>(
    scope: &Scope<'_, 'c, 'a, '_>,
    id: ValueId,
    at: &Builder<'c, 'a>,
) -> Result<(Value<'c, 'a>, Type<'c>), EmitError> {
    let tensor = scope.tensor(id)?;
    let mut sizes = Vec::new();
    let mut open = Vec::new();
    for extent in &tensor.shape {
        sizes.push(match extent {
            Extent::Dynamic { .. } if known(scope, extent) => {
                open.push(scope.extent_value(extent, at)?);
                types::DYNAMIC
            }
            other => signed(other.bound())?,
        });
    }
    if !has_undefined_extent(scope, id)? {
        // This also checks the extents against their upper bounds, as for any other tensor.
        open = scope.open_extents(id, at)?;
    }
    let r#type = types::tensor(&sizes, scope.element(id)?);
    Ok((at.value(ops::tensor::EMPTY, &open, &[], r#type)?, r#type))
}

/// Defines the symbols of an output's extents by the values that the kernel computes.
fn learn<'c: 'a, 'a>(
    scope: &mut Scope<'_, 'c, 'a, '_>,
    id: ValueId,
    extents: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<(), EmitError> {
    let word = types::word(at.context);
    for (dimension, declared) in (0i64..).zip(&scope.tensor(id)?.shape) {
        if known(scope, declared) {
            continue;
        }
        let Extent::Dynamic { expr, bound } = declared else {
            continue;
        };
        let ShapeExpr::Symbol(name) = expr.as_ref() else {
            return Err(EmitError::Unsupported {
                what: "an extent that a kernel computes has no name",
                span: scope.function.span,
            });
        };
        let address = at.idx(dimension);
        let extent = at.value(ops::tensor::EXTRACT, &[extents, address], &[], word)?;
        let extent = at.index_cast(extent, Type::index(at.context));
        scope.symbols.insert(name.clone(), within(extent, *bound, at)?);
    }
    Ok(())
}
