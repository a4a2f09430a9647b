// SPDX-License-Identifier: Apache-2.0
//! Collects the statistics of a tensor over all samples.

use skript_semantics::Scalar;
use skript_tensor::Tensor;

use super::entropy::Histogram;
use super::parameters::Precision;
use super::percentile::{Ranks, UpperHalves};

/// How the range of a tensor is selected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    MinMax,
    Percentile(f64),
    Entropy,
}

impl Method {
    /// Whether the elements are read twice.
    pub fn has_second_pass(self) -> bool {
        self != Method::MinMax
    }
}

/// The statistics of a tensor.
#[derive(Clone, Debug)]
pub struct Observation {
    method: Method,
    precision: Precision,
    low: f64,
    high: f64,
    /// With percentiles.
    halves: Option<UpperHalves>,
    second: Second,
}

/// The statistics of the second pass.
#[derive(Clone, Debug)]
enum Second {
    None,
    Ranks(Ranks),
    Histogram(Histogram),
}

impl Observation {
    pub fn new(method: Method, precision: Precision) -> Self {
        Observation {
            method,
            precision,
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            halves: matches!(method, Method::Percentile(_)).then(UpperHalves::default),
            second: Second::None,
        }
    }

    /// Adds the elements of a sample in the first pass; returns an element that is not finite, if there is one.
    pub fn add(&mut self, tensor: &Tensor) -> Option<f64> {
        let mut unfit = None;
        let is_symmetric = self.precision.is_symmetric;
        for_each(tensor, |element| {
            self.low = self.low.min(element);
            self.high = self.high.max(element);
            if !element.is_finite() {
                unfit = Some(element);
            }
            if let Some(halves) = &mut self.halves {
                halves.add(counted(is_symmetric, element));
            }
        });
        unfit
    }

    /// Prepares the second pass.
    pub fn begin_second(&mut self) {
        self.second = match (self.method, &self.halves) {
            (Method::Percentile(percentile), Some(halves)) if self.precision.is_symmetric => {
                Second::Ranks(halves.select(&[percentile]))
            }
            (Method::Percentile(percentile), Some(halves)) => {
                Second::Ranks(halves.select(&[100.0 - percentile, percentile]))
            }
            (Method::Entropy, _) => Second::Histogram(Histogram::new(self.low.abs().max(self.high.abs()))),
            (Method::MinMax | Method::Percentile(_), _) => Second::None,
        };
    }

    /// Adds the elements of a sample in the second pass.
    pub fn add_second(&mut self, tensor: &Tensor) {
        let is_symmetric = self.precision.is_symmetric;
        match &mut self.second {
            Second::None => {}
            Second::Ranks(ranks) => for_each(tensor, |element| ranks.add(counted(is_symmetric, element))),
            Second::Histogram(histogram) => for_each(tensor, |element| histogram.add(element)),
        }
    }

    /// The smallest and the largest element of the first pass.
    pub fn extremes(&self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// The selected range.
    pub fn range(&self) -> [f64; 2] {
        match &self.second {
            Second::None => self.extremes(),
            Second::Ranks(ranks) => match ranks.values().as_slice() {
                // Most elements of a sparse tensor are zero.
                [low, high] if *low < 0.0 || *high > 0.0 => [*low, *high],
                [magnitude] if *magnitude > 0.0 => [-magnitude, *magnitude],
                _ => self.extremes(),
            },
            Second::Histogram(histogram) => {
                let is_signed = self.precision.is_symmetric || self.low < 0.0 && self.high > 0.0;
                let limit = histogram.limit(self.precision.positive_levels(is_signed));
                [self.low.max(-limit), self.high.min(limit)]
            }
        }
    }
}

/// The number whose percentiles are computed.
fn counted(is_symmetric: bool, element: f64) -> f32 {
    (if is_symmetric { element.abs() } else { element }) as f32
}

/// Visits all elements of a tensor of reals.
pub fn for_each(tensor: &Tensor, mut visit: impl FnMut(f64)) {
    if let Some(elements) = tensor.as_f32() {
        elements.iter().for_each(|element| visit(f64::from(*element)));
        return;
    }
    for position in 0..tensor.volume() {
        if let Some(Scalar::Real(element)) = tensor.get(position) {
            visit(element);
        }
    }
}

/// The largest magnitude for each index of a dimension, or one for all elements.
pub fn magnitudes(tensor: &Tensor, channel: Option<usize>) -> Vec<f64> {
    let (channels, inner) = match channel {
        Some(dimension) => channel_layout(tensor.shape(), dimension),
        None => (1, 1),
    };
    let mut magnitudes = vec![0.0f64; channels];
    let mut position = 0;
    for_each(tensor, |element| {
        if let Some(largest) = magnitudes.get_mut(position / inner % channels) {
            *largest = largest.max(element.abs());
        }
        position += 1;
    });
    magnitudes
}

/// The extent of a dimension, and the number of elements from one of its indices to the next.
pub fn channel_layout(shape: &[u64], dimension: usize) -> (usize, usize) {
    let extent = |extent: &u64| usize::try_from(*extent).map_or(1, |extent| extent.max(1));
    let inner = shape.iter().skip(dimension + 1).map(extent).product();
    (shape.get(dimension).map_or(1, extent), inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magnitudes_of_channels() {
        let tensor = Tensor::from_f32(&[2, 3, 1], &[1.0, -2.0, 3.0, -4.0, 0.5, 6.0]).unwrap();
        assert_eq!(magnitudes(&tensor, Some(0)), [3.0, 6.0]);
        assert_eq!(magnitudes(&tensor, Some(1)), [4.0, 2.0, 6.0]);
        assert_eq!(magnitudes(&tensor, None), [6.0]);
    }

    #[test]
    fn ranges_of_the_methods() {
        let elements: Vec<f32> = (0..=100).map(|n| n as f32).collect();
        let tensor = Tensor::from_f32(&[101], &elements).unwrap();
        let range = |method, is_symmetric| {
            let mut observation = Observation::new(method, Precision { bits: 8, is_symmetric });
            assert_eq!(observation.add(&tensor), None);
            observation.begin_second();
            observation.add_second(&tensor);
            observation.range()
        };
        assert_eq!(range(Method::MinMax, false), [0.0, 100.0]);
        assert_eq!(range(Method::Percentile(90.0), false), [10.0, 90.0]);
        assert_eq!(range(Method::Percentile(90.0), true), [-90.0, 90.0]);
        assert_eq!(range(Method::Entropy, false), [0.0, 100.0]);
    }

    #[test]
    fn an_element_that_is_not_finite_is_found() {
        let mut observation = Observation::new(Method::MinMax, Precision { bits: 8, is_symmetric: false });
        let tensor = Tensor::from_f32(&[2], &[f32::INFINITY, 1.0]).unwrap();
        assert_eq!(observation.add(&tensor), Some(f64::INFINITY));
    }
}
