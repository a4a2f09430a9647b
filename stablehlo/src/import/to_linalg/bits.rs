// SPDX-License-Identifier: Apache-2.0
//! `bitcast_convert`: reinterprets the bits of elements as elements of another type.

use super::generic::map;
use super::generic::{Port, dims};
use super::operation::SourceOp;
use super::operation::Values;
use crate::import::element::Element;
use skript_passes::ir::ops;
use skript_passes::ir::splice::Lines;
use std::cmp::Ordering;

/// Converts `bitcast_convert`. A narrower type adds a last dimension, a wider type removes it; the lowest bits come
/// first.
pub(crate) fn bitcast<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let (operand, result) = (source.operand(0)?, source.result()?);
    let (from, to) = (operand.element, result.element);
    let rank = result.rank();
    let mut body = Lines::default();
    let mut positions = vec![dims(0..rank)];
    let value = match (from.bits(), to.bits()) {
        (a, b) if a == b => {
            let value = unsigned_as_signless(&mut body, "%i0", from);
            cast(&mut body, &value, &from.signless(), &to.signless())
        }
        _ if matches!(from, Element::Complex(_)) => {
            return Err("is not supported between complex types of different widths".into());
        }
        (a, b) => {
            let (wide, narrow) = (format!("i{a}"), format!("i{b}"));
            let bits = match a.cmp(&b) {
                Ordering::Less => {
                    let parts = *operand.extents.last().ok_or("has no dimension to combine")?;
                    let part = |n: i64| [dims(0..rank), vec![n.to_string()]].concat();
                    positions = (0..parts).map(part).collect();
                    joined(&mut body, from, &wide, &narrow, positions.len())
                }
                _ => {
                    let last = rank.saturating_sub(1);
                    positions = vec![dims(0..last)];
                    let whole = bits_of(&mut body, "%i0", from);
                    let number = body.value(format!("linalg.index {last} : index"));
                    let number = body.value(format!("arith.index_cast {number} : index to {wide}"));
                    let step = body.value(format!("arith.constant {b} : {wide}"));
                    let by = body.value(format!("arith.muli {number}, {step} : {wide}"));
                    let shifted = body.value(format!("arith.shrui {whole}, {by} : {wide}"));
                    body.value(format!("arith.trunci {shifted} : {wide} to {narrow}"))
                }
            };
            cast(&mut body, &bits, &narrow, &to.signless())
        }
    };
    let value = convert(&mut body, &value, &to.signless(), &to.text());
    body.line(format!("linalg.yield {value} : {}", to.text()));
    let mut lines = Lines::default();
    let inputs: Vec<Port> = positions.into_iter().map(|p| Port::new("%0", operand, p)).collect();
    let name = map(&mut lines, &inputs, result, body.text());
    source.replace(&lines, &name)
}

/// The bits of the inputs `%i0`, `%i1`, … as one integer of type `to`, with the first one in its lowest bits.
fn joined(body: &mut Lines, element: Element, from: &str, to: &str, parts: usize) -> String {
    let mut whole = body.value(format!("arith.constant 0 : {to}"));
    for part in 0..parts {
        let bits = bits_of(body, &format!("%i{part}"), element);
        let bits = body.value(format!("arith.extui {bits} : {from} to {to}"));
        let position = part * element.bits() as usize;
        let by = body.value(format!("arith.constant {position} : {to}"));
        let bits = body.value(format!("arith.shli {bits}, {by} : {to}"));
        whole = body.value(format!("arith.ori {whole}, {bits} : {to}"));
    }
    whole
}

/// The bits of a float or integer element as an integer of its width.
fn bits_of(body: &mut Lines, value: &str, element: Element) -> String {
    let value = unsigned_as_signless(body, value, element);
    let bits = format!("i{}", element.bits());
    cast(body, &value, &element.signless(), &bits)
}

fn unsigned_as_signless(body: &mut Lines, value: &str, element: Element) -> String {
    convert(body, value, &element.text(), &element.signless())
}

fn cast(body: &mut Lines, value: &str, from: &str, to: &str) -> String {
    apply(body, ops::arith::BITCAST, value, from, to)
}

fn convert(body: &mut Lines, value: &str, from: &str, to: &str) -> String {
    apply(body, ops::builtin::UNREALIZED_CONVERSION_CAST, value, from, to)
}

/// Appends `op value : from to to`, unless both types are equal.
fn apply(body: &mut Lines, op: &str, value: &str, from: &str, to: &str) -> String {
    if from == to { value.to_owned() } else { body.value(format!("{op} {value} : {from} to {to}")) }
}
