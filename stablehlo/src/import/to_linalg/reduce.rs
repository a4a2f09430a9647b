// SPDX-License-Identifier: Apache-2.0
//! Converts reductions over full dimensions and over windows.

use super::constant;
use super::generic::map;
use super::generic::{Port, dims, empty, filled, generic};
use super::operation::Values;
use super::operation::{SourceOp, Tensor};
use super::payload;
use super::shape::{Border, padded};
use crate::import::element::Element;
use skript_passes::ir::splice::Lines;

/// A body that applies region 0 to the accumulators and the values, and ends with `linalg.yield`.
fn body(elements: &[Element]) -> String {
    let mut lines = Lines::default();
    let count = elements.len();
    let mut operands: Vec<String> = (0..count).map(|n| format!("%o{n}")).collect();
    operands.extend((0..count).map(|n| format!("%i{n}")));
    let both = [elements, elements].concat();
    let made = payload::placeholder(&mut lines, 0, &operands, &both, elements);
    let types: Vec<String> = elements.iter().map(|e| e.text()).collect();
    lines.line(format!("linalg.yield {} : {}", made.join(", "), types.join(", ")));
    lines.text().to_owned()
}

pub(crate) fn reduce<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let count = source.results.len();
    let reduced = source.list("dimensions")?;
    let rank = source.operand(0)?.rank();
    let is_reduced = |d: &usize| reduced.contains(&(*d as i64));
    // The loops over kept dimensions come first.
    let (last, mut order): (Vec<usize>, Vec<usize>) = (0..rank).partition(is_reduced);
    let kept = order.len();
    order.extend(&last);
    let loop_of = |d: usize| order.iter().take_while(|o| **o != d).count();
    let mut lines = Lines::default();
    let (mut inputs, mut outputs, mut elements) = (Vec::new(), Vec::new(), Vec::new());
    for (n, result) in source.results.iter().enumerate() {
        let index = dims((0..rank).map(loop_of));
        inputs.push(Port::new(&format!("%{n}"), source.operand(n)?, index));
        let init = filled(&mut lines, &format!("%{}", count + n), result);
        outputs.push(Port::new(&init, result, dims(0..kept)));
        elements.push(result.element);
    }
    let body = body(&elements);
    let made = generic(&mut lines, rank, last.len(), &inputs, &outputs, &body);
    source.with_bodies(&lines, &made)
}

pub(crate) fn reduce_window<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let count = source.results.len();
    let rank = source.operand(0)?.rank();
    let ones = || vec![1; rank];
    let window = source.list("window_dimensions")?;
    let strides = source.i64s("window_strides").unwrap_or_else(ones);
    let spread = source.i64s("window_dilations").unwrap_or_else(ones);
    let base = source.i64s("base_dilations").unwrap_or_else(ones);
    let padding = source.pairs("padding", rank)?;
    let borders: Vec<Border> = padding
        .iter()
        .zip(&base)
        .map(|((low, high), base)| Border { low: *low, high: *high, interior: base - 1 })
        .collect();
    let index: Vec<String> = strides
        .iter()
        .zip(&spread)
        .enumerate()
        .map(|(d, (stride, step))| format!("d{d} * {stride} + d{} * {step}", rank + d))
        .collect();
    let mut lines = Lines::default();
    let (mut inputs, mut outputs, mut elements) = (Vec::new(), Vec::new(), Vec::new());
    for (n, result) in source.results.iter().enumerate() {
        let init = format!("%{}", count + n);
        let (name, tensor) = padded(&mut lines, &format!("%{n}"), source.operand(n)?, &init, &borders);
        inputs.push(Port::new(&name, &tensor, index.clone()));
        let whole = filled(&mut lines, &init, result);
        outputs.push(Port::new(&whole, result, dims(0..rank)));
        elements.push(result.element);
    }
    // Only the shape of this operand is used: it defines the size of the windows.
    let shape = Tensor { extents: window, element: Element::Pred };
    let name = empty(&mut lines, &shape);
    inputs.push(Port::new(&name, &shape, dims(rank..2 * rank)));
    let body = body(&elements);
    let made = generic(&mut lines, 2 * rank, rank, &inputs, &outputs, &body);
    source.with_bodies(&lines, &made)
}

/// The accumulator type of sums of products: f32 for half-precision floats.
pub(crate) fn accumulator(element: Element) -> Element {
    use crate::import::element::Float;
    match element {
        Element::Float(float) if float.is_half() => Element::Float(Float::F32),
        other => other,
    }
}

/// A body that adds the product of `%i0` and `%i1`, which have the types `x` and `y`, to `%o0`.
pub(crate) fn product(x: Element, y: Element, sum: Element) -> String {
    let mut lines = Lines::default();
    let t = sum.text();
    let mut convert = |name: &str, from: Element| {
        if from == sum {
            name.to_owned()
        } else {
            lines.value(format!("stablehlo.convert {name} : ({}) -> {t}", from.text()))
        }
    };
    let (x, y) = (convert("%i0", x), convert("%i1", y));
    let sum = match sum {
        // Sums may be reassociated and fused, as in all other contractions.
        Element::Float(_) => {
            let product = lines.value(format!("arith.mulf {x}, {y} fastmath<contract> : {t}"));
            lines.value(format!("arith.addf %o0, {product} fastmath<reassoc,contract> : {t}"))
        }
        _ => {
            let product = lines.value(format!("stablehlo.multiply {x}, {y} : {t}"));
            lines.value(format!("stablehlo.add %o0, {product} : {t}"))
        }
    };
    lines.line(format!("linalg.yield {sum} : {t}"));
    lines.text().to_owned()
}

/// Emits a tensor of zeros; returns its name.
pub(crate) fn zeros(lines: &mut Lines, tensor: &Tensor) -> String {
    let zero = constant::zero(lines, tensor.element);
    super::generic::filled_with(lines, &zero, tensor)
}

/// Emits a tensor of type `to`. Each element is that of `from` at the subscripts `index`, converted to the element
/// type.
pub(super) fn moved(lines: &mut Lines, name: &str, from: &Tensor, to: &Tensor, index: Vec<String>) -> String {
    let (a, b) = (from.element.text(), to.element.text());
    let body = if a == b {
        format!("linalg.yield %i0 : {b}")
    } else {
        format!("%r = stablehlo.convert %i0 : ({a}) -> {b}\nlinalg.yield %r : {b}")
    };
    map(lines, &[Port::new(name, from, index)], to, &body)
}
