// SPDX-License-Identifier: Apache-2.0
//! Computes histograms of the values of tensors.

use serde::Serialize;
use skript_semantics::Scalar;
use skript_tensor::{ElementType, Tensor};

/// The number of bins.
const BINS: usize = 40;

/// The distribution of the values of a tensor. `bins` is computed only from the finite values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Histogram {
    /// The number of elements.
    pub count: u64,
    /// The number of NaNs.
    pub nan: u64,
    /// The number of infinite elements.
    pub infinite: u64,
    /// The number of zeros.
    pub zero: u64,
    /// The distribution of the finite values, if there are any.
    pub bins: Option<Bins>,
}

/// The distribution of the finite values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bins {
    /// The minimum.
    pub min: f64,
    /// The maximum.
    pub max: f64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub deviation: f64,
    /// The number of values in intervals of equal length from `min` to `max`.
    pub counts: Vec<u64>,
}

impl Histogram {
    /// The histogram of a tensor.
    pub fn new(tensor: &Tensor) -> Self {
        if let Some(values) = tensor.as_f32() {
            return histogram(|| values.iter().map(|value| f64::from(*value)));
        }
        if let Some(values) = tensor.as_f64() {
            return histogram(|| values.iter().copied());
        }
        histogram(|| (0..tensor.volume()).filter_map(|at| number(tensor, at)))
    }
}

fn number(tensor: &Tensor, at: usize) -> Option<f64> {
    if tensor.element() == ElementType::U64 {
        let bytes = tensor.bytes().chunks_exact(size_of::<u64>()).nth(at)?;
        return Some(u64::from_le_bytes(bytes.try_into().ok()?) as f64);
    }
    Some(match tensor.get(at)? {
        Scalar::Real(value) => value,
        Scalar::Int(value) => value as f64,
        Scalar::Bool(value) => f64::from(u8::from(value)),
    })
}

/// The histogram of values that can be iterated twice.
fn histogram<I: Iterator<Item = f64>>(values: impl Fn() -> I) -> Histogram {
    let mut histogram = Histogram { count: 0, nan: 0, infinite: 0, zero: 0, bins: None };
    let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut mean, mut finite) = (0.0, 0u64);
    for value in values() {
        histogram.count += 1;
        histogram.nan += u64::from(value.is_nan());
        histogram.infinite += u64::from(value.is_infinite());
        histogram.zero += u64::from(value == 0.0);
        if value.is_finite() {
            finite += 1;
            // A running mean does not overflow.
            mean += (value - mean) / finite as f64;
            (min, max) = (min.min(value), max.max(value));
        }
    }
    if finite == 0 {
        return histogram;
    }
    let mut counts = vec![0u64; BINS];
    let mut squares = 0.0;
    // Halves both first, because the difference of the largest numbers would overflow.
    let width = max / 2.0 - min / 2.0;
    for value in values().filter(|value| value.is_finite()) {
        let distance = value / 2.0 - mean / 2.0;
        squares += 4.0 * distance * distance / finite as f64;
        let part = if width > 0.0 { (value / 2.0 - min / 2.0) / width } else { 0.5 };
        let bin = (part * BINS as f64) as usize;
        if let Some(count) = counts.get_mut(bin.min(BINS - 1)) {
            *count += 1;
        }
    }
    let deviation = squares.sqrt();
    histogram.bins = Some(Bins {
        min,
        max,
        mean,
        // JSON has no infinity.
        deviation: if deviation.is_finite() { deviation } else { f64::MAX },
        counts,
    });
    histogram
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted() {
        let tensor = Tensor::from_f32(&[6], &[-1.0, 0.0, -0.0, 3.0, f32::NAN, f32::NEG_INFINITY]).unwrap();
        let histogram = Histogram::new(&tensor);
        assert_eq!((histogram.count, histogram.nan, histogram.infinite, histogram.zero), (6, 1, 1, 2));
        let bins = histogram.bins.unwrap();
        assert_eq!((bins.min, bins.max, bins.mean), (-1.0, 3.0, 0.5));
        // The mean of 2.25, 0.25, 0.25 and 6.25.
        assert_eq!(bins.deviation, 1.5);
        assert_eq!((bins.counts[0], bins.counts[10], bins.counts[39]), (1, 2, 1));
    }

    #[test]
    fn tensors_without_finite_values_have_no_bins() {
        let empty = Tensor::from_f32(&[0], &[]).unwrap();
        assert_eq!(Histogram::new(&empty).bins, None);
        let nan = Tensor::from_f32(&[1], &[f32::NAN]).unwrap();
        assert_eq!(Histogram::new(&nan).bins, None);
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let bytes: Vec<u8> = [f64::MAX, -f64::MAX].iter().flat_map(|x| x.to_le_bytes()).collect();
        let tensor = Tensor::from_bytes(ElementType::F64, &[2], &bytes).unwrap();
        let bins = Histogram::new(&tensor).bins.unwrap();
        assert_eq!((bins.counts[0], bins.counts[39]), (1, 1));
        assert!(bins.deviation.is_finite());
    }

    #[test]
    fn equal_values_are_in_the_middle() {
        let tensor = Tensor::from_i64(&[3], &[7, 7, 7]).unwrap();
        let bins = Histogram::new(&tensor).bins.unwrap();
        assert_eq!(bins.counts[20], 3);
        assert_eq!(bins.deviation, 0.0);
    }
}
