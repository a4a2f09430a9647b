// SPDX-License-Identifier: Apache-2.0
//! Operations that move elements.

use super::generic::map;
use super::generic::{empty as undefined, filled};
use super::operation::Values;
use super::operation::{SourceOp, Tensor};
use super::reduce::moved;
use crate::import::element::Element;
use skript_dialect::PassError;
use skript_passes::ir::ops;
use skript_passes::ir::splice::Lines;

/// Replaces an operation whose results have no elements.
pub(super) fn empty<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let mut lines = Lines::default();
    let output: Vec<String> = source.results.iter().map(|t| undefined(&mut lines, t)).collect();
    Ok(source.splice(&lines, &output)?.values)
}

/// Replaces an operation by its operands.
pub(super) fn same<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    Ok(source.values.clone())
}

/// Reads one input at `position` for each element of the result.
fn read<'c: 'a, 'a>(source: &SourceOp<'c, 'a>, position: Vec<String>) -> Values<'c, 'a> {
    let mut lines = Lines::default();
    let output = moved(&mut lines, "%0", source.operand(0)?, source.result()?, position);
    source.replace(&lines, &output)
}

pub(crate) fn iota<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let result = source.result()?;
    let dimension = source.required("iota_dimension")?;
    let mut lines = Lines::default();
    let name = positions_along(&mut lines, result, dimension);
    source.replace(&lines, &name)
}

/// A tensor with the position of each element along a dimension.
pub(super) fn positions_along(lines: &mut Lines, tensor: &Tensor, dimension: i64) -> String {
    let e = tensor.element.text();
    let body = format!(
        "%n = linalg.index {dimension} : index\n%w = arith.index_cast %n : index to i64\n\
         %r = stablehlo.convert %w : (i64) -> {e}\nlinalg.yield %r : {e}"
    );
    map(lines, &[], tensor, &body)
}

pub(crate) fn broadcast<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let operand = source.operand(0)?;
    let targets = source.list("broadcast_dimensions")?;
    let position = targets.iter().zip(&operand.extents);
    let subscript = |(d, extent): (&i64, &i64)| if *extent == 1 { "0".to_owned() } else { format!("d{d}") };
    read(source, position.map(subscript).collect())
}

/// Collapses all dimensions to one dimension, and expands it.
pub(crate) fn reshape<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let mut lines = Lines::default();
    let output = reshaped(&mut lines, "%0", source.operand(0)?, source.result()?);
    source.replace(&lines, &output)
}

/// Reshapes the tensor `name` to a shape with the same number of elements.
pub(crate) fn reshaped(lines: &mut Lines, name: &str, from: &Tensor, to: &Tensor) -> String {
    let groups = |rank: usize| match rank {
        0 => "[]".to_owned(),
        _ => {
            let all: Vec<String> = (0..rank).map(|d| d.to_string()).collect();
            format!("[[{}]]", all.join(", "))
        }
    };
    let flat = from.with_extents(&[from.volume()]);
    let mut name = name.to_owned();
    // A tensor of rank 0 has one element; its expansion to rank 1 has an empty reassociation.
    if from.rank() == 0 {
        name = lines.value(format!(
            "tensor.expand_shape {name} [] output_shape [1] : {} into {}",
            from.text(),
            flat.text()
        ));
    } else if from.rank() > 1 {
        name = lines.value(format!(
            "tensor.collapse_shape {name} {} : {} into {}",
            groups(from.rank()),
            from.text(),
            flat.text()
        ));
    }
    match to.rank() {
        0 => lines.value(format!("tensor.collapse_shape {name} [] : {} into {}", flat.text(), to.text())),
        1 => name,
        rank => {
            let extents: Vec<String> = to.extents.iter().map(i64::to_string).collect();
            lines.value(format!(
                "tensor.expand_shape {name} {} output_shape [{}] : {} into {}",
                groups(rank),
                extents.join(", "),
                flat.text(),
                to.text()
            ))
        }
    }
}

pub(super) fn transpose<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let order = source.list("permutation")?;
    // Result dimension n is operand dimension order[n].
    let mut position = vec![String::new(); order.len()];
    for (n, d) in order.iter().enumerate() {
        if let Some(slot) = usize::try_from(*d).ok().and_then(|d| position.get_mut(d)) {
            *slot = format!("d{n}");
        }
    }
    read(source, position)
}

pub(super) fn reverse<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let mut lines = Lines::default();
    let dimensions = source.list("dimensions")?;
    let output = reversed(&mut lines, "%0", source.operand(0)?, &dimensions);
    source.replace(&lines, &output)
}

/// Reverses the elements of the tensor `name` along `dimensions`.
pub(crate) fn reversed(lines: &mut Lines, name: &str, tensor: &Tensor, dimensions: &[i64]) -> String {
    if dimensions.is_empty() {
        return name.to_owned();
    }
    let subscript = |(d, extent): (i64, &i64)| {
        if dimensions.contains(&d) { format!("{} - d{d}", extent - 1) } else { format!("d{d}") }
    };
    moved(lines, name, tensor, tensor, (0i64..).zip(&tensor.extents).map(subscript).collect())
}

fn list(numbers: &[i64]) -> String {
    let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
    format!("[{}]", texts.join(", "))
}

pub(crate) fn slice<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let (operand, result) = (source.operand(0)?, source.result()?);
    let mut lines = Lines::default();
    let output = lines.value(format!(
        "tensor.extract_slice %0{}{}{} : {} to {}",
        list(&source.list("start_indices")?),
        list(&result.extents),
        list(&source.list("strides")?),
        operand.text(),
        result.text()
    ));
    source.replace(&lines, &output)
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
    let mut lines = Lines::default();
    let (output, _) = padded(&mut lines, "%0", source.operand(0)?, "%1", &borders);
    source.replace(&lines, &output)
}

/// Pads the tensor `name` with the element of `value`, a tensor of rank 0. Returns the padded tensor and its type.
pub(crate) fn padded(
    lines: &mut Lines,
    name: &str,
    from: &Tensor,
    value: &str,
    borders: &[Border],
) -> (String, Tensor) {
    let extents = from.extents.iter().zip(borders);
    let extents: Vec<i64> = extents.map(|(e, b)| b.extent(*e)).collect();
    let to = from.with_extents(&extents);
    if borders.iter().all(|b| b.low == 0 && b.high == 0 && b.interior == 0) {
        return (name.to_owned(), to);
    }
    let whole = filled(lines, value, &to);
    let kept = from.extents.iter().zip(borders).map(|(e, b)| b.kept(*e));
    let kept: Vec<(i64, i64, i64)> = kept.collect();
    if kept.iter().any(|(_, count, _)| *count == 0) {
        return (whole, to);
    }
    let column = |f: &dyn Fn(&(i64, i64, i64)) -> i64| kept.iter().map(f).collect::<Vec<i64>>();
    let counts = column(&|k| k.1);
    let part = from.with_extents(&counts);
    let ones = vec![1; counts.len()];
    let source = if part == *from {
        name.to_owned()
    } else {
        lines.value(format!(
            "tensor.extract_slice {name}{}{}{} : {} to {}",
            list(&column(&|k| k.0)),
            list(&counts),
            list(&ones),
            from.text(),
            part.text()
        ))
    };
    let steps: Vec<i64> = borders.iter().map(|b| b.interior + 1).collect();
    let output = lines.value(format!(
        "tensor.insert_slice {source} into {whole}{}{}{} : {} into {}",
        list(&column(&|k| k.2)),
        list(&counts),
        list(&steps),
        part.text(),
        to.text()
    ));
    (output, to)
}

pub(crate) fn concatenate<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let result = source.result()?;
    let dimension = source.i64("dimension").and_then(|d| usize::try_from(d).ok());
    let dimension = dimension.ok_or("lacks its dimension")?;
    let mut lines = Lines::default();
    let mut whole = undefined(&mut lines, result);
    let mut start = 0;
    for (n, part) in source.operands.iter().enumerate() {
        if part.volume() > 0 {
            let offset = |d: usize| if d == dimension { start } else { 0 };
            let offsets: Vec<i64> = (0..result.rank()).map(offset).collect();
            whole = lines.value(format!(
                "tensor.insert_slice %{n} into {whole}{}{}{} : {} into {}",
                list(&offsets),
                list(&part.extents),
                list(&vec![1; result.rank()]),
                part.text(),
                result.text()
            ));
        }
        start += part.extents.get(dimension).ok_or("names no dimension")?;
    }
    source.replace(&lines, &whole)
}

/// Converts the scalar `value` to a start index, and clamps it to `0..=max`.
pub(crate) fn clamped(lines: &mut Lines, value: &str, element: Element, max: i64) -> String {
    let signless = element.signless();
    let unsigned = matches!(element, Element::Unsigned(_));
    let mut value = value.to_owned();
    if unsigned {
        value = lines
            .value(format!("builtin.unrealized_conversion_cast {value} : {} to {signless}", element.text()));
    }
    if signless != "i64" {
        let extend = if unsigned { ops::arith::EXTUI } else { ops::arith::EXTSI };
        value = lines.value(format!("{extend} {value} : {signless} to i64"));
    }
    let max = lines.value(format!("arith.constant {max} : i64"));
    let clamped = if unsigned {
        lines.value(format!("arith.minui {value}, {max} : i64"))
    } else {
        let zero = lines.value("arith.constant 0 : i64");
        let positive = lines.value(format!("arith.maxsi {value}, {zero} : i64"));
        lines.value(format!("arith.minsi {positive}, {max} : i64"))
    };
    lines.value(format!("arith.index_cast {clamped} : i64 to index"))
}

/// The offsets of a block of `sizes` in `whole`: the operands of rank 0 that begin with operand `first`, clamped.
fn offsets(
    lines: &mut Lines,
    source: &SourceOp,
    first: usize,
    whole: &Tensor,
    sizes: &[i64],
) -> Result<String, PassError> {
    let mut positions = Vec::new();
    for (d, (extent, size)) in whole.extents.iter().zip(sizes).enumerate() {
        let n = first + d;
        let start = source.operand(n)?;
        let value = lines.value(format!("tensor.extract %{n}[] : {}", start.text()));
        positions.push(clamped(lines, &value, start.element, extent - size));
    }
    Ok(format!("[{}]", positions.join(", ")))
}

pub(crate) fn dynamic_slice<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let (whole, result) = (source.operand(0)?, source.result()?);
    let mut lines = Lines::default();
    let positions = offsets(&mut lines, source, 1, whole, &result.extents)?;
    let output = lines.value(format!(
        "tensor.extract_slice %0{positions}{}{} : {} to {}",
        list(&result.extents),
        list(&vec![1; result.rank()]),
        whole.text(),
        result.text()
    ));
    source.replace(&lines, &output)
}

pub(crate) fn dynamic_update_slice<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let (whole, update) = (source.operand(0)?, source.operand(1)?);
    if update.volume() == 0 {
        return Ok(source.values.iter().take(1).copied().collect());
    }
    let mut lines = Lines::default();
    let positions = offsets(&mut lines, source, 2, whole, &update.extents)?;
    let output = lines.value(format!(
        "tensor.insert_slice %1 into %0{positions}{}{} : {} into {}",
        list(&update.extents),
        list(&vec![1; whole.rank()]),
        update.text(),
        whole.text()
    ));
    source.replace(&lines, &output)
}
