// SPDX-License-Identifier: Apache-2.0
//! Evaluates the integer operations by which programs compute shapes, on small tensors.

use crate::import::element::Element;
use crate::import::scalar_to_arith::compare;
use crate::import::to_linalg::{SourceOp, Tensor};
use melior::ir::Value;
use melior::ir::operation::OperationLike;
use skript_dialect::melior;
use skript_passes::ir::{ValueKey, dense};
use std::collections::HashMap;

/// Maximum number of elements of evaluated tensors.
const MAX_ELEMENTS: i64 = 1024;

/// The elements of a tensor of integers or preds, as values of their type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Integers {
    pub tensor: Tensor,
    pub values: Vec<i64>,
}

impl Integers {
    /// The only element.
    pub(super) fn scalar(&self) -> Option<i64> {
        match *self.values {
            [value] => Some(value),
            _ => None,
        }
    }
}

/// The values that do not depend on data.
#[derive(Default)]
pub(super) struct Known(HashMap<ValueKey, Integers>);

impl Known {
    pub(super) fn get(&self, value: Value) -> Option<&Integers> {
        self.0.get(&ValueKey::of(value))
    }

    pub(super) fn insert(&mut self, value: Value, integers: Integers) {
        self.0.insert(ValueKey::of(value), integers);
    }
}

/// Evaluates the elements of the result; `None` if they depend on data, or if the operation is not supported.
pub(super) fn evaluated(source: &SourceOp, known: &Known) -> Option<Integers> {
    let [tensor] = source.results.as_slice() else {
        return None;
    };
    let is_small = (0..=MAX_ELEMENTS).contains(&tensor.volume());
    if !is_small || bits(tensor.element).is_none() {
        return None;
    }
    let operands = source.values.iter().map(|value| known.get(*value));
    let operands = operands.collect::<Option<Vec<_>>>()?;
    let values = values(source, &operands, tensor)?;
    let values: Vec<i64> = values.into_iter().map(|v| wrapped(v, tensor.element)).collect::<Option<_>>()?;
    let is_complete = i64::try_from(values.len()) == Ok(tensor.volume());
    is_complete.then(|| Integers { tensor: tensor.clone(), values })
}

/// The width of an integer; `None` for other elements.
fn bits(element: Element) -> Option<u32> {
    match element {
        Element::Pred => Some(1),
        Element::Signed(bits) | Element::Unsigned(bits) => Some(bits).filter(|bits| *bits >= 8),
        Element::Float(_) | Element::Complex(_) => None,
    }
}

/// Wraps a value around in its type. Unsigned 64-bit values that exceed the signed range are unknown.
fn wrapped(value: i128, element: Element) -> Option<i64> {
    let bits = bits(element)?;
    let low = value & ((1 << bits) - 1);
    let is_negative = matches!(element, Element::Signed(_)) && low >> (bits - 1) != 0;
    i64::try_from(if is_negative { low - (1 << bits) } else { low }).ok()
}

fn values(source: &SourceOp, operands: &[&Integers], result: &Tensor) -> Option<Vec<i128>> {
    let wide =
        |integers: &Integers| -> Vec<i128> { integers.values.iter().map(|v| i128::from(*v)).collect() };
    match (source.name.as_str(), operands) {
        ("constant", []) => constant(source, result),
        ("iota", []) => {
            let dimension = usize::try_from(source.i64("iota_dimension")?).ok()?;
            let at = indices(result).into_iter();
            at.map(|at| at.get(dimension).copied().map(i128::from)).collect()
        }
        ("reshape" | "optimization_barrier", [x]) => Some(wide(x)),
        ("convert", [x]) if result.element == Element::Pred => {
            Some(wide(x).into_iter().map(|v| i128::from(v != 0)).collect())
        }
        ("convert", [x]) => Some(wide(x)),
        ("broadcast_in_dim", [x]) => broadcast(x, &source.list("broadcast_dimensions").ok()?, result),
        ("slice", [x]) => sliced(x, source, result),
        ("transpose", [x]) => {
            let order = source.list("permutation").ok()?;
            moved(x, result, |at| {
                let mut from = vec![0; at.len()];
                for (to, dimension) in at.iter().zip(&order) {
                    *from.get_mut(usize::try_from(*dimension).ok()?)? = *to;
                }
                Some(from)
            })
        }
        ("concatenate", [_, ..]) => joined(operands, source.i64("dimension")?, result),
        ("select", [p, x, y]) => {
            let selected = x.values.iter().zip(&y.values).enumerate().map(|(n, (x, y))| {
                let is_first = p.scalar().or(p.values.get(n).copied())? != 0;
                Some(i128::from(if is_first { *x } else { *y }))
            });
            selected.collect()
        }
        ("clamp", [low, x, high]) => {
            let clamped = x.values.iter().enumerate().map(|(n, x)| {
                let low = low.scalar().or(low.values.get(n).copied())?;
                let high = high.scalar().or(high.values.get(n).copied())?;
                Some(i128::from((*x).max(low).min(high)))
            });
            clamped.collect()
        }
        ("compare", [x, y]) => {
            let word = compare::direction(source.op)?.word;
            let pairs = x.values.iter().zip(&y.values);
            pairs.map(|(x, y)| compared(&word, *x, *y)).collect()
        }
        (name, [x]) => x.values.iter().map(|x| unary(name, *x, operand_element(source))).collect(),
        (name, [x, y]) => {
            let pairs = x.values.iter().zip(&y.values);
            // Sums of bools are disjunctions.
            let name = match name {
                "add" if operand_element(source) == Some(Element::Pred) => "or",
                name => name,
            };
            pairs.map(|(x, y)| binary(name, *x, *y)).collect()
        }
        _ => None,
    }
}

fn operand_element(source: &SourceOp) -> Option<Element> {
    source.operands.first().map(|tensor| tensor.element)
}

fn constant(source: &SourceOp, result: &Tensor) -> Option<Vec<i128>> {
    let value = source.op.attribute("value").ok()?;
    let count = usize::try_from(result.volume()).ok()?;
    if result.element == Element::Pred {
        let bools = dense::bools(value, count).into_iter();
        return Some(bools.map(i128::from).collect());
    }
    let size = usize::try_from(bits(result.element)? / 8).ok()?;
    let bytes = dense::bytes(value, size, count)?;
    let read = |bytes: &[u8]| bytes.iter().rev().fold(0, |v, b| v << 8 | i128::from(*b));
    let elements: Vec<i128> = bytes.chunks_exact(size).map(read).collect();
    match *elements {
        [element] => Some(vec![element; count]),
        _ => Some(elements),
    }
}

fn unary(name: &str, x: i64, element: Option<Element>) -> Option<i128> {
    let x = i128::from(x);
    Some(match name {
        "abs" => x.abs(),
        "negate" => -x,
        "sign" => x.signum(),
        "not" if element == Some(Element::Pred) => 1 - x,
        "not" => !x,
        _ => return None,
    })
}

/// Division by 0 has the same results as in XLA.
fn binary(name: &str, x: i64, y: i64) -> Option<i128> {
    let (x, y) = (i128::from(x), i128::from(y));
    Some(match name {
        "add" => x + y,
        "subtract" => x - y,
        "multiply" => x * y,
        "divide" => x.checked_div(y).unwrap_or(-1),
        "remainder" => x.checked_rem(y).unwrap_or(x),
        "maximum" => x.max(y),
        "minimum" => x.min(y),
        "and" => x & y,
        "or" => x | y,
        "xor" => x ^ y,
        _ => return None,
    })
}

fn compared(word: &str, x: i64, y: i64) -> Option<i128> {
    Some(i128::from(match word {
        "EQ" => x == y,
        "NE" => x != y,
        "LT" => x < y,
        "LE" => x <= y,
        "GT" => x > y,
        "GE" => x >= y,
        _ => return None,
    }))
}

/// The positions of all elements of a tensor, in order.
fn indices(tensor: &Tensor) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for extent in &tensor.extents {
        let longer = |at: Vec<i64>| (0..*extent).map(move |i| [&at[..], &[i]].concat());
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

/// The elements of `x` at the positions that `from` returns for the positions of the result.
fn moved(x: &Integers, result: &Tensor, from: impl Fn(&[i64]) -> Option<Vec<i64>>) -> Option<Vec<i128>> {
    let element = |at: Vec<i64>| {
        let at = from(&at)?;
        let position = x.tensor.extents.iter().zip(at).fold(0, |sum, (extent, i)| sum * extent + i);
        let value = x.values.get(usize::try_from(position).ok()?)?;
        Some(i128::from(*value))
    };
    indices(result).into_iter().map(element).collect()
}

fn broadcast(x: &Integers, dimensions: &[i64], result: &Tensor) -> Option<Vec<i128>> {
    moved(x, result, |at| {
        let subscripts = dimensions.iter().zip(&x.tensor.extents);
        subscripts
            .map(|(d, extent)| match extent {
                1 => Some(0),
                _ => at.get(usize::try_from(*d).ok()?).copied(),
            })
            .collect()
    })
}

fn sliced(x: &Integers, source: &SourceOp, result: &Tensor) -> Option<Vec<i128>> {
    let (starts, strides) = (source.list("start_indices").ok()?, source.list("strides").ok()?);
    moved(x, result, |at| {
        let steps = starts.iter().zip(&strides).zip(at);
        Some(steps.map(|((start, stride), i)| start + stride * i).collect())
    })
}

fn joined(operands: &[&Integers], dimension: i64, result: &Tensor) -> Option<Vec<i128>> {
    let dimension = usize::try_from(dimension).ok()?;
    let element = |mut at: Vec<i64>| {
        for operand in operands {
            let extent = *operand.tensor.extents.get(dimension)?;
            let along = at.get_mut(dimension)?;
            if *along < extent {
                let scalar = operand.tensor.with_extents(&[]);
                return moved(operand, &scalar, |_| Some(at.clone()))?.pop();
            }
            *along -= extent;
        }
        None
    };
    indices(result).into_iter().map(element).collect()
}
