// SPDX-License-Identifier: Apache-2.0
//! Selects tokens by their logits.

use std::cmp::Ordering;

use skript_tensor::random::SplitMix64;

use crate::error::Error;

/// The number of last tokens that the repetition penalty applies to.
const PENALIZED: usize = 64;

/// How tokens are selected.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampling {
    /// The divisor of logits; with 0, the token with the greatest logit is selected, of several the one with the lowest number.
    pub temperature: f64,
    /// Only this number of tokens with the greatest logits is considered; 0 for all.
    pub top_k: usize,
    /// Only the most probable tokens whose probabilities add up to this number are considered.
    pub top_p: f64,
    /// Only tokens are considered that are at least this number times as probable as the most probable one.
    pub min_p: f64,
    /// The divisor of positive logits, and the factor of negative ones, of the last 64 tokens; 1 for none.
    pub repetition_penalty: f64,
    /// The seed of random numbers.
    pub seed: u64,
}

impl Default for Sampling {
    fn default() -> Self {
        Sampling { temperature: 0.8, top_k: 40, top_p: 0.95, min_p: 0.05, repetition_penalty: 1.0, seed: 0 }
    }
}

impl Sampling {
    /// Selects the token with the greatest logit.
    pub fn greedy() -> Self {
        Sampling { temperature: 0.0, ..Sampling::default() }
    }

    /// Checks the ranges of the numbers.
    ///
    /// # Errors
    /// [`Error::Range`] if a number is outside of its range.
    pub fn check(&self) -> Result<(), Error> {
        let is_positive = |x: f64| x.is_finite() && x > 0.0;
        let numbers = [
            (
                "temperature",
                self.temperature,
                self.temperature == 0.0 || is_positive(self.temperature),
                "a finite number, 0 or above",
            ),
            ("top_p", self.top_p, self.top_p > 0.0 && self.top_p <= 1.0, "above 0 and at most 1"),
            ("min_p", self.min_p, (0.0..=1.0).contains(&self.min_p), "0 to 1"),
            (
                "repetition_penalty",
                self.repetition_penalty,
                is_positive(self.repetition_penalty),
                "a finite number above 0",
            ),
        ];
        match numbers.into_iter().find(|(_, _, is_right, _)| !is_right) {
            Some((name, value, _, range)) => Err(Error::Range { name, value, range }),
            None => Ok(()),
        }
    }
}

/// Selects tokens, with a stream of random numbers.
#[derive(Clone, Debug)]
pub struct Sampler {
    sampling: Sampling,
    random: SplitMix64,
}

/// A token that may be selected.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    token: u32,
    logit: f64,
}

impl Sampler {
    /// A sampler; equal seeds select equal tokens for equal logits.
    ///
    /// # Errors
    /// [`Error::Range`] if a number is outside of its range.
    pub fn new(sampling: &Sampling) -> Result<Self, Error> {
        sampling.check()?;
        Ok(Sampler { random: SplitMix64::new(sampling.seed), sampling: sampling.clone() })
    }

    /// Selects a token; `text` has the tokens before it. `None` if no logit is finite, or one is NaN.
    pub fn select(&mut self, logits: &[f32], text: &[u32]) -> Option<u32> {
        if logits.iter().any(|logit| logit.is_nan()) {
            return None;
        }
        let logits = logits.iter().map(|logit| f64::from(*logit));
        let mut candidates: Vec<Candidate> =
            (0..).zip(logits).map(|(token, logit)| Candidate { token, logit }).collect();
        self.penalize(&mut candidates, text);
        let greatest = candidates.iter().copied().max_by(|a, b| ordered(b, a))?;
        if !greatest.logit.is_finite() {
            return None;
        }
        if self.sampling.temperature == 0.0 {
            return Some(greatest.token);
        }
        self.restrict(&mut candidates, greatest.logit);
        let weight = |c: &Candidate| ((c.logit - greatest.logit) / self.sampling.temperature).exp();
        let total: f64 = candidates.iter().map(weight).sum();
        let mut rest = self.random.next_real() * total;
        let selected = candidates.iter().find(|candidate| {
            rest -= weight(candidate);
            rest < 0.0
        });
        selected.or(candidates.first()).map(|candidate| candidate.token)
    }

    fn penalize(&self, candidates: &mut [Candidate], text: &[u32]) {
        let penalty = self.sampling.repetition_penalty;
        if penalty == 1.0 {
            return;
        }
        let mut last: Vec<u32> = text.iter().rev().take(PENALIZED).copied().collect();
        last.sort_unstable();
        last.dedup();
        for token in last {
            if let Some(candidate) = candidates.get_mut(token as usize) {
                let logit = candidate.logit;
                candidate.logit = if logit > 0.0 { logit / penalty } else { logit * penalty };
            }
        }
    }

    /// Removes the candidates that top-k, top-p and min-p exclude, and sorts the others.
    fn restrict(&self, candidates: &mut Vec<Candidate>, greatest: f64) {
        let Sampling { top_k, top_p, min_p, .. } = self.sampling;
        if top_k > 0 && top_k < candidates.len() {
            candidates.select_nth_unstable_by(top_k - 1, ordered);
            candidates.truncate(top_k);
        }
        candidates.sort_by(ordered);
        let probability = |candidate: &Candidate| (candidate.logit - greatest).exp();
        if top_p < 1.0 {
            let total: f64 = candidates.iter().map(probability).sum();
            let mut sum = 0.0;
            let count = candidates.iter().position(|candidate| {
                sum += probability(candidate);
                sum >= top_p * total
            });
            candidates.truncate(count.map_or(candidates.len(), |count| count + 1));
        }
        candidates.retain(|candidate| probability(candidate) >= min_p);
    }
}

/// Compares by descending logits, which are not NaN, then by tokens. The zeros of both signs are equal.
fn ordered(a: &Candidate, b: &Candidate) -> Ordering {
    b.logit.partial_cmp(&a.logit).unwrap_or(Ordering::Equal).then(a.token.cmp(&b.token))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Sampling =
        Sampling { temperature: 1.0, top_k: 0, top_p: 1.0, min_p: 0.0, repetition_penalty: 1.0, seed: 7 };

    /// The share of each token in many selections.
    fn shares(sampling: &Sampling, logits: &[f32]) -> Vec<f64> {
        let mut sampler = Sampler::new(sampling).unwrap();
        let mut counts = vec![0.0; logits.len()];
        for _ in 0..20_000 {
            counts[sampler.select(logits, &[]).unwrap() as usize] += 1.0 / 20_000.0;
        }
        counts
    }

    #[test]
    fn tokens_have_their_probabilities() {
        // Probabilities 0.5, 0.3, 0.15, 0.05.
        let logits = [0.3f32.ln(), 0.5f32.ln(), 0.05f32.ln(), 0.15f32.ln()];
        let near = |shares: Vec<f64>, expected: [f64; 4]| {
            assert!(shares.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.02), "{shares:?}");
        };
        near(shares(&ALL, &logits), [0.3, 0.5, 0.05, 0.15]);
        near(shares(&Sampling { top_k: 2, ..ALL }, &logits), [0.375, 0.625, 0.0, 0.0]);
        near(shares(&Sampling { top_p: 0.81, ..ALL }, &logits), [0.3 / 0.95, 0.5 / 0.95, 0.0, 0.15 / 0.95]);
        near(shares(&Sampling { min_p: 0.29, ..ALL }, &logits), [0.3 / 0.95, 0.5 / 0.95, 0.0, 0.15 / 0.95]);
        // Temperature 1/2 squares the probabilities.
        let total = 0.09 + 0.25 + 0.0025 + 0.0225;
        let squared = [0.09 / total, 0.25 / total, 0.0025 / total, 0.0225 / total];
        near(shares(&Sampling { temperature: 0.5, ..ALL }, &logits), squared);
    }

    #[test]
    fn equal_seeds_select_equal_tokens() {
        let logits: Vec<f32> = (0..50).map(|n| (n % 7) as f32).collect();
        let select = |seed| {
            let mut sampler = Sampler::new(&Sampling { seed, ..ALL }).unwrap();
            (0..20).map(|_| sampler.select(&logits, &[]).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(select(1), select(1));
        assert_ne!(select(1), select(2));
    }

    #[test]
    fn the_greatest_logit_is_selected_first() {
        let mut greedy = Sampler::new(&Sampling::greedy()).unwrap();
        assert_eq!(greedy.select(&[1.0, 3.0, 3.0], &[]), Some(1));
        assert_eq!(greedy.select(&[f32::NEG_INFINITY, -5.0], &[]), Some(1));
        assert_eq!(greedy.select(&[-1.0, -0.0, 0.0], &[]), Some(1));
        let mut first = Sampler::new(&Sampling { top_k: 2, seed: 3, ..ALL }).unwrap();
        assert!((0..100).all(|_| first.select(&[1.0, 2.0, 2.0, 2.0], &[]).unwrap() < 3));
        for wrong in [&[1.0, f32::NAN][..], &[f32::NEG_INFINITY], &[f32::INFINITY, 0.0], &[]] {
            assert_eq!(greedy.select(wrong, &[]), None);
        }
    }

    #[test]
    fn repeated_tokens_are_penalized() {
        let sampling = Sampling { repetition_penalty: 2.0, ..Sampling::greedy() };
        let mut sampler = Sampler::new(&sampling).unwrap();
        assert_eq!(sampler.select(&[3.0, 2.0], &[0]), Some(1));
        assert_eq!(sampler.select(&[-2.0, -1.5], &[1, 1]), Some(0));
        // Only the last 64 tokens count.
        let text: Vec<u32> = std::iter::once(0).chain([5; 64]).collect();
        assert_eq!(sampler.select(&[3.0, 2.0], &text), Some(0));
    }

    #[test]
    fn numbers_have_ranges() {
        for wrong in [
            Sampling { temperature: -1.0, ..ALL },
            Sampling { temperature: f64::NAN, ..ALL },
            Sampling { top_p: 0.0, ..ALL },
            Sampling { min_p: 1.5, ..ALL },
            Sampling { repetition_penalty: 0.0, ..ALL },
        ] {
            assert!(Sampler::new(&wrong).is_err(), "{wrong:?}");
        }
    }
}
