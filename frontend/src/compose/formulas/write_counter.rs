// SPDX-License-Identifier: Apache-2.0
//! Write counters, `index[:,k] = i, i < s | cond` with an output `index: int[d,k|n]` (editions): k counts the steps
//! that write, and its final value is the extent. A formula fills a tensor with the extent's upper bound, and counts;
//! the result is the part that it wrote.

use crate::ast::{Declaration, ExprKind, LoweringOp, Subscript};
use crate::compose::blocks::update::formulas_apart;
use crate::compose::calls::{Composed, Reported};
use crate::compose::context::Context;
use crate::compose::declarations::tensors::{Limit, check_sign, declared_tensors, upper_extents};
use crate::compose::formulas::lower_block::one_formula;
use crate::compose::invocations::arguments::ArgumentList;
use crate::compose::invocations::builder::Builder;
use crate::diagnostics::codes::{FORMULA, UNDETERMINED_EXTENT};
use crate::eval::{Atom, Value, runtime};
use crate::model::{
    Accumulation, Body, Expr, Extent, Formula, Init, Node, Operation, Port, PortTensors, ShapeExpr, Target,
    TensorType, ValueId,
};
use skript_semantics::{ScalarKind, ScalarOp};
use std::sync::Arc;

/// The name of the extent that the only formula of the only output counts.
pub(crate) fn write_counter(definition: &crate::ast::Definition) -> Option<&str> {
    let ([output], [lowering]) = (definition.outputs.as_slice(), definition.lowers.as_slice()) else {
        return None;
    };
    let name = |expr: &crate::ast::Expr| match &expr.kind {
        ExprKind::Name(name) => Some(name.name.clone()),
        _ => None,
    };
    let counted: Vec<String> = lowering
        .target
        .subscripts
        .iter()
        .filter_map(|subscript| match subscript {
            Subscript::Expr(expr) => name(expr),
            _ => None,
        })
        .collect();
    let bound_here = |extent: &str| lowering.bounds.iter().any(|b| b.name.name == extent);
    let mut open = output.type_spec.shape.iter().flatten().filter(|e| e.bound.is_some() && e.pack.is_none());
    open.find_map(|extent| match &extent.extent.as_ref()?.kind {
        ExprKind::Name(name) if counted.contains(&name.name) && !bound_here(&name.name) => {
            Some(name.name.as_str())
        }
        _ => None,
    })
}

/// The body of an operator whose formula counts its writes.
pub(crate) fn counted_writes(
    context: &mut Context,
    builder: &mut Builder,
    list: &ArgumentList,
    counter: &str,
) -> Composed<()> {
    let definition = builder.operator.definition;
    let ([output], [lowering]) = (definition.outputs.as_slice(), definition.lowers.as_slice()) else {
        return Err(Reported);
    };
    let span = lowering.span;
    if output.type_spec.pack.is_some() || lowering.op != LoweringOp::Assign {
        let message = format!("`{counter}` counts the steps that write: one tensor, by `=`");
        return Err(context.error(&FORMULA, span, message));
    }
    let declared = declared_tensors(context, builder, output, 1)?;
    let symbol = ShapeExpr::Symbol(counter.to_string());
    let counts = |e: &Extent| matches!(e, Extent::Dynamic { expr, .. } if **expr == symbol);
    let Some(tensor) = declared.into_iter().next() else {
        return Err(Reported);
    };
    let Some(dimension) = tensor.shape.iter().position(counts) else {
        let message = format!("no formula determines the extent `{counter}`");
        return Err(context.error(&UNDETERMINED_EXTENT, output.span, message));
    };
    // The condition of the counted steps keeps the count within the bound.
    builder.function.result_checks.clear();
    let limit = bound_of_counter(context, builder, output, counter)?;
    let bound = limit.maximum;
    let mut buffer = tensor.clone();
    if let Some(extent) = buffer.shape.get_mut(dimension) {
        *extent = Extent::Fixed(bound);
    }
    let name = &output.name;
    let buffer = builder.value(Some(name.name.clone()), buffer, name.span);
    let count = builder.wide_int(Some(counter.to_string()), name.span);
    let port = |name: &str, id| Port {
        name: name.to_string(),
        tensors: PortTensors::Single(id),
        span: output.name.span,
    };
    builder.function.outputs = vec![port(&name.name, buffer.id), port(counter, count.id)];
    builder.tensors.insert(name.name.clone());
    builder.scope.set(name.name.clone(), Value::Atom(Atom::Tensor(buffer.clone())));
    let counted = element(&count.tensor, count.id, Vec::new());
    builder.scope.set(counter, Value::Atom(Atom::from_expr(counted.clone())));
    let (mut formulas, formula) = one_formula(context, builder, lowering)?;
    // A static bound is the extent of the tensor, and a write beyond it is out of bounds.
    let below = match limit.value.node {
        Node::Literal(_) => None,
        _ => Some(runtime::compare(ScalarOp::Lt, counted.clone(), limit.value)),
    };
    let formula = counting(formula, dimension, count.id, (&counted, below));
    let Some(formula) = formula else {
        let message = format!("`{counter}` must be the only extent of the dimension that it counts");
        return Err(context.error(&FORMULA, span, message));
    };
    formulas.push(formula);
    builder.function.body = Body::Formulas(formulas);
    formulas_apart(context, builder, list)?;
    builder.function.outputs.clear();

    let extent = Extent::Dynamic { expr: Arc::new(ShapeExpr::Symbol(builder.fresh_extent())), bound };
    let mut part = (*buffer.tensor).clone();
    if let Some(declared) = part.shape.get_mut(dimension) {
        *declared = extent;
    }
    let result = builder.value(None, part, span);
    builder.emit(Operation::Cut { whole: buffer.id, count: count.id, dimension, output: result.id, span });
    builder.function.outputs = vec![port(&name.name, result.id)];
    builder.function.body = Body::Block(builder.end_block());
    Ok(())
}

/// The upper bound of the counter, with the run-time check of its sign.
fn bound_of_counter(
    context: &mut Context,
    builder: &mut Builder,
    output: &Declaration,
    counter: &str,
) -> Composed<Limit> {
    let mut extents = output.type_spec.shape.iter().flatten();
    let written = extents.find_map(|spec| match &spec.extent.as_ref()?.kind {
        ExprKind::Name(name) if name.name == counter => spec.bound.as_ref(),
        _ => None,
    });
    let Some(written) = written else {
        return Err(Reported);
    };
    let limits = upper_extents(&mut builder.evaluator(context.limits), written, None);
    let limit = limits.map_err(|s| context.failed(s))?.into_iter().next();
    let limit = limit.ok_or(Reported)?;
    check_sign(context, builder, output, limit.value.clone(), written.span)?;
    Ok(limit)
}

fn element(tensor: &TensorType, id: ValueId, subscripts: Vec<Expr>) -> Expr {
    Expr { kind: tensor.kind, node: Node::Access { tensor: id, subscripts } }
}

/// Adds the counting of steps to a formula, while the count is `below` its bound; `None` if some subscript contains the
/// counter together with other terms.
fn counting(
    mut formula: Formula,
    dimension: usize,
    count: ValueId,
    (counted, below): (&Expr, Option<Expr>),
) -> Option<Formula> {
    let stands = |t: &Target| t.subscripts.get(dimension) == Some(counted);
    if formula.targets.iter().any(|t| !stands(t)) {
        return None;
    }
    let conditions = formula.predicate.take().into_iter().chain(below);
    formula.predicate = conditions.reduce(runtime::and);
    formula.kind = Accumulation::Replace;
    for (position, target) in formula.targets.iter_mut().enumerate() {
        target.init = match position {
            0 => Init::Fill(target.value.kind.default_value()),
            _ => Init::Continue,
        };
    }
    formula.targets.push(Target {
        output: count,
        subscripts: Vec::new(),
        value: Expr::apply(ScalarKind::Int, ScalarOp::Add, vec![counted.clone(), Expr::int(1)]),
        init: Init::Fill(ScalarKind::Int.default_value()),
    });
    Some(formula)
}
