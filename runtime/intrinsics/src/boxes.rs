// SPDX-License-Identifier: Apache-2.0
//! Boxes and regions: non-maximum suppression and pooling.

use crate::{Call, KernelError, at};
use skript_semantics::Scalar;
use skript_tensor::Tensor;

/// The corners of a box: minimum and maximum of each dimension.
type Corners = [(f64, f64); 2];

/// For each batch item and class, selects boxes in the order of their scores (of equal scores, the later one first),
/// except those whose overlap with a selected one exceeds the threshold; rows (batch, class, box).
pub(super) fn suppress(call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
    let (boxes, scores) = (call.reals(0)?, call.reals(1)?);
    let shape = call.shape(1)?;
    let &[batch, classes, count] = shape.as_slice() else {
        return Err(call.wrong("scores have another rank than 3".to_string()));
    };
    let centered = call.text("box_format")? == "CENTER";
    let limit = usize::try_from(call.int("max_outputs_per_class")?).unwrap_or(0);
    let step = call.step();
    let overlap_limit = step(call.real("iou_threshold")?);
    let score_limit = call.optional_real("score_threshold")?.map(step);
    let mut rows = Vec::new();
    for b in 0..batch {
        let corners: Vec<Corners> = (0..count)
            .map(|n| corners(&boxes, (b * count + n) * 4, centered, step))
            .collect();
        for c in 0..classes {
            let score = |n: usize| at(&scores, (b * classes + c) * count + n);
            let mut order: Vec<usize> = (0..count)
                .filter(|&n| score_limit.is_none_or(|limit| score(n) > limit))
                .collect();
            order.sort_by(|&m, &n| score(n).total_cmp(&score(m)).then(n.cmp(&m)));
            let mut taken: Vec<(usize, Corners)> = Vec::new();
            for (n, &corner) in order.iter().filter_map(|&n| corners.get(n).map(|c| (n, c))) {
                if taken.len() >= limit {
                    break;
                }
                if taken
                    .iter()
                    .all(|(_, t)| overlap(t, &corner, step) <= overlap_limit)
                {
                    taken.push((n, corner));
                    rows.extend([b, c, n].map(|i| i64::try_from(i).unwrap_or(0)));
                }
            }
        }
    }
    let extents = [(rows.len() / 3) as u64, 3];
    let rows = rows.into_iter().map(Scalar::Int);
    Ok(vec![call.result(0, &extents, rows)?])
}

fn corners(boxes: &[f64], start: usize, centered: bool, step: impl Fn(f64) -> f64) -> Corners {
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| at(boxes, start + i));
    if centered {
        // x, y, width, height
        let ends = |middle: f64, size: f64| {
            let half = step(size / 2.0);
            (step(middle - half), step(middle + half))
        };
        [ends(b, d), ends(a, c)]
    } else {
        [(a.min(c), a.max(c)), (b.min(d), b.max(d))]
    }
}

/// Intersection over union; 0 where both are empty.
fn overlap(a: &Corners, b: &Corners, step: impl Fn(f64) -> f64) -> f64 {
    let product = |[x, y]: [f64; 2]| step(x * y);
    let area = |c: &Corners| product(c.map(|(low, high)| step(high - low)));
    let [first, second] =
        [(a[0], b[0]), (a[1], b[1])].map(|(x, y)| step(x.1.min(y.1) - x.0.max(y.0)).max(0.0));
    let common = product([first, second]);
    let union = step(step(area(a) + area(b)) - common);
    if union > 0.0 {
        step(common / union)
    } else {
        0.0
    }
}

/// The maximum of each bin; 0 for an empty bin.
pub(super) fn region_maximum(call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
    pool(call, |elements| {
        elements
            .iter()
            .copied()
            .reduce(|a, b| if b > a || b.is_nan() { b } else { a })
            .unwrap_or(0.0)
    })
}

/// The mean of each bin; 0 for an empty bin.
pub(super) fn region_mean(call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
    pool(call, |elements| {
        let sum: f64 = elements.iter().sum();
        if elements.is_empty() {
            0.0
        } else {
            sum / elements.len() as f64
        }
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
        let outside =
            || format!("`index` of region {r} is {item}, outside of the batch of {batch}");
        let item = position.ok_or_else(|| call.wrong(outside()))?;
        for c in 0..*channels {
            let plane = (item * channels + c) * volume;
            for bin in 0..bin_volume {
                let mut ranges = vec![(0, 0); rank];
                let mut is_number = true;
                let mut rest = bin;
                for (d, range) in ranges.iter_mut().enumerate().rev() {
                    let count = bin_shape.get(d).copied().unwrap_or(1).max(1);
                    let extent = spatial.get(d).copied().unwrap_or(0);
                    let begin = at(&regions, r * 2 * rank + d);
                    let end = at(&regions, r * 2 * rank + rank + d);
                    let found = touched(begin, end, rest % count, count, extent, step);
                    is_number &= found.is_some();
                    *range = found.unwrap_or_default();
                    rest /= count;
                }
                let mean = reduce(&gather(&values, spatial, &ranges, plane));
                result.push(Scalar::Real(if is_number { mean } else { f64::NAN }));
            }
        }
    }
    Ok(vec![call.result(0, &result_shape, result.into_iter())?])
}

/// The elements of a dimension that a bin intersects; `None` if a border of it is a NaN.
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
        offsets = (low..high)
            .flat_map(|i| offsets.iter().map(move |o| o + i * step))
            .collect();
        step *= extent;
    }
    offsets.into_iter().map(|o| at(values, plane + o)).collect()
}
