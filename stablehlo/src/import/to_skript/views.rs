// SPDX-License-Identifier: Apache-2.0
//! Converts broadcasts and reshapes to formulas that copy elements.

use crate::import::to_linalg::SourceOp;
use skript_passes::ir::splice::Lines;

/// Operand `n` with the shape of the result: scalars are broadcast.
pub(crate) fn spread(lines: &mut Lines, source: &SourceOp, n: usize) -> Option<String> {
    let (operand, result) = (source.operands.get(n)?, source.results.first()?);
    if operand.extents == result.extents {
        return Some(format!("%{n}"));
    }
    let element = operand.element.text();
    let scalar = lines.value(format!("tensor.extract %{n}[] : {}", operand.text()));
    let whole = operand.with_extents(&result.extents).text();
    debug_assert!(
        operand.rank() == 0,
        "an operand of type {element} is neither a scalar nor of the result's shape"
    );
    Some(lines.value(format!("tensor.splat {scalar} : {whole}")))
}

pub(crate) fn broadcast(lines: &mut Lines, source: &SourceOp) -> Option<String> {
    let (operand, result) = (source.operands.first()?, source.results.first()?);
    if operand.rank() == 0 {
        return spread(lines, source, 0);
    }
    let dimensions = source.i64s("broadcast_dimensions")?;
    let positions = operand.extents.iter().zip(&dimensions).map(|(extent, dimension)| {
        let target = usize::try_from(*dimension).ok()?;
        // A dimension of extent 1 is broadcast.
        Some(if result.extents.get(target)? == extent { Some(target) } else { None })
    });
    let positions = positions.collect::<Option<Vec<_>>>()?;
    view(lines, source, &positions)
}

/// Converts reshapes that only add and remove unit dimensions; `None` for others.
pub(crate) fn reshape(lines: &mut Lines, source: &SourceOp) -> Option<String> {
    let (operand, result) = (source.operands.first()?, source.results.first()?);
    if operand == result {
        return Some("%0".to_owned());
    }
    let mut targets = result.extents.iter().enumerate().filter(|(_, e)| **e != 1);
    let mut positions = Vec::new();
    for extent in &operand.extents {
        positions.push(match *extent {
            1 => None,
            _ => Some(targets.next().filter(|(_, e)| *e == extent)?.0),
        });
    }
    if targets.next().is_some() {
        return None;
    }
    if operand.rank() == 0 {
        return spread(lines, source, 0);
    }
    view(lines, source, &positions)
}

/// A formula that reads the first operand. For each dimension of the operand, `positions` has the dimension of the result whose
/// index is the subscript, or `None` for the subscript 0.
fn view(lines: &mut Lines, source: &SourceOp, positions: &[Option<usize>]) -> Option<String> {
    let (operand, result) = (source.operands.first()?, source.results.first()?);
    let element = operand.element.text();
    let indices: Vec<String> = (0..result.rank()).map(|d| format!("%d{d}")).collect();
    let bounds: Vec<String> = result.extents.iter().map(i64::to_string).collect();
    let subscripts = positions.iter().map(|p| match p {
        Some(dimension) => format!("%d{dimension}"),
        None => "%none".to_owned(),
    });
    let subscripts: Vec<String> = subscripts.collect();
    let (indices, to) = (indices.join(", "), result.text());
    let empty = lines.value(format!("tensor.empty() : {to}"));
    Some(lines.value(format!(
        "skript.formula assign ({indices}) in ({}) outs(%held = {empty} : {to}) do {{\n\
         %none = arith.constant 0 : index\n\
         %element = skript.access %0[{}] : {}\n\
         skript.yield %element at [{indices}] : {element}\n\
         }} : {to}",
        bounds.join(", "),
        subscripts.join(", "),
        operand.text()
    )))
}
