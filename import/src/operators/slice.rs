// SPDX-License-Identifier: Apache-2.0
//! Slices and padding.

use super::dynamic_slice::{self, Ends};
use super::{Operator, operator};
use crate::call::{Call, axis, fixed};
use crate::dependence::unknown;
use crate::evaluate::moved;
use crate::extent::Extent;
use crate::literals::{axis_list, extent_list, list};
use crate::refusal::{Reason, Ruled, overflow};
use crate::statement::Argument;
use crate::value::{Value, signed_length};

pub const OPERATORS: &[Operator] = &[
    operator("Slice", "`layout.slice`, `onnx.slice`", slice),
    operator("Pad", "`layout.pad`, `onnx.pad_wrap`", pad),
    operator("CenterCropPad", "`layout.slice`, `layout.pad`", center),
];

/// One axis of a slice.
struct Cut {
    axis: usize,
    begin: Extent,
    end: Extent,
    step: i64,
    /// The number of elements.
    count: Extent,
    /// Whether begin and end are in bounds and in order, so that they are not clamped.
    inside: bool,
}

fn slice(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let ints = |name: &str| c.ints(name).map(|l| l.into_iter().map(Extent::from).collect::<Vec<_>>());
    if c.opset >= 10 && (c.input(1)?.extents().is_none() || c.input(2)?.extents().is_none()) {
        return slice_by_data(c, &x);
    }
    let (starts, ends, given, steps) = if c.opset >= 10 {
        (
            c.extents(1, "the begin of the slice")?,
            c.extents(2, "the end of the slice")?,
            c.optional(3).map(|_| c.numbers(3, "the axes")).transpose()?,
            c.optional(4).map(|_| c.numbers(4, "the steps")).transpose()?,
        )
    } else {
        let (starts, ends) = ints("starts").zip(ints("ends")).ok_or("the begin or the end is missing")?;
        (starts, ends, c.ints("axes"), None)
    };
    let given = given.unwrap_or_else(|| (0..signed_length(starts.len())).collect());
    let steps = steps.unwrap_or_else(|| vec![1; starts.len()]);
    if ends.len() != starts.len() || given.len() != starts.len() || steps.len() != starts.len() {
        return Err("its lists have different lengths".into());
    }
    let mut cuts = Vec::new();
    for (((begin, end), at), step) in starts.into_iter().zip(ends).zip(&given).zip(&steps) {
        let at = axis(*at, x.rank())?;
        let cut = cut(c, at, &x.extent(at), begin, end, *step)?;
        let whole = cut.step == 1 && cut.begin.is(0) && cut.count == x.extent(at);
        if !whole {
            cuts.push(cut);
        }
    }
    let y = sliced(c, &x, cuts)?;
    c.set(0, y);
    Ok(())
}

/// Adds a slice whose begins and ends are elements of computed tensors.
fn slice_by_data(c: &mut Call, x: &Value) -> Ruled<()> {
    let (begin, end) = (c.input(1)?, c.input(2)?);
    let count = begin.extent(0).value().filter(|_| begin.rank() == 1);
    let count = count.ok_or_else(|| unknown(c.importer, "the number of axes", &begin))?;
    let given = c.optional(3).map(|_| c.numbers(3, "the axes")).transpose()?;
    let given = given.unwrap_or_else(|| (0..count).collect());
    let steps = c.optional(4).map(|_| c.numbers(4, "the steps")).transpose()?;
    let steps = steps.unwrap_or_else(|| vec![1; given.len()]);
    let fits = end.rank() == 1 && end.extent(0).is(count);
    if !fits || i64::try_from(given.len()) != Ok(count) || steps.len() != given.len() {
        return Err("its lists have different lengths".into());
    }
    if steps.contains(&0) {
        return Err("a step is zero".into());
    }
    let axes = given.iter().map(|at| axis(*at, x.rank()));
    let axes = axes.collect::<Ruled<Vec<_>>>()?;
    let ends = Ends { begin, end, axes, steps };
    let y = dynamic_slice::sliced(c, x, &ends)?;
    c.set(0, y);
    Ok(())
}

fn sliced(c: &mut Call, x: &Value, cuts: Vec<Cut>) -> Ruled<Value> {
    if cuts.is_empty() {
        return Ok(x.clone());
    }
    let mut shape = x.shape.clone();
    for cut in &cuts {
        if let Some(extent) = shape.get_mut(cut.axis) {
            extent.clone_from(&cut.count);
        }
    }
    let items = moved(x, &shape, |index| {
        let mut source = index.to_vec();
        for cut in &cuts {
            let at = source.get_mut(cut.axis)?;
            let from = cut.begin.value()?.checked_add(cut.step.checked_mul(i64::try_from(*at).ok()?)?)?;
            *at = usize::try_from(from).ok()?;
        }
        Some(source)
    });
    if let Some(items) = items {
        return Ok(c.known(x.element, shape, items));
    }
    let texts = |field: fn(&Cut) -> &Extent| {
        extent_list(&cuts.iter().map(|cut| field(cut).clone()).collect::<Vec<_>>())
    };
    let mut attributes = Vec::new();
    let on: Vec<usize> = cuts.iter().map(|cut| cut.axis).collect();
    attributes.push(("axes", axis_list(&on)));
    attributes.push(("begin", texts(|cut| &cut.begin)));
    attributes.push(("end", texts(|cut| &cut.end)));
    if cuts.iter().any(|cut| cut.step != 1) {
        attributes.push(("stride", list(&cuts.iter().map(|cut| cut.step).collect::<Vec<_>>())));
    }
    let inside = cuts.iter().all(|cut| cut.inside);
    let operator = if inside { "layout.slice" } else { "onnx.slice" };
    Ok(c.call(operator, &attributes, &[x.into()], (x.element, shape)))
}

/// Normalizes a position that may count from the end, and clamps it to `low..=high`.
fn limited(c: &Call, at: &Extent, extent: &Extent, low: i64, high: &Extent) -> Ruled<Extent> {
    let bounds = &c.importer.bounds;
    let front = match at.range(bounds) {
        (Some(low), _) if low >= 0 => at.clone(),
        (_, Some(high)) if high < 0 => extent.plus(at).ok_or_else(overflow)?,
        _ => {
            // 1 for positions that count from the end, 0 for others.
            let opposite = Extent::from(0).minus(at);
            let opposite = opposite.and_then(|opposite| opposite.larger(&Extent::from(0), bounds));
            let counts = opposite.and_then(|opposite| opposite.smaller(&Extent::from(1), bounds));
            let shift = counts.and_then(|counts| extent.times(&counts));
            let front = shift.and_then(|shift| at.plus(&shift));
            front.ok_or_else(overflow)?
        }
    };
    let raised = front.larger(&Extent::from(low), bounds).ok_or_else(overflow)?;
    raised.smaller(high, bounds).ok_or_else(overflow)
}

fn cut(c: &Call, axis: usize, extent: &Extent, begin: Extent, end: Extent, step: i64) -> Ruled<Cut> {
    if step == 0 {
        return Err("a step is zero".into());
    }
    let step = step.clamp(-(1 << 62), 1 << 62);
    if let (Some(d), Some(b), Some(e)) = (extent.value(), begin.value(), end.value()) {
        let from_zero = |at: i64| if at < 0 { at.saturating_add(d) } else { at };
        let (low, high) = if step > 0 { (0, d) } else { (-1, d - 1) };
        let (b, e) = (from_zero(b).clamp(low, high), from_zero(e).clamp(low, high));
        let length = if step > 0 { e - b } else { b - e }.max(0);
        let size = step.saturating_abs();
        let count = length / size + i64::from(length % size != 0);
        if count == 0 {
            let zero = || Extent::from(0);
            return Ok(Cut { axis, begin: zero(), end: zero(), step: 1, count: zero(), inside: true });
        }
        // In the library, a negative end counts from the end.
        let e = if e < 0 { -1 - d } else { e };
        return Ok(Cut {
            axis,
            begin: Extent::from(b),
            end: Extent::from(e),
            step,
            count: Extent::from(count),
            inside: true,
        });
    }
    // Numbers that are larger than any extent mean the end.
    let far = i64::from(i32::MAX);
    let near = |at: Extent| match at.value() {
        Some(v) => Extent::from(v.clamp(-far, far)),
        None => at,
    };
    let (begin, end) = (near(begin), near(end));
    let last = extent.minus(&Extent::from(1)).ok_or_else(overflow)?;
    let bounds = &c.importer.bounds;
    let zero = Extent::from(0);
    let (from, to) = if step > 0 {
        let to = if end.is(far) { extent.clone() } else { limited(c, &end, extent, 0, extent)? };
        (limited(c, &begin, extent, 0, extent)?, to)
    } else {
        let from = if begin.is(far) { last.clone() } else { limited(c, &begin, extent, 0, &last)? };
        let to = if end.is(-far) { Extent::from(-1) } else { limited(c, &end, extent, -1, &last)? };
        (from, to)
    };
    let length = if step > 0 { to.minus(&from) } else { from.minus(&to) };
    let size = step.saturating_abs();
    let count = length.and_then(|length| {
        let length = length.larger(&zero, bounds)?;
        match size {
            1 => Some(length),
            size => length.plus(&Extent::from(size - 1))?.over(&Extent::from(size)),
        }
    });
    let count = count.ok_or_else(overflow)?;
    // Positions that are not clamped keep the form that they have in the model.
    let is_unclamped = |at: &Extent, limited: &Extent| {
        at == limited || extent.plus(at).as_ref() == Some(limited) || at.is(far) && limited == extent
    };
    let in_order = to.minus(&from).is_some_and(|length| length.is_natural(bounds));
    let inside = step > 0 && in_order && is_unclamped(&begin, &from) && is_unclamped(&end, &to);
    let end = if inside && end.is(far) { extent.clone() } else { end };
    Ok(Cut { axis, begin, end, step, count, inside })
}

fn pad(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let (amounts, on) = if c.opset >= 11 {
        let on = c.optional(3).map(|_| c.numbers(3, "the axes")).transpose()?;
        (c.extents(1, "the padding")?, on)
    } else {
        let amounts = c.ints("pads").or_else(|| c.ints("paddings")).ok_or("the padding is missing")?;
        (amounts.into_iter().map(Extent::from).collect(), None)
    };
    let on = match on {
        Some(on) => on.iter().map(|a| axis(*a, x.rank())).collect::<Ruled<Vec<_>>>()?,
        None => (0..x.rank()).collect(),
    };
    let value = if c.opset >= 11 {
        c.optional(2).map(|v| match v.known.as_deref() {
            Some([item]) => {
                let item = item.clone();
                let scalar = c.known(x.element, Vec::new(), vec![item]);
                Argument::from(&scalar)
            }
            _ => Argument::from(&v),
        })
    } else {
        c.has("value").then(|| Argument::Number(crate::literals::float_text(c.float("value", 0.0))))
    };
    let mode = c.string("mode", "constant");
    let (before, after) = amounts.split_at_checked(on.len()).ok_or("the padding is too short")?;
    if after.len() != on.len() {
        return Err("the padding must have two numbers for each axis".into());
    }
    // Negative amounts crop.
    let mut cuts = Vec::new();
    let mut padded = Vec::new();
    for ((at, b), a) in on.iter().zip(before).zip(after) {
        let is_negative = |e: &Extent| e.value().is_some_and(|value| value < 0);
        let positive = |e: &Extent| {
            if is_negative(e) { Extent::from(0) } else { e.clone() }
        };
        if is_negative(b) || is_negative(a) {
            cuts.push(removed(c, *at, &x.extent(*at), (b, a))?);
        }
        padded.push((*at, positive(b), positive(a)));
    }
    let x = sliced(c, &x, cuts)?;
    padded.retain(|(_, b, a)| !b.is(0) || !a.is(0));
    if padded.is_empty() {
        c.set(0, x);
        return Ok(());
    }
    let mut shape = x.shape.clone();
    for (at, b, a) in &padded {
        if let Some(extent) = shape.get_mut(*at) {
            *extent = extent.plus(b).and_then(|e| e.plus(a)).ok_or_else(overflow)?;
        }
    }
    let amounts: Vec<Extent> =
        padded.iter().map(|(_, b, _)| b).chain(padded.iter().map(|(_, _, a)| a)).cloned().collect();
    let on: Vec<usize> = padded.iter().map(|(at, _, _)| *at).collect();
    let mut attributes = vec![("axes", axis_list(&on)), ("padding", extent_list(&amounts))];
    let (operator, arguments) = match mode.as_str() {
        "constant" => ("layout.pad", vec![Argument::from(&x), value.unwrap_or(Argument::Absent)]),
        "reflect" | "edge" => {
            let method = if mode == "edge" { "'REPLICATE'" } else { "'REFLECT'" };
            attributes.push(("method", method.to_owned()));
            ("layout.pad", vec![Argument::from(&x)])
        }
        "wrap" => ("onnx.pad_wrap", vec![Argument::from(&x)]),
        other => return Err(Reason(format!("the mode {other:?} is not supported"))),
    };
    let y = c.call(operator, &attributes, &arguments, (x.element, shape));
    c.set(0, y);
    Ok(())
}

/// Crops an axis by negative amounts of padding.
fn removed(c: &Call, axis: usize, extent: &Extent, (before, after): (&Extent, &Extent)) -> Ruled<Cut> {
    let amount = |e: &Extent| e.value().ok_or("amounts with different signs are not supported");
    let (before, after) = (amount(before)?, amount(after)?);
    let (first, last) = (before.min(0).saturating_neg(), after.min(0));
    let Some(e) = extent.value() else {
        if before > 0 || after > 0 {
            return Err("amounts with different signs are not supported for a dynamic dimension".into());
        }
        let count = extent.plus(&Extent::from(last.saturating_sub(first)));
        // Calls fail if the dimension is shorter.
        return Ok(Cut {
            axis,
            begin: Extent::from(first),
            end: if last < 0 { Extent::from(last) } else { extent.clone() },
            step: 1,
            count: count.ok_or_else(overflow)?,
            inside: true,
        });
    };
    if e.saturating_add(last) < first {
        return Err("negative amounts remove more elements than the dimension has".into());
    }
    let (first, last) = (Extent::from(first), Extent::from(e.saturating_add(last)));
    cut(c, axis, extent, first, last, 1)
}

fn center(c: &mut Call) -> Ruled<()> {
    let mut x = c.input(0)?;
    let target = c.numbers(1, "the shape")?;
    let on = match c.ints("axes") {
        Some(given) => given.iter().map(|a| axis(*a, x.rank())).collect::<Ruled<Vec<_>>>()?,
        None => (0..x.rank()).collect(),
    };
    if target.len() != on.len() {
        return Err(Reason(format!(
            "the shape has {} extents, but there are {} axes",
            target.len(),
            on.len()
        )));
    }
    let (mut cuts, mut on_padded, mut before, mut after) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut shape = x.shape.clone();
    for (at, wanted) in on.into_iter().zip(target) {
        let extent = fixed("a dimension that is cropped or padded", &x.extent(at))?;
        if wanted < extent {
            let begin = (extent - wanted) / 2;
            cuts.push(cut(
                c,
                at,
                &Extent::from(extent),
                Extent::from(begin),
                Extent::from(begin + wanted),
                1,
            )?);
        } else if wanted > extent {
            let begin = (wanted - extent) / 2;
            on_padded.push(at);
            before.push(begin);
            after.push(wanted - extent - begin);
        }
        if let Some(e) = shape.get_mut(at) {
            *e = Extent::from(wanted);
        }
    }
    x = sliced(c, &x, cuts)?;
    if !on_padded.is_empty() {
        let attributes = [("axes", axis_list(&on_padded)), ("padding", list(&[before, after].concat()))];
        x = c.call("layout.pad", &attributes, &[(&x).into()], (x.element, shape));
    }
    c.set(0, x);
    Ok(())
}
