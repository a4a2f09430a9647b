// SPDX-License-Identifier: Apache-2.0
//! Exact percentiles of many elements in bounded memory.
//!
//! Floats are ordered like their bits, after the bits of negative ones are complemented. The first pass over the elements counts the
//! upper 16 bits, and the second one the lower 16 bits of those elements whose upper bits contain a requested rank.

use std::collections::BTreeMap;

const HALF: usize = 1 << 16;

/// Counts of the upper halves of the keys of elements.
#[derive(Clone, Debug)]
pub struct UpperHalves {
    counts: Vec<u64>,
    total: u64,
}

impl Default for UpperHalves {
    fn default() -> Self {
        UpperHalves { counts: vec![0; HALF], total: 0 }
    }
}

impl UpperHalves {
    pub fn add(&mut self, element: f32) {
        if let Some(count) = self.counts.get_mut((key(element) >> 16) as usize) {
            *count += 1;
            self.total += 1;
        }
    }

    /// The counters for the percentiles, from 0 to 100.
    pub fn select(&self, percentiles: &[f64]) -> Ranks {
        let mut ranks = Ranks { wanted: Vec::new(), lower: BTreeMap::new() };
        for percentile in percentiles {
            let position = percentile / 100.0 * (self.total.saturating_sub(1)) as f64;
            let below = position.floor();
            let pair = [below, position.ceil()].map(|rank| self.locate(rank as u64));
            for (upper, _) in &pair {
                ranks.lower.entry(*upper).or_insert_with(|| vec![0; HALF]);
            }
            ranks.wanted.push((pair, position - below));
        }
        ranks
    }

    /// The upper half of the element with this rank, and its rank among the elements with this half.
    fn locate(&self, rank: u64) -> (u32, u64) {
        let mut before = 0;
        for (upper, count) in (0..).zip(&self.counts) {
            if rank < before + count {
                return (upper, rank - before);
            }
            before += count;
        }
        (0, 0)
    }
}

/// The counters of a second pass.
#[derive(Clone, Debug)]
pub struct Ranks {
    /// For each percentile, the upper halves and the ranks of the elements around it, and the weight of the second one.
    wanted: Vec<([(u32, u64); 2], f64)>,
    /// Counts of lower halves, by the upper half.
    lower: BTreeMap<u32, Vec<u64>>,
}

impl Ranks {
    pub fn add(&mut self, element: f32) {
        let key = key(element);
        let counts = self.lower.get_mut(&(key >> 16));
        if let Some(count) = counts.and_then(|counts| counts.get_mut((key & 0xffff) as usize)) {
            *count += 1;
        }
    }

    /// The percentiles, by linear interpolation between the nearest elements.
    pub fn values(&self) -> Vec<f64> {
        let element = |(upper, rank): (u32, u64)| {
            let mut before = 0;
            let counts = self.lower.get(&upper).into_iter().flatten();
            let lower = (0u32..).zip(counts).find(|(_, count)| {
                before += *count;
                rank < before
            });
            lower.map_or(f64::NAN, |(lower, _)| f64::from(value(upper << 16 | lower)))
        };
        let values = self.wanted.iter().map(|(pair, weight)| {
            let [below, above] = pair.map(element);
            below + (above - below) * weight
        });
        values.collect()
    }
}

/// A number in the order of the floats.
fn key(element: f32) -> u32 {
    let bits = element.to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

fn value(key: u32) -> f32 {
    f32::from_bits(if key >> 31 == 1 { key & !(1 << 31) } else { !key })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percentiles(elements: &[f32], wanted: &[f64]) -> Vec<f64> {
        let mut upper = UpperHalves::default();
        elements.iter().for_each(|element| upper.add(*element));
        let mut ranks = upper.select(wanted);
        elements.iter().for_each(|element| ranks.add(*element));
        ranks.values()
    }

    /// Worked out by hand: positions 0, 1.5 and 3 of the sorted elements, and 3/4 of the way from 1 to 10.
    #[test]
    fn percentiles_interpolate_between_elements() {
        let computed = percentiles(&[10.0, -4.0, 1.0, -0.5], &[0.0, 50.0, 100.0, 91.666_666_666_666_67]);
        let expected = [-4.0, 0.25, 10.0, 7.75];
        assert!(computed.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-9), "{computed:?}");
    }

    /// `numpy.percentile(numpy.arange(-1000, 9001, dtype="f4"), [0.01, 99.99])`.
    #[test]
    fn tails_of_many_elements() {
        let elements: Vec<f32> = (-1000..=9000).map(|n| n as f32).collect();
        let computed = percentiles(&elements, &[0.01, 99.99]);
        assert!((computed[0] + 999.0).abs() < 1e-9 && (computed[1] - 8999.0).abs() < 1e-9, "{computed:?}");
    }

    #[test]
    fn keys_are_ordered_like_floats() {
        let floats = [f32::MIN, -1.0, -1e-40, -0.0, 0.0, 1e-40, 1.0, f32::MAX];
        assert!(floats.windows(2).all(|pair| key(pair[0]) < key(pair[1])));
        assert!(floats.iter().all(|float| value(key(*float)).to_bits() == float.to_bits()));
    }
}
