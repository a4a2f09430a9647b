// SPDX-License-Identifier: Apache-2.0
//! Packs of dynamic length on the right of `[a, b.., (e, f)..] = …` (2.9, 2.10): the items of each name.

use crate::ast::{Ident, TargetItem};
use crate::compose::calls::Composed;
use crate::compose::composer::Composer;
use crate::compose::context::Context;
use crate::compose::declarations::types::hinted;
use crate::compose::invocations::builder::Builder;
use crate::compose::packs::concatenation::concatenated;
use crate::compose::synthesized_functions::item_of;
use crate::diagnostics::codes::{LIMIT_EXCEEDED, PACK_LENGTHS_DIFFER, RESULTS_MISMATCH};
use crate::diagnostics::{Code, counted};
use crate::eval::ranges::extent_expr;
use crate::eval::stop::{EvalResult, stop};
use crate::eval::value::count;
use crate::eval::{Atom, Demand, DynamicPack, Pack, PackPart, PackSlice, Series, TensorRef, Value, runtime};
use crate::model::{Expr, Extent, MessagePart};
use crate::program::Edition;
use crate::source::Span;
use skript_semantics::ScalarOp;

/// An item of the left side.
pub(crate) struct Share<'t> {
    item: &'t TargetItem,
    /// The number of its items; `None` for the rest.
    length: Option<usize>,
}

impl Share<'_> {
    pub(crate) fn is_rest(&self) -> bool {
        self.length.is_none()
    }

    /// The number of names among which its items alternate; 1 for a name that receives all items.
    fn names(&self) -> usize {
        self.item.names().len().max(1)
    }
}

/// The number of items of all parts with a length.
pub(crate) fn known(shares: &[Share]) -> usize {
    shares.iter().filter_map(|share| share.length).fold(0, usize::saturating_add)
}

/// The code and the nouns of an error.
pub(crate) struct Side {
    code: &'static Code,
    whole: &'static str,
    item: &'static str,
}

pub(crate) const PACK: Side = Side { code: &PACK_LENGTHS_DIFFER, whole: "pack", item: "item" };
pub(crate) const RESULT: Side = Side { code: &RESULTS_MISMATCH, whole: "result", item: "tensor" };

/// The items of a pack that each name receives.
pub(crate) fn dealt<'t>(
    shares: &[Share<'t>],
    pack: &Pack,
    side: &Side,
    span: Span,
) -> EvalResult<Vec<(&'t TargetItem, &'t Ident, Value)>> {
    let (known, open) = (known(shares), shares.iter().filter(|share| share.is_rest()).count());
    let rest = match (pack.len().checked_sub(known), open) {
        (Some(0), 0) => 0,
        (Some(rest), 1) => rest,
        _ => {
            let at_least = if open > 0 { "at least " } else { "" };
            let has = counted(pack.len(), side.item);
            let message = format!("the {} has {has}, but the left side has {at_least}{known}", side.whole);
            return stop(side.code, span, message);
        }
    };
    let mut parts = Vec::new();
    let mut start = 0;
    for share in shares {
        let length = share.length.unwrap_or(rest);
        let names = share.names();
        if !length.is_multiple_of(names) {
            let message = format!("{length} {}s cannot be dealt to {names} packs", side.item);
            return stop(side.code, share.item.span(), message);
        }
        for (offset, name) in share.item.names().iter().enumerate() {
            let first = start + offset;
            let value = match share.item.pack() {
                Some(_) => Value::Pack(pack.select(&Pack::range(count(first), count(names), length / names))),
                None if offset < length => pack.get(first).map_or(Value::Null, Value::Atom),
                None => Value::Null,
            };
            parts.push((share.item, name, value));
        }
        start += length;
    }
    Ok(parts)
}

#[derive(Clone)]
struct Position {
    location: Expr,
    /// An index, counted from the end for items after the rest.
    index: i64,
}

/// The items that a name receives.
enum Taken {
    One(Position),
    Several(Vec<Position>),
    Rest(PackSlice),
}

/// The parts of a left side, with their lengths.
pub(crate) fn shares<'t>(
    context: &Context,
    builder: &Builder,
    items: &'t [TargetItem],
) -> EvalResult<Vec<Share<'t>>> {
    let shares = items.iter().map(|item| {
        let each = match item.pack() {
            Some(pack) => hinted(context, builder, pack)?,
            None => Some(1),
        };
        let length = each.map(|n| n.saturating_mul(item.names().len().max(1)));
        Ok(Share { item, length })
    });
    shares.collect()
}

/// `[a, b.., (e, f)..] = value` of a `@using` line.
pub(crate) fn split_series<'t>(
    context: &Context,
    builder: &Builder,
    items: &'t [TargetItem],
    series: &Series,
    span: Span,
) -> EvalResult<Vec<(&'t Ident, Value)>> {
    let shares = shares(context, builder, items)?;
    let apart = taken_apart(&shares, &series.length, &PACK_LENGTHS_DIFFER, span);
    let Some((taken, demands)) = apart else {
        return stop(&PACK_LENGTHS_DIFFER, span, SEVERAL);
    };
    for demand in demands {
        builder.demands.push(demand);
    }
    let mut parts = Vec::new();
    for (item, taken) in items.iter().zip(taken) {
        for (name, taken) in item.names().iter().zip(taken) {
            let at = |position: &Position| Atom::from_expr(series.at(&position.location));
            let value = match taken {
                Taken::One(position) => Some(Value::Atom(at(&position))),
                Taken::Several(positions) => Some(Value::pack(positions.iter().map(at))),
                Taken::Rest(locations) => {
                    let rest =
                        Series::from_items(locations.length.clone(), |i| Some(series.at(&locations.at(i)?)));
                    rest.map(Series::into_value)
                }
            };
            match value {
                Some(value) => parts.push((name, value)),
                None => {
                    let message = "the items of this pack are too long to be written out";
                    return stop(&LIMIT_EXCEEDED, span, message);
                }
            }
        }
    }
    Ok(parts)
}

/// `[a, b.., (e, f)..] = xs;` of a composition with a part that receives the rest.
pub(crate) fn assign_rest<'p>(
    composer: &mut Composer<'p, '_>,
    builder: &mut Builder<'p>,
    shares: &[Share],
    stack: &TensorRef,
    span: Span,
) -> Composed<()> {
    let total = stack.tensor.shape.first().map_or(Expr::int(0), extent_expr);
    let known = known(shares);
    let most = stack.tensor.shape.first().map_or(0, Extent::bound);
    if u64::try_from(known).map_or(true, |n| n > most) {
        let message = format!("the pack has at most {most} items, but the left side has at least {known}");
        return Err(composer.context.error(&RESULTS_MISMATCH, span, message));
    }
    let apart = taken_apart(shares, &total, &RESULTS_MISMATCH, span);
    let Some((taken, demands)) = apart else {
        return Err(composer.context.error(&RESULTS_MISMATCH, span, SEVERAL));
    };
    for (share, taken) in shares.iter().zip(taken) {
        for (name, taken) in share.item.names().iter().zip(taken) {
            let mut one = |context: &mut Context<'p, '_>, position: Position| {
                item_of(context, builder, stack, &Atom::Int(position.index), span)
            };
            let value = match taken {
                Taken::One(position) => Value::Atom(one(&mut composer.context, position)?),
                Taken::Several(positions) => {
                    let items = positions.into_iter().map(|position| one(&mut composer.context, position));
                    Value::pack(items.collect::<Composed<Vec<Atom>>>()?)
                }
                Taken::Rest(locations) => {
                    let row = DynamicPack {
                        parts: vec![PackPart::Pack(stack.clone(), locations)],
                        demands: demands.clone(),
                    };
                    Value::Atom(concatenated(&mut composer.context, builder, &row, span)?)
                }
            };
            composer.set_name(builder, name, share.item.type_spec(), value)?;
        }
    }
    Ok(())
}

/// The error for an invalid left side.
const SEVERAL: &str = "several packs on the left side have no length, so their items are not determined: write `..(n)` after all but one";

/// The items that each name receives, and the run-time checks. `None` if several parts receive the rest, or positions
/// overflow.
fn taken_apart(
    shares: &[Share],
    total: &Expr,
    code: &'static Code,
    span: Span,
) -> Option<(Vec<Vec<Taken>>, Vec<Demand>)> {
    let operation =
        |op, a: &Expr, b: &Expr| runtime::operation(op, vec![a.clone(), b.clone()], Edition::Draft6);
    let known = known(shares);
    let open = shares.iter().filter(|share| share.is_rest()).count();
    if open > 1 {
        return None;
    }
    let number = |n: usize| Expr::int(count(n));
    let (compared, at_least) = match open {
        0 => (ScalarOp::Eq, ""),
        _ => (ScalarOp::Ge, "at least "),
    };
    let mut demands = vec![Demand {
        condition: runtime::compare(compared, total.clone(), number(known)),
        message: vec![
            MessagePart::Text("the pack has ".to_string()),
            MessagePart::Value(total.clone()),
            MessagePart::Text(format!(" items, but the left side has {at_least}{known}")),
        ],
        code,
        span,
    }];
    let rest = operation(ScalarOp::Sub, total, &number(known))?;
    let mut taken = Vec::with_capacity(shares.len());
    let mut from = Expr::int(0);
    let mut index = 0i64;
    for share in shares {
        let each = share.names();
        let Some(length) = share.length else {
            if each > 1 {
                let left = operation(ScalarOp::Mod, &rest, &number(each))?;
                demands.push(Demand {
                    condition: runtime::compare(ScalarOp::Eq, left, Expr::int(0)),
                    message: vec![
                        MessagePart::Value(rest.clone()),
                        MessagePart::Text(format!(" items cannot be dealt to {each} packs")),
                    ],
                    code,
                    span,
                });
            }
            let dealt = (0..each).map(|offset| {
                Some(Taken::Rest(PackSlice {
                    from: operation(ScalarOp::Add, &from, &number(offset))?,
                    step: count(each),
                    length: operation(ScalarOp::Div, &rest, &number(each))?,
                }))
            });
            taken.push(dealt.collect::<Option<Vec<Taken>>>()?);
            from = operation(ScalarOp::Add, &from, &rest)?;
            index = index.checked_sub(count(known))?;
            continue;
        };
        let positions = (0..length).map(|p| {
            Some(Position {
                location: operation(ScalarOp::Add, &from, &number(p))?,
                index: index.checked_add(count(p))?,
            })
        });
        let positions: Vec<Position> = positions.collect::<Option<_>>()?;
        let dealt = (0..each).map(|offset| {
            let mut name_positions = positions.iter().skip(offset).step_by(each).cloned();
            if share.item.pack().is_some() {
                Some(Taken::Several(name_positions.collect()))
            } else {
                name_positions.next().map(Taken::One)
            }
        });
        taken.push(dealt.collect::<Option<Vec<Taken>>>()?);
        from = operation(ScalarOp::Add, &from, &number(length))?;
        index = index.checked_add(count(length))?;
    }
    Some((taken, demands))
}
