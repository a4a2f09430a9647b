// SPDX-License-Identifier: Apache-2.0
//! Converts broadcasts and reshapes to formulas that copy elements.

use crate::import::to_linalg::SourceOp;
use melior::ir::{Region, Type, Value, ValueLike};
use skript_dialect::melior;
use skript_passes::ir::{attributes, ops, types};

/// Operand `n` with the shape of the result: scalars are broadcast.
pub(crate) fn spread<'c, 'a>(source: &SourceOp<'c, 'a>, n: usize) -> Option<Value<'c, 'a>> {
    let (operand, result, value) = (source.operands.get(n)?, source.results.first()?, source.value(n).ok()?);
    if operand.extents == result.extents {
        return Some(value);
    }
    debug_assert!(operand.rank() == 0, "an operand is neither a scalar nor of the result's shape");
    let scalar = source.at.element(value, &[]);
    let whole = types::tensor(&result.extents, scalar.r#type());
    Some(source.at.make(ops::tensor::SPLAT, &[scalar], &[], whole))
}

pub(crate) fn broadcast<'c, 'a>(source: &SourceOp<'c, 'a>) -> Option<Value<'c, 'a>> {
    let (operand, result) = (source.operands.first()?, source.results.first()?);
    if operand.rank() == 0 {
        return spread(source, 0);
    }
    let dimensions = source.i64s("broadcast_dimensions")?;
    let positions = operand.extents.iter().zip(&dimensions).map(|(extent, dimension)| {
        let target = usize::try_from(*dimension).ok()?;
        // A dimension of extent 1 is broadcast.
        Some(if result.extents.get(target)? == extent { Some(target) } else { None })
    });
    view(source, &positions.collect::<Option<Vec<_>>>()?)
}

/// Converts reshapes that only add and remove unit dimensions; `None` for others.
pub(crate) fn reshape<'c, 'a>(source: &SourceOp<'c, 'a>) -> Option<Value<'c, 'a>> {
    let (operand, result) = (source.operands.first()?, source.results.first()?);
    if operand == result {
        return source.value(0).ok();
    }
    let mut targets = result.extents.iter().enumerate().filter(|(_, e)| **e != 1);
    let mut positions = Vec::new();
    for extent in &operand.extents {
        positions.push(match *extent {
            1 => None,
            _ => Some(targets.next().filter(|(_, e)| *e == extent)?.0),
        });
    }
    if targets.next().is_some() {
        return None;
    }
    if operand.rank() == 0 {
        return spread(source, 0);
    }
    view(source, &positions)
}

/// A formula that reads the first operand. For each dimension of the operand, `positions` has the dimension of the result whose
/// index is the subscript, or `None` for the subscript 0.
fn view<'c, 'a>(source: &SourceOp<'c, 'a>, positions: &[Option<usize>]) -> Option<Value<'c, 'a>> {
    let (at, extents) = (&source.at, &source.results.first()?.extents);
    let (tensor, result) = (source.value(0).ok()?, source.result_type().ok()?);
    let rank = i32::try_from(extents.len()).ok()?;
    let empty = at.empty(result);
    let arguments = [vec![Type::index(at.context); extents.len()], vec![result]].concat();
    let (region, body, arguments) = at.region(&arguments);
    let (_, indices) = arguments.split_last()?;
    let zero = body.idx(0);
    let subscripts = positions.iter().map(|position| match position {
        Some(dimension) => indices.get(*dimension).copied(),
        None => Some(zero),
    });
    let operands: Vec<Value> = [Some(tensor)].into_iter().chain(subscripts).collect::<Option<_>>()?;
    let element = types::element_or_self(tensor.r#type());
    let element = body.make(ops::skript::ACCESS, &operands, &[], element);
    let ranks = ("ranks", attributes::i32s(at.context, &[rank]));
    let yielded = [&[element], indices].concat();
    body.op(ops::skript::YIELD, &yielded, &[ranks, body.segments(&[1, rank])], &[], Vec::new());
    let entries = [
        ("kind", attributes::accumulation(at.context, "assign")),
        ("static_bounds", attributes::i64s(at.context, extents)),
        at.segments(&[0, 1]),
    ];
    let formula = at.op(ops::skript::FORMULA, &[empty], &entries, &[result], vec![Region::new(), region]);
    Some(at.result(formula, 0))
}
