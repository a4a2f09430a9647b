// SPDX-License-Identifier: Apache-2.0
//! Lists and ranges of packs of dynamic length, and their items (2.4).

use crate::ast::{Expr as Text, Subscript};
use crate::diagnostics::codes::INDEX_OUT_OF_RANGE;
use crate::eval::conditions::{demand, mark};
use crate::eval::demand::Demand;
use crate::eval::dynamic_pack::{DynamicPack, PackPart, PackSlice};
use crate::eval::evaluator::Evaluator;
use crate::eval::index::is_constant;
use crate::eval::position::{index_from_end, int_of, item_position, not_negative, position_of_step};
use crate::eval::runtime;
use crate::eval::series::{binary, refused};
use crate::eval::stop::{EvalResult, stop};
use crate::eval::value::{Atom, TensorRef, Value};
use crate::model::check::is_shape_scalar;
use crate::model::{Expr, MessagePart};
use crate::source::Span;
use skript_semantics::ScalarOp;
use std::rc::Rc;

/// `[x, xs.., z]` with a pack of dynamic length among the items.
pub(in crate::eval) fn row(
    evaluator: &mut Evaluator,
    atoms: &[Atom],
    span: Span,
) -> EvalResult<Option<Value>> {
    let is_long = |atom: &Atom| matches!(atom, Atom::Stack(_) | Atom::DynamicPack(_));
    if !atoms.iter().any(is_long) {
        return Ok(None);
    }
    if let [single] = atoms {
        return Ok(Some(Value::Atom(single.clone())));
    }
    if evaluator.formula.is_some() {
        return refused("formulas cannot list its items", span);
    }
    let mut row = DynamicPack::default();
    for atom in atoms {
        let Some(part) = pack_part(evaluator, atom, span)? else {
            return refused("a list that contains it may otherwise contain only tensors", span);
        };
        row.parts.extend(part.parts);
        row.demands.extend(part.demands);
    }
    Ok(Some(Value::Atom(Atom::DynamicPack(Rc::new(row)))))
}

/// The positions of all items of a pack of dynamic length.
pub(in crate::eval) fn whole(
    evaluator: &Evaluator,
    stack: &TensorRef,
    span: Span,
) -> EvalResult<Option<PackSlice>> {
    let length = match stack.tensor.shape.first() {
        Some(length) => evaluator.extent_atom(length, span)?.to_expr(),
        None => None,
    };
    Ok(length.map(|length| PackSlice { from: Expr::int(0), step: 1, length }))
}

/// `xs[1:]` of a pack of dynamic length.
pub(in crate::eval) fn stack_range(
    evaluator: &mut Evaluator,
    stack: &TensorRef,
    subscript: &Subscript,
    span: Span,
) -> EvalResult<Value> {
    let Some(whole) = whole(evaluator, stack, span)? else {
        return refused("it has no length", span);
    };
    let before = mark(evaluator);
    let locations = range_positions(evaluator, &whole.length, subscript)?;
    let demands = evaluator.demands.since(before);
    Ok(match locations {
        Some(locations) => Value::Atom(Atom::DynamicPack(Rc::new(DynamicPack {
            parts: vec![PackPart::Pack(stack.clone(), locations)],
            demands,
        }))),
        None => Value::Null,
    })
}

/// `xs[1:][1:]`, `xs[1:][0]`, in formulas `xs[1:][i,]` too: accesses of a range of a pack.
pub(in crate::eval) fn row_index(
    evaluator: &mut Evaluator,
    row: &DynamicPack,
    subscripts: &[Subscript],
    trailing_comma: bool,
    span: Span,
) -> EvalResult<Value> {
    let [PackPart::Pack(stack, locations)] = row.parts.as_slice() else {
        return refused("assign this list to a name, `all.. = …`, to select items of it", span);
    };
    let subscript = match subscripts {
        [one @ (Subscript::Expr(_) | Subscript::Range { .. })] if !trailing_comma => one,
        _ if evaluator.formula.is_none() => {
            return refused("it supports only one index, a single int", span);
        }
        _ => {
            row.demands.iter().cloned().for_each(|d| demand(evaluator, d));
            return evaluator.items_at(stack, locations, subscripts, span);
        }
    };
    if let Subscript::Expr(index) = subscript {
        let Value::Atom(index) = evaluator.eval(index)? else {
            return refused("it supports only one index, a single int", span);
        };
        let position = item_position(evaluator, &index, &locations.length, span);
        let Some(location) = position.and_then(|position| locations.at(&position)) else {
            return refused("its index must be an int", span);
        };
        row.demands.iter().cloned().for_each(|d| demand(evaluator, d));
        let item = (stack.clone(), Atom::from_expr(location));
        return Ok(Value::Atom(Atom::Item(Rc::new(item))));
    }
    let mark = mark(evaluator);
    let Some(inner) = range_positions(evaluator, &locations.length, subscript)? else {
        return Ok(Value::Null);
    };
    let mut demands = row.demands.clone();
    demands.extend(evaluator.demands.since(mark));
    let (Some(from), Some(step)) = (locations.at(&inner.from), locations.step.checked_mul(inner.step)) else {
        return refused("the range is too large", span);
    };
    let length = inner.length;
    let part = PackPart::Pack(stack.clone(), PackSlice { from, step, length });
    let parts = vec![part];
    Ok(Value::Atom(Atom::DynamicPack(Rc::new(DynamicPack { parts, demands }))))
}

/// The positions of a range of `length` items; `None` if one of its ends is null.
pub(in crate::eval) fn range_positions(
    evaluator: &mut Evaluator,
    length: &Expr,
    range: &Subscript,
) -> EvalResult<Option<PackSlice>> {
    let Subscript::Range { begin, end, stride, span } = range else {
        return Ok(None);
    };
    let step = match stride {
        Some(stride) => evaluator.int(stride)?,
        None => Some(1),
    };
    let Some(step) = step else {
        return Ok(None);
    };
    if step == 0 {
        return stop(&INDEX_OUT_OF_RANGE, *span, "the stride of a range is zero");
    }
    // The ends of a forward range are positions of items or one after the last; those of a backward range are positions
    // of items or one before the first.
    let before = if step < 0 { -1 } else { 0 };
    let last = runtime::plus(length, before);
    let (first, after) = if step < 0 { (last, Expr::int(before)) } else { (Expr::int(before), last) };
    // A computed start of -1 is before the first item if the range covers all items to the left (errata 27).
    let is_computed = begin.as_ref().is_some_and(|b| !is_constant(b));
    let start = end.is_none() && step < 0 && is_computed;
    let from = range_end(evaluator, begin.as_ref(), ("from", before, start), first, length, *span)?;
    let to = range_end(evaluator, end.as_ref(), ("up to", before, false), after, length, *span)?;
    let (Some(from), Some(to)) = (from, to) else {
        return Ok(None);
    };
    let distance = if step < 0 {
        binary(ScalarOp::Sub, from.clone(), to)
    } else {
        binary(ScalarOp::Sub, to, from.clone())
    };
    let size = Expr::int(step.saturating_abs());
    let steps = distance.and_then(|distance| binary(ScalarOp::CeilDiv, distance, size));
    Ok(steps.map(|steps| PackSlice { from, step, length: not_negative(evaluator, steps) }))
}

fn range_end(
    evaluator: &mut Evaluator,
    end: Option<&Text>,
    (which, before, start): (&str, i64, bool),
    other: Expr,
    length: &Expr,
    span: Span,
) -> EvalResult<Option<Expr>> {
    let Some(end) = end else {
        return Ok(Some(other));
    };
    let atom = match evaluator.eval(end)? {
        Value::Null => return Ok(None),
        Value::Atom(atom) => atom,
        Value::Pack(_) => return refused("the bounds of a range must be ints", span),
    };
    let Some(index) = int_of(&atom) else {
        return refused("the bounds of a range must be ints", span);
    };
    let locations = runtime::plus(length, 1);
    let mut location = index_from_end(evaluator, &index, length);
    if start {
        let none = runtime::compare(ScalarOp::Eq, index.clone(), Expr::int(before));
        location = runtime::select(none, Expr::int(before), location);
    }
    if !is_shape_scalar(&index) {
        if before < 0 {
            return refused("the bounds of a reversed range must be computed from extents", span);
        }
        return Ok(Some(position_of_step(evaluator, index, location, &locations, length, span)));
    }
    let what = vec![
        MessagePart::Text(format!("a range {which} ")),
        MessagePart::Value(index),
        MessagePart::Text(" is out of bounds".to_string()),
    ];
    let shifted = runtime::plus(&location, before.wrapping_neg());
    demand(evaluator, Demand::location(what, &shifted, &locations, length, span));
    Ok(Some(location))
}

/// An item of a list that contains packs of dynamic length; `None` if it is neither a tensor nor a pack of tensors.
fn pack_part(evaluator: &Evaluator, atom: &Atom, span: Span) -> EvalResult<Option<DynamicPack>> {
    let part = match atom {
        Atom::Tensor(_) | Atom::Item(_) => PackPart::One(atom.clone()),
        Atom::DynamicPack(row) => return Ok(Some((**row).clone())),
        Atom::Stack(stack) => match whole(evaluator, stack, span)? {
            Some(locations) => PackPart::Pack(stack.clone(), locations),
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    Ok(Some(DynamicPack { parts: vec![part], demands: Vec::new() }))
}
