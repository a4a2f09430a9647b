//! Boxes and regions: suppression of overlapping ones, pooling.

use crate::{Call, KernelError, at};
use skript_tensor::Tensor;

/// Corners of a box: the smaller and the larger end per dimension.
type Corners = [(f32, f32); 2];

/// Per batch item and class, boxes in the order of their scores (of equal ones the later first), leaving out those
/// whose overlap with one already taken exceeds the threshold; rows (batch, class, box).
pub(super) fn suppress(call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
    let (boxes, scores) = (call.reals(0)?, call.reals(1)?);
    let shape = call.shape(1)?;
    let &[batch, classes, count] = shape.as_slice() else {
        return Err(call.wrong("scores have another rank than 3".to_string()));
    };
    let centered = call.text("box_format")? == "CENTER";
    let limit = usize::try_from(call.int("max_outputs_per_class")?).unwrap_or(0);
    let overlap_limit = call.real("iou_threshold")? as f32;
    let score_limit = call.optional_real("score_threshold")?.map(|x| x as f32);
    let mut rows = Vec::new();
    for b in 0..batch {
        let corners: Vec<Corners> = (0..count)
            .map(|n| corners(boxes, (b * count + n) * 4, centered))
            .collect();
        for c in 0..classes {
            let score = |n: usize| at(scores, (b * classes + c) * count + n);
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
                    .all(|(_, t)| overlap(t, &corner) <= overlap_limit)
                {
                    taken.push((n, corner));
                    rows.extend([b, c, n].map(|i| i64::try_from(i).unwrap_or(0)));
                }
            }
        }
    }
    let extents = [(rows.len() / 3) as u64, 3];
    Ok(vec![Tensor::from_i64(&extents, &rows)?])
}

fn corners(boxes: &[f32], start: usize, centered: bool) -> Corners {
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| at(boxes, start + i));
    if centered {
        // x, y, width, height
        [(b - d / 2.0, b + d / 2.0), (a - c / 2.0, a + c / 2.0)]
    } else {
        [(a.min(c), a.max(c)), (b.min(d), b.max(d))]
    }
}

/// Intersection over union; 0 where both are empty.
fn overlap(a: &Corners, b: &Corners) -> f32 {
    let area = |c: &Corners| c.iter().map(|(low, high)| high - low).product::<f32>();
    let common: f32 = a
        .iter()
        .zip(b)
        .map(|(x, y)| (x.1.min(y.1) - x.0.max(y.0)).max(0.0))
        .product();
    let union = area(a) + area(b) - common;
    if union > 0.0 { common / union } else { 0.0 }
}

/// The largest element of each bin; 0 where a bin holds none.
pub(super) fn region_maximum(call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
    pool(call, |elements| {
        elements
            .iter()
            .copied()
            .reduce(|a, b| if b > a || b.is_nan() { b } else { a })
            .unwrap_or(0.0)
    })
}

/// The mean of each bin; 0 where a bin holds none.
pub(super) fn region_mean(call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
    pool(call, |elements| {
        let sum: f64 = elements.iter().map(|&x| f64::from(x)).sum();
        if elements.is_empty() {
            0.0
        } else {
            (sum / elements.len() as f64) as f32
        }
    })
}

/// Region r covers `rois[r]` (the begins of the spatial dimensions, then their ends) of batch item `index[r]`. Bin p of P
/// is made of the elements that `[begin + p·size/P, begin + (p+1)·size/P)` touches.
fn pool(call: &Call<'_>, reduce: fn(&[f32]) -> f32) -> Result<Vec<Tensor>, KernelError> {
    let values = call.reals(0)?;
    let shape = call.shape(0)?;
    let regions = call.reals(1)?;
    let items = call
        .input(2)?
        .as_i64()
        .ok_or_else(|| call.wrong("index is not int".to_string()))?;
    let (result_shape, _) = call.output(0)?;
    let bins = call.extents(&result_shape)?;
    let [batch, channels, spatial @ ..] = shape.as_slice() else {
        return Err(call.wrong("the input has no batch and channel".to_string()));
    };
    let rank = spatial.len();
    let volume: usize = spatial.iter().product();
    let bin_shape = bins.get(2..).unwrap_or(&[]);
    let bin_volume: usize = bin_shape.iter().product();
    let mut result = Vec::new();
    for (r, &item) in items.iter().enumerate() {
        let item = usize::try_from(item).ok().filter(|i| i < batch);
        let item = item.ok_or_else(|| call.wrong(format!("index {r} is outside of the batch")))?;
        for c in 0..*channels {
            let plane = (item * channels + c) * volume;
            for bin in 0..bin_volume {
                let mut ranges = vec![(0, 0); rank];
                let mut rest = bin;
                for (d, range) in ranges.iter_mut().enumerate().rev() {
                    let count = bin_shape.get(d).copied().unwrap_or(1).max(1);
                    let extent = spatial.get(d).copied().unwrap_or(0);
                    let begin = at(regions, r * 2 * rank + d);
                    let end = at(regions, r * 2 * rank + rank + d);
                    *range = touched(begin, end, rest % count, count, extent);
                    rest /= count;
                }
                result.push(reduce(&gather(values, spatial, &ranges, plane)));
            }
        }
    }
    Ok(vec![Tensor::from_f32(&result_shape, &result)?])
}

/// The elements of a dimension that a bin touches.
fn touched(begin: f32, end: f32, bin: usize, count: usize, extent: usize) -> (usize, usize) {
    let size = (end - begin) / count as f32;
    let low = (begin + bin as f32 * size).floor().max(0.0);
    let high = (begin + (bin + 1) as f32 * size).ceil();
    // Casts saturate; a NaN is 0.
    ((low as usize).min(extent), (high as usize).min(extent))
}

/// The elements of a block of one plane, row-major.
fn gather(values: &[f32], spatial: &[usize], ranges: &[(usize, usize)], plane: usize) -> Vec<f32> {
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
