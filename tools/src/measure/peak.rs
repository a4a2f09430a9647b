// SPDX-License-Identifier: Apache-2.0
//! The machine's f32 multiply-add rate for a number of threads, measured in each benchmark as a reference.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Number of independent AVX-512 accumulators: enough to hide a latency of 4 to 5 cycles on two ports, with 32 registers.
const CHAINS_512: usize = 16;
/// Number of independent AVX2 accumulators: with the two other operands they fit into 16 registers without spilling.
const CHAINS_256: usize = 12;
/// Number of steps of a round: each adds once to every accumulator.
const STEPS: usize = 20_000;

/// The rate in GFLOP/s (two operations per multiply-add) of this number of concurrent threads: the sum of their best
/// rounds within `budget`. `None` if the processor has no known fused multiply-add.
pub fn measure(budget: Duration, threads: usize) -> Option<f64> {
    let kernel = kernel()?;
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| best_rate(kernel, budget))).collect();
        let rate = best_rate(kernel, budget);
        let rates = others.into_iter().map(|other| other.join().ok()).chain([Some(rate)]);
        rates.sum()
    })
}

/// The rate of the best round of this thread.
fn best_rate(kernel: fn() -> u64, budget: Duration) -> f64 {
    let started = Instant::now();
    let mut best: f64 = 0.0;
    while started.elapsed() < budget {
        let begun = Instant::now();
        let flops = kernel();
        best = best.max(flops as f64 / begun.elapsed().as_secs_f64() / 1e9);
    }
    best
}

#[cfg(target_arch = "x86_64")]
fn kernel() -> Option<fn() -> u64> {
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the feature was just detected.
        Some(|| unsafe { avx512() })
    } else if is_x86_feature_detected!("fma") && is_x86_feature_detected!("avx2") {
        // SAFETY: the features were just detected.
        Some(|| unsafe { avx2() })
    } else {
        None
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn kernel() -> Option<fn() -> u64> {
    None
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn avx512() -> u64 {
    use std::arch::x86_64::{_mm512_fmadd_ps, _mm512_reduce_add_ps, _mm512_set1_ps};
    let (scale, step) = (_mm512_set1_ps(black_box(0.999)), _mm512_set1_ps(black_box(0.002)));
    let mut chains = [_mm512_set1_ps(1.0); CHAINS_512];
    for _ in 0..STEPS {
        for chain in &mut chains {
            *chain = _mm512_fmadd_ps(*chain, scale, step);
        }
    }
    for chain in chains {
        black_box(_mm512_reduce_add_ps(chain));
    }
    (2 * 16 * CHAINS_512 * STEPS) as u64
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2() -> u64 {
    use std::arch::x86_64::{_mm256_cvtss_f32, _mm256_fmadd_ps, _mm256_set1_ps};
    let (scale, step) = (_mm256_set1_ps(black_box(0.999)), _mm256_set1_ps(black_box(0.002)));
    let mut chains = [_mm256_set1_ps(1.0); CHAINS_256];
    for _ in 0..STEPS {
        for chain in &mut chains {
            *chain = _mm256_fmadd_ps(*chain, scale, step);
        }
    }
    for chain in chains {
        black_box(_mm256_cvtss_f32(chain));
    }
    (2 * 8 * CHAINS_256 * STEPS) as u64
}
