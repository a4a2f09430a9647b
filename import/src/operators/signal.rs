// SPDX-License-Identifier: Apache-2.0
//! Fourier transforms, as sums with cosines and sines.

use super::{Operator, operator};
use crate::call::{Call, axis};
use crate::extent::Extent;
use crate::refusal::{Reason, Ruled};
use crate::value::Value;

pub const OPERATORS: &[Operator] = &[
    operator("DFT", "`onnx.dft`, `onnx.dft_to_reals`", dft),
    operator("STFT", "`onnx.frames`, `onnx.dft`", stft),
];

/// Lengths of transforms, at most: their tables are computed.
const MOST: i64 = 1 << 16;

/// The number of elements of a transform.
fn length(given: i64) -> Ruled<i64> {
    match given {
        1..=MOST => Ok(given),
        _ => Err(Reason(format!(
            "a transform of {given} elements is not supported"
        ))),
    }
}

fn static_extent(x: &Value, at: usize) -> Ruled<i64> {
    let extent = x.extent(at).value();
    extent.ok_or_else(|| Reason("the transformed dimension must be static".to_owned()))
}

/// The number of parts of each element, 1 or 2.
fn parts(x: &Value) -> Ruled<i64> {
    match x.shape.last().and_then(Extent::value) {
        Some(parts @ 1..=2) if x.rank() >= 2 => Ok(parts),
        _ => Err("the last dimension does not have real and imaginary parts".into()),
    }
}

/// An int in input `at`, if it is there.
fn number(c: &Call, at: usize, what: &str) -> Ruled<Option<i64>> {
    match c.optional(at) {
        Some(_) => Ok(c.numbers(at, what)?.first().copied()),
        None => Ok(None),
    }
}

fn dft(c: &mut Call) -> Ruled<()> {
    let x = c.real(0)?;
    let parts = parts(&x)?;
    let given = match c.opset >= 20 {
        true => number(c, 2, "the axis")?.unwrap_or(-2),
        false => c.int("axis", 1),
    };
    let at = axis(given, x.rank())?;
    if at + 1 == x.rank() {
        return Err("the axis is that of the real and imaginary parts".into());
    }
    let (inverse, onesided) = (c.flag("inverse", false), c.flag("onesided", false));
    let extent = static_extent(&x, at)?;
    let to_reals = inverse && onesided;
    let default = match to_reals {
        true => extent.saturating_sub(1).saturating_mul(2),
        false => extent,
    };
    let length = length(number(c, 1, "the length")?.unwrap_or(default))?;
    if to_reals && parts != 2 {
        return Err("a half of a spectrum has no imaginary parts".into());
    }
    let y = match to_reals {
        true => {
            let attributes = [("axis", at.to_string()), ("length", length.to_string())];
            let shape = result(&x, at, length, 1);
            let operator = "onnx.dft_to_reals";
            c.call(operator, &attributes, &[(&x).into()], (x.element, shape))
        }
        false => transformed(c, &x, at, length, (inverse, onesided)),
    };
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

fn transformed(
    c: &mut Call,
    x: &Value,
    at: usize,
    length: i64,
    (inverse, onesided): (bool, bool),
) -> Value {
    let count = if onesided { length / 2 + 1 } else { length };
    let mut attributes = vec![
        ("axis", at.to_string()),
        ("length", length.to_string()),
        ("count", count.to_string()),
    ];
    if inverse {
        attributes.push(("inverse", "true".to_owned()));
    }
    let shape = result(x, at, count, 2);
    c.call("onnx.dft", &attributes, &[x.into()], (x.element, shape))
}

fn stft(c: &mut Call) -> Ruled<()> {
    let mut x = c.real(0)?;
    // A signal of reals may lack the last dimension.
    if x.rank() == 2 {
        let shape = [x.shape.as_slice(), &[Extent::from(1)]].concat();
        x = super::movement::reshaped(c, &x, shape);
    }
    if x.rank() != 3 {
        return Err("the signal does not have three dimensions".into());
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
        return Err("a window that is shorter or longer than a frame is not supported".into());
    }
    if step < 1 || length > extent {
        return Err("the frames do not fit the signal".into());
    }
    let count = (extent - length) / step + 1;
    let attributes = [("length", length.to_string()), ("step", step.to_string())];
    let shape = vec![
        x.extent(0),
        Extent::from(count),
        Extent::from(length),
        x.extent(2),
    ];
    let arguments = [(&x).into(), window.as_ref().into()];
    let frames = c.call("onnx.frames", &attributes, &arguments, (x.element, shape));
    let onesided = c.flag("onesided", true);
    let y = transformed(c, &frames, 2, length, (false, onesided));
    c.set(0, y);
    Ok(())
}
