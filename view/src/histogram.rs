// SPDX-License-Identifier: Apache-2.0
//! The distribution of a tensor's values.

use serde::Serialize;
use skript_semantics::Scalar;
use skript_tensor::{ElementType, Tensor};

/// The number of bins.
const BINS: usize = 40;

/// The distribution of a tensor's values. Moments and bins are those of the finite values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Histogram {
    /// Elements.
    pub count: u64,
    /// Elements that are NaN.
    pub nan: u64,
    /// Elements that are infinite.
    pub infinite: u64,
    /// Elements that are zero.
    pub zero: u64,
    /// The values, if one is finite.
    pub bins: Option<Bins>,
}

/// Finite values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bins {
    /// The least value.
    pub min: f64,
    /// The greatest value.
    pub max: f64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub deviation: f64,
    /// Values in intervals of equal length from `min` to `max`.
    pub counts: Vec<u64>,
}

impl Histogram {
    /// The histogram of a tensor.
    pub fn of(tensor: &Tensor) -> Self {
        if let Some(values) = tensor.as_f32() {
            return of(|| values.iter().map(|value| f64::from(*value)));
        }
        if let Some(values) = tensor.as_f64() {
            return of(|| values.iter().copied());
        }
        of(|| (0..tensor.volume()).filter_map(|at| number(tensor, at)))
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

/// Of values that can be read twice.
fn of<I: Iterator<Item = f64>>(values: impl Fn() -> I) -> Histogram {
    let mut found = Histogram { count: 0, nan: 0, infinite: 0, zero: 0, bins: None };
    let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut mean, mut finite) = (0.0, 0u64);
    for value in values() {
        found.count += 1;
        found.nan += u64::from(value.is_nan());
        found.infinite += u64::from(value.is_infinite());
        found.zero += u64::from(value == 0.0);
        if value.is_finite() {
            finite += 1;
            // A running mean does not overflow.
            mean += (value - mean) / finite as f64;
            (min, max) = (min.min(value), max.max(value));
        }
    }
    if finite == 0 {
        return found;
    }
    let mut counts = vec![0u64; BINS];
    let mut squares = 0.0;
    // Halves: the difference of the largest numbers is infinite.
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
    found.bins = Some(Bins {
        min,
        max,
        mean,
        // JSON has no infinity.
        deviation: if deviation.is_finite() { deviation } else { f64::MAX },
        counts,
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted() {
        let tensor = Tensor::from_f32(&[6], &[-1.0, 0.0, -0.0, 3.0, f32::NAN, f32::NEG_INFINITY]).unwrap();
        let found = Histogram::of(&tensor);
        assert_eq!((found.count, found.nan, found.infinite, found.zero), (6, 1, 1, 2));
        let bins = found.bins.unwrap();
        assert_eq!((bins.min, bins.max, bins.mean), (-1.0, 3.0, 0.5));
        // The mean of 2.25, 0.25, 0.25 and 6.25.
        assert_eq!(bins.deviation, 1.5);
        assert_eq!((bins.counts[0], bins.counts[10], bins.counts[39]), (1, 2, 1));
    }

    #[test]
    fn tensors_without_finite_values_have_no_bins() {
        let empty = Tensor::from_f32(&[0], &[]).unwrap();
        assert_eq!(Histogram::of(&empty).bins, None);
        let nan = Tensor::from_f32(&[1], &[f32::NAN]).unwrap();
        assert_eq!(Histogram::of(&nan).bins, None);
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let bytes: Vec<u8> = [f64::MAX, -f64::MAX].iter().flat_map(|x| x.to_le_bytes()).collect();
        let tensor = Tensor::from_bytes(ElementType::F64, &[2], &bytes).unwrap();
        let bins = Histogram::of(&tensor).bins.unwrap();
        assert_eq!((bins.counts[0], bins.counts[39]), (1, 1));
        assert!(bins.deviation.is_finite());
    }

    #[test]
    fn equal_values_are_in_the_middle() {
        let tensor = Tensor::from_i64(&[3], &[7, 7, 7]).unwrap();
        let bins = Histogram::of(&tensor).bins.unwrap();
        assert_eq!(bins.counts[20], 3);
        assert_eq!(bins.deviation, 0.0);
    }
}
