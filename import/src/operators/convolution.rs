// SPDX-License-Identifier: Apache-2.0
//! Convolutions, and the windows that pooling shares with them.

use skript_tensor::ElementType;

use super::{Operator, operator};
use crate::call::{Call, fixed};
use crate::extent::Extent;
use crate::literals::{axis_list, list};
use crate::refusal::{Reason, Ruled, overflow};
use crate::value::Value;

pub const OPERATORS: &[Operator] = &[
    operator("Conv", "`nn.conv`", conv),
    operator("ConvTranspose", "`nn.deconv`", conv_transpose),
    operator("ConvInteger", "`onnx.conv_ints`", conv_integer),
];

/// A window over the spatial dimensions.
pub(super) struct Window {
    pub size: Vec<i64>,
    pub stride: Vec<i64>,
    pub dilation: Vec<i64>,
    /// The amounts before, then those after.
    pub padding: Vec<i64>,
    /// Elements beyond the padding after the last full step, per dimension, where `ceil_mode` asks for them.
    pub overhang: Vec<i64>,
    /// The extents of the result.
    pub extents: Vec<Extent>,
    /// Whether a window may have no element of the input.
    pub may_be_empty: bool,
}

const MOST: i64 = 1 << 40;

/// A list attribute with one positive number for each dimension.
pub(super) fn numbers(c: &Call, name: &str, count: usize, default: i64, least: i64) -> Ruled<Vec<i64>> {
    let numbers = c.ints(name).unwrap_or_else(|| vec![default; count]);
    if numbers.len() == count && numbers.iter().all(|n| (least..MOST).contains(n)) {
        Ok(numbers)
    } else {
        Err(Reason(format!("the attribute `{name}` does not have {count} valid numbers")))
    }
}

/// The window of a convolution or pooling.
pub(super) fn window(c: &Call, spatial: &[Extent], size: Option<Vec<i64>>, ceil: bool) -> Ruled<Window> {
    let (d, pools) = (spatial.len(), size.is_none());
    let size = match size {
        Some(size) => size,
        None => numbers(c, "kernel_shape", d, 0, 1)?,
    };
    if size.len() != d || size.iter().any(|s| !(1..MOST).contains(s)) {
        return Err("the window does not fit the rank of the input".into());
    }
    let stride = numbers(c, "strides", d, 1, 1)?;
    let dilation = numbers(c, "dilations", d, 1, 1)?;
    let auto = c.string("auto_pad", "NOTSET");
    let mut padding = vec![0; 2 * d];
    let (mut overhang, mut extents, mut may_be_empty) = (Vec::new(), Vec::new(), false);
    let given = numbers(c, "pads", 2 * d, 0, -MOST)?;
    for (at, extent) in spatial.iter().enumerate() {
        let pick = |list: &[i64], at: usize| list.get(at).copied().unwrap_or(0);
        let (k, s, w) = (pick(&size, at), pick(&stride, at), pick(&dilation, at));
        let reach = (k - 1)
            .checked_mul(w)
            .and_then(|r| r.checked_add(1))
            .filter(|r| *r < MOST)
            .ok_or_else(overflow)?;
        let (before, after) = match auto.as_str() {
            "NOTSET" | "" => (pick(&given, at), pick(&given, at + d)),
            "VALID" => (0, 0),
            "SAME_UPPER" | "SAME_LOWER" => {
                let total = match extent.value() {
                    Some(e) => {
                        let steps = e / s + i64::from(e % s != 0);
                        let needed = (steps - 1)
                            .checked_mul(s)
                            .and_then(|n| n.checked_add(reach))
                            .ok_or_else(overflow)?;
                        (needed - e).max(0)
                    }
                    None if s == 1 => reach - 1,
                    None => {
                        return Err("auto_pad needs a static extent where the stride is not 1".into());
                    }
                };
                let half = total / 2;
                if auto == "SAME_UPPER" { (half, total - half) } else { (total - half, half) }
            }
            other => return Err(Reason(format!("auto_pad {other:?} is unknown"))),
        };
        let mut more = 0;
        let padded = extent.plus(&Extent::from(before + after)).ok_or_else(overflow)?;
        let free = padded.minus(&Extent::from(reach)).ok_or_else(overflow)?;
        let count = match free.value() {
            // Runtimes disagree on a pooling whose quotient is negative and has a remainder.
            Some(free) if free < 0 && !(pools && (free == -s || ceil && free > -s)) => {
                return Err("the window is larger than the padded input".into());
            }
            Some(free) => {
                let mut steps = free.div_euclid(s);
                if ceil && free % s != 0 {
                    let e = extent.value().unwrap_or(0);
                    // No window begins in the padding after the input.
                    if (steps + 1) * s < e + before {
                        steps += 1;
                        more = steps * s - free;
                    }
                }
                Extent::from(steps + 1)
            }
            None if ceil && s != 1 => return Err("ceil_mode needs static extents".into()),
            None => {
                free.over(&Extent::from(s)).and_then(|q| q.plus(&Extent::from(1))).ok_or_else(overflow)?
            }
        };
        if let Some(p) = padding.get_mut(at) {
            *p = before;
        }
        if let Some(p) = padding.get_mut(at + d) {
            *p = after;
        }
        // Without dilation, each window reaches into the input where the padding is less than its size.
        let padded = before > 0 || after > 0;
        may_be_empty |= before >= k || after >= k;
        may_be_empty |= w > 1 && padded && !all_reach(extent, &count, (k, s, w, before));
        overhang.push(more);
        extents.push(count);
    }
    Ok(Window { size, stride, dilation, padding, overhang, extents, may_be_empty })
}

/// Windows that are tested one by one, at most.
const MOST_TESTED: i64 = 1 << 16;

/// Whether each window of a dimension has an element of the input.
fn all_reach(extent: &Extent, count: &Extent, (k, s, w, before): (i64, i64, i64, i64)) -> bool {
    let (Some(extent), Some(count)) = (extent.value(), count.value()) else {
        return false;
    };
    if count.saturating_mul(k) > MOST_TESTED {
        return false;
    }
    (0..count).all(|at| {
        let first = at.saturating_mul(s).saturating_sub(before);
        (0..k).any(|j| (0..extent).contains(&first.saturating_add(j.saturating_mul(w))))
    })
}

impl Window {
    /// Whether the window fits nowhere, so that the result is empty.
    pub fn is_nowhere(&self) -> bool {
        self.extents.iter().any(|extent| extent.is(0))
    }

    /// The attributes but the size; padding with what `ceil_mode` adds.
    pub fn attributes(&self) -> Vec<(&'static str, String)> {
        let mut attributes = Vec::new();
        let ones = |list: &[i64]| list.iter().all(|n| *n == 1);
        if !ones(&self.stride) {
            attributes.push(("stride", list(&self.stride)));
        }
        if !ones(&self.dilation) {
            attributes.push(("dilation", list(&self.dilation)));
        }
        let d = self.size.len();
        let mut padding = self.padding.clone();
        for (p, more) in padding.iter_mut().skip(d).zip(&self.overhang) {
            *p += more;
        }
        attributes.push(("padding", list(&padding)));
        attributes
    }
}

/// The spatial extents of an input, and those of a filter.
pub(super) fn spatial(x: &Value) -> Ruled<&[Extent]> {
    match x.shape.get(2..) {
        Some(spatial) if !spatial.is_empty() => Ok(spatial),
        _ => Err("the input has no spatial dimensions".into()),
    }
}

pub(super) fn filter_size(c: &Call, w: &Value) -> Ruled<Vec<i64>> {
    let size = w.shape.iter().skip(2);
    let size = size.map(|extent| fixed("an extent of the filter", extent)).collect::<Ruled<Vec<i64>>>()?;
    match c.ints("kernel_shape") {
        Some(stated) if !stated.is_empty() && stated != size => Err(Reason(format!(
            "`kernel_shape` is {}, and the filter has the size {}",
            list(&stated),
            list(&size)
        ))),
        _ => Ok(size),
    }
}

/// The channels of a filter must be those of the input, by group.
fn check_channels(x: &Value, w: &Value, groups: i64, of_result: bool) -> Ruled<()> {
    let inside = w.extent(1).times(&Extent::from(groups)).ok_or_else(overflow)?;
    let inside = if of_result { w.extent(0) } else { inside };
    match (x.extent(1).value(), inside.value(), w.extent(0).value()) {
        (Some(a), Some(b), _) if a != b => {
            Err(Reason(format!("the input has {a} channels, and the filter is for {b}")))
        }
        (_, _, Some(filters)) if filters % groups != 0 => {
            Err("the filters are not a multiple of the groups".into())
        }
        _ => Ok(()),
    }
}

pub(super) fn conv_of(
    c: &mut Call,
    operator: &str,
    x: &Value,
    w: &Value,
    bias: Option<&Value>,
    element: ElementType,
) -> Ruled<Value> {
    let window = window(c, spatial(x)?, Some(filter_size(c, w)?), false)?;
    if window.padding.iter().any(|p| *p < 0) {
        return Err("negative padding is not supported".into());
    }
    let mut attributes = window.attributes();
    let groups = c.int("group", 1);
    if groups < 1 {
        return Err("the number of groups is not positive".into());
    }
    check_channels(x, w, groups, false)?;
    if groups != 1 {
        attributes.push(("groups", groups.to_string()));
    }
    let mut shape = vec![x.extent(0), w.extent(0)];
    shape.extend(window.extents);
    Ok(c.call(operator, &attributes, &[x.into(), w.into(), bias.into()], (element, shape)))
}

fn conv(c: &mut Call) -> Ruled<()> {
    let (x, w) = (c.real(0)?, c.real(1)?);
    let bias = c.optional(2);
    let y = conv_of(c, "nn.conv", &x, &w, bias.as_ref(), x.element)?;
    c.set(0, y);
    Ok(())
}

fn conv_integer(c: &mut Call) -> Ruled<()> {
    let [mut x, mut w] = [c.input(0)?, c.input(1)?].map(|own| super::quantize::limited(c, &own));
    if let Some(zero) = c.optional(2) {
        x = c.retyped(&x, ElementType::I64);
        let zero = super::quantize::limited(c, &zero);
        let zero = scalar(c, &zero)?;
        x = c.binary("math.sub", &x, &zero)?;
    }
    if let Some(zero) = c.optional(3) {
        w = c.retyped(&w, ElementType::I64);
        let zero = super::quantize::aligned(c, &zero, w.rank(), 0)?;
        let zero = c.retyped(&zero, ElementType::I64);
        w = c.binary("math.sub", &w, &zero)?;
    }
    let y = conv_of(c, "onnx.conv_ints", &x, &w, None, ElementType::I32)?;
    let y = c.wrapped(y);
    c.set(0, y);
    Ok(())
}

/// A tensor of one element.
fn scalar(c: &mut Call, x: &Value) -> Ruled<Value> {
    match x.volume() {
        Some(1) => {
            let x = super::movement::reshaped(c, x, Vec::new());
            Ok(c.retyped(&x, ElementType::I64))
        }
        _ => Err("a zero point for each channel is not supported".into()),
    }
}

fn conv_transpose(c: &mut Call) -> Ruled<()> {
    let (x, w) = (c.real(0)?, c.real(1)?);
    let bias = c.optional(2);
    let extents = spatial(&x)?.to_vec();
    let d = extents.len();
    let size = filter_size(c, &w)?;
    if size.len() != d {
        return Err("the filter does not fit the rank of the input".into());
    }
    let stride = numbers(c, "strides", d, 1, 1)?;
    let dilation = numbers(c, "dilations", d, 1, 1)?;
    let more = numbers(c, "output_padding", d, 0, 0)?;
    let given = numbers(c, "pads", 2 * d, 0, -MOST)?;
    if given.iter().any(|p| *p < 0) {
        return Err("negative padding is not supported".into());
    }
    let wanted = c.ints("output_shape");
    if wanted.as_ref().is_some_and(|w| w.len() != d) {
        return Err("the output shape does not fit the rank of the input".into());
    }
    let auto = c.string("auto_pad", "NOTSET");
    let same = auto.starts_with("SAME");
    let mut padding = vec![0; 2 * d];
    let mut output = Vec::new();
    // Zeros before and after what the input reaches.
    let mut beyond = vec![0; 2 * d];
    for (at, extent) in extents.iter().enumerate() {
        let pick = |list: &[i64], at: usize| list.get(at).copied().unwrap_or(0);
        let reach = (pick(&size, at) - 1) * pick(&dilation, at) + 1;
        let s = pick(&stride, at);
        let full = extent
            .minus(&Extent::from(1))
            .and_then(|e| e.times(&Extent::from(s)))
            .and_then(|e| e.plus(&Extent::from(reach)))
            .and_then(|e| e.plus(&Extent::from(pick(&more, at))))
            .ok_or_else(overflow)?;
        let asked = match &wanted {
            Some(wanted) => Some(Extent::from(pick(wanted, at))),
            None if same => extent.times(&Extent::from(s)),
            None => None,
        };
        let (before, after, result) = match asked {
            Some(result) => {
                let total = full.minus(&result).and_then(|t| t.value());
                let total = total.ok_or("the output shape needs static extents")?;
                let (result, total) = if total < 0 {
                    let more = total.saturating_neg();
                    let halves = [(at, more / 2), (at + d, more - more / 2)];
                    for (place, amount) in halves {
                        if let Some(slot) = beyond.get_mut(place) {
                            *slot = amount;
                        }
                    }
                    (full, 0)
                } else {
                    (result, total)
                };
                let half = total / 2;
                if auto == "SAME_UPPER" { (half, total - half, result) } else { (total - half, half, result) }
            }
            None if auto == "VALID" => (0, 0, full),
            None => {
                let (before, after) = (pick(&given, at), pick(&given, at + d));
                let result = full.minus(&Extent::from(before + after)).ok_or_else(overflow)?;
                (before, after, result)
            }
        };
        if pick(&more, at) >= s && pick(&more, at) > 0 {
            return Err("output_padding of the stride or more is not supported".into());
        }
        if let Some(p) = padding.get_mut(at) {
            *p = before;
        }
        if let Some(p) = padding.get_mut(at + d) {
            *p = after;
        }
        output.push(result);
    }
    let mut attributes = Vec::new();
    if stride.iter().any(|s| *s != 1) {
        attributes.push(("stride", list(&stride)));
    }
    if dilation.iter().any(|s| *s != 1) {
        attributes.push(("dilation", list(&dilation)));
    }
    attributes.push(("padding", list(&padding)));
    if more.iter().any(|m| *m != 0) {
        attributes.push(("output_size", crate::literals::extent_list(&output)));
    }
    let groups = c.int("group", 1);
    if groups < 1 {
        return Err("the number of groups is not positive".into());
    }
    check_channels(&x, &w, groups, true)?;
    if groups != 1 {
        attributes.push(("groups", groups.to_string()));
    }
    let channels = w.extent(1).times(&Extent::from(groups)).ok_or_else(overflow)?;
    let mut shape = vec![x.extent(0), channels];
    shape.extend(output);
    let is_larger = beyond.iter().any(|amount| *amount != 0);
    let within = bias.as_ref().filter(|_| !is_larger);
    let mut y =
        c.call("nn.deconv", &attributes, &[(&x).into(), (&w).into(), within.into()], (x.element, shape));
    if is_larger {
        y = enlarged(c, &y, &beyond)?;
    }
    if let (true, Some(bias)) = (is_larger, bias) {
        let mut shape = vec![bias.extent(0)];
        shape.resize(d + 1, Extent::from(1));
        let bias = super::movement::reshaped(c, &bias, shape);
        y = c.binary("math.add", &y, &bias)?;
    }
    c.set(0, y);
    Ok(())
}

/// The tensor with zeros before and after its spatial dimensions.
pub(super) fn enlarged(c: &mut Call, x: &Value, amounts: &[i64]) -> Ruled<Value> {
    let d = amounts.len() / 2;
    let axes: Vec<usize> = (2..d + 2).collect();
    let mut shape = x.shape.clone();
    for (axis, (before, after)) in axes.iter().zip(amounts.iter().zip(amounts.iter().skip(d))) {
        let more = before.checked_add(*after).ok_or_else(overflow)?;
        if let Some(extent) = shape.get_mut(*axis) {
            *extent = extent.plus(&Extent::from(more)).ok_or_else(overflow)?;
        }
    }
    let attributes = [("axes", axis_list(&axes)), ("padding", list(amounts))];
    Ok(c.call("layout.pad", &attributes, &[x.into()], (x.element, shape)))
}
