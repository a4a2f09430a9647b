// SPDX-License-Identifier: Apache-2.0
//! Gathers and scatters: elements at positions that are elements of other tensors.

use skript_tensor::ElementType;

use super::{Operator, operator};
use crate::call::{Call, axis};
use crate::evaluate::moved;
use crate::extent::Extent;
use crate::refusal::{Reason, Ruled};
use crate::statement::{Argument, marked};
use crate::value::{Item, Value, signed_length};

pub const OPERATORS: &[Operator] = &[
    operator("Gather", "`layout.gather`, `onnx.gather`", gather),
    operator("GatherElements", "`onnx.gather_elements`", gather_elements),
    operator("GatherND", "`onnx.from_end`, `layout.gather_nd`", gather_nd),
    operator("Scatter", "`onnx.scatter_elements`", scatter_elements),
    operator("ScatterElements", "`onnx.scatter_elements`, `onnx.scatter_elements_add`, …", scatter_elements),
    operator("ScatterND", "`onnx.scatter_nd`, `onnx.scatter_nd_add`, …", scatter_nd),
    operator("OneHot", "`onnx.one_hot`", one_hot),
    operator("Compress", "`onnx.kept`, `layout.gather`", compress),
    operator("NonZero", "`layout.nonzero`", non_zero),
    operator("TopK", "`algo.top_k`, `onnx.top_k`, `onnx.top_k_of_enough`", top_k),
    operator("NonMaxSuppression", "`algo.nonmax_suppress`", suppress),
];

/// Normalizes negative indices, which count from the end, if the indices are known.
fn from_zero(c: &mut Call, indices: &Value, extent: &Extent) -> Ruled<Option<Value>> {
    let Some(known) = &indices.known else {
        return Ok(None);
    };
    let mut items = Vec::new();
    for item in known {
        let Item::Int(at) = item else {
            return Err("the indices are not ints".into());
        };
        let at = match at.value() {
            Some(v) if v < 0 => extent.plus(at).ok_or_else(crate::refusal::overflow)?,
            _ => at.clone(),
        };
        if let (Some(a), Some(e)) = (at.value(), extent.value())
            && !(0..e).contains(&a)
        {
            return Err(Reason(format!("the index {a} is outside of the extent {e}")));
        }
        items.push(Item::Int(at));
    }
    if items == *known {
        return Ok(Some(indices.clone()));
    }
    Ok(Some(c.known(indices.element, indices.shape.clone(), items)))
}

fn gather(c: &mut Call) -> Ruled<()> {
    let (x, indices) = (c.input(0)?, c.input(1)?);
    let at = axis(c.int("axis", 0), x.rank())?;
    let (before, from_axis) = x.shape.split_at_checked(at).unwrap_or((&x.shape, &[]));
    let after = from_axis.iter().skip(1).cloned();
    let shape: Vec<Extent> = before.iter().chain(&indices.shape).cloned().chain(after).collect();
    let known = from_zero(c, &indices, &x.extent(at))?;
    if let Some(known) = &known
        && let Some(numbers) = known.numbers()
    {
        let inner = crate::evaluate::static_shape(&known.shape);
        let inner = inner.ok_or("internal compiler error: known indices have dynamic extents")?;
        let items = moved(&x, &shape, |index| {
            let middle = index.get(at..at + inner.len())?;
            let offset = middle.iter().zip(&inner).fold(0, |offset, (i, e)| offset * e + i);
            let picked = usize::try_from(*numbers.get(offset)?).ok()?;
            Some([index.get(..at)?, &[picked], index.get(at + inner.len()..)?].concat())
        });
        if let Some(items) = items {
            let y = c.known(x.element, shape, items);
            c.set(0, y);
            return Ok(());
        }
    }
    let (operator, indices) = match known {
        Some(known) => ("layout.gather", known),
        None => ("onnx.gather", indices),
    };
    let y =
        c.call(operator, &[("axis", at.to_string())], &[(&x).into(), (&indices).into()], (x.element, shape));
    c.set(0, y);
    Ok(())
}

/// Refuses indices whose static extents exceed those of the data along dimensions other than the indexed one.
fn fit(x: &Value, indices: &Value, at: usize) -> Ruled<()> {
    if indices.rank() != x.rank() {
        return Err(Reason(format!(
            "the data has {} dimensions, but the indices have {}",
            x.rank(),
            indices.rank()
        )));
    }
    let pairs = x.shape.iter().zip(&indices.shape).enumerate();
    for (axis, (extent, count)) in pairs.filter(|(axis, _)| *axis != at) {
        if let (Some(extent), Some(count)) = (extent.value(), count.value())
            && count > extent
        {
            return Err(Reason(format!(
                "dimension {axis} of the indices has the extent {count}, but that of the data is {extent}"
            )));
        }
    }
    Ok(())
}

fn gather_elements(c: &mut Call) -> Ruled<()> {
    let (x, indices) = (c.input(0)?, c.input(1)?);
    let at = axis(c.int("axis", 0), x.rank())?;
    fit(&x, &indices, at)?;
    let attributes = [("axis", at.to_string())];
    let shape = indices.shape.clone();
    let y =
        c.call("onnx.gather_elements", &attributes, &[(&x).into(), (&indices).into()], (x.element, shape));
    c.set(0, y);
    Ok(())
}

/// Normalizes index tuples: their negative items count from the end of the dimensions of the data, which begin with dimension
/// `batch`. Returns the tuples and their length.
fn tuples(c: &mut Call, x: &Value, indices: &Value, batch: usize) -> Ruled<(Value, usize)> {
    let length = indices.shape.last().and_then(Extent::value).and_then(|n| usize::try_from(n).ok());
    let length = length
        .filter(|n| batch + n <= x.rank())
        .ok_or("the last dimension of the indices is not static or exceeds the rank of the data")?;
    let extents: Vec<String> = x.shape.iter().skip(batch).take(length).map(marked).collect();
    if indices.numbers().is_some_and(|n| n.iter().all(|i| *i >= 0)) {
        return Ok((indices.clone(), length));
    }
    let attributes = [("extents", format!("[{}]", extents.join(", ")))];
    Ok((c.map("onnx.from_end", &attributes, indices), length))
}

fn gather_nd(c: &mut Call) -> Ruled<()> {
    let (x, indices) = (c.input(0)?, c.input(1)?);
    let batch = usize::try_from(c.int("batch_dims", 0))
        .ok()
        .filter(|batch| *batch < indices.rank() && *batch <= x.rank())
        .ok_or("`batch_dims` does not match the ranks of the operands")?;
    let (indices, length) = tuples(c, &x, &indices, batch)?;
    let outer = indices.shape.iter().take(indices.rank().saturating_sub(1));
    let shape = outer.chain(x.shape.iter().skip(batch + length)).cloned().collect();
    let mut attributes = Vec::new();
    if batch > 0 {
        attributes.push(("batch_dims", batch.to_string()));
    }
    let y = c.call("layout.gather_nd", &attributes, &[(&x).into(), (&indices).into()], (x.element, shape));
    c.set(0, y);
    Ok(())
}

/// The operator that combines data and updates by the `reduction` of the node.
fn combined(c: &Call, plain: &str) -> Ruled<String> {
    Ok(match c.string("reduction", "none").as_str() {
        "none" => plain.to_owned(),
        how @ ("add" | "mul" | "max" | "min") => format!("{plain}_{how}"),
        other => return Err(Reason(format!("the reduction {other:?} is unknown"))),
    })
}

fn scatter_elements(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let at = axis(c.int("axis", 0), x.rank())?;
    let indices = c.input(1)?;
    fit(&x, &indices, at)?;
    scattered(c, "onnx.scatter_elements", &[("axis", at.to_string())], &indices)
}

fn scatter_nd(c: &mut Call) -> Ruled<()> {
    let (x, indices) = (c.input(0)?, c.input(1)?);
    let (indices, _) = tuples(c, &x, &indices, 0)?;
    scattered(c, "onnx.scatter_nd", &[], &indices)
}

/// Adds a scatter of updates.
fn scattered(c: &mut Call, plain: &str, attributes: &[(&str, String)], indices: &Value) -> Ruled<()> {
    let (x, updates) = (c.input(0)?, c.input(2)?);
    let operator = combined(c, plain)?;
    let combines = operator != plain;
    if combines && x.is_bool() {
        return Err("combining bools is not supported".into());
    }
    if combines {
        c.no_u64()?;
    }
    let arguments = [(&x).into(), indices.into(), (&updates).into()];
    let y = c.call(&operator, attributes, &arguments, (x.element, x.shape.clone()));
    let y = if combines { c.wrapped(y) } else { y };
    c.set(0, y);
    Ok(())
}

fn one_hot(c: &mut Call) -> Ruled<()> {
    let (mut indices, values) = (c.input(0)?, c.input(2)?);
    let depth = c.extents(1, "the depth").or_else(|_| {
        let depth = c.reals(1, "the depth")?.first().copied();
        let depth = depth.ok_or("the depth is missing")?;
        #[expect(clippy::cast_possible_truncation, reason = "saturates")]
        let depth = depth as i64;
        Ok::<_, Reason>(vec![Extent::from(depth)])
    })?;
    let depth = depth.first().cloned().ok_or("the depth is missing")?;
    if indices.is_real() {
        indices =
            c.call("layout.cast<int>", &[], &[(&indices).into()], (ElementType::I64, indices.shape.clone()));
    }
    let at = axis(c.int("axis", -1), indices.rank() + 1)?;
    let mut shape = indices.shape.clone();
    shape.insert(at.min(shape.len()), depth.clone());
    let attributes = [("axis", at.to_string()), ("depth", marked(&depth))];
    let y =
        c.call("onnx.one_hot", &attributes, &[(&indices).into(), (&values).into()], (values.element, shape));
    c.set(0, y);
    Ok(())
}

fn compress(c: &mut Call) -> Ruled<()> {
    let (mut x, condition) = (c.input(0)?, c.input(1)?);
    let at = if c.has("axis") {
        axis(c.int("axis", 0), x.rank())?
    } else {
        let volume = crate::call::product(&x.shape)?;
        x = super::movement::reshaped(c, &x, vec![volume]);
        0
    };
    if let (Some(flags), Some(extent)) = (c.numbers_of(&condition), x.extent(at).value()) {
        let kept = flags.iter().zip(0..extent).filter(|(flag, _)| **flag != 0).map(|(_, i)| Extent::from(i));
        let kept = kept.collect::<Vec<_>>();
        let mut shape = x.shape.clone();
        if let Some(extent) = shape.get_mut(at) {
            *extent = Extent::from(signed_length(kept.len()));
        }
        let indices = c.known_extents(kept);
        let y = c.call(
            "layout.gather",
            &[("axis", at.to_string())],
            &[(&x).into(), (&indices).into()],
            (x.element, shape),
        );
        c.set(0, y);
        return Ok(());
    }
    let count = Call::open(c.next_id(), 0);
    let indices = c.call(
        "onnx.kept",
        &[("extent", marked(&x.extent(at)))],
        &[(&condition).into()],
        (ElementType::I64, vec![count]),
    );
    let mut shape = x.shape.clone();
    if let Some(extent) = shape.get_mut(at) {
        *extent = indices.extent(0);
    }
    let y = c.call(
        "layout.gather",
        &[("axis", at.to_string())],
        &[(&x).into(), (&indices).into()],
        (x.element, shape),
    );
    c.set(0, y);
    Ok(())
}

fn non_zero(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let rank = Extent::from(signed_length(x.rank()));
    let id = c.next_id();
    let y = c.call("layout.nonzero", &[], &[(&x).into()], (ElementType::I64, vec![rank, Call::open(id, 1)]));
    c.set(0, y);
    Ok(())
}

fn top_k(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let k = if c.opset >= 10 {
        c.extents(1, "k")?.first().cloned().ok_or("k is missing")?
    } else {
        Extent::from(c.int("k", 0))
    };
    let at = axis(c.int("axis", -1), x.rank())?;
    let mut shape = x.shape.clone();
    if let (Some(e), Some(n)) = (x.extent(at).value(), k.value())
        && n > e
    {
        return Err(Reason(format!("k is {n}, but the axis has only {e} elements")));
    }
    if k.is(0) {
        if let Some(extent) = shape.get_mut(at) {
            *extent = k;
        }
        super::movement::set_empty(c, &[x.element, ElementType::I64], &shape);
        return Ok(());
    }
    let missing = k.minus(&x.extent(at)).ok_or_else(crate::refusal::overflow)?;
    let is_enough = missing.range(&c.importer.bounds).1.is_some_and(|max| max <= 0);
    let operator = match (is_enough, x.is_real()) {
        (false, _) => "onnx.top_k_of_enough",
        (true, true) => "algo.top_k",
        (true, false) => "onnx.top_k",
    };
    if let Some(extent) = shape.get_mut(at) {
        *extent = k.clone();
    }
    let mut attributes = vec![("k", marked(&k)), ("axis", at.to_string())];
    if !c.flag("largest", true) {
        attributes.push(("largest", "false".to_owned()));
    }
    let keys = c.ordered(&x);
    let types = vec![(keys.element, shape.clone()), (ElementType::I64, shape)];
    let arguments: [Argument; 1] = [(&keys).into()];
    let results = c.calls(operator, &attributes, &arguments, types);
    let [values, indices] = results.as_slice() else {
        return Err("internal compiler error: top_k does not have two results".into());
    };
    let values = c.unordered(values.clone(), x.element);
    c.set(0, values);
    c.set(1, indices.clone());
    Ok(())
}

/// Among equal scores, ONNX selects the first box and the library the last box, so the boxes are reversed.
fn suppress(c: &mut Call) -> Ruled<()> {
    let (boxes, scores) = (c.real(0)?, c.real(1)?);
    if boxes.rank() != 3 || scores.rank() != 3 {
        return Err("the boxes and the scores must have rank 3".into());
    }
    let max_boxes = match c.optional(2) {
        Some(_) => *c.numbers(2, "the number of boxes")?.first().ok_or("the number of boxes is missing")?,
        None => 0,
    };
    if max_boxes <= 0 {
        let y = c.known(ElementType::I64, vec![Extent::from(0), Extent::from(3)], Vec::new());
        c.set(0, y);
        return Ok(());
    }
    let number = |c: &Call, at: usize, what: &str| -> Ruled<Option<f64>> {
        match c.optional(at) {
            Some(_) => Ok(c.reals(at, what)?.first().copied()),
            None => Ok(None),
        }
    };
    let overlap = number(c, 3, "the threshold of overlaps")?.unwrap_or(0.0);
    let format = if c.flag("center_point_box", false) { "'CENTER'" } else { "'CORNERS'" };
    let count = boxes.extent(1);
    let mut attributes = vec![
        ("box_format", format.to_owned()),
        ("max_outputs_per_class", max_boxes.to_string()),
        ("iou_threshold", crate::literals::real_text(ElementType::F32, overlap)),
    ];
    if let Some(threshold) = number(c, 4, "the threshold of scores")? {
        attributes.push(("score_threshold", crate::literals::real_text(ElementType::F32, threshold)));
    }
    let boxes = super::movement::turned(c, &boxes, 1);
    let scores = super::movement::turned(c, &scores, 2);
    let id = c.next_id();
    let selected = c.call(
        "algo.nonmax_suppress",
        &attributes,
        &[(&boxes).into(), (&scores).into()],
        (ElementType::I64, vec![Call::open(id, 0), Extent::from(3)]),
    );
    let y = c.map("onnx.mirrored_boxes", &[("count", marked(&count))], &selected);
    c.set(0, y);
    Ok(())
}
