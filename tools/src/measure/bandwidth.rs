// SPDX-License-Identifier: Apache-2.0
//! The machine's memory bandwidth for a number of threads, measured in each benchmark as a reference.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Bytes that all threads read in one round: larger than the caches.
const BYTES: usize = 256 << 20;

/// The rate in GB/s at which this number of threads reads memory concurrently: the sum of the best round of each
/// thread within `budget`. `None` if a thread panics.
pub fn measure(budget: Duration, threads: usize) -> Option<f64> {
    let threads = threads.max(1);
    let length = BYTES / size_of::<u64>() / threads;
    let barrier = Barrier::new(threads);
    let rounds = || {
        let array = vec![1_u64; length];
        let mut least = Duration::MAX;
        barrier.wait();
        let started = Instant::now();
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            black_box(sum(black_box(&array)));
            least = least.min(begun.elapsed());
            if started.elapsed() > budget {
                break;
            }
        }
        least
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(rounds)).collect();
        let time = rounds();
        let times: Option<Vec<Duration>> =
            others.into_iter().map(|other| other.join().ok()).chain([Some(time)]).collect();
        let rate = |time: Duration| (length * size_of::<u64>()) as f64 / time.as_secs_f64().max(1e-9) / 1e9;
        times.map(|times| times.into_iter().map(rate).sum())
    })
}

/// Maximum number of rounds.
const ROUNDS: usize = 64;

/// Number of ranges of an array that are read concurrently: processors prefetch each of them.
const STREAMS: usize = 8;
/// Number of independent sums, so that the latency of additions does not limit the rate.
const SUMS: usize = 8;

/// The sum of all elements. The length is a multiple of `STREAMS * SUMS`.
fn sum(array: &[u64]) -> u64 {
    let mut ranges = array.chunks_exact((array.len() / STREAMS).max(1));
    let mut streams: [_; STREAMS] =
        std::array::from_fn(|_| ranges.next().unwrap_or_default().chunks_exact(SUMS));
    let mut sums = [0_u64; SUMS];
    loop {
        for stream in &mut streams {
            let Some(elements) = stream.next() else {
                return sums.iter().fold(0, |all, sum| all.wrapping_add(*sum));
            };
            for (sum, element) in sums.iter_mut().zip(elements) {
                *sum = sum.wrapping_add(*element);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_threads_have_a_rate() {
        let rate = measure(Duration::from_millis(1), 2);
        assert!(rate.is_some_and(|rate| rate > 0.01), "{rate:?}");
    }

    #[test]
    fn all_elements_are_read() {
        assert_eq!(sum(&[1; 640]), 640);
    }
}
