// SPDX-License-Identifier: Apache-2.0
//! Operations that move elements.

use super::constant::filled;
use super::operation::{SourceOp, Tensor, Values};
use super::reduce::moved;
use crate::import::element::Element;
use melior::ir::{Value, ValueLike};
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_passes::ir::builder::Offset;
use skript_passes::ir::generic::map;
use skript_passes::ir::{Builder, ops, types};
use skript_symbolic::Affine;

/// Replaces an operation whose results have no elements.
pub(super) fn empty<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let at = &source.at;
    Ok(source.results.iter().map(|tensor| at.empty(tensor.r#type(at.context))).collect())
}

/// Replaces an operation by its operands.
pub(super) fn same<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    Ok(source.values.clone())
}

/// Reads one input at `position` for each element of the result.
fn read<'c: 'a, 'a>(source: &SourceOp<'c, 'a>, position: Vec<Affine>) -> Values<'c, 'a> {
    Ok(vec![moved(source.value(0)?, position, source.result_type()?, &source.at)?])
}

pub(crate) fn iota<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let dimension = source.required("iota_dimension")?;
    let dimension = usize::try_from(dimension).map_err(|_| "names no dimension")?;
    let result = source.result_type()?;
    // The position of each element along the dimension.
    let positions = map(&source.at, &[], result, &[], |body, _| {
        let position = body.index_cast(body.loop_index(dimension)?, types::word(body.context));
        let element = types::element_or_self(result);
        Ok::<_, PassError>(body.make(ops::stablehlo::CONVERT, &[position], &[], element))
    })?;
    Ok(vec![positions])
}

pub(crate) fn broadcast<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let targets = source.list("broadcast_dimensions")?;
    let position = targets.iter().zip(&source.operand(0)?.extents);
    let subscript = |(d, extent): (&i64, &i64)| match extent {
        1 => Affine::constant(0),
        _ => Affine::index(d.unsigned_abs() as usize),
    };
    read(source, position.map(subscript).collect())
}

/// Collapses all dimensions to one dimension, and expands it.
pub(crate) fn reshape<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    Ok(vec![source.at.reshape(source.value(0)?, &source.result()?.extents)])
}

pub(super) fn transpose<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let order = source.list("permutation")?;
    // Result dimension n is operand dimension order[n].
    let mut position = vec![Affine::default(); order.len()];
    for (n, d) in order.iter().enumerate() {
        if let Some(slot) = usize::try_from(*d).ok().and_then(|d| position.get_mut(d)) {
            *slot = Affine::index(n);
        }
    }
    read(source, position)
}

pub(super) fn reverse<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    Ok(vec![reversed(source.value(0)?, &source.list("dimensions")?, &source.at)?])
}

/// Reverses the elements of a tensor along `dimensions`.
pub(crate) fn reversed<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    dimensions: &[i64],
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    if dimensions.is_empty() {
        return Ok(tensor);
    }
    let subscript = |(d, extent): (usize, i64)| {
        let index = Affine::index(d);
        if !dimensions.contains(&(d as i64)) {
            return Some(index);
        }
        Affine::constant(extent - 1).sub(&index)
    };
    let extents = types::shape(tensor.r#type());
    let subscripts: Option<Vec<_>> = extents.into_iter().enumerate().map(subscript).collect();
    moved(tensor, subscripts.ok_or("has a subscript above 64 bits")?, tensor.r#type(), at)
}

/// Constant offsets of a slice.
fn fixed<'c, 'a>(offsets: &[i64]) -> Vec<Offset<'c, 'a>> {
    offsets.iter().copied().map(Offset::Static).collect()
}

pub(crate) fn slice<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let (starts, strides) = (source.list("start_indices")?, source.list("strides")?);
    let extents = &source.result()?.extents;
    Ok(vec![source.at.slice(source.value(0)?, &fixed(&starts), extents, &strides)])
}

/// Padding of one dimension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Border {
    pub(crate) low: i64,
    pub(crate) high: i64,
    pub(crate) interior: i64,
}

impl Border {
    /// The padded extent.
    pub(super) fn extent(self, extent: i64) -> i64 {
        self.low + extent + (extent - 1).max(0) * self.interior + self.high
    }

    /// The first kept element, the number of kept elements, and the position of the first kept element in the result.
    fn kept(self, extent: i64) -> (i64, i64, i64) {
        let step = self.interior + 1;
        let total = self.extent(extent);
        let position = |k: i64| self.low + k * step;
        let first = (0..extent).take_while(|k| position(*k) < 0).count() as i64;
        let count = (first..extent).take_while(|k| position(*k) < total).count();
        (first, count as i64, position(first))
    }
}

pub(super) fn pad<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let low = source.list("edge_padding_low")?;
    let high = source.list("edge_padding_high")?;
    let interior = source.list("interior_padding")?;
    let borders: Vec<Border> = low
        .iter()
        .zip(&high)
        .zip(&interior)
        .map(|((low, high), interior)| Border { low: *low, high: *high, interior: *interior })
        .collect();
    Ok(vec![padded(source.value(0)?, source.value(1)?, &borders, &source.at)?])
}

/// Pads a tensor with the element of `value`, a tensor of rank 0.
pub(crate) fn padded<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    value: Value<'c, 'a>,
    borders: &[Border],
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    if borders.iter().all(|b| b.low == 0 && b.high == 0 && b.interior == 0) {
        return Ok(tensor);
    }
    let from = types::shape(tensor.r#type());
    let extents: Vec<i64> = from.iter().zip(borders).map(|(e, b)| b.extent(*e)).collect();
    let whole = filled(value, types::tensor(&extents, types::element_or_self(tensor.r#type())), at)?;
    let kept: Vec<(i64, i64, i64)> = from.iter().zip(borders).map(|(e, b)| b.kept(*e)).collect();
    if kept.iter().any(|(_, count, _)| *count == 0) {
        return Ok(whole);
    }
    let column = |f: &dyn Fn(&(i64, i64, i64)) -> i64| kept.iter().map(f).collect::<Vec<i64>>();
    let counts = column(&|k| k.1);
    let part = if counts == from {
        tensor
    } else {
        at.slice(tensor, &fixed(&column(&|k| k.0)), &counts, &vec![1; counts.len()])
    };
    let steps: Vec<i64> = borders.iter().map(|b| b.interior + 1).collect();
    Ok(at.with_slice(whole, &fixed(&column(&|k| k.2)), &steps, part))
}

pub(crate) fn concatenate<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let (rank, at) = (source.result()?.rank(), &source.at);
    let dimension = source.i64("dimension").and_then(|d| usize::try_from(d).ok());
    let dimension = dimension.ok_or("lacks its dimension")?;
    let mut whole = at.empty(source.result_type()?);
    let mut start = 0;
    for (part, value) in source.operands.iter().zip(&source.values) {
        if part.volume() > 0 {
            let offset = |d: usize| Offset::Static(if d == dimension { start } else { 0 });
            let offsets: Vec<Offset> = (0..rank).map(offset).collect();
            whole = at.with_slice(whole, &offsets, &vec![1; rank], *value);
        }
        start += part.extents.get(dimension).ok_or("names no dimension")?;
    }
    Ok(vec![whole])
}

/// Converts a scalar to a start index, and clamps it to `0..=max`.
pub(crate) fn clamped<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    element: Element,
    max: i64,
    at: &Builder<'c, 'a>,
) -> Value<'c, 'a> {
    let word = types::word(at.context);
    let is_unsigned = matches!(element, Element::Unsigned(_));
    let mut value = element.without_sign(value, at);
    if value.r#type() != word {
        let extend = if is_unsigned { ops::arith::EXTUI } else { ops::arith::EXTSI };
        value = at.convert(extend, value, word);
    }
    let max = at.int(max, word);
    let clamped =
        if is_unsigned { at.minui(value, max) } else { at.minsi(at.maxsi(value, at.int(0, word)), max) };
    at.index_cast(clamped, at.index_type())
}

/// The offsets of a block of `sizes` in `whole`: the operands of rank 0 that begin with operand `first`, clamped.
fn offsets<'c, 'a>(
    source: &SourceOp<'c, 'a>,
    first: usize,
    whole: &Tensor,
    sizes: &[i64],
) -> Result<Vec<Offset<'c, 'a>>, PassError> {
    let ranges = whole.extents.iter().zip(sizes).enumerate();
    let offset = |(d, (extent, size)): (usize, (&i64, &i64))| {
        let value = source.at.element(source.value(first + d)?, &[]);
        let element = source.operand(first + d)?.element;
        Ok(Offset::Dynamic(clamped(value, element, extent - size, &source.at)))
    };
    ranges.map(offset).collect()
}

pub(crate) fn dynamic_slice<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let (whole, result) = (source.operand(0)?, source.result()?);
    let positions = offsets(source, 1, whole, &result.extents)?;
    Ok(vec![source.at.slice(source.value(0)?, &positions, &result.extents, &vec![1; result.rank()])])
}

pub(crate) fn dynamic_update_slice<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let (whole, update) = (source.operand(0)?, source.operand(1)?);
    if update.volume() == 0 {
        return Ok(source.values.iter().take(1).copied().collect());
    }
    let positions = offsets(source, 2, whole, &update.extents)?;
    Ok(vec![source.at.with_slice(source.value(0)?, &positions, &vec![1; whole.rank()], source.value(1)?)])
}
