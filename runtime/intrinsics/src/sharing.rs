// SPDX-License-Identifier: Apache-2.0
//! Shares the steps of a kernel between threads, if the program has a pool of them.

use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Calls the function with ranges that make up `0..steps`, on any threads, and returns when all calls have.
pub type Share = fn(steps: usize, &(dyn Fn(Range<usize>) + Sync));

static SHARE: OnceLock<Share> = OnceLock::new();

/// Lets kernels use the threads of a program; the first call counts.
pub fn share_with(share: Share) {
    let _ = SHARE.set(share);
}

/// Elements that a step reads at least: less takes less time than to pass it to another thread.
const LEAST: usize = 1 << 15;

/// What `compute` returns for ranges of `0..count`, in order. An iteration reads so many elements.
pub(crate) fn in_ranges<T: Send>(
    count: usize,
    elements: usize,
    compute: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    let steps = (count.saturating_mul(elements) / LEAST).min(count);
    let Some(share) = SHARE.get().filter(|_| steps > 1) else {
        return vec![compute(0..count)];
    };
    let found = Mutex::new(Vec::new());
    share(steps, &|range| {
        let start = |step: usize| step * count / steps;
        let range = start(range.start)..start(range.end);
        let first = range.start;
        let own = compute(range);
        found.lock().unwrap_or_else(PoisonError::into_inner).push((first, own));
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(first, _)| *first);
    found.into_iter().map(|(_, own)| own).collect()
}
