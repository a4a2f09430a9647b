// SPDX-License-Identifier: Apache-2.0
//! Image regions, grids and blocks; convolutions and caches with state.

use super::convolution::spatial;
use super::movement::reshaped;
use super::window::{numbers, pick};
use super::{Operator, operator};
use crate::call::{Call, axis, fixed, product};
use crate::extent::Extent;
use crate::literals::{axis_list, float_text, list};
use crate::refusal::{Reason, Ruled, overflow};
use crate::value::{Value, signed_length};

pub const OPERATORS: &[Operator] = &[
    operator("Col2Im", "`onnx.col2im`", col2im),
    operator("MaxUnpool", "`onnx.unpool`", max_unpool),
    operator("RoiAlign", "`onnx.roi_align`", roi_align),
    operator("AffineGrid", "`onnx.affine_grid`", affine_grid),
    operator("TensorScatter", "`onnx.updated_from`", tensor_scatter),
    operator("CausalConvWithState", "`onnx.preceded`, `nn.conv`", causal_conv),
    operator("DeformConv", "`onnx.deformed`, `onnx.conv_of_windows`", deform_conv),
];

/// Gathers the elements of deformed windows, then multiplies them by the filters.
fn deform_conv(c: &mut Call) -> Ruled<()> {
    let (x, filter, offset) = (c.real(0)?, c.real(1)?, c.real(2)?);
    let (bias, mask) = (c.optional(3), c.optional(4));
    let d = spatial(&x)?.len();
    let kernel: Vec<Extent> = filter.shape.iter().skip(2).cloned().collect();
    let out: Vec<Extent> = offset.shape.iter().skip(2).cloned().collect();
    if kernel.len() != d || out.len() != d {
        return Err("the ranks of the filters and the offsets must be equal to the rank of the input".into());
    }
    if c.has("kernel_shape") {
        super::convolution::filter_size(c, &filter)?;
    }
    let stride = numbers(c, "strides", d, 1, 1)?;
    let dilation = numbers(c, "dilations", d, 1, 1)?;
    let padding = numbers(c, "pads", 2 * d, 0, 0)?;
    let [group, groups] = ["group", "offset_group"].map(|name| c.int(name, 1));
    if group < 1 || groups < 1 {
        return Err("a number of groups is not positive".into());
    }
    let of_groups = [vec![x.extent(0), Extent::from(groups)], kernel.clone()].concat();
    let shape = [of_groups.clone(), vec![Extent::from(signed_length(d))], out.clone()].concat();
    let offset = reshaped(c, &offset, shape);
    let shape = [of_groups, out.clone()].concat();
    let grouped_mask = mask.map(|mask| reshaped(c, &mask, shape));
    let attributes =
        [("stride", list(&stride)), ("dilation", list(&dilation)), ("padding", list(padding.split_at(d).0))];
    let arguments = [(&x).into(), (&offset).into(), grouped_mask.as_ref().into()];
    let shape = [vec![x.extent(0), x.extent(1)], kernel, out.clone()].concat();
    let windows = c.call("onnx.deformed", &attributes, &arguments, (x.element, shape));
    let arguments = [(&windows).into(), (&filter).into(), bias.as_ref().into()];
    let shape = [vec![x.extent(0), filter.extent(0)], out].concat();
    let groups = [("groups", group.to_string())];
    let y = c.call("onnx.conv_of_windows", &groups, &arguments, (x.element, shape));
    c.set(0, y);
    Ok(())
}

fn col2im(c: &mut Call) -> Ruled<()> {
    let x = c.real(0)?;
    let image = c.numbers(1, "the shape of the image")?;
    let block = c.numbers(2, "the shape of a block")?;
    let d = image.len();
    if x.rank() != 3 || d == 0 || block.len() != d || block.iter().any(|b| *b < 1) {
        return Err("the ranks of the input, the image and the block contradict each other".into());
    }
    let stride = numbers(c, "strides", d, 1, 1)?;
    let dilation = numbers(c, "dilations", d, 1, 1)?;
    let padding = numbers(c, "pads", 2 * d, 0, 0)?;
    let mut counts = Vec::new();
    for at in 0..d {
        let reach = (pick(&block, at) - 1).checked_mul(pick(&dilation, at)).and_then(|r| r.checked_add(1));
        let padded = pick(&image, at)
            .checked_add(pick(&padding, at))
            .and_then(|p| p.checked_add(pick(&padding, at + d)));
        let free = padded.zip(reach).and_then(|(p, r)| p.checked_sub(r));
        let free = free.ok_or_else(overflow)?;
        if free < 0 {
            return Err("a block is larger than the padded image".into());
        }
        counts.push(Extent::from(free / pick(&stride, at) + 1));
    }
    let blocks: Vec<Extent> = block.iter().copied().map(Extent::from).collect();
    let channels = x.extent(1).over(&product(&blocks)?).ok_or_else(overflow)?;
    let fits = |a: &Extent, b: &Extent| a.value().zip(b.value()).is_none_or(|(a, b)| a == b);
    let all = product(&[vec![channels.clone()], blocks.clone()].concat())?;
    if !fits(&x.extent(1), &all) || !fits(&x.extent(2), &product(&counts)?) {
        return Err("the number of blocks does not match the image".into());
    }
    let outer = vec![x.extent(0), channels];
    let parts = reshaped(c, &x, [outer.clone(), blocks, counts].concat());
    let attributes = [
        ("image", list(&image)),
        ("stride", list(&stride)),
        ("dilation", list(&dilation)),
        ("padding", list(&padding)),
    ];
    let extents = image.into_iter().map(Extent::from).collect();
    let shape = [outer, extents].concat();
    let y = c.call("onnx.col2im", &attributes, &[(&parts).into()], (x.element, shape));
    c.set(0, y);
    Ok(())
}

/// Converts `MaxUnpool`. Indices refer to the shape that is inferred from the window; a larger `output_shape` pads with zeros.
fn max_unpool(c: &mut Call) -> Ruled<()> {
    let (x, index) = (c.real(0)?, c.input(1)?);
    let extents = spatial(&x)?.to_vec();
    let d = extents.len();
    let size = numbers(c, "kernel_shape", d, 0, 1)?;
    let stride = numbers(c, "strides", d, 1, 1)?;
    let padding = numbers(c, "pads", 2 * d, 0, 0)?;
    let mut shape = vec![x.extent(0), x.extent(1)];
    for (at, extent) in extents.iter().enumerate() {
        let number = |list: &[i64], at: usize| Extent::from(pick(list, at));
        let first = extent.minus(&Extent::from(1));
        let inferred = first
            .and_then(|f| f.times(&number(&stride, at)))
            .and_then(|f| f.plus(&number(&size, at)))
            .and_then(|f| f.minus(&number(&padding, at)))
            .and_then(|f| f.minus(&number(&padding, at + d)));
        shape.push(inferred.ok_or_else(overflow)?);
    }
    let (count, volume) = (product(&x.shape)?, product(&shape)?);
    let flat = reshaped(c, &x, vec![count.clone()]);
    let index = reshaped(c, &index, vec![count]);
    let attributes = [("count", crate::statement::marked(&volume))];
    let arguments = [(&flat).into(), (&index).into()];
    let y = c.call("onnx.unpool", &attributes, &arguments, (x.element, vec![volume]));
    let mut y = reshaped(c, &y, shape.clone());
    if c.optional(2).is_some() {
        let stated = c.extents(2, "the shape")?;
        if stated.len() != shape.len() {
            return Err("`output_shape` does not match the rank of the input".into());
        }
        let mut after = Vec::new();
        for (to, from) in stated.iter().zip(&shape) {
            let more = to.minus(from).and_then(|m| m.value());
            match more {
                Some(more) if more >= 0 => after.push(more),
                _ => return Err("`output_shape` must not be smaller than the inferred shape".into()),
            }
        }
        if after.iter().any(|a| *a > 0) {
            let zeros = vec![0; after.len()];
            let padding = [zeros, after].concat();
            let axes: Vec<usize> = (0..y.rank()).collect();
            let attributes = [("axes", axis_list(&axes)), ("padding", list(&padding))];
            y = c.call("layout.pad", &attributes, &[(&y).into()], (x.element, stated));
        }
    }
    c.set(0, y);
    Ok(())
}

fn roi_align(c: &mut Call) -> Ruled<()> {
    let (x, rois, batch) = (c.real(0)?, c.real(1)?, c.input(2)?);
    if x.rank() != 4 || rois.rank() != 2 {
        return Err("expected a rank-4 image tensor and a rank-2 tensor of regions".into());
    }
    let ratio = c.int("sampling_ratio", 0);
    if !(1..=64).contains(&ratio) {
        return Err(
            "an adaptive number of samples is not supported: `sampling_ratio` must be from 1 to 64".into()
        );
    }
    let largest = match c.string("mode", "avg").as_str() {
        "avg" => false,
        "max" => true,
        other => return Err(Reason(format!("the mode {other:?} is unknown"))),
    };
    let default = if c.opset >= 16 { "half_pixel" } else { "output_half_pixel" };
    let half = match c.string("coordinate_transformation_mode", default).as_str() {
        "half_pixel" => true,
        "output_half_pixel" => false,
        other => return Err(Reason(format!("the transformation {other:?} is unknown"))),
    };
    let size = [c.int("output_height", 1), c.int("output_width", 1)];
    if size.iter().any(|s| *s < 1) {
        return Err("the size of the result is not positive".into());
    }
    let mut attributes = vec![
        ("size", list(&size)),
        ("ratio", ratio.to_string()),
        ("scale", float_text(c.float("spatial_scale", 1.0))),
        ("offset", if half { "0.5" } else { "0.0" }.to_owned()),
        // Regions in units of full elements are at least one element in size.
        ("least", if half { "-inf" } else { "1.0" }.to_owned()),
    ];
    if largest {
        attributes.push(("largest", "true".to_owned()));
    }
    let mut shape = vec![rois.extent(0), x.extent(1)];
    shape.extend(size.into_iter().map(Extent::from));
    let arguments = [(&x).into(), (&rois).into(), (&batch).into()];
    let y = c.call("onnx.roi_align", &attributes, &arguments, (x.element, shape));
    c.set(0, y);
    Ok(())
}

fn affine_grid(c: &mut Call) -> Ruled<()> {
    let theta = c.real(0)?;
    let size = c.numbers(1, "the size")?;
    let size: Vec<i64> = size.into_iter().skip(2).collect();
    let aligned = c.flag("align_corners", false);
    if size.is_empty() || theta.rank() != 3 {
        return Err("expected a size with spatial dimensions and a rank-3 tensor of affine maps".into());
    }
    if size.iter().any(|s| *s < if aligned { 2 } else { 1 }) {
        return Err("extents of the size must be at least 1, and at least 2 with aligned corners".into());
    }
    let attributes = [("size", list(&size)), ("aligned", aligned.to_string())];
    let mut shape = vec![theta.extent(0)];
    shape.extend(size.iter().copied().map(Extent::from));
    shape.push(Extent::from(signed_length(size.len())));
    let y = c.call("onnx.affine_grid", &attributes, &[(&theta).into()], (theta.element, shape));
    c.set(0, y);
    Ok(())
}

fn tensor_scatter(c: &mut Call) -> Ruled<()> {
    let (data, update, begin) = (c.input(0)?, c.input(1)?, c.optional(2));
    let at = axis(c.int("axis", -2), data.rank())?;
    if at == 0 || update.rank() != data.rank() {
        return Err("the axis must not be the batch dimension, and the ranks must be equal".into());
    }
    let mut attributes = vec![("axis", at.to_string())];
    match c.string("mode", "linear").as_str() {
        "linear" => {}
        "circular" => attributes.push(("circular", "true".to_owned())),
        other => return Err(Reason(format!("the mode {other:?} is unknown"))),
    }
    let arguments = [(&data).into(), (&update).into(), begin.as_ref().into()];
    let kind = (data.element, data.shape.clone());
    let y = c.call("onnx.updated_from", &attributes, &arguments, kind);
    c.set(0, y);
    Ok(())
}

/// A depthwise causal convolution along the last axis, with the last elements as state.
fn causal_conv(c: &mut Call) -> Ruled<()> {
    let (x, filter) = (c.real(0)?, c.real(1)?);
    let (bias, state) = (c.optional(2), c.optional(3));
    let before = fixed("the extent of the filter", &filter.extent(2))? - 1;
    if before < 0 {
        return Err("the filter is empty".into());
    }
    let channels = fixed("the number of channels", &x.extent(1))?;
    if x.rank() != 3 || filter.rank() != 3 {
        return Err("the input and the filter must have rank 3".into());
    }
    let mut padded = x.clone();
    if before > 0 {
        let length = x.extent(2).plus(&Extent::from(before)).ok_or_else(overflow)?;
        let shape = vec![x.extent(0), x.extent(1), length];
        let arguments = [(&x).into(), state.as_ref().into()];
        let attributes = [("count", before.to_string())];
        padded = c.call("onnx.preceded", &attributes, &arguments, (x.element, shape));
    }
    let attributes = [("padding", "[0, 0]".to_owned()), ("groups", channels.to_string())];
    let arguments = [(&padded).into(), (&filter).into(), bias.as_ref().into()];
    let kind = (x.element, x.shape.clone());
    let mut y = c.call("nn.conv", &attributes, &arguments, kind);
    match c.string("activation", "none").as_str() {
        "none" => {}
        "silu" | "swish" => y = c.map("nn.silu", &[], &y),
        other => return Err(Reason(format!("the activation {other:?} is unknown"))),
    }
    c.set(0, y);
    if c.wants(1) {
        let last = last_of(c, &padded, &x.extent(2), before);
        c.set(1, last);
    }
    Ok(())
}

/// Slices `count` elements from `begin` along the last axis.
fn last_of(c: &mut Call, x: &Value, begin: &Extent, count: i64) -> Value {
    let shape = vec![x.extent(0), x.extent(1), Extent::from(count)];
    if count == 0 {
        return c.known(x.element, shape, Vec::new());
    }
    let end = x.extent(2);
    let attributes = [
        ("axes", axis_list(&[2])),
        ("begin", format!("[{}]", crate::statement::marked(begin))),
        ("end", format!("[{}]", crate::statement::marked(&end))),
        ("stride", "[1]".to_owned()),
    ];
    c.call("onnx.slice", &attributes, &[x.into()], (x.element, shape))
}
