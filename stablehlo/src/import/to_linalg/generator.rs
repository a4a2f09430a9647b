// SPDX-License-Identifier: Apache-2.0
//! Converts `rng_bit_generator`: counter-based random bits; each element depends only on the key and its counter.
//!
//! The generators are those of J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011): Threefry-2x32
//! with 20 rounds, Philox-4x32 with 10 rounds. The counter of each element and the next state are the same as in XLA,
//! whose default is Philox. The state is the key and the counter. Philox has a 128-bit counter: a state of two words
//! contains only its lower half, and the upper half is the key.

use super::operation::{SourceOp, Values};
use crate::import::element::Element;
use melior::ir::Value;
use melior::ir::operation::OperationLike;
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_passes::ir::builder::arith::Integers;
use skript_passes::ir::generic::map;
use skript_passes::ir::{Builder, ops, types};

/// 64-bit words: the key, and the halves of the counter.
struct State<'c, 'a> {
    key: Value<'c, 'a>,
    counter: Value<'c, 'a>,
    /// The upper half of the counter, which only Philox uses.
    upper: Value<'c, 'a>,
}

pub(super) fn generate<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let state = source.operand(0)?;
    let result = source.results.get(1).ok_or("lacks its second result")?;
    let algorithm = source.op.attribute("rng_algorithm")?.to_string();
    let is_philox = !algorithm.contains("THREE_FRY");
    let given = match state.extents.as_slice() {
        [given @ 2] => *given,
        [given @ 3] if is_philox => *given,
        _ => 0,
    };
    if given == 0 || state.element != Element::Unsigned(64) {
        return Err(
            "supports no such state: it is tensor<2xui64>, or tensor<3xui64> for PHILOX and DEFAULT".into()
        );
    }
    // The bits of floats are random, like the bits of integers.
    let width = match result.element {
        Element::Unsigned(width) | Element::Signed(width) => width,
        Element::Float(float) => float.bits(),
        Element::Pred | Element::Complex(_) => {
            return Err("supports only integers and floats as elements".into());
        }
    };
    let (at, word) = (&source.at, types::word(source.at.context));
    let tensor = source.value(0)?;
    let words = (0..given).map(|n| at.cast(at.element(tensor, &[at.idx(n)]), word));
    let words: Vec<Value> = words.collect();
    let [key, counter, third @ ..] = words.as_slice() else {
        return Err("lacks its state".into());
    };
    let around = State { key: *key, counter: *counter, upper: *third.first().unwrap_or(key) };
    let volume = result.volume();
    let steps = match (is_philox, width) {
        (true, 64) => (2 * volume + 3) / 4,
        (true, _) => (volume + 3) / 4,
        (false, 64) => volume,
        (false, _) => halved(&result.extents).1.iter().product(),
    };
    let bits = map(at, &[], result.r#type(at.context), &[], |body, _| {
        let generated = if is_philox { philox } else { three_fry };
        let value = generated(body, &around, &result.extents, width)?;
        let value = match width {
            32 | 64 => value,
            _ => body.convert(ops::arith::TRUNCI, value, types::int(body.context, width)),
        };
        let element = result.element.r#type(body.context);
        Ok::<_, PassError>(match result.element {
            Element::Float(_) => body.bitcast(value, element),
            other => other.with_sign(value, body),
        })
    })?;
    let (low, high) = counted(at, &around, at.int(steps, word));
    let next = [around.key, low, high].into_iter().take(words.len());
    let next: Vec<Value> = next.map(|word| at.cast(word, state.element.r#type(at.context))).collect();
    Ok(vec![at.of_elements(&next, state.r#type(at.context)), bits])
}

/// The dimension along which two adjacent elements share a counter: the first one of even extent, otherwise the longest one. The
/// extents of the counters.
fn halved(extents: &[i64]) -> (Option<usize>, Vec<i64>) {
    let even = extents.iter().position(|e| e % 2 == 0);
    let longest = || extents.iter().enumerate().rev().max_by_key(|(_, extent)| **extent).map(|(d, _)| d);
    let split = even.or_else(longest);
    let half = |(d, extent): (usize, &i64)| if Some(d) == split { (extent + 1) / 2 } else { *extent };
    (split, extents.iter().enumerate().map(half).collect())
}

type Computed<'c, 'a> = Result<Value<'c, 'a>, PassError>;

/// Emits the value of an element, i32 or i64.
fn three_fry<'c: 'a, 'a>(
    body: &Builder<'c, 'a>,
    state: &State<'c, 'a>,
    extents: &[i64],
    width: u32,
) -> Computed<'c, 'a> {
    let mut position = indices(body, extents.len())?;
    if width == 64 {
        let number = linear(body, &position, extents);
        let (low, high) = block_of_two(body, state, number);
        return Ok(joined(body, low, high));
    }
    let (split, halves) = halved(extents);
    let Some(index) = split.and_then(|d| position.get_mut(d)) else {
        return Ok(block_of_two(body, state, word(body, 0)).0);
    };
    let two = word(body, 2);
    let whole = *index;
    *index = body.divui(whole, two);
    let lane = body.remui(whole, two);
    let number = linear(body, &position, &halves);
    let (first, second) = block_of_two(body, state, number);
    let lane = body.convert(ops::arith::TRUNCI, lane, types::flag(body.context));
    Ok(body.select(lane, second, first))
}

/// Like [`three_fry`].
fn philox<'c: 'a, 'a>(
    body: &Builder<'c, 'a>,
    state: &State<'c, 'a>,
    extents: &[i64],
    width: u32,
) -> Computed<'c, 'a> {
    let number = linear(body, &indices(body, extents.len())?, extents);
    let per_block = word(body, if width == 64 { 2 } else { 4 });
    let block = body.divui(number, per_block);
    let lane = body.remui(number, per_block);
    let [first, second, third, fourth] = block_of_four(body, state, block);
    let (mut value, others) = match width {
        64 => (joined(body, first, second), vec![joined(body, third, fourth)]),
        _ => (first, vec![second, third, fourth]),
    };
    for (n, other) in (1..).zip(others) {
        let is_selected = body.cmpi(Integers::Equal, lane, word(body, n));
        value = body.select(is_selected, other, value);
    }
    Ok(value)
}

/// Emits the indices of the map as i64.
fn indices<'c: 'a, 'a>(body: &Builder<'c, 'a>, rank: usize) -> Values<'c, 'a> {
    (0..rank).map(|d| Ok(body.index_cast(body.loop_index(d)?, types::word(body.context)))).collect()
}

/// Emits the row-major position of an element.
fn linear<'c: 'a, 'a>(body: &Builder<'c, 'a>, position: &[Value<'c, 'a>], extents: &[i64]) -> Value<'c, 'a> {
    position.iter().zip(extents).fold(word(body, 0), |number, (index, extent)| {
        body.addi(body.muli(number, word(body, *extent)), *index)
    })
}

/// Splits an i64 into its lower and its upper half.
fn halves<'c: 'a, 'a>(body: &Builder<'c, 'a>, whole: Value<'c, 'a>) -> (Value<'c, 'a>, Value<'c, 'a>) {
    let half = |value| body.convert(ops::arith::TRUNCI, value, types::int(body.context, 32));
    let low = half(whole);
    (low, half(body.shrui(whole, word(body, 32))))
}

fn joined<'c: 'a, 'a>(body: &Builder<'c, 'a>, low: Value<'c, 'a>, high: Value<'c, 'a>) -> Value<'c, 'a> {
    let [low, high] =
        [low, high].map(|half| body.convert(ops::arith::EXTUI, half, types::word(body.context)));
    body.ori(low, body.shli(high, word(body, 32)))
}

fn word<'c: 'a, 'a>(body: &Builder<'c, 'a>, value: i64) -> Value<'c, 'a> {
    body.int(value, types::word(body.context))
}

fn half_word<'c: 'a, 'a>(body: &Builder<'c, 'a>, value: u32) -> Value<'c, 'a> {
    body.int(value.cast_signed().into(), types::int(body.context, 32))
}

/// Threefry-2x32 of the counter plus `number`.
fn block_of_two<'c: 'a, 'a>(
    body: &Builder<'c, 'a>,
    state: &State<'c, 'a>,
    number: Value<'c, 'a>,
) -> (Value<'c, 'a>, Value<'c, 'a>) {
    const EVEN: [u32; 4] = [13, 15, 26, 6];
    const ODD: [u32; 4] = [17, 29, 16, 24];
    let (mut x, mut y) = halves(body, body.addi(state.counter, number));
    let (first, second) = halves(body, state.key);
    let parity = half_word(body, 0x1bd1_1bda);
    let third = body.xori(body.xori(first, second), parity);
    x = body.addi(x, first);
    y = body.addi(y, second);
    // The rotations of each group, and the keys that are added after the group.
    let groups = [
        (EVEN, second, third),
        (ODD, third, first),
        (EVEN, first, second),
        (ODD, second, third),
        (EVEN, third, first),
    ];
    for (group, (rotations, of_x, of_y)) in (1..).zip(groups) {
        for rotation in rotations {
            x = body.addi(x, y);
            let (left, right) = (half_word(body, rotation), half_word(body, 32 - rotation));
            let upper = body.shli(y, left);
            let turned = body.ori(upper, body.shrui(y, right));
            y = body.xori(x, turned);
        }
        x = body.addi(x, of_x);
        y = body.addi(y, of_y);
        y = body.addi(y, half_word(body, group));
    }
    (x, y)
}

/// Increments the 128-bit counter; returns its halves.
fn counted<'c: 'a, 'a>(
    body: &Builder<'c, 'a>,
    state: &State<'c, 'a>,
    more: Value<'c, 'a>,
) -> (Value<'c, 'a>, Value<'c, 'a>) {
    let low = body.addi(state.counter, more);
    let carry = body.cmpi(Integers::Less, low, state.counter);
    let carry = body.convert(ops::arith::EXTUI, carry, types::word(body.context));
    (low, body.addi(state.upper, carry))
}

/// Philox-4x32 of the counter plus `number`.
fn block_of_four<'c: 'a, 'a>(
    body: &Builder<'c, 'a>,
    state: &State<'c, 'a>,
    number: Value<'c, 'a>,
) -> [Value<'c, 'a>; 4] {
    let (low, high) = counted(body, state, number);
    let ((a, b), (c, d)) = (halves(body, low), halves(body, high));
    let mut x = [a, b, c, d];
    let mut keys = halves(body, state.key);
    let (first, second) = (half_word(body, 0x9e37_79b9), half_word(body, 0xbb67_ae85));
    let product = |x: Value<'c, 'a>, factor: i64| {
        let x = body.convert(ops::arith::EXTUI, x, types::word(body.context));
        halves(body, body.muli(x, word(body, factor)))
    };
    for round in 0..10 {
        if round > 0 {
            keys = (body.addi(keys.0, first), body.addi(keys.1, second));
        }
        let (low_0, high_0) = product(x[0], 0xd251_1f53);
        let (low_1, high_1) = product(x[2], 0xcd9e_8d57);
        let mixed = body.xori(body.xori(high_1, x[1]), keys.0);
        let other = body.xori(body.xori(high_0, x[3]), keys.1);
        x = [mixed, low_1, other, low_0];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_side_by_side_share_a_counter() {
        assert_eq!(halved(&[7]), (Some(0), vec![4]));
        assert_eq!(halved(&[3, 4, 5]), (Some(1), vec![3, 2, 5]));
        assert_eq!(halved(&[3, 5]), (Some(1), vec![3, 3]));
        assert_eq!(halved(&[]), (None, Vec::new()));
    }
}
