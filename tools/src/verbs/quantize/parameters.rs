// SPDX-License-Identifier: Apache-2.0
//! Scales and zero points.

/// How ranges become integers.
#[derive(Clone, Copy, Debug)]
pub struct Precision {
    pub bits: u32,
    /// Whether the zero point of each tensor is 0.
    pub is_symmetric: bool,
}

/// Reals `scale · (q − zero)` for integers q.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// One scale, or one for each index of the dimension `channel`.
    pub scales: Vec<f32>,
    pub zero: i64,
    /// Whether the integers are from `−most` to `most`; otherwise from 0 to `most`.
    pub is_symmetric: bool,
    pub most: i64,
    pub channel: Option<usize>,
}

impl Precision {
    /// The number of positive integers of a tensor whose elements are signed.
    pub fn positive_levels(self, is_signed: bool) -> usize {
        1 << if is_signed { self.bits - 1 } else { self.bits }
    }

    /// The parameters for elements from `low` to `high`. `None` if all of them are zero, or too small for a scale.
    pub fn for_range(self, low: f64, high: f64) -> Option<Parameters> {
        if self.is_symmetric {
            return self.for_magnitudes(&[low.abs().max(high.abs())], None);
        }
        // Zero is represented exactly, because borders are filled with it.
        let (low, high) = (low.min(0.0), high.max(0.0));
        let most = (1 << self.bits) - 1;
        let scale = (high - low) / most as f64;
        let zero = (-low / scale).round_ties_even() as i64;
        let scale = scale as f32;
        scale.is_normal().then_some(Parameters {
            scales: vec![scale],
            zero,
            is_symmetric: false,
            most,
            channel: None,
        })
    }

    /// The symmetric parameters for the largest magnitudes of a tensor, or of its channels. The scale of a channel of zeros is the
    /// largest one. `None` if all elements are zero, or too small for a scale.
    pub fn for_magnitudes(self, magnitudes: &[f64], channel: Option<usize>) -> Option<Parameters> {
        let most = (1 << (self.bits - 1)) - 1;
        let scale = |magnitude: f64| (magnitude / most as f64) as f32;
        let largest = scale(magnitudes.iter().copied().fold(0.0, f64::max));
        let scale = |magnitude: &f64| {
            let scale = scale(*magnitude);
            if scale.is_normal() { scale } else { largest }
        };
        let scales = magnitudes.iter().map(scale).collect();
        largest.is_normal().then_some(Parameters { scales, zero: 0, is_symmetric: true, most, channel })
    }
}

impl Parameters {
    /// The nearest value that the integers represent.
    pub fn quantized(&self, element: f64, channel: usize) -> f64 {
        let scale = match self.scales.as_slice() {
            [scale] => f64::from(*scale),
            scales => scales.get(channel).map_or(f64::NAN, |scale| f64::from(*scale)),
        };
        let least = if self.is_symmetric { -self.most } else { 0 };
        let level = (element / scale).round_ties_even() + self.zero as f64;
        (level.clamp(least as f64, self.most as f64) - self.zero as f64) * scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: Precision = Precision { bits: 8, is_symmetric: false };

    /// By hand: −0.5 to 2 in steps of 2.5 / 255, whose zero is step 51.
    #[test]
    fn a_range_is_divided_into_steps() {
        let parameters = BYTES.for_range(-0.5, 2.0).unwrap();
        assert_eq!((parameters.scales.as_slice(), parameters.zero), ([2.5f32 / 255.0].as_slice(), 51));
        assert!((parameters.quantized(2.0, 0) - 2.0).abs() < 1e-6);
        assert!((parameters.quantized(9.0, 0) - 2.0).abs() < 1e-6);
        assert!((parameters.quantized(-9.0, 0) + 0.5).abs() < 1e-6);
        assert_eq!(parameters.quantized(0.0, 0), 0.0);
    }

    #[test]
    fn zero_belongs_to_every_range() {
        assert_eq!(BYTES.for_range(1.0, 2.0).unwrap(), BYTES.for_range(0.0, 2.0).unwrap());
        assert_eq!(BYTES.for_range(-2.0, -1.0).unwrap().zero, 255);
        assert_eq!(BYTES.for_range(0.0, 0.0), None);
    }

    #[test]
    fn magnitudes_have_a_scale_for_each_channel() {
        let parameters = BYTES.for_magnitudes(&[127.0, 0.0, 254.0], Some(1)).unwrap();
        assert_eq!(parameters.scales, [1.0, 2.0, 2.0]);
        assert_eq!(parameters.quantized(127.4, 0), 127.0);
        assert_eq!(parameters.quantized(-300.0, 2), -254.0);
        assert_eq!(BYTES.for_magnitudes(&[0.0, 0.0], None), None);
        let symmetric = Precision { bits: 4, is_symmetric: true };
        assert_eq!(symmetric.for_range(-14.0, 3.0).unwrap().scales, [2.0]);
    }
}
