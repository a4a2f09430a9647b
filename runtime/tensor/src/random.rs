// SPDX-License-Identifier: Apache-2.0
//! Reproducible random values for `random:SEED`: equal on all machines.
//!
//! Generator: SplitMix64 (Steele, Lea, Flood 2014), started from the seed mixed with an FNV-1a hash of the tensor's name,
//! so that each tensor of a model has its own stream. Only exact IEEE operations are used.

use crate::element::ElementType;
use crate::error::TensorError;
use crate::shape;
use crate::tensor::Tensor;
use skript_semantics::{Scalar, ScalarKind};

/// The increment of SplitMix64's state.
pub const INCREMENT: u64 = 0x9e37_79b9_7f4a_7c15;
/// The mixing steps from state to number: in each, the bits shifted right are combined by xor, and the result is
/// multiplied.
pub const MIXING: [(u32, Option<u64>); 3] =
    [(30, Some(0xbf58_476d_1ce4_e5b9)), (27, Some(0x94d0_49bb_1331_11eb)), (31, None)];
/// The number of random bits of a real in [0, 1).
pub const REAL_BITS: u32 = 53;

/// A stream of 64-bit numbers.
#[derive(Clone, Debug)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// A generator; equal seeds give equal sequences.
    pub fn new(seed: u64) -> Self {
        SplitMix64 { state: seed }
    }

    /// The stream of one tensor.
    pub fn named(seed: u64, name: &str) -> Self {
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        SplitMix64::new(SplitMix64::new(seed).next_u64() ^ hash)
    }

    pub(crate) fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(INCREMENT);
        let mix = |z: u64, (shift, factor): (u32, Option<u64>)| {
            let mixed = z ^ (z >> shift);
            factor.map_or(mixed, |factor| mixed.wrapping_mul(factor))
        };
        MIXING.into_iter().fold(self.state, mix)
    }

    /// Uniform in 0 … `bound` − 1: the upper 64 bits of the product, so that probabilities differ by at most 2^-64
    /// (Lemire 2019, without the rejection step: each draw advances the stream once). 0 for a bound of 0.
    pub fn next_below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Uniform in [0, 1): the upper bits.
    pub fn next_real(&mut self) -> f64 {
        (self.next_u64() >> (64 - REAL_BITS)) as f64 / (1u64 << REAL_BITS) as f64
    }
}

/// The use of the numbers, which determines the range of reals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Reals uniform in [-1, 1).
    Input,
    /// Reals that preserve the scale of activations: uniform in [-a, a), a = sqrt(3 / fan-in), where fan-in is the
    /// product of the extents after the first. If it is 1, or all but one extent are 1 (biases, scales, variances),
    /// uniform in [0.5, 1), which is safe as the argument of a square root.
    Weight,
}

/// Fills a tensor. Ints are uniform in 0 … 9, bools are fair coins.
///
/// # Errors
/// [`TensorError::TooLarge`] if the tensor does not fit the memory.
pub fn fill(
    element: ElementType,
    extents: &[u64],
    seed: u64,
    name: &str,
    purpose: Purpose,
) -> Result<Tensor, TensorError> {
    let too_large = || TensorError::TooLarge { element, shape: extents.to_vec() };
    let volume = shape::byte_length(element, extents).ok_or_else(too_large)? / element.size();
    let mut stream = SplitMix64::named(seed, name);
    let (low, high) = range(extents, purpose);
    let values = (0..volume).map(|_| match element.kind() {
        ScalarKind::Real => Scalar::Real(low + (high - low) * stream.next_real()),
        ScalarKind::Int => Scalar::Int((stream.next_u64() % 10).cast_signed()),
        ScalarKind::Bool => Scalar::Bool(stream.next_u64() >> 63 == 1),
    });
    Tensor::from_scalars(element, extents, values)
}

fn range(extents: &[u64], purpose: Purpose) -> (f64, f64) {
    let fan_in = shape::volume(extents.get(1..).unwrap_or(&[])).unwrap_or(1);
    let vector = extents.iter().filter(|&&n| n != 1).count() <= 1;
    match purpose {
        Purpose::Input => (-1.0, 1.0),
        Purpose::Weight if vector || fan_in <= 1 => (0.5, 1.0),
        Purpose::Weight => {
            let bound = (3.0 / fan_in as f64).sqrt();
            (-bound, bound)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_the_published_one() {
        // Test vector of the reference implementation for seed 1234567.
        let mut stream = SplitMix64::new(1_234_567);
        assert_eq!(stream.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(stream.next_u64(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn a_bound_near_the_whole_range_is_filled_evenly() {
        // 3 · 2^62: a remainder would give numbers below 2^62 twice as often as the others.
        let bound = 3u64 << 62;
        let mut stream = SplitMix64::new(7);
        let mut thirds = [0u32; 3];
        for _ in 0..30_000 {
            thirds[usize::try_from(stream.next_below(bound) >> 62).unwrap()] += 1;
        }
        // Five standard deviations of a fair draw: sqrt(30000 · 1/3 · 2/3) = 81.6.
        assert!(thirds.iter().all(|&n| n.abs_diff(10_000) < 408), "{thirds:?}");
        assert_eq!(stream.next_below(0), 0);
        assert_eq!(stream.next_below(1), 0);
    }

    #[test]
    fn a_stream_begins_at_the_hash_of_its_name() {
        // Published values of 64-bit FNV-1a.
        for (name, hash) in
            [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
        {
            assert_eq!(SplitMix64::named(1_234_567, name).state, 6_457_827_717_110_365_317 ^ hash);
        }
    }

    #[test]
    fn reals_are_the_upper_bits() {
        // The first number of the test vector, divided by 2^64 and cut to 53 bits.
        let real = SplitMix64::new(1_234_567).next_real();
        assert_eq!(real, (6_457_827_717_110_365_317_u64 >> 11) as f64 * 2f64.powi(-53));
    }

    #[test]
    fn kinds_have_their_ranges() {
        let filled = |element, purpose| fill(element, &[4, 250], 3, "x", purpose).unwrap();
        let ints = filled(ElementType::I64, Purpose::Input);
        let mut digits = ints.as_i64().unwrap().to_vec();
        digits.sort_unstable();
        digits.dedup();
        assert_eq!(digits, (0..10).collect::<Vec<_>>());
        let bools = filled(ElementType::Bool, Purpose::Input);
        let heads = bools.as_bool_bytes().unwrap().iter().filter(|byte| **byte == 1).count();
        // Five standard deviations of 1000 fair coins: 5 · 15.8.
        assert!(heads.abs_diff(500) < 79, "{heads}");
        let inputs = filled(ElementType::F64, Purpose::Input);
        let (low, high) = inputs
            .as_f64()
            .unwrap()
            .iter()
            .fold((1.0, -1.0), |(low, high): (f64, f64), x| (low.min(*x), high.max(*x)));
        assert!((-1.0..-0.9).contains(&low) && (0.9..1.0).contains(&high), "{low} {high}");
        assert_eq!(range(&[4, 3, 2], Purpose::Weight), (-(0.5f64.sqrt()), 0.5f64.sqrt()));
        assert_eq!(range(&[4, 1], Purpose::Weight), (0.5, 1.0));
        assert_eq!(range(&[1, 1, 7], Purpose::Weight), (0.5, 1.0));
        assert_eq!(range(&[7, 2, 0], Purpose::Weight), (0.5, 1.0));
    }

    #[test]
    fn names_have_streams_of_their_own() {
        let fill = |name| fill(ElementType::F32, &[4, 9], 1, name, Purpose::Weight).unwrap();
        assert_eq!(fill("a").as_f32(), fill("a").as_f32());
        assert_ne!(fill("a").as_f32(), fill("b").as_f32());
        let bound = (3.0f32 / 9.0).sqrt();
        assert!(fill("a").as_f32().unwrap().iter().all(|x| x.abs() <= bound));
        let scale = super::fill(ElementType::F32, &[1, 8], 1, "s", Purpose::Weight).unwrap();
        assert!(scale.as_f32().unwrap().iter().all(|x| (0.5..1.0).contains(x)));
    }
}
