// SPDX-License-Identifier: Apache-2.0
//! Slices with data-dependent ends: gathers of the elements at computed positions.

use skript_tensor::ElementType;

use super::movement::{agreed, reshaped};
use crate::call::Call;
use crate::extent::Extent;
use crate::refusal::Ruled;
use crate::statement::{Argument, marked};
use crate::value::{Item, Value};

/// The begins and ends of a slice along some axes. Some of them are elements of computed tensors.
pub(super) struct Ends {
    pub begin: Value,
    pub end: Value,
    pub axes: Vec<usize>,
    pub steps: Vec<i64>,
}

/// Slices a tensor. The extents of the result are data-dependent, unless begin and end of an axis have a constant distance.
pub(super) fn sliced(c: &mut Call, x: &Value, ends: &Ends) -> Ruled<Value> {
    let mut y = x.clone();
    for (at, (axis, step)) in ends.axes.iter().zip(&ends.steps).enumerate() {
        let (begin, end) = (element(c, &ends.begin, at)?, element(c, &ends.end, at)?);
        y = along(c, &y, *axis, (&begin, &end), *step)?;
    }
    Ok(y)
}

fn along(c: &mut Call, x: &Value, axis: usize, (begin, end): (&Value, &Value), step: i64) -> Ruled<Value> {
    // Larger than any step and any dimension.
    let far = i64::from(i32::MAX);
    let step = step.clamp(-far, far);
    let attributes = [("extent", marked(&x.extent(axis))), ("stride", step.to_string())];
    let count = Call::open(c.next_id(), 0);
    let positions = c.call(
        "onnx.positions",
        &attributes,
        &[begin.into(), end.into()],
        (ElementType::I64, vec![count.clone()]),
    );
    let mut shape = x.shape.clone();
    if let Some(extent) = shape.get_mut(axis) {
        *extent = count;
    }
    let part = c.call(
        "layout.gather",
        &[("axis", axis.to_string())],
        &[x.into(), (&positions).into()],
        (x.element, shape),
    );
    match distance(c, begin, end) {
        Some(count) if step == 1 && count > 0 => agreed(c, &part, axis, &Extent::from(count)),
        _ => Ok(part),
    }
}

/// Copies a tensor; the result has a dynamic extent along an axis.
pub(super) fn whole(c: &mut Call, x: &Value, axis: usize) -> Ruled<Value> {
    let [begin, end] = [Extent::from(0), x.extent(axis)]
        .map(|end| c.known(ElementType::I64, Vec::new(), vec![Item::Int(end)]));
    along(c, x, axis, (&begin, &end), 1)
}

/// Whether an operator computes a value, possibly through copies.
pub(super) fn is_computed_by(c: &Call, value: &Value, operator: &str) -> bool {
    match definition(c, value) {
        Some((by, _)) if by == operator => true,
        Some((by, [Argument::Tensor(x)])) if by.starts_with("layout.") => is_computed_by(c, x, operator),
        _ => false,
    }
}

/// Element `at` of a rank-1 tensor as a scalar.
fn element(c: &mut Call, ends: &Value, at: usize) -> Ruled<Value> {
    if let Some(item) = ends.known.as_ref().and_then(|known| known.get(at)) {
        let item = item.clone();
        return Ok(c.known(ElementType::I64, Vec::new(), vec![item]));
    }
    if let Some(part) = part(c, ends, at) {
        return Ok(reshaped(c, &part, Vec::new()));
    }
    if ends.extent(0).is(1) {
        return Ok(reshaped(c, ends, Vec::new()));
    }
    let index = i64::try_from(at).map_err(|_| crate::refusal::overflow())?;
    let index = vec![Item::Int(Extent::from(index))];
    let index = c.known(ElementType::I64, Vec::new(), index);
    Ok(c.call(
        "layout.gather",
        &[("axis", "0".to_owned())],
        &[ends.into(), (&index).into()],
        (ends.element, Vec::new()),
    ))
}

/// Operand `at` of a concatenation of one-element tensors.
fn part(c: &Call, joined: &Value, at: usize) -> Option<Value> {
    let (operator, arguments) = definition(c, joined)?;
    match (operator, arguments) {
        ("layout.concat", [Argument::Pack(parts)]) => {
            let part = parts.get(at)?;
            parts.iter().all(|p| p.extent(0).is(1)).then(|| part.clone())
        }
        _ => None,
    }
}

/// The distance from begin to end, if it is constant.
fn distance(c: &Call, begin: &Value, end: &Value) -> Option<i64> {
    let ((a, from), (b, to)) = (offset(c, begin, 0)?, offset(c, end, 0)?);
    (a == b).then(|| to.checked_sub(from))?
}

/// Maximum number of sums through which a position is traced.
const MAX_SUMS: usize = 8;

/// Decomposes a one-element int into a value and a constant that is added to it.
fn offset(c: &Call, value: &Value, depth: usize) -> Option<(usize, i64)> {
    let unchanged = Some((value.id, 0));
    let Some((operator, arguments)) = definition(c, value).filter(|_| depth < MAX_SUMS) else {
        return unchanged;
    };
    let one = |value: &Value| value.numbers().and_then(|n| <[i64; 1]>::try_from(n).ok());
    match (operator, arguments) {
        ("layout.reshape" | "layout.unsqueeze" | "layout.squeeze", [Argument::Tensor(x), ..]) => {
            offset(c, x, depth + 1)
        }
        ("math.add" | "math.sub", [Argument::Tensor(a), Argument::Tensor(b)]) => {
            let sums = operator == "math.add";
            let (x, [by]) = match (one(a), one(b)) {
                (_, Some(by)) => (a, by),
                (Some(by), _) if sums => (b, by),
                _ => return unchanged,
            };
            let by = if sums { by } else { by.checked_neg()? };
            let (base, before) = offset(c, x, depth + 1)?;
            Some((base, before.checked_add(by)?))
        }
        _ => unchanged,
    }
}

/// The invocation that computes a value, if it is in the current block.
fn definition<'c>(c: &'c Call, value: &Value) -> Option<(&'c str, &'c [Argument])> {
    let mut statements = c.importer.statements.iter().rev();
    let statement = statements.find(|s| s.results.iter().any(|r| r.id == value.id))?;
    let (operator, _, arguments) = statement.body.call()?;
    Some((operator, arguments))
}
