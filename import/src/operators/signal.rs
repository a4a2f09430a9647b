// SPDX-License-Identifier: Apache-2.0
//! Fourier transforms as sums of products with cosines and sines.

use super::{Operator, operator};
use crate::call::{Call, axis, fixed};
use crate::extent::Extent;
use crate::refusal::{Reason, Ruled};
use crate::tensor::rounded;
use crate::value::{Item, Value, is_real};

pub const OPERATORS: &[Operator] = &[
    operator("DFT", "`onnx.dft`, `onnx.dft_to_reals`", dft),
    operator("STFT", "`onnx.frames`, `onnx.dft`", stft),
    operator("MelWeightMatrix", "an array of the weights", mel_weights),
];

/// Maximum length of a transform; its tables have this size.
const MAX_LENGTH: i64 = 1 << 16;

/// Checks the number of elements of a transform.
fn length(given: i64) -> Ruled<i64> {
    match given {
        1..=MAX_LENGTH => Ok(given),
        _ => Err(Reason(format!("a transform of {given} elements is not supported"))),
    }
}

fn static_extent(x: &Value, at: usize) -> Ruled<i64> {
    fixed("the transformed dimension", &x.extent(at))
}

/// The number of parts of each element: 1 for reals, 2 for complex numbers.
fn parts(x: &Value) -> Ruled<i64> {
    match x.shape.last().and_then(Extent::value) {
        Some(parts @ 1..=2) if x.rank() >= 2 => Ok(parts),
        _ => Err("the extent of the last dimension must be 1 (reals) or 2 (complex numbers)".into()),
    }
}

/// The int in the optional input `at`.
fn number(c: &Call, at: usize, what: &str) -> Ruled<Option<i64>> {
    match c.optional(at) {
        Some(_) => Ok(c.numbers(at, what)?.first().copied()),
        None => Ok(None),
    }
}

fn dft(c: &mut Call) -> Ruled<()> {
    let x = c.real(0)?;
    let parts = parts(&x)?;
    let given = if c.opset >= 20 { number(c, 2, "the axis")?.unwrap_or(-2) } else { c.int("axis", 1) };
    let at = axis(given, x.rank())?;
    if at + 1 == x.rank() {
        return Err("the axis must not be the last dimension, which contains real and imaginary parts".into());
    }
    let (inverse, onesided) = (c.flag("inverse", false), c.flag("onesided", false));
    let extent = static_extent(&x, at)?;
    let to_reals = inverse && onesided;
    let default = if to_reals { extent.saturating_sub(1).saturating_mul(2) } else { extent };
    let length = length(number(c, 1, "the length")?.unwrap_or(default))?;
    if to_reals && parts != 2 {
        return Err("a half of a spectrum has no imaginary parts".into());
    }
    let y = if to_reals {
        let attributes = [("axis", at.to_string()), ("length", length.to_string())];
        let shape = result(&x, at, length, 1);
        let operator = "onnx.dft_to_reals";
        c.call(operator, &attributes, &[(&x).into()], (x.element, shape))
    } else {
        transformed(c, &x, at, length, (inverse, onesided))
    };
    c.set(0, y);
    Ok(())
}

/// Maximum number of elements of a matrix of weights.
const MAX_WEIGHTS: i64 = 1 << 24;

/// Triangular filters over the bins of a spectrum; their corners are equidistant on the mel scale.
fn mel_weights(c: &mut Call) -> Ruled<()> {
    let mut sizes = Vec::new();
    for (at, what) in ["the number of bands", "the length", "the rate"].into_iter().enumerate() {
        let given = c.numbers(at, what)?.first().copied();
        sizes.push(given.filter(|n| *n > 0).ok_or("a size is not positive")?);
    }
    let [bands, length, rate] = sizes.as_slice() else {
        return Err("a size is missing".into());
    };
    let mut edges = Vec::new();
    for at in [3, 4] {
        let edge = c.reals(at, "the range of frequencies")?.first().copied();
        edges.push(edge.filter(|f| *f >= 0.0 && f.is_finite()).ok_or("a frequency is negative")?);
    }
    let bins = length / 2 + 1;
    if bins.checked_mul(*bands).is_none_or(|n| n > MAX_WEIGHTS) || *rate > 1 << 40 {
        return Err("a matrix of this size is not supported".into());
    }
    let mel = |hertz: f64| 2595.0 * (1.0 + hertz / 700.0).log10();
    let (low, high) = match edges.as_slice() {
        [low, high] => (mel(*low), mel(*high)),
        _ => return Err("a frequency is missing".into()),
    };
    // As defined by ONNX, the range has one step more than corners.
    let step = (high - low) / (bands + 2) as f64;
    let corner = |number: i64| {
        let hertz = 700.0 * (10f64.powf((number as f64 * step + low) / 2595.0) - 1.0);
        ((length + 1) as f64 * hertz / *rate as f64).floor()
    };
    let weight = |bin: f64, band: i64| {
        let (from, top, to) = (corner(band), corner(band + 1), corner(band + 2));
        match () {
            () if bin == top && from == top && to <= top => 1.0,
            () if bin >= top && bin < to => (to - bin) / (to - top),
            () if bin >= from && bin <= top && from < top => (bin - from) / (top - from),
            () => 0.0,
        }
    };
    let positions = (0..bins).flat_map(|bin| (0..*bands).map(move |band| (bin, band)));
    let kind = c.element_type("output_datatype", 1)?;
    let items = positions.map(|(bin, band)| match (is_real(kind), weight(bin as f64, band)) {
        (true, weight) => Item::Real(rounded(kind, weight)),
        // Integer weights are truncated.
        (false, weight) => Item::Int(Extent::from(i64::from(weight >= 1.0))),
    });
    let shape = vec![Extent::from(bins), Extent::from(*bands)];
    let y = c.known(kind, shape, items.collect());
    c.set(0, y);
    Ok(())
}

/// The shape of a transform along an axis.
fn result(x: &Value, at: usize, count: i64, parts: i64) -> Vec<Extent> {
    let mut shape = x.shape.clone();
    if let Some(extent) = shape.get_mut(at) {
        *extent = Extent::from(count);
    }
    if let Some(last) = shape.last_mut() {
        *last = Extent::from(parts);
    }
    shape
}

fn transformed(c: &mut Call, x: &Value, at: usize, length: i64, (inverse, onesided): (bool, bool)) -> Value {
    let count = if onesided { length / 2 + 1 } else { length };
    let mut attributes =
        vec![("axis", at.to_string()), ("length", length.to_string()), ("count", count.to_string())];
    if inverse {
        attributes.push(("inverse", "true".to_owned()));
    }
    let shape = result(x, at, count, 2);
    c.call("onnx.dft", &attributes, &[x.into()], (x.element, shape))
}

fn stft(c: &mut Call) -> Ruled<()> {
    let mut x = c.real(0)?;
    // The last dimension is optional in a real signal.
    if x.rank() == 2 {
        let shape = [x.shape.as_slice(), &[Extent::from(1)]].concat();
        x = super::movement::reshaped(c, &x, shape);
    }
    if x.rank() != 3 {
        return Err("the signal must have rank 3, or rank 2 if it is real".into());
    }
    parts(&x)?;
    let window = c.optional(2);
    let step = number(c, 1, "the step")?.ok_or("the step is missing")?;
    let extent = static_extent(&x, 1)?;
    let given = match (number(c, 3, "the length of a frame")?, &window) {
        (Some(length), _) => length,
        (None, Some(window)) => static_extent(window, 0)?,
        (None, None) => extent,
    };
    let length = length(given)?;
    if let Some(window) = &window
        && (window.rank() != 1 || static_extent(window, 0)? != length)
    {
        return Err("the window must be as long as a frame".into());
    }
    if step < 1 || length > extent {
        return Err("the frames are longer than the signal, or the step is not positive".into());
    }
    let count = (extent - length) / step + 1;
    let attributes = [("length", length.to_string()), ("step", step.to_string())];
    let shape = vec![x.extent(0), Extent::from(count), Extent::from(length), x.extent(2)];
    let arguments = [(&x).into(), window.as_ref().into()];
    let frames = c.call("onnx.frames", &attributes, &arguments, (x.element, shape));
    let onesided = c.flag("onesided", true);
    let y = transformed(c, &frames, 2, length, (false, onesided));
    c.set(0, y);
    Ok(())
}
