// SPDX-License-Identifier: Apache-2.0
//! Resizing and sampling of images.

use super::resample::{Axis, BY_SCALE, Kernel, Manner, resampled};
use super::{Operator, operator};
use crate::call::{Call, axis, fixed};
use crate::extent::Extent;
use crate::literals::{axis_list, float_text, list};
use crate::refusal::{Reason, Ruled, overflow};
use crate::value::Value;

pub const OPERATORS: &[Operator] = &[
    operator(
        "Resize",
        "`image.nearest_resize`, `image.linear_resize`, `image.cubic_resize`, `image.nearest_upsample`, `image.linear_upsample`, or `linalg.matmul`",
        resize,
    ),
    operator("Upsample", "as Resize", upsample),
    operator("GridSample", "`image.grid_sample`, `onnx.grid_nearest`", grid_sample),
];

/// The values of `nearest_mode`.
const ROUNDINGS: [&str; 4] = ["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"];

fn resize(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let old = c.opset < 11;
    let on = match c.ints("axes") {
        Some(given) => given.iter().map(|a| axis(*a, x.rank())).collect::<Ruled<Vec<_>>>()?,
        None => (0..x.rank()).collect(),
    };
    // In opset 11, absent inputs may be empty tensors.
    let is_given = |s: &Value| !s.shape.first().is_some_and(|e| e.is(0));
    let given = c.optional(3).filter(|s| !old && is_given(s));
    let axes = match given {
        Some(_) if c.optional(2).is_some_and(|s| is_given(&s)) => {
            return Err("it has both `scales` and `sizes`".into());
        }
        Some(_) => {
            let sizes = c.numbers(3, "the sizes")?;
            sized(c, &on, &sizes)?
        }
        None => {
            let scales = c.reals(if old { 1 } else { 2 }, "the scales")?;
            if upsampled(c, &on, &scales, old)? {
                return Ok(());
            }
            scaled(c, &on, &scales)?
        }
    };
    resized(c, axes, old)
}

fn upsample(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let scales = match c.floats("scales") {
        Some(scales) => scales.iter().map(|s| f64::from(*s)).collect(),
        None => c.reals(1, "the scales")?,
    };
    let on: Vec<usize> = (0..x.rank()).collect();
    if upsampled(c, &on, &scales, true)? {
        return Ok(());
    }
    let axes = scaled(c, &on, &scales)?;
    resized(c, axes, true)
}

/// Multiplies dynamic extents by whole factors; returns whether it did. Other resizing requires static extents.
fn upsampled(c: &mut Call, on: &[usize], scales: &[f64], old: bool) -> Ruled<bool> {
    let x = c.input(0)?;
    let scaled = || on.iter().zip(scales).filter(|(_, scale)| **scale != 1.0);
    let is_dynamic = scaled().any(|(at, _)| x.extent(*at).value().is_none());
    let is_whole = |scale: f64| scale.fract() == 0.0 && (1.0..1e6).contains(&scale);
    if on.len() != scales.len() || !is_dynamic || !x.is_real() || !scaled().all(|(_, scale)| is_whole(*scale))
    {
        return Ok(false);
    }
    let Some((operator, symmetric)) = upsampling(c, old) else { return Ok(false) };
    let axes: Vec<usize> = scaled().map(|(at, _)| *at).collect();
    #[expect(clippy::cast_possible_truncation, reason = "whole numbers below 1e6")]
    let factors: Vec<i64> = scaled().map(|(_, scale)| *scale as i64).collect();
    let mut shape = x.shape.clone();
    for (at, factor) in axes.iter().zip(&factors) {
        if let Some(extent) = shape.get_mut(*at) {
            *extent = extent.times(&Extent::from(*factor)).ok_or_else(overflow)?;
        }
    }
    let mut attributes = vec![("axes", axis_list(&axes)), ("factor", list(&factors))];
    attributes.extend(symmetric.map(|symmetric| ("symmetric", symmetric.to_string())));
    let y = c.call(operator, &attributes, &[(&x).into()], (x.element, shape));
    c.set(0, y);
    Ok(true)
}

/// The operator that multiplies extents by whole factors, and whether it is symmetric, if that is an attribute; `None` without such an operator.
fn upsampling(c: &Call, old: bool) -> Option<(&'static str, Option<bool>)> {
    let default = if old { "asymmetric" } else { "half_pixel" };
    let transform = c.string("coordinate_transformation_mode", default);
    let is_symmetric = match transform.as_str() {
        "half_pixel" | "half_pixel_symmetric" | "pytorch_half_pixel" => true,
        "asymmetric" => false,
        _ => return None,
    };
    let rounding = c.string("nearest_mode", if old { "floor" } else { "round_prefer_floor" });
    match c.string("mode", "nearest").as_str() {
        // Output positions are less than half an element from the centers of inputs, and at most an element after their begins.
        "nearest" if is_symmetric && rounding.starts_with("round_prefer_") => {
            Some(("image.nearest_upsample", None))
        }
        "nearest" if !is_symmetric && rounding == "floor" => Some(("image.nearest_upsample", None)),
        "linear" | "bilinear" if !c.flag("exclude_outside", false) => {
            Some(("image.linear_upsample", Some(is_symmetric)))
        }
        _ => None,
    }
}

/// The region of interest along an axis.
fn part(c: &Call, at: usize, count: usize) -> Ruled<(f64, f64)> {
    if c.string("coordinate_transformation_mode", "") != "tf_crop_and_resize" {
        return Ok((0.0, 1.0));
    }
    let given = c.reals(1, "the region of interest")?;
    let ends = given.get(at).zip(given.get(at + count));
    let (begin, end) = ends.ok_or("the region of interest does not match the axes")?;
    Ok((*begin, *end))
}

fn extent(c: &Call, at: usize) -> Ruled<i64> {
    fixed("a dimension that is resized", &c.input(0)?.extent(at))
}

/// The axes that are resized by given scales.
fn scaled(c: &Call, on: &[usize], scales: &[f64]) -> Ruled<Vec<Axis>> {
    if on.len() != scales.len() {
        return Err("the number of scales differs from the number of axes".into());
    }
    let mut axes = Vec::new();
    for (place, (at, scale)) in on.iter().zip(scales).enumerate() {
        let part = part(c, place, on.len())?;
        if *scale == 1.0 && part == (0.0, 1.0) {
            continue;
        }
        let from = extent(c, *at)?;
        // Computed in f32, like in onnxruntime: 1.4 is rounded, so that 1.4 · 5 is 7.
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            reason = "extents are small, and scales are of f32"
        )]
        let size = (from as f32 * *scale as f32).floor();
        if !(1.0..1e9).contains(&size) {
            return Err(Reason(format!("the scale {scale} of the extent {from} is not supported")));
        }
        #[expect(clippy::cast_possible_truncation, reason = "an int below 1e9")]
        let to = size as i64;
        axes.push(Axis { at: *at, from, to, scale: *scale, part });
    }
    Ok(axes)
}

/// The axes that are resized to given sizes.
#[expect(clippy::cast_precision_loss, reason = "extents are small")]
fn sized(c: &Call, on: &[usize], sizes: &[i64]) -> Ruled<Vec<Axis>> {
    if on.len() != sizes.len() {
        return Err("the number of sizes differs from the number of axes".into());
    }
    let policy = c.string("keep_aspect_ratio_policy", "stretch");
    let mut common: Option<f64> = None;
    if policy != "stretch" {
        for (at, size) in on.iter().zip(sizes) {
            let scale = *size as f64 / extent(c, *at)?.max(1) as f64;
            common = Some(match (common, policy.as_str()) {
                (None, _) => scale,
                (Some(smallest), "not_larger") => smallest.min(scale),
                (Some(largest), "not_smaller") => largest.max(scale),
                _ => return Err(Reason(format!("the policy {policy:?} is unknown"))),
            });
        }
    }
    let mut axes = Vec::new();
    for (place, (at, size)) in on.iter().zip(sizes).enumerate() {
        let part = part(c, place, on.len())?;
        if common.is_none() && part == (0.0, 1.0) && c.input(0)?.extent(*at).is(*size) {
            continue;
        }
        let from = extent(c, *at)?;
        let (to, scale) = match common {
            #[expect(clippy::cast_possible_truncation, reason = "sizes are small")]
            Some(scale) => ((scale * from as f64 + 0.5).floor() as i64, scale),
            None => (*size, *size as f64 / from as f64),
        };
        axes.push(Axis { at: *at, from, to, scale, part });
    }
    Ok(axes)
}

fn resized(c: &mut Call, axes: Vec<Axis>, old: bool) -> Ruled<()> {
    let x = c.input(0)?;
    if axes.is_empty() {
        c.set(0, x);
        return Ok(());
    }
    if axes.iter().any(|a| a.to < 1 || a.from < 1) {
        return Err("an empty result is not supported".into());
    }
    let default = if old { "asymmetric" } else { "half_pixel" };
    let transform = c.string("coordinate_transformation_mode", default);
    #[expect(clippy::cast_precision_loss, reason = "extents are small")]
    let exact = transform == "align_corners" || axes.iter().all(|a| a.from as f64 * a.scale == a.to as f64);
    let smaller = axes.iter().any(|a| a.to < a.from);
    let antialias = c.flag("antialias", false) && smaller;
    let exclude_outside = c.flag("exclude_outside", false);
    let is_shorter = |a: &Axis| a.scale < 1.0;
    let rounding = if !old {
        c.string("nearest_mode", "round_prefer_floor")
    } else if !axes.iter().any(is_shorter) {
        "floor".to_owned()
    } else if axes.iter().all(is_shorter) {
        "ceil".to_owned()
    } else {
        BY_SCALE.to_owned()
    };
    if !old && !ROUNDINGS.contains(&rounding.as_str()) {
        return Err(Reason(format!("the nearest mode {rounding:?} is unknown")));
    }
    let coefficient = c.float("cubic_coeff_a", -0.75);
    let mode = c.string("mode", "nearest");
    let kernel = match mode.as_str() {
        "nearest" => Kernel::Nearest(rounding.clone()),
        "linear" | "bilinear" => Kernel::Linear { antialias },
        "cubic" => Kernel::Cubic { antialias, a: coefficient.into() },
        other => return Err(Reason(format!("the mode {other:?} is unknown"))),
    };
    // ONNX does not define how interpolated ints are rounded.
    let moves = matches!(kernel, Kernel::Nearest(_)) && transform != "tf_crop_and_resize";
    if !x.is_real() && !moves {
        return Err(Reason(format!(
            "for elements of type {} it is supported only in the mode \"nearest\" without a region of interest",
            x.element.name()
        )));
    }
    let known = match transform.as_str() {
        "half_pixel" | "half_pixel_symmetric" => Some("SYMMETRIC"),
        "pytorch_half_pixel" if axes.iter().all(|a| a.to > 1) => Some("SYMMETRIC"),
        "asymmetric" => Some("ASYMMETRIC"),
        "align_corners" => Some("ALIGNED"),
        _ => None,
    };
    let in_library = match &kernel {
        Kernel::Nearest(rounding) => rounding != BY_SCALE,
        Kernel::Linear { antialias } => !*antialias && !exclude_outside,
        Kernel::Cubic { .. } => !exclude_outside,
    };
    let Some(known) = known.filter(|_| exact && in_library && x.is_real()) else {
        let manner =
            Manner { transform, kernel, exclude_outside, beyond: c.float("extrapolation_value", 0.0).into() };
        let y = resampled(c, &x, &axes, &manner)?;
        c.set(0, y);
        return Ok(());
    };
    let on: Vec<usize> = axes.iter().map(|a| a.at).collect();
    let sizes: Vec<i64> = axes.iter().map(|a| a.to).collect();
    let mut attributes = vec![
        ("axes", axis_list(&on)),
        ("size", list(&sizes)),
        ("coordinate_transform", format!("'{known}'")),
    ];
    let operator = match kernel {
        Kernel::Nearest(_) => {
            attributes.push(("rounding_method", format!("'{}'", rounding.to_ascii_uppercase())));
            "image.nearest_resize"
        }
        Kernel::Linear { .. } => "image.linear_resize",
        Kernel::Cubic { .. } => {
            attributes.push(("antialias", antialias.to_string()));
            attributes.push(("coeff_a", float_text(coefficient)));
            "image.cubic_resize"
        }
    };
    let mut shape = x.shape.clone();
    for (at, size) in on.iter().zip(&sizes) {
        if let Some(extent) = shape.get_mut(*at) {
            *extent = Extent::from(*size);
        }
    }
    let y = c.call(operator, &attributes, &[(&x).into()], (x.element, shape));
    c.set(0, y);
    Ok(())
}

fn grid_sample(c: &mut Call) -> Ruled<()> {
    let (x, grid) = (c.real(0)?, c.real(1)?);
    let mode = match c.string("mode", "linear").as_str() {
        "linear" | "bilinear" => "LINEAR",
        "nearest" => "NEAREST",
        "cubic" | "bicubic" => "CUBIC",
        other => return Err(Reason(format!("the mode {other:?} is unknown"))),
    };
    let padding = match c.string("padding_mode", "zeros").as_str() {
        "zeros" => "ZEROS",
        "border" => "REPLICATE",
        "reflection" => "REFLECT",
        other => return Err(Reason(format!("the padding {other:?} is unknown"))),
    };
    let attributes = [
        ("mode", format!("'{mode}'")),
        ("padding", format!("'{padding}'")),
        ("aligned", c.flag("align_corners", false).to_string()),
    ];
    // ONNX rounds halves to even positions.
    let (operator, attributes) = match mode {
        "NEAREST" => ("onnx.grid_nearest", attributes.split_at(1).1),
        _ => ("image.grid_sample", attributes.as_slice()),
    };
    let mut shape = vec![x.extent(0), x.extent(1)];
    shape.extend(grid.shape.iter().skip(1).take(grid.rank().saturating_sub(2)).cloned());
    let y = c.call(operator, attributes, &[(&x).into(), (&grid).into()], (x.element, shape));
    c.set(0, y);
    Ok(())
}
