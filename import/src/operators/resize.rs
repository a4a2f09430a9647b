// SPDX-License-Identifier: Apache-2.0
//! Images in other sizes, and samples of images.

use super::{Operator, operator};
use crate::call::{Call, axis, axis_list, float_text, list};
use crate::extent::Extent;
use crate::refusal::{Reason, Ruled};

pub const OPERATORS: &[Operator] = &[
    operator(
        "Resize",
        "`image.nearest_resize`, `image.linear_resize`, `image.cubic_resize`",
        resize,
    ),
    operator(
        "Upsample",
        "`image.nearest_resize`, `image.linear_resize`",
        upsample,
    ),
    operator("GridSample", "`image.grid_sample`", grid_sample),
];

/// The extents of the result, where scales give exact ones.
fn scaled(extents: &[i64], scales: &[f64]) -> Ruled<Vec<i64>> {
    if extents.len() != scales.len() {
        return Err("the scales do not fit the rank".into());
    }
    let sizes = extents.iter().zip(scales).map(|(extent, scale)| {
        #[expect(clippy::cast_precision_loss, reason = "extents are small")]
        let size = *extent as f64 * scale;
        match size.fract() == 0.0 && (0.0..1e9).contains(&size) {
            #[expect(clippy::cast_possible_truncation, reason = "an int below 1e9")]
            true => Ok(size as i64),
            false => Err(Reason(format!("the scale {scale} of the extent {extent} does not give a whole extent, which is not supported"))),
        }
    });
    sizes.collect()
}

fn statics(c: &Call, axes: &[usize]) -> Ruled<Vec<i64>> {
    let x = c.input(0)?;
    let extents = axes.iter().map(|a| x.extent(*a).value());
    extents
        .collect::<Option<_>>()
        .ok_or_else(|| Reason("dynamic dimensions that are resized are not supported".to_owned()))
}

fn resize(c: &mut Call) -> Ruled<()> {
    let x = c.real(0)?;
    let old = c.opset < 11;
    let axes = match c.ints("axes") {
        Some(given) => given
            .iter()
            .map(|a| axis(*a, x.rank()))
            .collect::<Ruled<Vec<_>>>()?,
        None => (0..x.rank()).collect(),
    };
    let scales_at = if old { 1 } else { 2 };
    let given = c
        .optional(3)
        .filter(|s| !old && !s.shape.first().is_some_and(|e| e.is(0)));
    let sizes = match given {
        Some(_) => {
            if c.string("keep_aspect_ratio_policy", "stretch") != "stretch" {
                return Err("only the policy `stretch` is supported".into());
            }
            c.numbers(3, "the sizes")?
        }
        None => {
            let known = c.reals(scales_at, "the scales")?;
            let moved: Vec<(usize, f64)> = axes
                .iter()
                .copied()
                .zip(known.iter().copied())
                .filter(|(_, s)| *s != 1.0)
                .collect();
            let on: Vec<usize> = moved.iter().map(|(a, _)| *a).collect();
            let sizes = scaled(
                &statics(c, &on)?,
                &moved.iter().map(|(_, s)| *s).collect::<Vec<_>>(),
            )?;
            return resized(c, &on, &sizes, old);
        }
    };
    if sizes.len() != axes.len() {
        return Err("the sizes do not fit the axes".into());
    }
    let moved = axes
        .iter()
        .copied()
        .zip(sizes)
        .filter(|(a, s)| !x.extent(*a).is(*s));
    let (on, sizes): (Vec<usize>, Vec<i64>) = moved.unzip();
    resized(c, &on, &sizes, old)
}

fn upsample(c: &mut Call) -> Ruled<()> {
    let x = c.real(0)?;
    let scales = match c.floats("scales") {
        Some(scales) => scales.iter().map(|s| f64::from(*s)).collect(),
        None => c.reals(1, "the scales")?,
    };
    let moved: Vec<(usize, f64)> = (0..x.rank())
        .zip(scales)
        .filter(|(_, s)| *s != 1.0)
        .collect();
    let on: Vec<usize> = moved.iter().map(|(a, _)| *a).collect();
    let sizes = scaled(
        &statics(c, &on)?,
        &moved.iter().map(|(_, s)| *s).collect::<Vec<_>>(),
    )?;
    resized(c, &on, &sizes, true)
}

fn resized(c: &mut Call, axes: &[usize], sizes: &[i64], old: bool) -> Ruled<()> {
    let x = c.real(0)?;
    if axes.is_empty() {
        c.set(0, x);
        return Ok(());
    }
    let from = statics(c, axes)?;
    if sizes.iter().chain(&from).any(|s| *s < 1) {
        return Err("an empty result is not supported".into());
    }
    let default = if old { "asymmetric" } else { "half_pixel" };
    let transform = match c.string("coordinate_transformation_mode", default).as_str() {
        "half_pixel" | "half_pixel_symmetric" => "SYMMETRIC",
        "pytorch_half_pixel" if sizes.iter().all(|s| *s > 1) => "SYMMETRIC",
        "asymmetric" => "ASYMMETRIC",
        "align_corners" => "ALIGNED",
        other => {
            return Err(Reason(format!(
                "the coordinate transformation {other:?} is not supported"
            )));
        }
    };
    let mut attributes = vec![("axes", axis_list(axes)), ("size", list(sizes))];
    attributes.push(("coordinate_transform", format!("'{transform}'")));
    let smaller = from.iter().zip(sizes).any(|(f, s)| s < f);
    let antialias = c.flag("antialias", false) && smaller;
    let operator = match c.string("mode", "nearest").as_str() {
        "nearest" => {
            let default = if old { "floor" } else { "round_prefer_floor" };
            let method = c.string("nearest_mode", default).to_ascii_uppercase();
            attributes.push(("rounding_method", format!("'{method}'")));
            "image.nearest_resize"
        }
        "linear" | "bilinear" if !antialias => "image.linear_resize",
        "cubic" if !c.flag("exclude_outside", false) => {
            attributes.push(("antialias", antialias.to_string()));
            attributes.push(("coeff_a", float_text(c.float("cubic_coeff_a", -0.75))));
            "image.cubic_resize"
        }
        other => {
            return Err(Reason(format!(
                "the mode {other:?} with these attributes is not supported"
            )));
        }
    };
    let mut shape = x.shape.clone();
    for (at, size) in axes.iter().zip(sizes) {
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
        // ONNX rounds halves to even positions.
        "nearest" => return Err("the mode nearest is not supported".into()),
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
    let mut shape = vec![x.extent(0), x.extent(1)];
    shape.extend(
        grid.shape
            .iter()
            .skip(1)
            .take(grid.rank().saturating_sub(2))
            .cloned(),
    );
    let y = c.call(
        "image.grid_sample",
        &attributes,
        &[(&x).into(), (&grid).into()],
        (x.element, shape),
    );
    c.set(0, y);
    Ok(())
}
