// SPDX-License-Identifier: Apache-2.0
//! Formulas: `skript.formula` with its predicate and body.

use super::expression::Point;
use super::scope::Scope;
use super::{EmitError, check, constant};
use crate::ir::attribute_names;
use crate::ir::ops;
use crate::ir::{Builder, attributes, types};
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, Region, Type, Value, ValueLike};
use skript_frontend::model::{Accumulation, Expr, Extent, Formula, Init, Node, ValueId};
use skript_semantics::Scalar;

/// All formulas of a function. They compute its outputs in the compute types, which are then cast to the declared types.
pub(super) fn emit_all<'c: 'a, 'a>(
    scope: &mut Scope<'_, 'c, 'a, '_>,
    formulas: &[Formula],
    outputs: &[(ValueId, Type<'c>)],
    at: &Builder<'c, 'a>,
) -> Result<(), EmitError> {
    scope.in_work = outputs.iter().map(|(id, _)| *id).collect();
    for formula in formulas {
        emit(scope, formula, at)?;
    }
    let worked = std::mem::take(&mut scope.in_work);
    for (id, declared) in outputs.iter().filter(|(id, _)| worked.contains(id)) {
        let Some(value) = scope.find(*id) else {
            continue;
        };
        if types::element_of(value.r#type()) == types::element_of(*declared) {
            continue;
        }
        let rounded = at.value(ops::skript::CAST, &[value], &[], *declared)?;
        scope.set(*id, rounded);
    }
    Ok(())
}

fn emit<'c: 'a, 'a>(
    scope: &mut Scope<'_, 'c, 'a, '_>,
    formula: &Formula,
    at: &Builder<'c, 'a>,
) -> Result<(), EmitError> {
    let context = scope.emitter.context;
    let location = scope.emitter.location(&scope.function.name, formula.span);
    let at = &at.with_location(location);

    let mut bounds = Vec::new();
    let mut operands = Vec::new();
    for index in &formula.indices {
        bounds.push(match &index.extent {
            Extent::Fixed(n) => i64::try_from(*n).map_err(|_| EmitError::Malformed("a huge extent"))?,
            open => {
                operands.push(scope.extent_value(open, at)?);
                types::DYNAMIC
            }
        });
    }
    let mut destinations = Vec::new();
    let mut same = Vec::new();
    for target in &formula.targets {
        let known = destinations.iter().position(|d| *d == target.output);
        same.push(count(known.unwrap_or(destinations.len()))?);
        destinations.push(target.output);
        if known.is_some() {
            continue;
        }
        if let Init::Fill(value) = target.init {
            fill(scope, target.output, value, at)?;
        }
        ensure_written(scope, target.output, at)?;
    }
    let reads = formula
        .locals
        .iter()
        .map(|l| &l.value)
        .chain(&formula.predicate)
        .chain(formula.targets.iter().flat_map(|t| t.subscripts.iter().chain([&t.value])));
    for expression in reads {
        for tensor in tensors(expression) {
            ensure_written(scope, tensor, at)?;
        }
    }
    let outs = scope.all(&destinations)?;
    let results = scope.types(&destinations)?;

    let mut arguments = vec![Type::index(context); bounds.len()];
    arguments.extend(&results);
    let (predicate, point, values) = at.region(&arguments);
    let predicate = match &formula.predicate {
        Some(condition) => {
            let mut point = Point::new(scope, formula, &destinations, values, *at, point);
            let holds = point.value(condition)?;
            point.at.create(ops::skript::CONDITION, &[holds], &[], &[], Vec::new())?;
            predicate
        }
        None => Region::new(),
    };
    let (body, point, values) = at.region(&arguments);
    let mut point = Point::new(scope, formula, &destinations, values, *at, point);
    let mut yielded: Vec<Value<'c, 'a>> = Vec::new();
    let mut subscripts = Vec::new();
    let mut ranks = Vec::new();
    for target in &formula.targets {
        let value = point.value(&target.value)?;
        yielded.push(point.to_element(value, scope.element(target.output)?)?);
        for subscript in &target.subscripts {
            subscripts.push(point.value(subscript)?);
        }
        ranks.push(count(target.subscripts.len())?);
    }
    let segments = [count(yielded.len())?, count(subscripts.len())?];
    yielded.extend(subscripts);
    point.at.create(
        ops::skript::YIELD,
        &yielded,
        &[
            ("ranks", attributes::i32s(context, &ranks)),
            ("operandSegmentSizes", attributes::i32s(context, &segments)),
        ],
        &[],
        Vec::new(),
    )?;

    let segments = [count(operands.len())?, count(outs.len())?];
    operands.extend(&outs);
    let mut described = vec![
        ("kind", kind(context, formula.kind)?),
        ("static_bounds", attributes::i64s(context, &bounds)),
        ("operandSegmentSizes", attributes::i32s(context, &segments)),
    ];
    if (0i32..).zip(&same).any(|(position, first)| *first < position) {
        described.push((attribute_names::SAME_TENSOR, attributes::i32s(context, &same)));
    }
    if formula.is_search() {
        described.push((attribute_names::SEARCH, attributes::unit(context)));
    }
    let op = at.create(ops::skript::FORMULA, &operands, &described, &results, vec![predicate, body])?;
    for (id, value) in destinations.iter().zip(op.results()) {
        scope.set(*id, value.into());
    }
    check::found_nothing(scope, formula, at)
}

/// Fills an output that nothing has written yet with the default value of its kind.
pub(super) fn ensure_written<'c: 'a, 'a>(
    scope: &mut Scope<'_, 'c, 'a, '_>,
    id: ValueId,
    at: &Builder<'c, 'a>,
) -> Result<(), EmitError> {
    if scope.find(id).is_none() && scope.outputs.contains(&id) {
        let default = scope.tensor(id)?.kind.default_value();
        fill(scope, id, default, at)?;
    }
    Ok(())
}

fn fill<'c: 'a, 'a>(
    scope: &mut Scope<'_, 'c, 'a, '_>,
    id: ValueId,
    value: Scalar,
    at: &Builder<'c, 'a>,
) -> Result<(), EmitError> {
    let filled = constant::splat(scope, id, value, at)?;
    scope.set(id, filled);
    Ok(())
}

/// The tensors that an expression reads, without those of locals.
fn tensors(expression: &Expr) -> Vec<ValueId> {
    let mut found = Vec::new();
    let mut stack = vec![expression];
    while let Some(expression) = stack.pop() {
        if let Node::Access { tensor, .. } = &expression.node {
            found.push(*tensor);
        }
        stack.extend(expression.children());
    }
    found
}

fn kind(context: &melior::Context, kind: Accumulation) -> Result<Attribute<'_>, EmitError> {
    let word = match kind {
        Accumulation::Assign => "assign",
        Accumulation::Sum => "sum",
        Accumulation::Product => "product",
        Accumulation::All => "all",
        Accumulation::Any => "any",
        Accumulation::Min => "min",
        Accumulation::Max => "max",
        Accumulation::Replace => "replace",
    };
    Attribute::parse(context, &format!("#skript.kind<{word}>"))
        .ok_or(EmitError::Malformed("the context has no skript dialect"))
}

fn count(length: usize) -> Result<i32, EmitError> {
    i32::try_from(length).map_err(|_| EmitError::Malformed("too many operands"))
}
