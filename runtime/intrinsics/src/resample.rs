// SPDX-License-Identifier: Apache-2.0
//! Cubic interpolation (Keys 1981).

use crate::{Call, KernelError, axis, value_at};
use skript_semantics::Scalar;
use skript_tensor::Tensor;

/// The cubic kernel of parameter `a` at distance `x`.
fn kernel(x: f64, a: f64) -> f64 {
    let x = x.abs();
    if x >= 2.0 {
        0.0
    } else if x <= 1.0 {
        ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
    } else {
        (((x - 5.0) * x + 8.0) * x - 4.0) * a
    }
}

/// Cubic interpolation between the four nearest elements along each axis; the border element is repeated outside. If
/// `antialias` is set, downscaling widens the kernel by the ratio and normalizes its weights.
pub(super) fn cubic(call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
    let mut shape = call.shape(0)?;
    let mut values = call.reals(0)?;
    for (d, size) in resized(call, shape.len())? {
        let (outer, [extent, inner @ ..]) = shape.split_at_mut(d) else {
            unreachable!("the axes are less than the rank")
        };
        let (outer, inner) = (outer.iter().product(), inner.iter().product());
        values = along(&values, (outer, *extent, inner), &taps(call, *extent, size)?);
        *extent = size;
    }
    // One rounding at the end.
    let result_shape = call.output(0)?;
    Ok(vec![call.result(0, &result_shape, values.into_iter().map(Scalar::Real))?])
}

/// The dimensions that change, with their sizes, for a tensor of this rank.
///
/// # Errors
/// Attributes are missing or wrong.
fn resized(call: &Call<'_>, rank: usize) -> Result<Vec<(usize, usize)>, KernelError> {
    let (axes, sizes) = (call.ints("axes")?, call.ints("size")?);
    let pairs = axes.iter().zip(&sizes).map(|(&wanted, &size)| {
        let d = axis(wanted, rank);
        let d = d.ok_or_else(|| call.wrong("axes are out of range".to_string()))?;
        Ok((d, size.max(0) as usize))
    });
    pairs.collect()
}

/// For each element along a dimension resized from `extent` to `size`: the input elements that contribute to it, and
/// their weights.
///
/// # Errors
/// Attributes are missing or wrong.
pub fn taps(call: &Call<'_>, extent: usize, size: usize) -> Result<Vec<Vec<(usize, f64)>>, KernelError> {
    let cubic = Cubic::new(call)?;
    Ok((0..size).map(|i| cubic.taps(i, extent, size)).collect())
}

/// The parameters of a resize. Element `i` of `m` is at position `(i + shift) · (n - cut) / (m - cut) - shift` of `n`,
/// or at 0 if `m` is `cut`.
pub struct Cubic {
    /// The parameter of the cubic kernel.
    pub coefficient: f64,
    /// Whether the kernel is widened if the result is smaller, as an antialiasing filter.
    pub antialias: bool,
    /// `shift` of the formula, in elements.
    pub shift: f64,
    /// `cut` of the formula, in elements: 1 where corners are aligned.
    pub cut: f64,
}

impl Cubic {
    /// # Errors
    /// Attributes are missing or wrong.
    pub fn new(call: &Call<'_>) -> Result<Self, KernelError> {
        let (shift, cut) = match call.text("coordinate_transform")? {
            "ASYMMETRIC" => (0.0, 0.0),
            "ALIGNED" => (0.0, 1.0),
            _ => (0.5, 0.0),
        };
        Ok(Cubic { coefficient: call.real("coeff_a")?, antialias: call.bool("antialias")?, shift, cut })
    }

    /// The maximum number of input elements that contribute to an element of the result, for an extent up to `bound`.
    #[must_use]
    pub fn max_taps(&self, bound: usize, size: usize) -> usize {
        // Both ends of the kernel's support may be integers.
        (4.0 * self.width(bound, size)) as usize + 1
    }

    /// The factor by which the kernel is widened.
    fn width(&self, extent: usize, size: usize) -> f64 {
        let ratio = extent as f64 / size.max(1) as f64;
        if self.antialias { ratio.max(1.0) } else { 1.0 }
    }

    /// The position of an element of the result in the input.
    fn source(&self, position: usize, extent: usize, size: usize) -> f64 {
        let (i, n, m) = (position as f64, extent as f64, size as f64);
        if m <= self.cut {
            return 0.0;
        }
        (i + self.shift) * (n - self.cut) / (m - self.cut) - self.shift
    }

    fn taps(&self, position: usize, extent: usize, size: usize) -> Vec<(usize, f64)> {
        let at = self.source(position, extent, size);
        weights(at, extent, self.width(extent, size), self.coefficient)
    }
}

/// The elements within two kernel widths, and their weights.
fn weights(at: f64, extent: usize, width: f64, a: f64) -> Vec<(usize, f64)> {
    let (first, last) = ((at - 2.0 * width).ceil(), (at + 2.0 * width).floor());
    let mut weights = Vec::new();
    let mut position = first;
    while position <= last {
        let clamped = position.clamp(0.0, extent.saturating_sub(1) as f64) as usize;
        weights.push((clamped, kernel((position - at) / width, a)));
        position += 1.0;
    }
    let sum: f64 = weights.iter().map(|w| w.1).sum();
    if width > 1.0 && sum != 0.0 {
        for weight in &mut weights {
            weight.1 /= sum;
        }
    }
    weights
}

/// Applies taps along the second of three dimensions.
fn along(
    values: &[f64],
    (outer, extent, inner): (usize, usize, usize),
    taps: &[Vec<(usize, f64)>],
) -> Vec<f64> {
    let mut result = Vec::with_capacity(outer * taps.len() * inner);
    for o in 0..outer {
        for weights in taps {
            for i in 0..inner {
                let element = |n: usize| values.get((o * extent + n) * inner + i).copied();
                let terms = weights.iter().map(|&(n, w)| element(n).unwrap_or(0.0) * w);
                result.push(terms.sum());
            }
        }
    }
    result
}

/// The limit of positions: farther outside, none of the four taps is in bounds.
pub const FAR: f64 = 4.0;

/// The parameter of the cubic kernel for sampling at grids.
pub const SAMPLE_COEFFICIENT: f64 = -0.75;

/// Cubic interpolation (a = -0.75) at the positions of a grid: the last dimension of `grid` holds coordinates in [-1,
/// 1], in reversed order of the spatial dimensions. Outside, elements are zero, mirrored, or the border's element.
pub(super) fn cubic_at(call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
    let (values, grid) = (call.reals(0)?, call.reals(1)?);
    let shape = call.shape(0)?;
    let padding = call.text("padding")?;
    let aligned = call.bool("aligned")?;
    let result_shape = call.output(0)?;
    let [batch, channels, spatial @ ..] = shape.as_slice() else {
        return Err(call.wrong("the input has no batch and channel".to_string()));
    };
    let rank = spatial.len();
    let volume: usize = spatial.iter().product();
    let points: usize = call.shape(1)?.iter().skip(1).take(rank).product();
    let mut result = Vec::new();
    for b in 0..*batch {
        for c in 0..*channels {
            let plane = (b * channels + c) * volume;
            for point in 0..points {
                let mut terms = vec![(0usize, 1.0f64)];
                let mut stride = 1usize;
                for (d, &extent) in spatial.iter().enumerate().rev() {
                    let coordinate = value_at(&grid, ((b * points) + point) * rank + rank - 1 - d);
                    let index = unnormalised(coordinate, extent, aligned);
                    // Distant and infinite positions are handled alike; only a mirrored input has no border to clamp
                    // to.
                    let index = match padding {
                        "REFLECT" => index,
                        _ => index.clamp(-FAR, extent as f64 + FAR),
                    };
                    let start = index.floor();
                    // Not computed from the position of a tap, which may be too large to have a fraction.
                    let fraction = index - start;
                    let mut next = Vec::new();
                    for tap in [-1.0, 0.0, 1.0, 2.0] {
                        let weight = kernel(tap - fraction, SAMPLE_COEFFICIENT);
                        if let Some(n) = inside(start + tap, extent, padding, aligned) {
                            next.extend(terms.iter().map(|(o, w)| (o + n * stride, w * weight)));
                        }
                    }
                    terms = next;
                    stride *= extent;
                }
                let sum: f64 = terms.iter().map(|&(o, w)| value_at(&values, plane + o) * w).sum();
                result.push(Scalar::Real(sum));
            }
        }
    }
    Ok(vec![call.result(0, &result_shape, result.into_iter())?])
}

fn unnormalised(coordinate: f64, extent: usize, aligned: bool) -> f64 {
    let n = extent as f64;
    if aligned { (coordinate + 1.0) * 0.5 * (n - 1.0) } else { (coordinate + 1.0) * 0.5 * n - 0.5 }
}

/// The element at a position, by the padding mode; `None` if it counts as zero. A NaN position selects an arbitrary
/// element, because its weights are NaN.
fn inside(position: f64, extent: usize, padding: &str, aligned: bool) -> Option<usize> {
    let last = extent.checked_sub(1)? as f64;
    if position.is_nan() {
        return Some(0);
    }
    if (0.0..=last).contains(&position) {
        return Some(position as usize);
    }
    match padding {
        "REPLICATE" => Some(position.clamp(0.0, last) as usize),
        "REFLECT" => {
            let (low, span) = if aligned { (0.0, last) } else { (-0.5, last + 1.0) };
            if span <= 0.0 {
                return Some(0);
            }
            let fold = (position - low).abs() % (2.0 * span);
            let mirrored = fold.min(2.0 * span - fold) + low;
            Some(mirrored.round().clamp(0.0, last) as usize)
        }
        _ => None,
    }
}
