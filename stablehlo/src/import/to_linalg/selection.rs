// SPDX-License-Identifier: Apache-2.0
//! `select_and_scatter`: adds each update to the element that its window selects.
use super::constant::filled;
use super::nest::nest;
use super::operation::{SourceOp, Values};
use super::payload;
use melior::ir::Value;
use skript_dialect::melior;
use skript_passes::ir::Builder;
use skript_passes::ir::builder::arith::Integers;

/// The windows of an operation: one entry for each dimension.
struct Windows {
    strides: Vec<i64>,
    low: Vec<i64>,
    extents: Vec<i64>,
}

pub(crate) fn select_and_scatter<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let (array, rank, at) = (source.operand(0)?, source.operand(0)?.rank(), &source.at);
    let ones = || vec![1; rank];
    let window = source.i64s("window_dimensions").unwrap_or_else(ones);
    let windows = Windows {
        strides: source.i64s("window_strides").unwrap_or_else(ones),
        low: source.pairs("padding", rank)?.into_iter().map(|(low, _)| low).collect(),
        extents: array.extents.clone(),
    };
    let [input, updates, init] = [source.value(0)?, source.value(1)?, source.value(2)?];
    let whole = filled(init, source.result_type()?, at)?;
    let start = at.element(init, &[]);
    let (none, yes, zero) = (at.truth(false), at.truth(true), at.idx(0));
    nest(at, &source.operand(1)?.extents, &[whole], &mut |at, indices, sums| {
        // Whether an element of the window was seen; the selected element and its position.
        let state = [&[none, start], &vec![zero; rank][..]].concat();
        let chosen = nest(at, &window, &state, &mut |at, offsets, state| {
            let [was_seen, selected, positions @ ..] = state else {
                return Err("lost its state".into());
            };
            let (inside, position) = windows.element(indices, offsets, [yes, zero], at);
            let value = at.element(input, &position);
            let kept = payload::apply(source, 0, &[*selected, value], at)?;
            let kept = at.andi(*kept.first().ok_or("selects nothing")?, *was_seen);
            let take = at.andi(inside, at.xori(kept, yes));
            let seen = at.ori(*was_seen, inside);
            let mut next = vec![seen, at.select(take, value, *selected)];
            next.extend(position.iter().zip(positions).map(|(new, old)| at.select(take, *new, *old)));
            Ok(next)
        })?;
        let ([was_seen, _, position @ ..], [sums]) = (chosen.as_slice(), sums) else {
            return Err("lost its state".into());
        };
        let old = at.element(*sums, position);
        let sum = payload::apply(source, 1, &[old, at.element(updates, indices)], at)?;
        let value = at.select(*was_seen, *sum.first().ok_or("adds nothing")?, old);
        Ok(vec![at.with_element(*sums, position, value)])
    })
}

impl Windows {
    /// Whether an element of a window is in the array, and its position, which is `zero` along dimensions that it exceeds.
    fn element<'c: 'a, 'a>(
        &self,
        indices: &[Value<'c, 'a>],
        offsets: &[Value<'c, 'a>],
        [yes, zero]: [Value<'c, 'a>; 2],
        at: &Builder<'c, 'a>,
    ) -> (Value<'c, 'a>, Vec<Value<'c, 'a>>) {
        let (mut inside, mut position) = (yes, Vec::new());
        let windows = self.strides.iter().zip(&self.low).zip(&self.extents);
        for (((stride, low), extent), (index, offset)) in windows.zip(indices.iter().zip(offsets)) {
            let [stride, low, end] = [*stride, *low, *extent].map(|n| at.idx(n));
            let to = at.subi(at.addi(at.muli(*index, stride), *offset), low);
            // The unsigned comparison also rejects negative positions.
            let fits = at.cmpi(Integers::Less, to, end);
            inside = at.andi(inside, fits);
            position.push(at.select(fits, to, zero));
        }
        (inside, position)
    }
}
