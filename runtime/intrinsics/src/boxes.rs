// SPDX-License-Identifier: Apache-2.0
//! Region pooling.

use crate::{Call, KernelError, value_at};
use skript_semantics::Scalar;
use skript_tensor::Tensor;

/// The maximum of each bin; 0 for an empty bin.
pub(super) fn region_maximum(call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
    pool(call, |elements| {
        elements.iter().copied().reduce(|a, b| if b > a || b.is_nan() { b } else { a }).unwrap_or(0.0)
    })
}

/// The mean of each bin; 0 for an empty bin.
pub(super) fn region_mean(call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
    pool(call, |elements| {
        let sum: f64 = elements.iter().sum();
        if elements.is_empty() { 0.0 } else { sum / elements.len() as f64 }
    })
}

/// Pools region r, `rois[r]` (minimum, then maximum of the spatial dimensions), of batch item `index[r]`. Bin p of P
/// consists of the elements that `[begin + p·size/P, begin + (p+1)·size/P)` intersects.
fn pool(call: &Call<'_>, reduce: fn(&[f64]) -> f64) -> Result<Vec<Tensor>, KernelError> {
    let values = call.reals(0)?;
    let shape = call.shape(0)?;
    let regions = call.reals(1)?;
    let items = call.input(2)?.scalars().map(Scalar::to_int);
    let result_shape = call.output(0)?;
    let step = call.step();
    let bins = call.extents(&result_shape)?;
    let [batch, channels, spatial @ ..] = shape.as_slice() else {
        return Err(call.wrong("the input has no batch and channel".to_string()));
    };
    let rank = spatial.len();
    let volume: usize = spatial.iter().product();
    let bin_shape = bins.get(2..).unwrap_or(&[]);
    let bin_volume: usize = bin_shape.iter().product();
    let mut result = Vec::new();
    for (r, item) in items.enumerate() {
        let position = usize::try_from(item).ok().filter(|i| i < batch);
        let outside = || format!("`index` of region {r} is {item}, outside of the batch of {batch}");
        let item = position.ok_or_else(|| call.wrong(outside()))?;
        for c in 0..*channels {
            let plane = (item * channels + c) * volume;
            for bin in 0..bin_volume {
                let mut ranges = vec![(0, 0); rank];
                let mut is_number = true;
                let mut remaining = bin;
                let dimensions = ranges.iter_mut().zip(bin_shape).zip(spatial);
                for (d, ((range, &count), &extent)) in dimensions.enumerate().rev() {
                    let begin = value_at(&regions, r * 2 * rank + d);
                    let end = value_at(&regions, r * 2 * rank + rank + d);
                    match touched(begin, end, remaining % count, count, extent, step) {
                        Some(bounds) => *range = bounds,
                        None => is_number = false,
                    }
                    remaining /= count;
                }
                let pooled = reduce(&gather(&values, spatial, &ranges, plane));
                result.push(Scalar::Real(if is_number { pooled } else { f64::NAN }));
            }
        }
    }
    Ok(vec![call.result(0, &result_shape, result.into_iter())?])
}

/// The range of elements of a dimension that a bin intersects; `None` if a bound of the bin is a NaN.
fn touched(
    begin: f64,
    end: f64,
    bin: usize,
    count: usize,
    extent: usize,
    step: impl Fn(f64) -> f64,
) -> Option<(usize, usize)> {
    let size = step(step(end - begin) / count as f64);
    let edge = |bin: usize| step(begin + step(bin as f64 * size));
    let low = edge(bin).floor().max(0.0);
    let high = edge(bin + 1).ceil();
    let is_number = !edge(bin).is_nan() && !high.is_nan();
    // Casts saturate.
    is_number.then_some(((low as usize).min(extent), (high as usize).min(extent)))
}

/// The elements of a block of one plane, row-major.
fn gather(values: &[f64], spatial: &[usize], ranges: &[(usize, usize)], plane: usize) -> Vec<f64> {
    let mut offsets = vec![0usize];
    let mut step = 1;
    for (&extent, &(low, high)) in spatial.iter().zip(ranges).rev() {
        offsets = (low..high).flat_map(|i| offsets.iter().map(move |o| o + i * step)).collect();
        step *= extent;
    }
    offsets.into_iter().map(|o| value_at(values, plane + o)).collect()
}
