// SPDX-License-Identifier: Apache-2.0
//! The range of a tensor by the entropy method: the limit whose quantized distribution has the least divergence.
//!
//! The method is that of TensorRT (S. Migacz, *8-bit inference with TensorRT*, GTC 2017). A histogram of the magnitudes is cut off
//! at each of its bins: elements beyond are counted in the last bin, which is the distribution *P*. The remaining bins are merged into
//! as many groups as there are levels, and the elements of a group are spread evenly over its non-empty bins, which is *Q*. The limit
//! with the least Kullback-Leibler divergence Σ P · ln (P / Q) is selected; of equal ones, the largest.

/// The number of bins.
pub const BINS: usize = 2048;

/// The magnitudes of the elements of a tensor, in bins of equal width from 0 to the largest magnitude. Zeros are not counted, because
/// every quantization represents them exactly.
#[derive(Clone, Debug)]
pub struct Histogram {
    largest: f64,
    bins: Vec<u64>,
}

impl Histogram {
    /// An empty histogram for magnitudes up to `largest`, which is positive.
    pub fn new(largest: f64) -> Self {
        Histogram { largest, bins: vec![0; BINS] }
    }

    pub fn add(&mut self, element: f64) {
        let magnitude = element.abs();
        if magnitude > 0.0 {
            // The largest magnitude belongs to the last bin.
            let bin = ((magnitude / self.largest * BINS as f64) as usize).min(BINS - 1);
            if let Some(count) = self.bins.get_mut(bin) {
                *count += 1;
            }
        }
    }

    /// The magnitude up to which elements are represented by this number of positive levels; larger elements are clamped.
    pub fn limit(&self, levels: usize) -> f64 {
        let (mut best, mut least) = (BINS, f64::INFINITY);
        for kept in levels.min(BINS)..=BINS {
            let divergence = divergence(&self.bins, kept, levels);
            if divergence <= least {
                (best, least) = (kept, divergence);
            }
        }
        self.largest * best as f64 / BINS as f64
    }
}

/// The divergence of the distribution with the first `kept` bins from the distribution in `levels` groups of these bins. Infinite if
/// clamped elements reach a last bin that has none itself.
pub fn divergence(bins: &[u64], kept: usize, levels: usize) -> f64 {
    let (inside, outside) = bins.split_at(kept.min(bins.len()));
    let clamped: u64 = outside.iter().sum();
    let inner: u64 = inside.iter().sum();
    let (total, inner) = ((inner + clamped) as f64, inner as f64);
    let group = |bin: usize| bin * levels / kept.max(1);
    let mut divergence = 0.0;
    let mut begin = 0;
    while begin < inside.len() {
        let is_member = |bin: &usize| group(*bin) == group(begin);
        let members: Vec<u64> =
            (begin..inside.len()).take_while(is_member).filter_map(|bin| inside.get(bin).copied()).collect();
        let filled = members.iter().filter(|count| **count > 0).count();
        let mean = members.iter().sum::<u64>() as f64 / filled as f64 / inner;
        for (offset, count) in members.iter().enumerate() {
            let is_last = begin + offset + 1 == inside.len();
            let elements = count + if is_last { clamped } else { 0 };
            if *count == 0 && elements > 0 {
                return f64::INFINITY;
            }
            if elements > 0 {
                let share = elements as f64 / total;
                divergence += share * (share / mean).ln();
            }
        }
        begin += members.len();
    }
    divergence
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} instead of {expected}");
    }

    /// Without clamped elements and with a group for each bin, both distributions are equal.
    #[test]
    fn a_group_for_each_bin_loses_nothing() {
        near(divergence(&[3, 1, 0, 4], 4, 4), 0.0);
    }

    /// P = (3, 1, 4) / 8 and Q = (2, 2, 4) / 8: 3/8 ln(3/2) + 1/8 ln(1/2).
    #[test]
    fn a_group_spreads_its_elements_over_filled_bins() {
        let expected = 3.0 / 8.0 * 1.5f64.ln() + 1.0 / 8.0 * 0.5f64.ln();
        near(divergence(&[3, 1, 0, 4], 4, 2), expected);
    }

    /// P = (3, 5) / 8 and Q = (3, 1) / 4: the four elements of the last bin are clamped to the second one.
    #[test]
    fn clamped_elements_are_counted_in_the_last_bin() {
        let expected = 3.0 / 8.0 * (3.0f64 / 8.0 / 0.75).ln() + 5.0 / 8.0 * (5.0f64 / 8.0 / 0.25).ln();
        near(divergence(&[3, 1, 0, 4], 2, 2), expected);
        assert_eq!(divergence(&[3, 1, 0, 4], 3, 3), f64::INFINITY);
    }

    /// Bins 0 to 2047 have one element each: no limit below the largest one loses less.
    #[test]
    fn a_uniform_distribution_keeps_its_range() {
        let mut histogram = Histogram::new(2048.0);
        (0..2048).for_each(|bin| histogram.add(f64::from(bin) + 0.5));
        assert_eq!(histogram.limit(128), 2048.0);
        assert_eq!(histogram.limit(256), 2048.0);
    }

    /// One element far from all others, which numpy also cuts off in `test/quantize/check.py`.
    #[test]
    fn an_outlier_is_cut_off_and_zeros_do_not_count() {
        let mut histogram = Histogram::new(100.0);
        for step in 0..100_000 {
            let x = (f64::from(step) + 0.5) / 100_000.0;
            histogram.add(10.0 * (1.0 - (1.0 - x).sqrt()));
            histogram.add(0.0);
        }
        histogram.add(-100.0);
        assert_eq!(histogram.bins.iter().sum::<u64>(), 100_001);
        let limit = histogram.limit(128);
        assert!((5.0..=10.1).contains(&limit), "{limit}");
    }
}
