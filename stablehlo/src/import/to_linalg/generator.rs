// SPDX-License-Identifier: Apache-2.0
//! Converts `rng_bit_generator`: counter-based random bits; each element depends only on the key and its counter.
//!
//! The generators are those of J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011): Threefry-2x32
//! with 20 rounds, Philox-4x32 with 10 rounds. The counter of each element and the next state are the same as in XLA,
//! whose default is Philox. The state is the key and the counter. Philox has a 128-bit counter: a state of two words
//! contains only its lower half, and the upper half is the key.

use super::generic::{Port, dims, empty, generic};
use super::operation::SourceOp;
use super::operation::Values;
use crate::import::element::Element;
use melior::ir::operation::OperationLike;
use skript_dialect::melior;
use skript_passes::ir::splice::Lines;

/// 64-bit words as names of `i64` values: the key, and the halves of the counter.
struct State {
    key: String,
    counter: String,
    /// The upper half of the counter, which only Philox uses.
    upper: String,
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
    let mut lines = Lines::default();
    let mut words = Vec::new();
    for n in 0..given {
        let address = lines.value(format!("arith.constant {n} : index"));
        let word = lines.value(format!("tensor.extract %0[{address}] : {}", state.text()));
        words.push(lines.value(format!("builtin.unrealized_conversion_cast {word} : ui64 to i64")));
    }
    let [key, counter, third @ ..] = words.as_slice() else {
        return Err("lacks its state".into());
    };
    let upper = third.first().unwrap_or(key);
    // Names in the body must differ from names outside of it.
    let mut body = Lines::default();
    let around = State { key: "%key".to_owned(), counter: "%counter".to_owned(), upper: "%upper".to_owned() };
    let (value, steps) = if is_philox {
        philox(&mut body, &around, &result.extents, width)
    } else {
        three_fry(&mut body, &around, &result.extents, width)
    };
    let value = match width {
        32 | 64 => value,
        _ => body.value(format!("arith.trunci {value} : i32 to i{width}")),
    };
    let (signless, t) = (format!("i{width}"), result.element.text());
    let value = match result.element {
        _ if signless == t => value,
        Element::Float(_) => body.value(format!("arith.bitcast {value} : {signless} to {t}")),
        _ => body.value(format!("builtin.unrealized_conversion_cast {value} : {signless} to {t}")),
    };
    body.line(format!("linalg.yield {value} : {t}"));
    let out = empty(&mut lines, result);
    let rank = result.rank();
    let port = Port::new(&out, result, dims(0..rank));
    let text = body.text().replace("%v", "%w");
    let text = text.replace("%key", key).replace("%counter", counter);
    let text = text.replace("%upper", upper);
    let bits = plain(&mut lines, rank, port, &text);
    let steps = lines.value(format!("arith.constant {steps} : i64"));
    let (low, high) = counted(&mut lines, counter, upper, &steps);
    let mut elements = Vec::new();
    for word in [key, &low, &high].into_iter().take(words.len()) {
        elements.push(lines.value(format!("builtin.unrealized_conversion_cast {word} : i64 to ui64")));
    }
    let next = lines.value(format!("tensor.from_elements {} : {}", elements.join(", "), state.text()));
    Ok(source.splice(&lines, &[next, bits])?.values)
}

/// Emits a map without inputs, whose body captures values from outside.
fn plain(lines: &mut Lines, rank: usize, out: Port, body: &str) -> String {
    // `generic` renames names that begin with `%v`, so the outer names are inserted afterwards.
    let marked = body.replace("%v", "%outer");
    let mut inner = Lines::default();
    let made = generic(&mut inner, rank, 0, &[], &[out], &marked);
    let text = inner.text().replace("%outer", "%v");
    let rhs = text.split_once(" = ").map_or("", |(_, rhs)| rhs);
    debug_assert!(made.len() == 1);
    lines.value(rhs.trim_end())
}

/// Emits the value of an element, i32 or i64; returns its name and the increment of the counter.
fn three_fry(body: &mut Lines, state: &State, extents: &[i64], width: u32) -> (String, i64) {
    let addresses = places(body, extents.len());
    if width == 64 {
        let number = linear(body, &addresses, extents);
        let (low, high) = block_of_two(body, state, &number);
        return (joined(body, &low, &high), extents.iter().product());
    }
    // Two adjacent elements share a counter: along the first dimension of even extent, otherwise along the longest
    // dimension.
    let even = extents.iter().position(|e| e % 2 == 0);
    let longest = || extents.iter().enumerate().rev().max_by_key(|(_, extent)| **extent).map(|(d, _)| d);
    let mut halves = extents.to_vec();
    let mut half_positions = addresses;
    let split = even.or_else(longest);
    let split = split.and_then(|d| halves.get_mut(d).zip(half_positions.get_mut(d)));
    let Some((extent, address)) = split else {
        let number = body.value("arith.constant 0 : i64");
        return (block_of_two(body, state, &number).0, 1);
    };
    let two = body.value("arith.constant 2 : i64");
    *extent = (*extent + 1) / 2;
    let whole = std::mem::take(address);
    *address = body.value(format!("arith.divui {whole}, {two} : i64"));
    let lane = body.value(format!("arith.remui {whole}, {two} : i64"));
    let number = linear(body, &half_positions, &halves);
    let (first, second) = block_of_two(body, state, &number);
    let lane = body.value(format!("arith.trunci {lane} : i64 to i1"));
    let value = body.value(format!("arith.select {lane}, {second}, {first} : i32"));
    (value, halves.iter().product())
}

fn philox(body: &mut Lines, state: &State, extents: &[i64], width: u32) -> (String, i64) {
    let addresses = places(body, extents.len());
    let number = linear(body, &addresses, extents);
    let words = if width == 64 { 2 } else { 1 };
    let volume: i64 = extents.iter().product();
    let per_block = body.value(format!("arith.constant {} : i64", 4 / words));
    let block = body.value(format!("arith.divui {number}, {per_block} : i64"));
    let lane = body.value(format!("arith.remui {number}, {per_block} : i64"));
    let block = block_of_four(body, state, &block);
    let [first, second, third, fourth] = block;
    let (mut value, others) = match width {
        64 => (joined(body, &first, &second), vec![joined(body, &third, &fourth)]),
        _ => (first, vec![second, third, fourth]),
    };
    let t = if width == 64 { "i64" } else { "i32" };
    for (n, other) in (1..).zip(others) {
        let n = body.value(format!("arith.constant {n} : i64"));
        let here = body.value(format!("arith.cmpi eq, {lane}, {n} : i64"));
        value = body.value(format!("arith.select {here}, {other}, {value} : {t}"));
    }
    (value, (volume * words + 3) / 4)
}

/// Emits the indices of the map as i64.
fn places(body: &mut Lines, rank: usize) -> Vec<String> {
    let mut addresses = Vec::new();
    for d in 0..rank {
        let index = body.value(format!("linalg.index {d} : index"));
        addresses.push(body.value(format!("arith.index_cast {index} : index to i64")));
    }
    addresses
}

/// Emits the row-major position of an element.
fn linear(body: &mut Lines, addresses: &[String], extents: &[i64]) -> String {
    let mut number = body.value("arith.constant 0 : i64");
    for (address, extent) in addresses.iter().zip(extents) {
        let extent = body.value(format!("arith.constant {extent} : i64"));
        number = body.value(format!("arith.muli {number}, {extent} : i64"));
        number = body.value(format!("arith.addi {number}, {address} : i64"));
    }
    number
}

/// Splits an i64 into its lower and its upper half.
fn halves(body: &mut Lines, word: &str) -> (String, String) {
    let low = body.value(format!("arith.trunci {word} : i64 to i32"));
    let by = body.value("arith.constant 32 : i64");
    let high = body.value(format!("arith.shrui {word}, {by} : i64"));
    (low, body.value(format!("arith.trunci {high} : i64 to i32")))
}

fn joined(body: &mut Lines, low: &str, high: &str) -> String {
    let low = body.value(format!("arith.extui {low} : i32 to i64"));
    let high = body.value(format!("arith.extui {high} : i32 to i64"));
    let by = body.value("arith.constant 32 : i64");
    let high = body.value(format!("arith.shli {high}, {by} : i64"));
    body.value(format!("arith.ori {low}, {high} : i64"))
}

fn word(body: &mut Lines, value: u32) -> String {
    body.value(format!("arith.constant {} : i32", value.cast_signed()))
}

fn apply(body: &mut Lines, op: &str, a: &str, b: &str) -> String {
    body.value(format!("arith.{op} {a}, {b} : i32"))
}

/// Threefry-2x32 of the counter plus `number`.
fn block_of_two(body: &mut Lines, state: &State, number: &str) -> (String, String) {
    const EVEN: [u32; 4] = [13, 15, 26, 6];
    const ODD: [u32; 4] = [17, 29, 16, 24];
    let count = body.value(format!("arith.addi {}, {number} : i64", state.counter));
    let (mut x, mut y) = halves(body, &count);
    let (first, second) = halves(body, &state.key);
    let parity = word(body, 0x1bd1_1bda);
    let third = apply(body, "xori", &first, &second);
    let third = apply(body, "xori", &third, &parity);
    x = apply(body, "addi", &x, &first);
    y = apply(body, "addi", &y, &second);
    // The rotations of each group, and the keys that are added after the group.
    let groups = [
        (EVEN, &second, &third),
        (ODD, &third, &first),
        (EVEN, &first, &second),
        (ODD, &second, &third),
        (EVEN, &third, &first),
    ];
    for (group, (rotations, of_x, of_y)) in (1..).zip(groups) {
        for rotation in rotations {
            x = apply(body, "addi", &x, &y);
            let (left, right) = (word(body, rotation), word(body, 32 - rotation));
            let upper = apply(body, "shli", &y, &left);
            let lower = apply(body, "shrui", &y, &right);
            let turned = apply(body, "ori", &upper, &lower);
            y = apply(body, "xori", &x, &turned);
        }
        x = apply(body, "addi", &x, of_x);
        y = apply(body, "addi", &y, of_y);
        let round = word(body, group);
        y = apply(body, "addi", &y, &round);
    }
    (x, y)
}

/// Increments a 128-bit counter; returns its halves.
fn counted(body: &mut Lines, counter: &str, upper: &str, more: &str) -> (String, String) {
    let low = body.value(format!("arith.addi {counter}, {more} : i64"));
    let carry = body.value(format!("arith.cmpi ult, {low}, {counter} : i64"));
    let carry = body.value(format!("arith.extui {carry} : i1 to i64"));
    let high = body.value(format!("arith.addi {upper}, {carry} : i64"));
    (low, high)
}

/// Philox-4x32 of the counter plus `number`.
fn block_of_four(body: &mut Lines, state: &State, number: &str) -> [String; 4] {
    let (low, high) = counted(body, &state.counter, &state.upper, number);
    let ((a, b), (c, d)) = (halves(body, &low), halves(body, &high));
    let mut x = [a, b, c, d];
    let mut keys = halves(body, &state.key);
    let (first, second) = (word(body, 0x9e37_79b9), word(body, 0xbb67_ae85));
    let factors = [0xd251_1f53i64, 0xcd9e_8d57];
    for round in 0..10 {
        if round > 0 {
            keys.0 = apply(body, "addi", &keys.0, &first);
            keys.1 = apply(body, "addi", &keys.1, &second);
        }
        let product = |body: &mut Lines, x: &str, factor: i64| {
            let x = body.value(format!("arith.extui {x} : i32 to i64"));
            let factor = body.value(format!("arith.constant {factor} : i64"));
            let whole = body.value(format!("arith.muli {x}, {factor} : i64"));
            halves(body, &whole)
        };
        let (low_0, high_0) = product(body, &x[0], factors[0]);
        let (low_1, high_1) = product(body, &x[2], factors[1]);
        let mixed = apply(body, "xori", &high_1, &x[1]);
        let mixed = apply(body, "xori", &mixed, &keys.0);
        let other = apply(body, "xori", &high_0, &x[3]);
        let other = apply(body, "xori", &other, &keys.1);
        x = [mixed, low_1, other, low_0];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_side_by_side_share_a_counter() {
        let state =
            State { key: "%key".to_owned(), counter: "%counter".to_owned(), upper: "%upper".to_owned() };
        let steps = |extents: &[i64], width| three_fry(&mut Lines::default(), &state, extents, width).1;
        assert_eq!(steps(&[7], 32), 4);
        assert_eq!(steps(&[3, 4, 5], 8), 30);
        assert_eq!(steps(&[3, 5], 32), 9);
        assert_eq!(steps(&[3, 5], 64), 15);
        assert_eq!(steps(&[], 32), 1);
    }
}
