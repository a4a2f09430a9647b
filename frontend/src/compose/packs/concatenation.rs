// SPDX-License-Identifier: Apache-2.0
//! Slices and concatenations of packs of dynamic length (2.4), `xs[1:]` and `[x, xs.., z]`: a function with one formula for each
//! part.

use crate::compose::calls::{Composed, Reported};
use crate::compose::context::Context;
use crate::compose::invocations::builder::Builder;
use crate::compose::shapes::checks::{equality, open_check};
use crate::compose::shapes::dynamic_extent::{Canonical, extent_of};
use crate::compose::shapes::size::check_size;
use crate::compose::synthesized_functions::{empty_function, item_of, new_value, renamed, renamed_check};
use crate::diagnostics::codes::UNEXPECTED_VALUE;
use crate::eval::position::index_from_end;
use crate::eval::ranges::extent_expr;
use crate::eval::{Atom, Demand, DynamicPack, PackPart, PackSlice, TensorRef, runtime};
use crate::model::{
    Body, Expr, Extent, Formula, FormulaIndex, Function, Init, Node, Port, PortTensors, Target, TensorType,
    ValueId,
};
use crate::program::Edition;
use crate::source::Span;
use skript_semantics::{Scalar, ScalarOp};

/// A tensor, or a number of items of a tensor that holds a pack.
struct ConcatenatedPart {
    tensor: TensorRef,
    locations: Option<PackSlice>,
}

/// Creates the pack at the current position of the block, with run-time checks that its ranges exist.
pub(crate) fn concatenated(
    context: &mut Context,
    builder: &mut Builder,
    row: &DynamicPack,
    span: Span,
) -> Composed<Atom> {
    let mut parts = Vec::with_capacity(row.parts.len());
    for part in &row.parts {
        let (tensor, locations) = match part {
            PackPart::Pack(stack, locations) => (stack.clone(), Some(locations.clone())),
            PackPart::One(Atom::Tensor(tensor)) => (tensor.clone(), None),
            PackPart::One(Atom::Item(item)) => {
                let Atom::Tensor(tensor) = item_of(context, builder, &item.0, &item.1, span)? else {
                    return Err(Reported);
                };
                (tensor, None)
            }
            PackPart::One(_) => return Err(Reported),
        };
        parts.push(ConcatenatedPart { tensor, locations });
    }
    stacked(context, builder, &parts, &row.demands, false, span)
}

/// The item of a pack of dynamic length at a position that depends on extents.
pub(crate) fn item_at(
    context: &mut Context,
    builder: &mut Builder,
    stack: &TensorRef,
    position: &Expr,
    span: Span,
) -> Composed<Atom> {
    let length = stack.tensor.shape.first().map_or(Expr::int(0), extent_expr);
    let location = index_from_end(&builder.evaluator(context.limits), position, &length);
    let demand = Demand::index(position, &location, &length, span);
    let locations = PackSlice { from: location, step: 1, length: Expr::int(1) };
    let part = ConcatenatedPart { tensor: stack.clone(), locations: Some(locations) };
    stacked(context, builder, &[part], &[demand], true, span)
}

/// One tensor that stacks all parts along the first dimension, or the single item of the only part.
fn stacked(
    context: &mut Context,
    builder: &mut Builder,
    parts: &[ConcatenatedPart],
    demands: &[Demand],
    single: bool,
    span: Span,
) -> Composed<Atom> {
    let item = item_type(context, parts, span)?;
    let mut canonical = Canonical::default();
    let given: Vec<TensorType> = parts.iter().map(|part| canonical.tensor(&part.tensor.tensor)).collect();
    let inner = canonical.tensor(&item);
    canonical.end_of_tensors();
    let mut function = empty_function("concatenated", span);
    let given: Vec<ValueId> =
        given.into_iter().map(|tensor| new_value(&mut function, tensor, false)).collect();
    demanded(context, &mut function, &mut canonical, demands)?;
    let output = ValueId(u32::try_from(parts.len()).unwrap_or(u32::MAX));
    let mut formulas: Vec<Formula> = Vec::new();
    let (mut offset, mut total) = (Expr::int(0), Expr::int(0));
    for (id, part) in given.iter().zip(parts) {
        let slice = match &part.locations {
            Some(locations) => Some(PackSlice {
                from: renamed(&mut canonical, locations.from.clone())?,
                step: locations.step,
                length: renamed(&mut canonical, locations.length.clone())?,
            }),
            None => None,
        };
        let (indices, from, to) = copied(slice.as_ref(), &inner, &offset, single).ok_or(Reported)?;
        let node = Node::Access { tensor: *id, subscripts: from };
        let first = formulas.is_empty();
        let init = if first { Init::Fill(inner.kind.default_value()) } else { Init::Continue };
        let value = Expr { kind: inner.kind, node };
        formulas.push(Formula::assignment(indices, Target { output, subscripts: to, value, init }, span));
        let length = |slice: Option<&PackSlice>| slice.map_or(Expr::int(1), |s| s.length.clone());
        offset = plus(offset, length(slice.as_ref())).ok_or(Reported)?;
        total = plus(total, length(part.locations.as_ref())).ok_or(Reported)?;
    }
    let (mut inside, mut outside) = (inner, item);
    if !single {
        inside.shape.insert(0, extent(&offset).ok_or(Reported)?);
        outside.shape.insert(0, extent(&total).ok_or(Reported)?);
    }
    check_size(context, &outside, span)?;
    new_value(&mut function, inside, false);
    let port = |name: String, tensors| Port { name, tensors, span };
    for (number, (id, part)) in given.iter().zip(parts).enumerate() {
        let tensors = match part.locations {
            Some(_) => PortTensors::Stack(*id),
            None => PortTensors::Single(*id),
        };
        function.inputs.push(port(format!("part.{number}"), tensors));
    }
    let result = if single { PortTensors::Single(output) } else { PortTensors::Stack(output) };
    function.outputs.push(port("all".to_string(), result));
    function.body = Body::Formulas(formulas);
    let (names, extents) = canonical.parameters().into_iter().unzip();
    function.extents = names;
    let callee = context.add_synthesized(function)?;
    let all = builder.value(None, outside, span);
    builder.invoke(callee, (parts.iter().map(|part| part.tensor.id).collect(), extents), vec![all.id], span);
    Ok(if single { Atom::Tensor(all) } else { Atom::Stack(all) })
}

/// The common type of all items.
fn item_type(context: &mut Context, parts: &[ConcatenatedPart], span: Span) -> Composed<TensorType> {
    let item = |part: &ConcatenatedPart| TensorType {
        kind: part.tensor.tensor.kind,
        shape: match part.locations {
            Some(_) => part.tensor.tensor.shape.iter().skip(1).cloned().collect(),
            None => part.tensor.tensor.shape.clone(),
        },
    };
    let mut types = parts.iter().map(item);
    let Some(first) = types.next() else {
        return Err(Reported);
    };
    let same = |a: &Extent, b: &Extent| {
        let atom = |extent| Atom::from_expr(extent_expr(extent));
        matches!(equality(&atom(a), &atom(b)), crate::compose::shapes::checks::Verdict::Holds)
    };
    for other in types {
        let shapes = first.shape.iter().zip(&other.shape);
        if first.kind != other.kind
            || first.shape.len() != other.shape.len()
            || !shapes.into_iter().all(|(a, b)| same(a, b))
        {
            let message = format!(
                "tensors of a pack of dynamic length must have one type and shape, but these are {} and {}",
                first.text(),
                other.text()
            );
            return Err(context.error(&UNEXPECTED_VALUE, span, message));
        }
    }
    Ok(first)
}

fn demanded(
    context: &mut Context,
    function: &mut Function,
    canonical: &mut Canonical,
    demands: &[Demand],
) -> Composed<()> {
    for demand in demands {
        let Some(check) = open_check(context, demand.clone())? else {
            continue;
        };
        function.checks.push(renamed_check(canonical, check)?);
    }
    Ok(())
}

fn plus(a: Expr, b: Expr) -> Option<Expr> {
    runtime::operation(ScalarOp::Add, vec![a, b], Edition::Draft6)
}

/// The loops that copy a part to an offset, and its subscripts in the part and in the result.
fn copied(
    slice: Option<&PackSlice>,
    item: &TensorType,
    offset: &Expr,
    single: bool,
) -> Option<(Vec<FormulaIndex>, Vec<Expr>, Vec<Expr>)> {
    let (mut indices, mut from, mut to) = (Vec::new(), Vec::new(), vec![offset.clone()]);
    if let Some(slice) = slice {
        indices.push(FormulaIndex { name: "k".to_string(), extent: extent(&slice.length)? });
        from.push(slice.at(&Expr::index(0))?);
        to = vec![plus(offset.clone(), Expr::index(0))?];
    }
    if single {
        to.clear();
    }
    let first = indices.len();
    indices.extend(FormulaIndex::over(&item.shape));
    let within_item = (first..indices.len()).map(Expr::index);
    from.extend(within_item.clone());
    to.extend(within_item);
    Some((indices, from, to))
}

fn extent(expr: &Expr) -> Option<Extent> {
    match expr.node {
        Node::Literal(Scalar::Int(n)) => u64::try_from(n).ok().map(Extent::Fixed),
        _ => extent_of(expr),
    }
}
