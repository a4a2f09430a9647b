// SPDX-License-Identifier: Apache-2.0
//! Operations that move elements.

use super::generic::{Port, dims, empty as undefined, filled, generic};
use super::operation::{Found, Tensor};
use super::reduce::moved;
use crate::import::element::Element;
use melior::ir::Value;
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_passes::ir::ops;
use skript_passes::ir::splice::Lines;

type Values<'c, 'a> = Result<Vec<Value<'c, 'a>>, PassError>;

/// Handles results without elements.
pub(super) fn empty<'c: 'a, 'a>(found: &Found<'c, 'a>) -> Values<'c, 'a> {
    let mut lines = Lines::default();
    let made: Vec<String> = found.results.iter().map(|t| undefined(&mut lines, t)).collect();
    Ok(found.splice(&lines, &made)?.values)
}

/// Reads one input at `position` for each element of the result.
fn read<'c: 'a, 'a>(found: &Found<'c, 'a>, position: Vec<String>) -> Values<'c, 'a> {
    let mut lines = Lines::default();
    let made = moved(&mut lines, "%0", found.operand(0)?, found.result()?, position);
    found.replace(&lines, &made)
}

pub(crate) fn iota<'c: 'a, 'a>(found: &Found<'c, 'a>) -> Values<'c, 'a> {
    let result = found.result()?;
    let dimension = found.i64("iota_dimension").unwrap_or(0);
    let e = result.element.text();
    let mut lines = Lines::default();
    let out = undefined(&mut lines, result);
    let body = format!(
        "%n = linalg.index {dimension} : index\n%w = arith.index_cast %n : index to i64\n\
         %r = stablehlo.convert %w : (i64) -> {e}\nlinalg.yield %r : {e}"
    );
    let out = Port::new(&out, result, dims(0..result.rank()));
    let made = generic(&mut lines, result.rank(), 0, &[], &[out], &body);
    Ok(found.splice(&lines, &made)?.values)
}

pub(crate) fn broadcast<'c: 'a, 'a>(found: &Found<'c, 'a>) -> Values<'c, 'a> {
    let operand = found.operand(0)?;
    let targets = found.list("broadcast_dimensions")?;
    let position = targets.iter().zip(&operand.extents);
    read(
        found,
        position
            .map(|(d, extent)| match extent {
                1 => "0".to_owned(),
                _ => format!("d{d}"),
            })
            .collect(),
    )
}

/// Reshapes by way of one dimension.
pub(crate) fn reshape<'c: 'a, 'a>(found: &Found<'c, 'a>) -> Values<'c, 'a> {
    let mut lines = Lines::default();
    let made = reshaped(&mut lines, "%0", found.operand(0)?, found.result()?);
    found.replace(&lines, &made)
}

/// The tensor `name` in another shape with as many elements.
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
    // Rank 0 has one element: expanding rank 1 to it lists no dimension.
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

pub(super) fn transpose<'c: 'a, 'a>(found: &Found<'c, 'a>) -> Values<'c, 'a> {
    let order = found.list("permutation")?;
    // Result dimension n is operand dimension order[n].
    let mut position = vec![String::new(); order.len()];
    for (n, d) in order.iter().enumerate() {
        if let Some(slot) = usize::try_from(*d).ok().and_then(|d| position.get_mut(d)) {
            *slot = format!("d{n}");
        }
    }
    read(found, position)
}

pub(super) fn reverse<'c: 'a, 'a>(found: &Found<'c, 'a>) -> Values<'c, 'a> {
    let mut lines = Lines::default();
    let dimensions = found.list("dimensions")?;
    let made = reversed(&mut lines, "%0", found.operand(0)?, &dimensions);
    found.replace(&lines, &made)
}

/// The tensor `name` with the elements of some dimensions in reverse order.
pub(crate) fn reversed(lines: &mut Lines, name: &str, tensor: &Tensor, dimensions: &[i64]) -> String {
    if dimensions.is_empty() {
        return name.to_owned();
    }
    let position = (0i64..).zip(&tensor.extents);
    moved(
        lines,
        name,
        tensor,
        tensor,
        position
            .map(
                |(d, extent)| {
                    if dimensions.contains(&d) { format!("{} - d{d}", extent - 1) } else { format!("d{d}") }
                },
            )
            .collect(),
    )
}

fn list(numbers: &[i64]) -> String {
    let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
    format!("[{}]", texts.join(", "))
}

pub(crate) fn slice<'c: 'a, 'a>(found: &Found<'c, 'a>) -> Values<'c, 'a> {
    let (operand, result) = (found.operand(0)?, found.result()?);
    let mut lines = Lines::default();
    let made = lines.value(format!(
        "tensor.extract_slice %0{}{}{} : {} to {}",
        list(&found.list("start_indices")?),
        list(&result.extents),
        list(&found.list("strides")?),
        operand.text(),
        result.text()
    ));
    found.replace(&lines, &made)
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

    /// The first element that is kept, the number of kept elements, and the position of the first one in the result.
    fn kept(self, extent: i64) -> (i64, i64, i64) {
        let step = self.interior + 1;
        let total = self.extent(extent);
        let position = |k: i64| self.low + k * step;
        let first = (0..extent).find(|k| position(*k) >= 0).unwrap_or(extent);
        let count = (first..extent).take_while(|k| position(*k) < total).count();
        (first, count as i64, position(first))
    }
}

pub(super) fn pad<'c: 'a, 'a>(found: &Found<'c, 'a>) -> Values<'c, 'a> {
    let low = found.list("edge_padding_low")?;
    let high = found.list("edge_padding_high")?;
    let interior = found.list("interior_padding")?;
    let borders: Vec<Border> = low
        .iter()
        .zip(&high)
        .zip(&interior)
        .map(|((low, high), interior)| Border { low: *low, high: *high, interior: *interior })
        .collect();
    let mut lines = Lines::default();
    let (made, _) = padded(&mut lines, "%0", found.operand(0)?, "%1", &borders);
    found.replace(&lines, &made)
}

/// The tensor `name` with borders filled with the only element of `value`, a tensor of rank 0; and its type.
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
    let made = lines.value(format!(
        "tensor.insert_slice {source} into {whole}{}{}{} : {} into {}",
        list(&column(&|k| k.2)),
        list(&counts),
        list(&steps),
        part.text(),
        to.text()
    ));
    (made, to)
}

pub(crate) fn concatenate<'c: 'a, 'a>(found: &Found<'c, 'a>) -> Values<'c, 'a> {
    let result = found.result()?;
    let dimension = found.i64("dimension").and_then(|d| usize::try_from(d).ok());
    let dimension = dimension.ok_or("lacks its dimension")?;
    let mut lines = Lines::default();
    let mut whole = undefined(&mut lines, result);
    let mut start = 0;
    for (n, part) in found.operands.iter().enumerate() {
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
        start += part.extents.get(dimension).copied().unwrap_or(0);
    }
    found.replace(&lines, &whole)
}

/// A start index from the scalar `value`, clamped to `0..=most`.
pub(crate) fn clamped(lines: &mut Lines, value: &str, element: Element, most: i64) -> String {
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
    let most = lines.value(format!("arith.constant {most} : i64"));
    let clamped = if unsigned {
        lines.value(format!("arith.minui {value}, {most} : i64"))
    } else {
        let zero = lines.value("arith.constant 0 : i64");
        let positive = lines.value(format!("arith.maxsi {value}, {zero} : i64"));
        lines.value(format!("arith.minsi {positive}, {most} : i64"))
    };
    lines.value(format!("arith.index_cast {clamped} : i64 to index"))
}

/// The offsets of a block of `sizes` in `whole`, from operands of rank 0 beginning with operand `first`.
fn offsets(
    lines: &mut Lines,
    found: &Found,
    first: usize,
    whole: &Tensor,
    sizes: &[i64],
) -> Result<String, PassError> {
    let mut positions = Vec::new();
    for (d, (extent, size)) in whole.extents.iter().zip(sizes).enumerate() {
        let n = first + d;
        let start = found.operand(n)?;
        let value = lines.value(format!("tensor.extract %{n}[] : {}", start.text()));
        positions.push(clamped(lines, &value, start.element, extent - size));
    }
    Ok(format!("[{}]", positions.join(", ")))
}

pub(crate) fn dynamic_slice<'c: 'a, 'a>(found: &Found<'c, 'a>) -> Values<'c, 'a> {
    let (whole, result) = (found.operand(0)?, found.result()?);
    let mut lines = Lines::default();
    let positions = offsets(&mut lines, found, 1, whole, &result.extents)?;
    let made = lines.value(format!(
        "tensor.extract_slice %0{positions}{}{} : {} to {}",
        list(&result.extents),
        list(&vec![1; result.rank()]),
        whole.text(),
        result.text()
    ));
    found.replace(&lines, &made)
}

pub(crate) fn dynamic_update_slice<'c: 'a, 'a>(found: &Found<'c, 'a>) -> Values<'c, 'a> {
    let (whole, update) = (found.operand(0)?, found.operand(1)?);
    if update.volume() == 0 {
        return Ok(found.values.iter().take(1).copied().collect());
    }
    let mut lines = Lines::default();
    let positions = offsets(&mut lines, found, 2, whole, &update.extents)?;
    let made = lines.value(format!(
        "tensor.insert_slice %1 into %0{positions}{}{} : {} into {}",
        list(&update.extents),
        list(&vec![1; whole.rank()]),
        update.text(),
        whole.text()
    ));
    found.replace(&lines, &made)
}
