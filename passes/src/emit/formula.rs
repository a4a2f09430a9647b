// SPDX-License-Identifier: Apache-2.0
//! Emits formulas as `skript.formula` with a predicate and a body.

use super::expression::Point;
use super::scalars::{segment, signed};
use super::scope::Scope;
use super::{EmitError, check, constant};
use crate::ir::attribute_names;
use crate::ir::ops;
use crate::ir::{self, Builder, attributes, types};
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, Region, Type, Value, ValueLike};
use skript_frontend::model::{Accumulation, Expr, Extent, Formula, Init, Node, ValueId};
use skript_semantics::Scalar;

/// Emits all formulas of a function. They compute its outputs and local tensors in compute types. The outputs are then
/// cast to the declared types.
pub(super) fn emit_all<'c: 'a, 'a>(
    scope: &mut Scope<'_, 'c, 'a, '_>,
    formulas: &[Formula],
    outputs: &[(ValueId, Type<'c>)],
    at: &Builder<'c, 'a>,
) -> Result<(), EmitError> {
    let targets = formulas.iter().flat_map(computed_tensors);
    scope.in_work = outputs.iter().map(|(id, _)| *id).chain(targets).collect();
    for formula in formulas {
        emit(scope, formula, at)?;
    }
    let computed = std::mem::take(&mut scope.in_work);
    for (id, declared) in outputs.iter().filter(|(id, _)| computed.contains(id)) {
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

/// The targets of a formula, except the numbers of the steps that it searches for.
fn computed_tensors(formula: &Formula) -> impl Iterator<Item = ValueId> {
    let targets = formula.targets.iter().enumerate();
    let computed = targets
        .filter(move |(position, _)| formula.findings.iter().all(|finding| finding.target != *position));
    computed.map(|(_, target)| target.output)
}

fn emit<'c: 'a, 'a>(
    scope: &mut Scope<'_, 'c, 'a, '_>,
    formula: &Formula,
    at: &Builder<'c, 'a>,
) -> Result<(), EmitError> {
    let context = scope.emitter.context;
    let location = scope.emitter.location(&scope.function.name, formula.span);
    let at = &at.with_location(location);
    let (bounds, mut operands) = bounds(scope, formula, at)?;
    let destinations: Vec<ValueId> = formula.targets.iter().map(|target| target.output).collect();
    let first_uses = initialize(scope, formula, &destinations, at)?;
    let outs = scope.all(&destinations)?;
    let results = scope.types(&destinations)?;
    let mut arguments = vec![Type::index(context); bounds.len()];
    arguments.extend(&results);
    let predicate = emit_predicate(scope, formula, &destinations, &arguments, at)?;
    let body = emit_body(scope, formula, &destinations, &arguments, at)?;
    let segments = at.segments(&[segment(operands.len())?, segment(outs.len())?]);
    operands.extend(&outs);
    let mut entries = vec![
        ("kind", kind(context, formula.kind)),
        ("static_bounds", attributes::i64s(context, &bounds)),
        segments,
    ];
    if (0i32..).zip(&first_uses).any(|(position, first)| *first < position) {
        entries.push((attribute_names::SAME_TENSOR, attributes::i32s(context, &first_uses)));
    }
    if formula.is_search() {
        entries.push((attribute_names::SEARCH, attributes::unit(context)));
    }
    let op = at.create(ops::skript::FORMULA, &operands, &entries, &results, vec![predicate, body])?;
    for (id, value) in destinations.iter().zip(op.results()) {
        scope.set(*id, value.into());
    }
    check::emit_findings(scope, formula, at)
}

/// Returns the static bounds of the indices, and the values of the dynamic bounds.
fn bounds<'c: 'a, 'a>(
    scope: &Scope<'_, 'c, 'a, '_>,
    formula: &Formula,
    at: &Builder<'c, 'a>,
) -> Result<(Vec<i64>, Vec<Value<'c, 'a>>), EmitError> {
    let (mut bounds, mut dynamic) = (Vec::new(), Vec::new());
    for index in &formula.indices {
        bounds.push(match &index.extent {
            Extent::Fixed(n) => signed(*n)?,
            open => {
                let value = scope.extent_value(open, at)?;
                // The largest bound of a triangular range is computed from extents, which may be static.
                ir::integer(value).unwrap_or_else(|| {
                    dynamic.push(value);
                    types::DYNAMIC
                })
            }
        });
    }
    Ok((bounds, dynamic))
}

/// Initializes each tensor that the formula writes or reads, if it has no value yet. Returns, for each destination, the
/// position of the first destination that is the same tensor.
fn initialize<'c: 'a, 'a>(
    scope: &mut Scope<'_, 'c, 'a, '_>,
    formula: &Formula,
    destinations: &[ValueId],
    at: &Builder<'c, 'a>,
) -> Result<Vec<i32>, EmitError> {
    let mut first_uses = Vec::new();
    for (position, target) in formula.targets.iter().enumerate() {
        let first = destinations.iter().position(|d| *d == target.output).unwrap_or(position);
        first_uses.push(segment(first)?);
        if first < position {
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
    for tensor in reads.flat_map(tensors) {
        ensure_written(scope, tensor, at)?;
    }
    Ok(first_uses)
}

fn emit_predicate<'c: 'a, 'a>(
    scope: &Scope<'_, 'c, 'a, '_>,
    formula: &Formula,
    destinations: &[ValueId],
    arguments: &[Type<'c>],
    at: &Builder<'c, 'a>,
) -> Result<Region<'c>, EmitError> {
    let Some(condition) = &formula.predicate else {
        return Ok(Region::new());
    };
    let (region, inside, values) = at.region(arguments);
    let mut point = Point::new(scope, formula, destinations, values, *at, inside);
    let holds = point.value(condition)?;
    point.at.create(ops::skript::CONDITION, &[holds], &[], &[], Vec::new())?;
    Ok(region)
}

fn emit_body<'c: 'a, 'a>(
    scope: &Scope<'_, 'c, 'a, '_>,
    formula: &Formula,
    destinations: &[ValueId],
    arguments: &[Type<'c>],
    at: &Builder<'c, 'a>,
) -> Result<Region<'c>, EmitError> {
    let (region, inside, values) = at.region(arguments);
    let mut point = Point::new(scope, formula, destinations, values, *at, inside);
    let mut yielded: Vec<Value<'c, 'a>> = Vec::new();
    let mut subscripts = Vec::new();
    let mut ranks = Vec::new();
    for target in &formula.targets {
        let value = point.value(&target.value)?;
        yielded.push(point.to_element(value, scope.element(target.output)?)?);
        for subscript in &target.subscripts {
            subscripts.push(point.value(subscript)?);
        }
        ranks.push(segment(target.subscripts.len())?);
    }
    let segments = at.segments(&[segment(yielded.len())?, segment(subscripts.len())?]);
    let ranks = ("ranks", attributes::i32s(at.context, &ranks));
    yielded.extend(subscripts);
    point.at.create(ops::skript::YIELD, &yielded, &[ranks, segments], &[], Vec::new())?;
    Ok(region)
}

/// Fills an output without a value with the default value of its kind.
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

/// Returns the tensors that an expression reads, except the tensors that its locals read.
fn tensors(expression: &Expr) -> Vec<ValueId> {
    let mut tensors = Vec::new();
    let mut stack = vec![expression];
    while let Some(expression) = stack.pop() {
        if let Node::Access { tensor, .. } = &expression.node {
            tensors.push(*tensor);
        }
        stack.extend(expression.children());
    }
    tensors
}

fn kind(context: &melior::Context, kind: Accumulation) -> Attribute<'_> {
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
    attributes::accumulation(context, word)
}
