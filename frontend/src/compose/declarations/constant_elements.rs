// SPDX-License-Identifier: Apache-2.0
//! Constants as expressions of index symbols (2.7).

use crate::ast::{Declaration, Expr, LoopBound};
use crate::compose::calls::Composed;
use crate::compose::context::Context;
use crate::compose::invocations::builder::Builder;
use crate::compose::invocations::generic_types::coerce_scalar;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{CONSTANT_VALUE, LIMIT_EXCEEDED, UNEXPECTED_VALUE};
use crate::eval::ranges::signed;
use crate::eval::stop::{EvalResult, stop, stop_with_help};
use crate::eval::{Atom, Demands, Evaluator, FormulaState, Scope, Value};
use crate::limits::Limits;
use crate::model::{self, Extent, FormulaIndex, Node, TensorType, shape_text};
use crate::source::Span;
use skript_semantics::{Scalar, ScalarOp};
use std::cell::Cell;

/// Rejects a constant whose value is known only at run time.
pub(crate) fn known_while_composing(declaration: &Declaration, value: &Value) -> EvalResult<()> {
    let open = value.atoms().find(|atom| matches!(atom, Atom::Runtime(_) | Atom::Series(_)));
    let (Some(open), Some(default)) = (open, &declaration.default) else {
        return Ok(());
    };
    stop_with_help(
        &CONSTANT_VALUE,
        default.span,
        format!(
            "{} is known only at run time, but the elements of the constant `{}` must be known at compile time",
            open.text(),
            declaration.name.name
        ),
        "pass the value as an argument, which becomes a tensor, or write it into a tensor by a formula: `c[i,] = n, i < 2`",
    )
}

/// The number of operations on scalars that are as much work as one step of an evaluation: each takes 6 to 13 ns.
const POINT_STEPS_PER_WORK: usize = 8;

/// Evaluates a constant's value at every point of its index symbols, row-major.
pub(crate) fn computed_elements(
    builder: &Builder,
    declaration: &Declaration,
    tensor: &TensorType,
    limits: &Limits,
) -> EvalResult<Vec<Scalar>> {
    let Some(default) = &declaration.default else {
        return Ok(Vec::new());
    };
    let symbols = index_symbols(builder, declaration, limits)?;
    let extents: Vec<i64> = symbols.iter().flat_map(|(_, _, extents)| extents).copied().collect();
    let total = element_count(declaration, tensor, &extents, limits)?;
    let elements = Elements { builder, value: default, symbols, limits };
    let closed = elements.closed_form(&extents);
    let mut scope = builder.scope.clone();
    scope.push();
    let mut scalars = Vec::new();
    let mut point = vec![0i64; extents.len()];
    let steps = Cell::new(0);
    for _ in 0..total {
        let computed = closed.as_ref().and_then(|value| at_point(value, &point, &steps));
        limits.charge(steps.get() / POINT_STEPS_PER_WORK, default.span)?;
        steps.set(steps.get() % POINT_STEPS_PER_WORK);
        let value = match computed {
            Some(scalar) => Value::Atom(Atom::from_scalar(scalar)),
            // Values without a closed form, and values that are undefined there.
            None => elements.evaluate(&mut scope, &point)?,
        };
        let scalar = match &value {
            Value::Atom(atom) => atom.scalar().and_then(|s| coerce_scalar(s, tensor.kind)),
            _ => None,
        };
        known_while_composing(declaration, &value)?;
        let Some(scalar) = scalar else {
            let message =
                format!("each element must be one {}, this is {}", tensor.kind.name(), value.text());
            return stop(&CONSTANT_VALUE, default.span, message);
        };
        scalars.push(scalar);
        advance(&mut point, &extents);
    }
    Ok(scalars)
}

/// The index symbols of a constant: the name of each, whether it is a pack, and its extents.
fn index_symbols(
    builder: &Builder,
    declaration: &Declaration,
    limits: &Limits,
) -> EvalResult<Vec<(String, bool, Vec<i64>)>> {
    let mut symbols = Vec::new();
    for LoopBound { name, bound, .. } in &declaration.bounds {
        let value = builder.evaluator(limits).eval(bound)?;
        let mut extents = Vec::new();
        for atom in value.atoms() {
            match atom {
                Atom::Int(n) => extents.push(n.max(0)),
                Atom::Runtime(_) => {
                    let message = format!(
                        "the elements of the constant `{}` are computed at compile time, but the bound of `{}` is known only at run time; write one value for all elements, or compute them by a formula",
                        declaration.name.name, name.name
                    );
                    return stop(&UNEXPECTED_VALUE, bound.span, message);
                }
                other => {
                    let message = format!("a bound must be an int, this is {}", other.describe());
                    return stop(&UNEXPECTED_VALUE, bound.span, message);
                }
            }
        }
        symbols.push((name.name.clone(), matches!(value, Value::Pack(_)), extents));
    }
    Ok(symbols)
}

/// The number of elements, whose index symbols have these extents.
fn element_count(
    declaration: &Declaration,
    tensor: &TensorType,
    extents: &[i64],
    limits: &Limits,
) -> EvalResult<usize> {
    if !tensor.shape.iter().map(|extent| signed(extent.bound())).eq(extents.iter().copied()) {
        let message = format!(
            "`{}` has the shape {}, but its index symbols have the bounds {extents:?}: it needs one for each dimension, in order",
            declaration.name.name,
            shape_text(&tensor.shape),
        );
        return stop(&CONSTANT_VALUE, declaration.span, message);
    }
    let total = extents.iter().try_fold(1usize, |product, n| product.checked_mul(usize::try_from(*n).ok()?));
    match total.filter(|t| *t <= limits.constant_elements) {
        Some(total) => Ok(total),
        None => {
            let message = "the index symbols span too many elements (limit `constant_elements`)";
            stop_with_help(&LIMIT_EXCEEDED, declaration.span, message, &constants_help(total))
        }
    }
}

/// Moves to the next point, row-major.
fn advance(point: &mut [i64], extents: &[i64]) {
    for (coordinate, extent) in point.iter_mut().zip(extents).rev() {
        *coordinate += 1;
        if *coordinate < *extent {
            break;
        }
        *coordinate = 0;
    }
}

/// The value of a constant as a function of its index symbols.
struct Elements<'a, 'p> {
    builder: &'a Builder<'p>,
    value: &'a Expr,
    /// For each symbol: its name, whether it is a pack, its extents.
    symbols: Vec<(String, bool, Vec<i64>)>,
    limits: &'a Limits,
}

impl Elements<'_, '_> {
    /// Evaluates the value at one point.
    fn evaluate(&self, scope: &mut Scope, point: &[i64]) -> EvalResult<Value> {
        self.bind(scope, point.iter().map(|location| Atom::Int(*location)));
        self.evaluator(scope, &self.builder.demands).eval(self.value)
    }

    /// The value as one expression of the index symbols for all points, if possible: elements are then computed without
    /// name lookups.
    fn closed_form(&self, extents: &[i64]) -> Option<model::Expr> {
        let mut scope = self.builder.scope.clone();
        scope.push();
        let symbols = (0..extents.len()).map(|location| Atom::from_expr(model::Expr::index(location)));
        self.bind(&mut scope, symbols);
        let shape = extents.iter().map(|n| u64::try_from(*n).ok());
        let shape: Vec<Extent> = shape.map(|n| n.map(Extent::Fixed)).collect::<Option<_>>()?;
        let demands = Demands::default();
        let mut evaluator = self.evaluator(&scope, &demands);
        evaluator.formula = Some(FormulaState {
            indices: FormulaIndex::over(&shape),
            keeps_order: true,
            ..FormulaState::default()
        });
        let (value, guards) = evaluator.guarded(|e| e.eval(self.value)).ok()?;
        let clamped = evaluator.formula.is_some_and(|state| state.clamped);
        match value {
            Value::Atom(Atom::Runtime(expr)) if guards.is_empty() && !clamped => Some((*expr).clone()),
            _ => None,
        }
    }

    fn bind(&self, scope: &mut Scope, mut locations: impl Iterator<Item = Atom>) {
        for (name, packed, extents) in &self.symbols {
            let values: Vec<Atom> = locations.by_ref().take(extents.len()).collect();
            let value = match (packed, values.first()) {
                (false, Some(single)) => Value::Atom(single.clone()),
                (false, None) => Value::Null,
                (true, _) => Value::pack(values),
            };
            scope.set(name.clone(), value);
        }
    }

    fn evaluator<'e>(&'e self, scope: &'e Scope, demands: &'e Demands) -> Evaluator<'e> {
        let builder = self.builder;
        Evaluator::new(scope, &builder.types, &builder.language, self.limits, demands)
    }
}

/// The value at a point; `None` if it is undefined. Only the selected branch must be defined. Counts its `steps`.
fn at_point(expr: &model::Expr, point: &[i64], steps: &Cell<usize>) -> Option<Scalar> {
    steps.update(|n| n + 1);
    let of = |expr: &model::Expr| at_point(expr, point, steps);
    let choose = |condition, then, otherwise| match of(condition)? {
        Scalar::Bool(true) => of(then),
        _ => of(otherwise),
    };
    match &expr.node {
        Node::Literal(value) => Some(*value),
        Node::Index(index) => point.get(*index).copied().map(Scalar::Int),
        Node::Table { items, index } => match of(index)? {
            Scalar::Int(location) => items.get(usize::try_from(location).ok()?).copied(),
            _ => None,
        },
        Node::Select { condition, then, otherwise } => choose(condition, then, otherwise),
        Node::Apply { op, operands } => match (op, operands.as_slice()) {
            (ScalarOp::Select, [condition, then, otherwise]) => choose(condition, then, otherwise),
            (ScalarOp::And | ScalarOp::Or | ScalarOp::Implies, [a, b]) => {
                let a = of(a)?;
                let decides = match op {
                    ScalarOp::Or => a == Scalar::Bool(true),
                    _ => a == Scalar::Bool(false),
                };
                if decides {
                    Some(Scalar::Bool(*op != ScalarOp::And))
                } else {
                    op.checked_eval(&[a, of(b)?]).ok()
                }
            }
            (_, [a]) => op.checked_eval(&[of(a)?]).ok(),
            (_, [a, b]) => op.checked_eval(&[of(a)?, of(b)?]).ok(),
            _ => None,
        },
        Node::Local(_) | Node::Access { .. } | Node::Extent(_) => None,
    }
}

/// The items of a pack; long strings count as several.
fn held_items(value: &Value) -> usize {
    let texts = value.atoms().map(|atom| match atom {
        Atom::Str(text) => text.len() / size_of::<Atom>(),
        _ => 0,
    });
    let items = if let Value::Pack(pack) = value { pack.len() } else { 0 };
    texts.fold(items, usize::saturating_add)
}

/// Binds a name of an operator or graph to its value.
pub(crate) fn name_value(
    context: &mut Context,
    builder: &mut Builder,
    name: &str,
    value: Value,
    span: Span,
) -> Composed<()> {
    let held = held_items(&value);
    if held > 0 {
        let items = context.total_size.pack_items.saturating_add(held);
        let max_items = context.limits.pack_items;
        if items > max_items {
            let message = format!(
                "with `{name}`, which has {held} items, the packs of this model have more than {max_items} together (limit `pack_items`)"
            );
            return Err(context.error(&LIMIT_EXCEEDED, span, message));
        }
        context.total_size.pack_items = items;
    }
    builder.scope.set(name, value);
    Ok(())
}

/// Adds the elements of a computed constant to the total, which is limited.
pub(crate) fn hold_constant(context: &mut Context, name: &str, elements: u64, span: Span) -> Composed<()> {
    let elements = usize::try_from(elements).unwrap_or(usize::MAX);
    let sum = context.total_size.constant_elements.checked_add(elements);
    let max_elements = context.limits.constant_elements;
    let Some(sum) = sum.filter(|sum| *sum <= max_elements) else {
        let message = format!(
            "with constant `{name}`, which has {elements} computed elements, the constants of this model have more than \
                 {max_elements} together (limit `constant_elements`)"
        );
        let exceeded = Diagnostic::error(&LIMIT_EXCEEDED, span, message);
        return Err(context.report(exceeded.with_help(constants_help(sum))));
    };
    context.total_size.constant_elements = sum;
    Ok(())
}

/// The help for constants of this number of elements.
fn constants_help(elements: Option<usize>) -> String {
    let most = Limits::ALL.iter().find(|limit| limit.name == "constant_elements").map(|limit| limit.most);
    let help = "compute it in a run, by the formula of an operator";
    match elements.filter(|n| most.is_some_and(|most| *n as u64 <= most)) {
        Some(n) => format!("{help}, or allow more: `--limit constant_elements={n}`"),
        None => help.to_string(),
    }
}
