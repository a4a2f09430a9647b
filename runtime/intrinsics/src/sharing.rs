// SPDX-License-Identifier: Apache-2.0
//! Divides the steps of a kernel among threads, if the program has a thread pool.

use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Calls the function with disjoint ranges that cover `0..steps`, on any threads, and returns when all calls have returned.
pub type Share = fn(steps: usize, &(dyn Fn(Range<usize>) + Sync));

static SHARE: OnceLock<Share> = OnceLock::new();

/// Lets kernels use the thread pool of a program. Only the first call has an effect.
pub fn share_with(share: Share) {
    let _ = SHARE.set(share);
}

/// Minimum number of elements that a step reads. With fewer elements, dispatch to another thread takes longer than the step.
const MIN_ELEMENTS: usize = 1 << 15;

/// Returns the results of `compute` for ranges of `0..count`, in order. Each iteration reads `elements` elements.
pub(crate) fn in_ranges<T: Send>(
    count: usize,
    elements: usize,
    compute: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    let steps = (count.saturating_mul(elements) / MIN_ELEMENTS).min(count);
    let Some(share) = SHARE.get().filter(|_| steps > 1) else {
        return vec![compute(0..count)];
    };
    let parts = Mutex::new(Vec::new());
    share(steps, &|range| {
        let start = |step: usize| step * count / steps;
        let range = start(range.start)..start(range.end);
        let first = range.start;
        let part = compute(range);
        parts.lock().unwrap_or_else(PoisonError::into_inner).push((first, part));
    });
    let mut parts = parts.into_inner().unwrap_or_else(PoisonError::into_inner);
    parts.sort_by_key(|(first, _)| *first);
    parts.into_iter().map(|(_, part)| part).collect()
}
