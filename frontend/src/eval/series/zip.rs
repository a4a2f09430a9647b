// SPDX-License-Identifier: Apache-2.0
//! Packs of dynamic length combined with other packs (2.4): item by item, in zips, and in replacements.

use crate::ast::{Expr as Text, Subscript};
use crate::diagnostics::codes::PACK_LENGTHS_DIFFER;
use crate::eval::conditions::demand;
use crate::eval::demand::Demand;
use crate::eval::dynamic_pack::ranges::range_positions;
use crate::eval::evaluator::Evaluator;
use crate::eval::position::item_position;
use crate::eval::runtime;
use crate::eval::series::{Series, binary, refused, series_of};
use crate::eval::stop::{EvalResult, stop};
use crate::eval::value::{Atom, Value, count};
use crate::model::check::is_shape_scalar;
use crate::model::{Expr, MessagePart};
use crate::source::Span;
use skript_semantics::ScalarOp;

/// Adds a run-time check that two lengths are equal.
pub(in crate::eval) fn side_by_side(evaluator: &Evaluator, a: &Expr, b: &Expr, span: Span) -> EvalResult<()> {
    if a == b {
        return Ok(());
    }
    let condition = runtime::compare(ScalarOp::Eq, a.clone(), b.clone());
    if !is_shape_scalar(&condition) {
        let text = |length: &Expr| Atom::from_expr(length.clone()).text();
        let message = format!("packs of {} and of {} items may have different lengths", text(a), text(b));
        return stop(&PACK_LENGTHS_DIFFER, span, message);
    }
    let text = |text: &str| MessagePart::Text(text.to_string());
    let value = |length: &Expr| MessagePart::Value(length.clone());
    demand(
        evaluator,
        Demand {
            condition,
            message: vec![text("packs have different lengths here: "), value(a), text(" and "), value(b)],
            code: &PACK_LENGTHS_DIFFER,
            span,
        },
    );
    Ok(())
}

/// Converts a pack of dynamic length to the static length of the other pack, with a run-time check; `None` for other
/// combinations.
pub(in crate::eval) fn of_known_length(
    evaluator: &Evaluator,
    value: &Value,
    other: &Value,
    span: Span,
) -> EvalResult<Option<Value>> {
    let (Some(series), Value::Pack(pack)) = (series_of(value), other) else {
        return Ok(None);
    };
    let positions = (0..pack.len()).map(|n| Expr::int(count(n)));
    side_by_side(evaluator, &series.length, &Expr::int(count(pack.len())), span)?;
    let items = positions.map(|position| Atom::from_expr(series.at(&position)));
    Ok(Some(Value::pack(items)))
}

/// `(p, q)..`: interleaves the items of the packs.
pub(in crate::eval) fn zip_series(evaluator: &Evaluator, packs: &[Value], span: Span) -> EvalResult<Value> {
    let mut length = None;
    for pack in packs {
        let items = match pack {
            Value::Atom(Atom::Series(series)) => series.length.clone(),
            Value::Pack(pack) => Expr::int(count(pack.len())),
            _ => continue,
        };
        match &length {
            Some(length) => side_by_side(evaluator, length, &items, span)?,
            None => length = Some(items),
        }
    }
    let zipped = || {
        let all = Expr::int(count(packs.len()));
        let whole = binary(ScalarOp::Mul, length?, all.clone())?;
        Series::from_items(whole, |i| {
            let location = binary(ScalarOp::Div, i.clone(), all.clone())?;
            let turn = binary(ScalarOp::Mod, i.clone(), all.clone())?;
            let mut items = packs.iter().enumerate().rev().map(|(number, pack)| {
                let item = match pack {
                    Value::Atom(Atom::Series(series)) => series.at(&location),
                    Value::Atom(atom) => atom.to_expr()?,
                    _ => return None,
                };
                Some((Expr::int(count(number)), item))
            });
            let (_, last) = items.next()??;
            items.try_fold(last, |after, item| {
                let (number, item) = item?;
                let here = runtime::compare(ScalarOp::Eq, turn.clone(), number);
                (item.kind == after.kind).then(|| runtime::select(here, item, after))
            })
        })
    };
    match zipped() {
        Some(zipped) => Ok(zipped.into_value()),
        None => refused("a zip that contains it may otherwise contain only numbers and packs like it", span),
    }
}

/// `t[i] <- a`, `t[i:] <- p`.
pub(in crate::eval) fn replace_in_series(
    evaluator: &mut Evaluator,
    series: &Series,
    subscript: &Subscript,
    value: &Text,
    span: Span,
) -> EvalResult<Value> {
    let locations = match subscript {
        Subscript::Expr(index) => match evaluator.eval(index)? {
            Value::Null => return Ok(Value::Null),
            Value::Atom(index) => {
                let position = item_position(evaluator, &index, &series.length, span);
                position.map(|position| (position, 1, Expr::int(1)))
            }
            Value::Pack(_) => None,
        },
        range => match range_positions(evaluator, &series.length, range)? {
            Some(locations) => Some((locations.from, locations.step, locations.length)),
            None => return Ok(Value::Null),
        },
    };
    let value = evaluator.eval(value)?;
    let value = match &value {
        Value::Null => return Ok(Value::Null),
        Value::Atom(Atom::Series(values)) => Some((**values).clone()),
        Value::Atom(atom) => atom.to_expr().map(|one| Series::uniform(one, Expr::int(1))),
        Value::Pack(_) => None,
    };
    let (Some((from, step, length)), Some(values)) = (locations, value) else {
        return refused("an item of it is replaced by a number, a range by a pack like it", span);
    };
    side_by_side(evaluator, &length, &values.length, span)?;
    let replaced = Series::from_items(series.length.clone(), |i| {
        // The position among the replaced items, if the item is replaced.
        let distance = if step < 0 {
            binary(ScalarOp::Sub, from.clone(), i.clone())?
        } else {
            binary(ScalarOp::Sub, i.clone(), from.clone())?
        };
        let size = Expr::int(step.checked_abs()?);
        let location = binary(ScalarOp::Div, distance.clone(), size.clone())?;
        let remainder = binary(ScalarOp::Mod, distance, size)?;
        let met = runtime::compare(ScalarOp::Eq, remainder, Expr::int(0));
        let here = runtime::and(met, Demand::within(&location, &location, &length));
        let new = values.at(&location);
        (new.kind == series.kind()).then(|| runtime::select(here, new, series.at(i)))
    });
    match replaced {
        Some(replaced) => Ok(replaced.into_value()),
        None => refused("its items are replaced by others of their type", span),
    }
}
