// SPDX-License-Identifier: Apache-2.0
//! Converts reductions over full dimensions and over windows.

use super::constant::{self, filled};
use super::operation::{SourceOp, Values};
use super::payload;
use super::shape::{Border, padded};
use crate::import::element::{Element, converted};
use crate::tensors::Tensors;
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_passes::ir::generic::{Access, all_loops, generic, map};
use skript_passes::ir::{Builder, attributes, ops, types};
use skript_semantics::RealType;
use skript_symbolic::Affine;

/// Applies region 0 to the accumulators, which are the last operands, and the first operands.
fn reduced<'c: 'a, 'a>(
    source: &SourceOp<'c, 'a>,
    inputs: &[Access<'c, 'a>],
    outputs: &[Access<'c, 'a>],
    reductions: &[bool],
) -> Values<'c, 'a> {
    let op = generic(&source.at, inputs, outputs, reductions, |body, elements| {
        let (values, sums) = elements.split_at(inputs.len());
        let values = values.iter().take(sums.len()).copied();
        payload::apply(source, 0, &sums.iter().copied().chain(values).collect::<Vec<_>>(), body)
    })?;
    Ok(source.at.results(op))
}

pub(crate) fn reduce<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let count = source.results.len();
    let reduced_dimensions = source.list("dimensions")?;
    let rank = source.operand(0)?.rank();
    let is_reduced = |d: &usize| reduced_dimensions.contains(&(*d as i64));
    // The loops over kept dimensions come first.
    let (last, mut order): (Vec<usize>, Vec<usize>) = (0..rank).partition(is_reduced);
    let kept = order.len();
    order.extend(&last);
    let loop_of = |d: usize| Affine::index(order.iter().take_while(|o| **o != d).count());
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for (n, result) in source.results.iter().enumerate() {
        inputs.push(Access(source.value(n)?, (0..rank).map(loop_of).collect()));
        let init = filled(source.value(count + n)?, result.r#type(source.at.context), &source.at)?;
        outputs.push(Access(init, all_loops(kept)));
    }
    let reductions: Vec<bool> = (0..rank).map(|l| l >= kept).collect();
    reduced(source, &inputs, &outputs, &reductions)
}

pub(crate) fn reduce_window<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let (count, at) = (source.results.len(), &source.at);
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
    let subscripts = strides.iter().zip(&spread).enumerate();
    let subscripts = subscripts.map(|(d, (stride, step))| slid((d, *stride), (rank + d, *step)));
    let subscripts: Vec<Affine> = subscripts.collect::<Result<_, _>>()?;
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for (n, result) in source.results.iter().enumerate() {
        let init = source.value(count + n)?;
        inputs.push(Access(padded(source.value(n)?, init, &borders, at)?, subscripts.clone()));
        outputs.push(Access(filled(init, result.r#type(at.context), at)?, all_loops(rank)));
    }
    // Only the shape of this operand is used: it defines the size of the windows.
    let shape = at.empty(types::tensor(&window, types::flag(at.context)));
    inputs.push(Access(shape, (rank..2 * rank).map(Affine::index).collect()));
    let reductions: Vec<bool> = (0..2 * rank).map(|l| l >= rank).collect();
    reduced(source, &inputs, &outputs, &reductions)
}

/// The sum of multiples of two loop indices.
pub(super) fn slid(first: (usize, i64), second: (usize, i64)) -> Result<Affine, PassError> {
    let start = Affine::index(first.0).scale(first.1);
    let sum = start.and_then(|start| start.add_scaled(&Affine::index(second.0), second.1));
    sum.ok_or_else(|| "has a subscript above 64 bits".into())
}

/// The accumulator type of sums of products: f32 for half-precision floats.
pub(crate) fn accumulator(element: Element) -> Element {
    match element {
        Element::Float(float) if float.is_half() => Element::Float(RealType::F32),
        other => other,
    }
}

/// Adds the product of the first two elements to the third one.
pub(crate) fn product<'c: 'a, 'a>(elements: &[Value<'c, 'a>], at: &Builder<'c, 'a>) -> Values<'c, 'a> {
    let [x, y, sum] = *elements else {
        return Err("has another number of operands".into());
    };
    let r#type = sum.r#type();
    let [x, y] = [x, y].map(|value| converted(value, r#type, at));
    let tensors = Tensors { at: *at };
    Ok(vec![if types::reals(r#type).is_some() {
        // Sums may be reassociated and fused, as in all other contractions.
        let flags = |flags| [("fastmath", attributes::fast(at.context, flags))];
        let product = at.make(ops::arith::MULF, &[x, y], &flags("contract"), r#type);
        at.make(ops::arith::ADDF, &[sum, product], &flags("reassoc,contract"), r#type)
    } else {
        tensors.same("add", &[sum, tensors.same("multiply", &[x, y])])
    }])
}

/// A tensor of zeros.
pub(crate) fn zeros<'c: 'a, 'a>(
    extents: &[i64],
    element: Element,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let zero = constant::zero(element, at);
    Ok(at.fill(zero, types::tensor(extents, element.r#type(at.context)))?)
}

/// A tensor of type `to`. Each element is that of `from` at the subscripts `index`, converted to the element type.
pub(super) fn moved<'c: 'a, 'a>(
    from: Value<'c, 'a>,
    index: Vec<Affine>,
    to: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    map(at, &[Access(from, index)], to, &[], |body, elements| {
        let element = *elements.first().ok_or("lacks an element")?;
        Ok(converted(element, types::element_or_self(to), body))
    })
}
