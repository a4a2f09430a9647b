// SPDX-License-Identifier: Apache-2.0
//! `bitcast_convert`: reinterprets the bits of elements as elements of another type.

use super::operation::{SourceOp, Values};
use crate::import::element::Element;
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_passes::ir::generic::{Access, all_loops, map};
use skript_passes::ir::{Builder, ops, types};
use skript_symbolic::Affine;
use std::cmp::Ordering;

/// Converts `bitcast_convert`. A narrower type adds a last dimension, a wider type removes it; the lowest bits come
/// first.
pub(crate) fn bitcast<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let (operand, result) = (source.operand(0)?, source.result()?);
    let (from, to) = (operand.element, result.element);
    let (a, b, rank) = (from.bits(), to.bits(), result.rank());
    if a != b && matches!(from, Element::Complex(_)) {
        return Err("is not supported between complex types of different widths".into());
    }
    let last = rank.saturating_sub(1);
    let positions = match a.cmp(&b) {
        Ordering::Equal => vec![all_loops(rank)],
        Ordering::Less => {
            let parts = *operand.extents.last().ok_or("has no dimension to combine")?;
            (0..parts).map(|n| [all_loops(rank), vec![Affine::constant(n)]].concat()).collect()
        }
        Ordering::Greater => vec![all_loops(last)],
    };
    let tensor = source.value(0)?;
    let inputs: Vec<Access> = positions.into_iter().map(|position| Access(tensor, position)).collect();
    let cast = map(&source.at, &inputs, source.result_type()?, &[], |body, elements| {
        let (parts, _) = elements.split_at(inputs.len());
        let whole = *parts.first().ok_or("has no elements")?;
        let [wide, narrow] = [a, b].map(|width| types::int(body.context, width));
        let bits = match a.cmp(&b) {
            Ordering::Equal => from.without_sign(whole, body),
            Ordering::Less => joined(parts, from, narrow, body),
            Ordering::Greater => {
                let whole = bits_of(whole, from, body);
                let number = body.index_cast(body.loop_index(last)?, wide);
                let by = body.muli(number, body.int(b.into(), wide));
                body.convert(ops::arith::TRUNCI, body.shrui(whole, by), narrow)
            }
        };
        let value = recast(bits, to.signless(body.context), body);
        Ok::<_, PassError>(to.with_sign(value, body))
    })?;
    Ok(vec![cast])
}

/// The bits of elements as one integer of type `to`, with the first one in its lowest bits.
fn joined<'c: 'a, 'a>(
    parts: &[Value<'c, 'a>],
    element: Element,
    to: Type<'c>,
    body: &Builder<'c, 'a>,
) -> Value<'c, 'a> {
    let zero = body.int(0, to);
    (0..).zip(parts).fold(zero, |whole, (part, value)| {
        let bits = body.convert(ops::arith::EXTUI, bits_of(*value, element, body), to);
        let by = body.int(part * i64::from(element.bits()), to);
        body.ori(whole, body.shli(bits, by))
    })
}

/// The bits of a float or integer element as an integer of its width.
fn bits_of<'c: 'a, 'a>(value: Value<'c, 'a>, element: Element, body: &Builder<'c, 'a>) -> Value<'c, 'a> {
    recast(element.without_sign(value, body), types::int(body.context, element.bits()), body)
}

/// `arith.bitcast`, unless both types are equal.
fn recast<'c: 'a, 'a>(value: Value<'c, 'a>, to: Type<'c>, body: &Builder<'c, 'a>) -> Value<'c, 'a> {
    if value.r#type() == to { value } else { body.bitcast(value, to) }
}
