// SPDX-License-Identifier: Apache-2.0
//! Convolutions.

use skript_tensor::ElementType;

use super::activation::{OF_CONVOLUTIONS, activated, function};
use super::movement::of_channels;
use super::window::{MAX_NUMBER, numbers, pick, window};
use super::{Operator, microsoft, operator};
use crate::call::{Call, equal, fixed};
use crate::extent::Extent;
use crate::literals::{axis_list, list};
use crate::refusal::{Reason, Ruled, overflow};
use crate::value::Value;

pub const OPERATORS: &[Operator] = &[
    operator("Conv", "`nn.conv`", conv),
    operator("ConvTranspose", "`nn.deconv`", conv_transpose),
    operator("ConvInteger", "`onnx.conv_ints`", conv_integer),
    microsoft("FusedConv", "`nn.conv`, `math.add`, then the activation", |c| fused_conv(c, false)),
    microsoft("NhwcFusedConv", "as FusedConv", |c| fused_conv(c, true)),
];

/// The spatial extents of an input or filter.
pub(super) fn spatial(x: &Value) -> Ruled<&[Extent]> {
    match x.shape.get(2..) {
        Some(spatial) if !spatial.is_empty() => Ok(spatial),
        _ => Err("the input has no spatial dimensions".into()),
    }
}

pub(super) fn filter_size(c: &Call, w: &Value) -> Ruled<Vec<i64>> {
    let extents = w.shape.iter().skip(2).map(|extent| fixed("an extent of the filter", extent));
    let size: Vec<i64> = extents.collect::<Ruled<_>>()?;
    match c.ints("kernel_shape") {
        Some(stated) if !stated.is_empty() && stated != size => Err(Reason(format!(
            "`kernel_shape` is {}, but the filter has the size {}",
            list(&stated),
            list(&size)
        ))),
        _ => Ok(size),
    }
}

/// Refuses filters whose channels do not match those of the input.
fn check_channels(x: &Value, w: &Value, groups: i64, of_result: bool) -> Ruled<()> {
    let inside = w.extent(1).times(&Extent::from(groups)).ok_or_else(overflow)?;
    let inside = if of_result { w.extent(0) } else { inside };
    match (x.extent(1).value(), inside.value(), w.extent(0).value()) {
        (Some(a), Some(b), _) if a != b => {
            Err(Reason(format!("the input has {a} channels, but the filter requires {b}")))
        }
        (_, _, Some(filters)) if filters % groups != 0 => {
            Err("the number of filters is not a multiple of the number of groups".into())
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
    let window = if operator.starts_with("nn.") { window } else { window.with_known_padding()? };
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

/// A convolution, the sum with another tensor, and an activation function. With `is_last`, the last dimension has the channels.
fn fused_conv(c: &mut Call, is_last: bool) -> Ruled<()> {
    let (x, w) = (c.real(0)?, c.real(1)?);
    let bias = c.optional(2);
    let mut y = of_channels(c, &x, is_last, |c, x| conv_of(c, "nn.conv", x, &w, bias.as_ref(), x.element))?;
    if let Some(added) = c.optional(3) {
        if added.rank() != y.rank() {
            return Err("the added tensor does not have the shape of the result".into());
        }
        for (a, b) in y.shape.iter().zip(&added.shape) {
            equal("the extents of the result and of the added tensor", a, b)?;
        }
        y = c.binary("math.add", &y, &added)?;
    }
    if let Some(function) = function(c, OF_CONVOLUTIONS)? {
        let values: Vec<f32> = c.floats("activation_params").into_iter().flatten().collect();
        y = activated(c, y, function, &values)?;
    }
    c.set(0, y);
    Ok(())
}

fn conv_integer(c: &mut Call) -> Ruled<()> {
    let [mut x, mut w] = [c.input(0)?, c.input(1)?].map(|operand| super::quantize::limited(c, &operand));
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

/// Reshapes a one-element tensor to a scalar.
fn scalar(c: &mut Call, x: &Value) -> Ruled<Value> {
    match x.volume() {
        Some(1) => {
            let x = super::movement::reshaped(c, x, Vec::new());
            Ok(c.retyped(&x, ElementType::I64))
        }
        _ => Err("a zero point for each channel is not supported".into()),
    }
}

/// The spatial dimensions of a transposed convolution.
struct Transposed {
    extents: Vec<Extent>,
    size: Vec<i64>,
    stride: Vec<i64>,
    dilation: Vec<i64>,
    /// The `output_padding`.
    more: Vec<i64>,
    given: Vec<i64>,
    auto: String,
    wanted: Option<Vec<i64>>,
}

/// An output dimension: its extent, the elements that are cropped, and the zeros that are added on both sides.
struct Side {
    output: Extent,
    padding: [i64; 2],
    beyond: [i64; 2],
}

impl Transposed {
    fn read(c: &mut Call, x: &Value, w: &Value) -> Ruled<Transposed> {
        let extents = spatial(x)?.to_vec();
        let d = extents.len();
        let size = filter_size(c, w)?;
        if size.len() != d {
            return Err("the filter does not match the rank of the input".into());
        }
        let stride = numbers(c, "strides", d, 1, 1)?;
        let dilation = numbers(c, "dilations", d, 1, 1)?;
        let more = numbers(c, "output_padding", d, 0, 0)?;
        let given = numbers(c, "pads", 2 * d, 0, -MAX_NUMBER)?;
        if given.iter().any(|p| *p < 0) {
            return Err("negative padding is not supported".into());
        }
        let wanted = c.ints("output_shape");
        if wanted.as_ref().is_some_and(|w| w.len() != d) {
            return Err("`output_shape` does not match the rank of the input".into());
        }
        let auto = c.string("auto_pad", "NOTSET");
        Ok(Transposed { extents, size, stride, dilation, more, given, auto, wanted })
    }

    fn side(&self, at: usize, extent: &Extent) -> Ruled<Side> {
        let reach = (pick(&self.size, at) - 1) * pick(&self.dilation, at) + 1;
        let (s, more) = (pick(&self.stride, at), pick(&self.more, at));
        let full = extent
            .minus(&Extent::from(1))
            .and_then(|e| e.times(&Extent::from(s)))
            .and_then(|e| e.plus(&Extent::from(reach)))
            .and_then(|e| e.plus(&Extent::from(more)))
            .ok_or_else(overflow)?;
        let asked = match &self.wanted {
            Some(wanted) => Some(Extent::from(pick(wanted, at))),
            None if self.auto.starts_with("SAME") => extent.times(&Extent::from(s)),
            None => None,
        };
        let side = match asked {
            Some(result) => self.fitting(full, result)?,
            None if self.auto == "VALID" => Side { output: full, padding: [0, 0], beyond: [0, 0] },
            None => {
                let padding = [pick(&self.given, at), pick(&self.given, at + self.extents.len())];
                let output = full.minus(&Extent::from(padding[0] + padding[1])).ok_or_else(overflow)?;
                Side { output, padding, beyond: [0, 0] }
            }
        };
        if more >= s && more > 0 {
            return Err("`output_padding` must be smaller than the stride".into());
        }
        Ok(side)
    }

    /// Crops or pads the full output to a given extent.
    fn fitting(&self, full: Extent, output: Extent) -> Ruled<Side> {
        let total = full.minus(&output).and_then(|t| t.value());
        let total = total.ok_or("`output_shape` requires static extents")?;
        if total < 0 {
            let more = total.saturating_neg();
            return Ok(Side { output: full, padding: [0, 0], beyond: [more / 2, more - more / 2] });
        }
        let half = total / 2;
        let is_upper = self.auto == "SAME_UPPER";
        let padding = if is_upper { [half, total - half] } else { [total - half, half] };
        Ok(Side { output, padding, beyond: [0, 0] })
    }

    fn attributes(&self, sides: &[Side]) -> Vec<(&'static str, String)> {
        let mut attributes = Vec::new();
        if self.stride.iter().any(|s| *s != 1) {
            attributes.push(("stride", list(&self.stride)));
        }
        if self.dilation.iter().any(|s| *s != 1) {
            attributes.push(("dilation", list(&self.dilation)));
        }
        attributes.push(("padding", list(&ends(sides, |side| side.padding))));
        if self.more.iter().any(|m| *m != 0) {
            let output: Vec<Extent> = sides.iter().map(|side| side.output.clone()).collect();
            attributes.push(("output_size", crate::literals::extent_list(&output)));
        }
        attributes
    }
}

/// The amounts before all dimensions, then after them.
fn ends(sides: &[Side], amounts: impl Fn(&Side) -> [i64; 2]) -> Vec<i64> {
    let before = sides.iter().map(|side| amounts(side)[0]);
    before.chain(sides.iter().map(|side| amounts(side)[1])).collect()
}

fn conv_transpose(c: &mut Call) -> Ruled<()> {
    let (x, w) = (c.real(0)?, c.real(1)?);
    let bias = c.optional(2);
    let spatial = Transposed::read(c, &x, &w)?;
    let sides = spatial.extents.iter().enumerate().map(|(at, extent)| spatial.side(at, extent));
    let sides = sides.collect::<Ruled<Vec<Side>>>()?;
    let mut attributes = spatial.attributes(&sides);
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
    shape.extend(sides.iter().map(|side| side.output.clone()));
    // Zeros before and after the elements that depend on the input.
    let beyond = ends(&sides, |side| side.beyond);
    let is_larger = beyond.iter().any(|amount| *amount != 0);
    let within = bias.as_ref().filter(|_| !is_larger);
    let mut y =
        c.call("nn.deconv", &attributes, &[(&x).into(), (&w).into(), within.into()], (x.element, shape));
    if is_larger {
        y = enlarged(c, &y, &beyond)?;
    }
    if let (true, Some(bias)) = (is_larger, bias) {
        let mut shape = vec![bias.extent(0)];
        shape.resize(sides.len() + 1, Extent::from(1));
        let bias = super::movement::reshaped(c, &bias, shape);
        y = c.binary("math.add", &y, &bias)?;
    }
    c.set(0, y);
    Ok(())
}

/// Pads the spatial dimensions with zeros.
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
