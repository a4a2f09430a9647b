// SPDX-License-Identifier: Apache-2.0
//! Data movement: operators that reorder or copy elements.

use std::collections::BTreeSet;

use skript_tensor::ElementType;

use super::{Operator, operator};
use crate::call::{Call, Type, axes, axis, equal, product};
use crate::evaluate::{moved, static_shape};
use crate::extent::Extent;
use crate::literals::{axis_list, extent_list, list};
use crate::refusal::{Reason, Ruled, overflow};
use crate::statement::{Argument, marked};
use crate::value::{MAX_KNOWN, Value, is_real, signed_length};

pub const OPERATORS: &[Operator] = &[
    operator("Reshape", "`layout.reshape`", reshape),
    operator("Flatten", "`layout.reshape`", flatten),
    operator("Squeeze", "`layout.squeeze`", squeeze),
    operator("Unsqueeze", "`layout.unsqueeze`", unsqueeze),
    operator("Transpose", "`layout.transpose`", transpose),
    operator("Concat", "`layout.concat`", concat),
    operator("Split", "`layout.split`", split),
    operator("Expand", "`layout.broadcast`, `onnx.expand`", expand),
    operator("Tile", "`layout.tile`", tile),
    operator("DepthToSpace", "`layout.depth_to_space`", |c| blocks(c, true)),
    operator("SpaceToDepth", "`layout.space_to_depth`", |c| blocks(c, false)),
    operator("Trilu", "`onnx.trilu`", trilu),
    operator("ReverseSequence", "`onnx.reverse_sequence`", reverse_sequence),
    operator("Dropout", "nothing", dropout),
];

/// Reshapes a tensor.
pub(super) fn reshaped(c: &mut Call, x: &Value, shape: Vec<Extent>) -> Value {
    if shape == x.shape {
        return x.clone();
    }
    if let Some(known) = &x.known {
        return c.known(x.element, shape, known.clone());
    }
    let open = left_open(&shape);
    let text =
        |(at, extent): (usize, &Extent)| if Some(at) == open { "-1".to_owned() } else { marked(extent) };
    let texts: Vec<String> = shape.iter().enumerate().map(text).collect();
    let text = texts.join(", ");
    c.call("layout.reshape", &[("shape", format!("[{text}]"))], &[x.into()], (x.element, shape))
}

/// The dimension that is written as −1, for readability: the only dimension whose extent is a quotient. If another extent may be zero,
/// −1 would be ambiguous, so only a quotient whose divisor may be zero is replaced.
fn left_open(shape: &[Extent]) -> Option<usize> {
    let is_quotient = |(_, extent): &(usize, &Extent)| marked(extent).contains('/');
    let mut quotients = shape.iter().enumerate().filter(is_quotient);
    let (at, extent) = quotients.next().filter(|_| quotients.next().is_none())?;
    let others = shape.iter().enumerate().filter(|(other, _)| *other != at);
    let are_filled = others.map(|(_, extent)| extent).all(|extent| extent.value().is_some_and(|n| n != 0));
    (are_filled || extent.may_divide_by_zero()).then_some(at)
}

fn reshape(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let given = if c.opset >= 5 {
        c.extents(1, "the shape")?
    } else {
        c.ints("shape").ok_or("the shape is missing")?.into_iter().map(Extent::from).collect()
    };
    let zero = c.flag("allowzero", false);
    let (mut shape, mut copied) = (Vec::new(), BTreeSet::new());
    let mut open = None;
    for (at, extent) in given.into_iter().enumerate() {
        match extent.value() {
            Some(0) if !zero || x.shape.get(at).is_some_and(|extent| extent.is(0)) => {
                let extent = x.shape.get(at).cloned();
                shape.push(extent.ok_or("a 0 in the shape is beyond the rank of the input")?);
                copied.insert(at);
            }
            Some(-1) if open.is_none() => {
                open = Some(at);
                shape.push(Extent::from(1));
            }
            Some(d) if d < 0 => return Err(Reason(format!("the extent {d} is negative"))),
            _ => shape.push(extent),
        }
    }
    if let Some(at) = open {
        // Copied extents cancel, even if they are zero.
        let uncopied = |shape: &[Extent]| {
            let others = shape.iter().enumerate().filter(|(at, _)| !copied.contains(at));
            Extent::product(others.map(|(_, extent)| extent)).ok_or_else(overflow)
        };
        let (volume, others) = (uncopied(&x.shape)?, uncopied(&shape)?);
        let inferred = match (volume.value(), others.value()) {
            (_, Some(0)) => Some(Extent::from(0)),
            (Some(v), Some(o)) if v % o != 0 => None,
            _ => volume.divided_exactly(&others),
        };
        let inferred =
            inferred.ok_or_else(|| Reason("the number of elements does not match the shape".to_owned()))?;
        if let Some(extent) = shape.get_mut(at) {
            *extent = inferred;
        }
    } else if let (Some(v), Some(o)) = (product(&x.shape)?.value(), product(&shape)?.value())
        && v != o
    {
        return Err(Reason(format!("the input has {v} elements, but the shape has {o}")));
    }
    let y = reshaped(c, &x, shape);
    c.set(0, y);
    Ok(())
}

fn flatten(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let given = c.int("axis", 1);
    let at = match given {
        at if at == signed_length(x.rank()) => x.rank(),
        at => axis(at, x.rank().max(1))?,
    };
    let (before, after) = x.shape.split_at_checked(at).unwrap_or((&x.shape, &[]));
    let shape = vec![product(before)?, product(after)?];
    let y = reshaped(c, &x, shape);
    c.set(0, y);
    Ok(())
}

/// The axes, which are an attribute before opset 13 and an input since.
fn given_axes(c: &Call) -> Ruled<Option<Vec<i64>>> {
    match c.opset >= 13 {
        true if c.optional(1).is_some() => c.numbers(1, "the axes").map(Some),
        true => Ok(None),
        false => Ok(c.ints("axes")),
    }
}

fn squeeze(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let removed = match given_axes(c)? {
        Some(given) => axes(&given, x.rank())?,
        None => {
            if x.shape.iter().any(|e| e.value().is_none()) {
                return Err("the dimensions with extent 1 must be known at import: pass static shapes of the inputs with `--input-shape`".into());
            }
            (0..x.rank()).filter(|a| x.extent(*a).is(1)).collect()
        }
    };
    if removed.iter().any(|a| x.extent(*a).value().is_some_and(|e| e != 1)) {
        return Err("a dimension that is removed does not have the extent 1".into());
    }
    let shape = super::reduction::reduced_shape(&x.shape, &removed, false);
    let y = match &x.known {
        _ if removed.is_empty() => x,
        Some(known) => {
            let known = known.clone();
            c.known(x.element, shape, known)
        }
        None => {
            c.call("layout.squeeze", &[("axes", axis_list(&removed))], &[(&x).into()], (x.element, shape))
        }
    };
    c.set(0, y);
    Ok(())
}

/// Inserts dimensions of extent 1, which become these axes of the result.
pub(super) fn unsqueezed(c: &mut Call, x: &Value, added: &[usize]) -> Value {
    let mut shape = x.shape.clone();
    for at in added {
        shape.insert((*at).min(shape.len()), Extent::from(1));
    }
    if added.is_empty() {
        return x.clone();
    }
    match &x.known {
        Some(known) => c.known(x.element, shape, known.clone()),
        None => c.call("layout.unsqueeze", &[("axes", axis_list(added))], &[x.into()], (x.element, shape)),
    }
}

fn unsqueeze(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let given = given_axes(c)?.ok_or("the axes are missing")?;
    let added = axes(&given, x.rank().saturating_add(given.len()))?;
    let y = unsqueezed(c, &x, &added);
    c.set(0, y);
    Ok(())
}

/// Transposes a tensor: dimension i of the result is dimension `perm[i]` of the operand.
pub(super) fn transposed(c: &mut Call, x: &Value, perm: &[usize]) -> Value {
    let shape: Vec<Extent> = perm.iter().map(|p| x.extent(*p)).collect();
    if perm.iter().enumerate().all(|(at, p)| at == *p) {
        return x.clone();
    }
    let items = moved(x, &shape, |index| {
        let mut source = vec![0; index.len()];
        for (i, p) in index.iter().zip(perm) {
            *source.get_mut(*p)? = *i;
        }
        Some(source)
    });
    match items {
        Some(items) => c.known(x.element, shape, items),
        None => c.call("layout.transpose", &[("perm", axis_list(perm))], &[x.into()], (x.element, shape)),
    }
}

fn transpose(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let perm = match c.ints("perm") {
        Some(given) => given.iter().map(|p| axis(*p, x.rank())).collect::<Ruled<Vec<_>>>()?,
        None => (0..x.rank()).rev().collect(),
    };
    let mut sorted = perm.clone();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..x.rank()) {
        return Err("the permutation does not have each axis once".into());
    }
    let y = transposed(c, &x, &perm);
    c.set(0, y);
    Ok(())
}

/// The sum of extents along an axis; `None` if it has too many terms, so that the result needs a data-dependent extent.
fn summed(extents: impl Iterator<Item = Extent> + Clone) -> Ruled<Option<Extent>> {
    let mut known = extents.clone().filter_map(|extent| extent.value());
    known.try_fold(0i64, i64::checked_add).ok_or_else(overflow)?;
    Ok(extents.into_iter().try_fold(Extent::default(), |sum, extent| sum.plus(&extent)))
}

/// Concatenates tensors along an axis.
pub(super) fn joined(c: &mut Call, parts: Vec<Value>, at: usize) -> Ruled<Value> {
    let first = parts.first().cloned().ok_or("there is nothing to join")?;
    if parts.len() == 1 {
        return Ok(first);
    }
    let mut shape = first.shape.clone();
    for part in &parts {
        if part.rank() != first.rank() {
            return Err("the ranks of the inputs differ".into());
        }
        // The result prefers static extents to dynamic extents.
        for (axis, extent) in shape.iter_mut().enumerate() {
            let other = part.extent(axis);
            if axis != at {
                let what = format!("the extents of the inputs along dimension {axis}");
                equal(&what, extent, &other)?;
            }
            if axis != at && extent.value().is_none() && other.value().is_some() {
                *extent = other;
            }
        }
    }
    let sum = summed(parts.iter().map(|part| part.extent(at)))?;
    if let Some(extent) = shape.get_mut(at) {
        *extent = sum.unwrap_or_else(|| Call::open(c.next_id(), at));
    }
    let known: Option<Vec<_>> = parts.iter().map(|p| p.known.clone()).collect();
    if let Some(known) = known
        && first.rank() == 1
        && known.iter().map(Vec::len).sum::<usize>() <= MAX_KNOWN
    {
        return Ok(c.known(first.element, shape, known.concat()));
    }
    Ok(c.call("layout.concat", &[("axis", at.to_string())], &[Argument::Pack(parts)], (first.element, shape)))
}

/// Sets results of the same empty shape.
pub(super) fn set_empty(c: &mut Call, elements: &[ElementType], shape: &[Extent]) {
    for (output, element) in elements.iter().enumerate() {
        let y = empty(c, *element, shape);
        c.set(output, y);
    }
}

/// A tensor without elements.
pub(super) fn empty(c: &mut Call, element: ElementType, shape: &[Extent]) -> Value {
    if static_shape(shape).is_some() {
        return c.known(element, shape.to_vec(), Vec::new());
    }
    zeros(c, element, shape.to_vec())
}

/// A tensor of zeros.
pub(super) fn zeros(c: &mut Call, element: ElementType, shape: Vec<Extent>) -> Value {
    let value = match element {
        ElementType::Bool => "false",
        element if is_real(element) => "0.0",
        _ => "0",
    };
    let attributes = [("shape", extent_list(&shape)), ("value", value.to_owned())];
    c.call("onnx.fill", &attributes, &[], (element, shape))
}

/// Applies `of` to `x` with its channels in the second dimension. With `is_last`, `x` and the result have them in the last dimension.
pub(super) fn of_channels(
    c: &mut Call,
    x: &Value,
    is_last: bool,
    of: impl FnOnce(&mut Call, &Value) -> Ruled<Value>,
) -> Ruled<Value> {
    if !is_last || x.rank() < 2 {
        return of(c, x);
    }
    let spatial = 1..x.rank() - 1;
    let first: Vec<usize> = [0, x.rank() - 1].into_iter().chain(spatial).collect();
    let x = transposed(c, x, &first);
    let y = of(c, &x)?;
    let last: Vec<usize> = [0].into_iter().chain(2..y.rank()).chain([1]).collect();
    Ok(transposed(c, &y, &last))
}

/// Stacks tensors along a new dimension.
pub(super) fn stacked(c: &mut Call, parts: Vec<Value>, at: usize) -> Ruled<Value> {
    let first = parts.first().cloned().ok_or("there is nothing to join")?;
    if parts.iter().any(|p| p.rank() != first.rank() || p.element != first.element) {
        return Err("the types of the inputs differ".into());
    }
    if let [part] = parts.as_slice() {
        return Ok(unsqueezed(c, part, &[at]));
    }
    let mut shape = first.shape.clone();
    let count = i64::try_from(parts.len()).map_err(|_| overflow())?;
    shape.insert(at.min(shape.len()), Extent::from(count));
    Ok(c.call("layout.stack", &[("axis", at.to_string())], &[Argument::Pack(parts)], (first.element, shape)))
}

/// Reverses a tensor along an axis.
pub(super) fn turned(c: &mut Call, x: &Value, at: usize) -> Value {
    let attributes = [
        ("axes", axis_list(&[at])),
        ("begin", "[-1]".to_owned()),
        ("end", format!("[{}]", i64::from(i32::MIN))),
        ("stride", "[-1]".to_owned()),
    ];
    c.map("onnx.slice", &attributes, x)
}

fn concat(c: &mut Call) -> Ruled<()> {
    let parts = (0..c.inputs.len()).map(|at| c.input(at)).collect::<Ruled<Vec<_>>>()?;
    let rank = parts.first().map_or(0, |p| p.rank());
    let at = axis(c.int("axis", 1), rank)?;
    let y = joined(c, parts, at)?;
    c.set(0, y);
    Ok(())
}

/// Splits a tensor into parts of these extents along an axis.
pub(super) fn parts(c: &mut Call, x: &Value, at: usize, sizes: &[Extent]) -> Vec<Value> {
    let types = sizes.iter().map(|size| {
        let mut shape = x.shape.clone();
        if let Some(extent) = shape.get_mut(at) {
            *extent = size.clone();
        }
        (x.element, shape)
    });
    let types: Vec<Type> = types.collect();
    // Splitting a dynamic dimension into equal parts would ignore the given extents.
    let one = x.extent(at).over(&Extent::from(signed_length(sizes.len())));
    let equal = one.is_some_and(|one| sizes.iter().all(|s| *s == one));
    let how = if equal { ("count", sizes.len().to_string()) } else { ("sizes", extent_list(sizes)) };
    c.unpacked("layout.split", &[("axis", at.to_string()), how], &[x.into()], types)
}

fn split(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let at = axis(c.int("axis", 0), x.rank())?;
    let given = match c.opset >= 13 {
        true if c.optional(1).is_some() => Some(c.extents(1, "the extents of the parts")?),
        true => None,
        false => c.ints("split").map(|s| s.into_iter().map(Extent::from).collect()),
    };
    let count = signed_length(c.node.output.len());
    if c.has("num_outputs") {
        let parts = c.int("num_outputs", 0);
        if given.is_some() {
            return Err("it has both `num_outputs` and the extents of the parts".into());
        }
        if parts != count {
            return Err(Reason(format!("`num_outputs` is {parts}, but the node has {count} outputs")));
        }
    }
    let sizes = match given {
        Some(sizes) => sizes,
        None => {
            let whole = x.extent(at);
            match whole.value() {
                Some(extent) => {
                    let size = extent / count + i64::from(extent % count != 0);
                    let last = extent.saturating_sub(size.saturating_mul(count - 1));
                    if last < 0 {
                        return Err("there are more parts than elements".into());
                    }
                    let mut sizes = vec![Extent::from(size); c.node.output.len()];
                    if let Some(s) = sizes.last_mut() {
                        *s = Extent::from(last);
                    }
                    sizes
                }
                None => vec![whole.over(&Extent::from(count)).ok_or_else(overflow)?; c.node.output.len()],
            }
        }
    };
    if sizes.len() != c.node.output.len() {
        return Err("the number of extents differs from the number of outputs".into());
    }
    if let Some(size) = sizes.iter().filter_map(Extent::value).find(|size| *size < 0) {
        return Err(Reason(format!("the extent {size} of a part is negative")));
    }
    let none = Some(Extent::default());
    let sum = sizes.iter().fold(none, |sum, size| sum?.plus(size));
    let sum = sum.ok_or_else(overflow)?;
    if let (Some(sum), Some(whole)) = (sum.value(), x.extent(at).value())
        && sum != whole
    {
        return Err(Reason(format!(
            "the extents of the parts add up to {sum}, but the extent of dimension {at} is {whole}"
        )));
    }
    if x.known.is_some() && x.rank() == 1 && sizes.iter().all(|s| s.value().is_some()) {
        let mut begin = 0;
        for (output, size) in sizes.into_iter().enumerate() {
            let end = size.value().and_then(|n| usize::try_from(n).ok()).and_then(|n| n.checked_add(begin));
            let end = end.ok_or("the extents of the parts are too large")?;
            let known = x.known.as_ref().and_then(|k| k.get(begin..end));
            let known = known.ok_or("the extents of the parts are too large")?.to_vec();
            let part = c.known(x.element, vec![size], known);
            c.set(output, part);
            begin = end;
        }
        return Ok(());
    }
    for (output, part) in parts(c, &x, at, &sizes).into_iter().enumerate() {
        c.set(output, part);
    }
    Ok(())
}

/// Adds a run-time check that the extent along an axis is equal to `extent`.
pub(super) fn agreed(c: &mut Call, x: &Value, at: usize, extent: &Extent) -> Ruled<Value> {
    let actual = x.extent(at);
    if actual == *extent {
        return Ok(x.clone());
    }
    if let (Some(a), Some(b)) = (actual.value(), extent.value()) {
        return Err(Reason(format!(
            "dimension {at} of an operand has the extent {a}, and another operand has {b}"
        )));
    }
    let mut shape = x.shape.clone();
    if let Some(dimension) = shape.get_mut(at) {
        dimension.clone_from(extent);
    }
    let attributes = [("axis", at.to_string()), ("extent", marked(extent))];
    Ok(c.call("onnx.agreed", &attributes, &[x.into()], (x.element, shape)))
}

/// Broadcasts a tensor to a shape.
pub(super) fn expanded(c: &mut Call, x: &Value, shape: Vec<Extent>) -> Value {
    if shape == x.shape {
        return x.clone();
    }
    let skipped = shape.len().saturating_sub(x.rank());
    let from = x.shape.clone();
    let items = moved(x, &shape, |index| {
        let index = index.get(skipped..)?.iter().zip(&from);
        Some(index.map(|(i, extent)| if extent.is(1) { 0 } else { *i }).collect())
    });
    if let Some(items) = items {
        return c.known(x.element, shape, items);
    }
    // The library's operator requires positive extents.
    let is_positive = |extent: &Extent| extent.value().is_some_and(|extent| extent > 0);
    let fits = skipped == 0 && shape.iter().all(is_positive);
    let operator = if fits { "layout.broadcast" } else { "onnx.expand" };
    c.call(operator, &[("shape", extent_list(&shape))], &[x.into()], (x.element, shape))
}

fn expand(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let target = c.extents(1, "the shape")?;
    let rank = x.rank().max(target.len());
    let [extents, target] = [&x.shape, &target].map(|shape| {
        let ones = vec![Extent::from(1); rank - shape.len()];
        [ones, shape.clone()].concat()
    });
    let pairs = extents.iter().zip(&target);
    let shape = pairs.clone().map(|(a, b)| repeated(c, a, b));
    let shape = shape.collect::<Ruled<Vec<_>>>()?;
    let y = if pairs.clone().all(|(a, b)| a.is(1) || b.is(1) || a == b) {
        expanded(c, &x, shape)
    } else {
        let attributes = [("shape", extent_list(&shape)), ("target", extent_list(&target))];
        c.call("onnx.expand", &attributes, &[(&x).into()], (x.element, shape))
    };
    c.set(0, y);
    Ok(())
}

/// The extent that results from broadcasting two dimensions. Calls fail unless the extents are equal or one of them is 1.
fn repeated(c: &Call, extent: &Extent, target: &Extent) -> Ruled<Extent> {
    let (one, bounds) = (Extent::from(1), &c.importer.bounds);
    match (extent.value(), target.value()) {
        (Some(1), _) => return Ok(target.clone()),
        (_, Some(1)) => return Ok(extent.clone()),
        (Some(a), Some(b)) if a != b => {
            return Err(Reason(format!("the extent {a} of a dimension cannot be broadcast to {b}")));
        }
        (Some(_), _) => return Ok(extent.clone()),
        (_, Some(_)) => return Ok(target.clone()),
        _ => {}
    }
    // `x[0:1]` is broadcast to the extent of x.
    let firsts = [one.smaller(target, bounds), target.smaller(&one, bounds)];
    if extent == target || firsts.iter().flatten().any(|first| first == extent) {
        return Ok(target.clone());
    }
    // The larger extent, or 0 if one of the extents is 0.
    let larger = extent.larger(target, bounds).ok_or_else(overflow)?;
    let product = extent.times(target).ok_or_else(overflow)?;
    larger.smaller(&product, bounds).ok_or_else(overflow)
}

fn tile(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let repeats = c.extents(1, "the numbers of repetitions")?;
    if repeats.len() != x.rank() {
        return Err("the number of repetitions differs from the rank of the input".into());
    }
    if let Some(negative) = repeats.iter().filter_map(Extent::value).find(|r| *r < 0) {
        return Err(Reason(format!("the number of repetitions {negative} is negative")));
    }
    if repeats.iter().all(|r| r.is(1)) {
        c.set(0, x);
        return Ok(());
    }
    let shape = x.shape.iter().zip(&repeats).map(|(e, r)| e.times(r).ok_or_else(overflow));
    let shape = shape.collect::<Ruled<Vec<_>>>()?;
    if repeats.iter().any(|r| r.is(0)) {
        set_empty(c, &[x.element], &shape);
        return Ok(());
    }
    let y = c.call("layout.tile", &[("repeats", extent_list(&repeats))], &[(&x).into()], (x.element, shape));
    c.set(0, y);
    Ok(())
}

fn blocks(c: &mut Call, to_space: bool) -> Ruled<()> {
    let x = c.input(0)?;
    let [n, d, h, w] = x.shape.as_slice() else {
        return Err("the input must have rank 4".into());
    };
    let size = c.int("blocksize", 1);
    let block = Extent::from(size);
    let area = block.times(&block).ok_or_else(overflow)?;
    let scaled = |extent: &Extent, by: &Extent, grows: bool| {
        let scaled = if grows { extent.times(by) } else { extent.over(by) };
        scaled.ok_or_else(overflow)
    };
    let shape = vec![
        n.clone(),
        scaled(d, &area, !to_space)?,
        scaled(h, &block, to_space)?,
        scaled(w, &block, to_space)?,
    ];
    let mut attributes = vec![("block_size", list(&[size, size]))];
    match c.string("mode", "DCR").as_str() {
        "DCR" => {}
        "CRD" => attributes.push(("blocks_first", "false".to_owned())),
        other => return Err(Reason(format!("the mode {other:?} is unknown"))),
    }
    let operator = if to_space { "layout.depth_to_space" } else { "layout.space_to_depth" };
    let y = c.call(operator, &attributes, &[(&x).into()], (x.element, shape));
    c.set(0, y);
    Ok(())
}

fn trilu(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let diagonal = match c.optional(1) {
        Some(_) => *c.numbers(1, "the diagonal")?.first().ok_or("the diagonal is missing")?,
        None => 0,
    };
    let diagonal = diagonal.clamp(-(1 << 40), 1 << 40);
    let mut attributes = vec![("upper", c.flag("upper", true).to_string())];
    if diagonal != 0 {
        attributes.push(("diagonal", diagonal.to_string()));
    }
    let y = c.map("onnx.trilu", &attributes, &x);
    c.set(0, y);
    Ok(())
}

fn reverse_sequence(c: &mut Call) -> Ruled<()> {
    let (x, lengths) = (c.input(0)?, c.input(1)?);
    let batch = axis(c.int("batch_axis", 1), x.rank())?;
    let time = axis(c.int("time_axis", 0), x.rank())?;
    if batch == time || batch > 1 || time > 1 {
        return Err("`batch_axis` and `time_axis` are not 0 and 1, or 1 and 0".into());
    }
    let attributes = [("batch", batch.to_string()), ("time", time.to_string())];
    let arguments = [(&x).into(), (&lengths).into()];
    let y = c.call("onnx.reverse_sequence", &attributes, &arguments, (x.element, x.shape.clone()));
    c.set(0, y);
    Ok(())
}

/// Dropout is the identity in inference; training is refused.
fn dropout(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let ratio = c.optional(1).and_then(|r| r.reals()).and_then(|r| r.first().copied());
    let training = match c.optional(2) {
        Some(_) => c.numbers(2, "whether it trains")?.first().is_some_and(|t| *t != 0),
        None => false,
    };
    if training && c.optional(1).is_some() && ratio.is_none() {
        c.reals(1, "the ratio of training")?;
    }
    if training && ratio != Some(0.0) {
        return Err("training is not supported: the values would be random".into());
    }
    if c.wants(1) {
        let attributes = [("shape", extent_list(&x.shape)), ("value", "true".to_owned())];
        let mask = c.call("onnx.fill", &attributes, &[], (ElementType::Bool, x.shape.clone()));
        c.set(1, mask);
    }
    c.set(0, x);
    Ok(())
}
