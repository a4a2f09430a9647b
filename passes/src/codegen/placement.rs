// SPDX-License-Identifier: Apache-2.0
//! Offsets for buffers with lifetimes: two that live at once never overlap.

#![allow(clippy::indexing_slicing, reason = "indices come from the list of buffers itself")]

/// A buffer to place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lifetime {
    /// Bytes.
    pub size: u64,
    /// First and last step at which the buffer is used, both included.
    pub first: usize,
    /// The last step at which the buffer is used.
    pub last: usize,
}

/// Where buffers lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placement {
    /// Bytes from the arena's start, per buffer.
    pub offsets: Vec<u64>,
    /// Bytes of the arena.
    pub size: u64,
}

impl Lifetime {
    fn meets(&self, other: &Lifetime) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// Bytes of the largest set of buffers that live at once: no arena can be smaller.
pub(crate) fn largest_live(lifetimes: &[Lifetime], alignment: u64) -> u64 {
    let live_at = |step: usize| {
        let live = lifetimes.iter().filter(|l| l.first <= step && step <= l.last);
        live.map(|l| aligned(l.size, alignment)).fold(0, u64::saturating_add)
    };
    lifetimes.iter().map(|l| live_at(l.first)).max().unwrap_or(0)
}

/// Rounds in which the buffer at the arena's end is placed earlier.
const REPAIRS: usize = 64;

/// Best fit in three orders (largest first, longest first, earliest first), each mended: the buffer that ends last moves
/// ahead of those placed before it. The smallest arena wins, the first among equals. `None` if the sizes overflow.
pub(crate) fn place(lifetimes: &[Lifetime], alignment: u64) -> Option<Placement> {
    let length = |l: &Lifetime| l.last - l.first;
    let least = largest_live(lifetimes, alignment);
    let mut by_size: Vec<usize> = (0..lifetimes.len()).collect();
    by_size.sort_by_key(|&n| (std::cmp::Reverse(lifetimes[n].size), lifetimes[n].first));
    let mut by_length = by_size.clone();
    by_length.sort_by_key(|&n| std::cmp::Reverse(length(&lifetimes[n])));
    let mut by_start = by_size.clone();
    by_start.sort_by_key(|&n| lifetimes[n].first);
    let mut best: Option<Placement> = None;
    for mut order in [by_size, by_length, by_start] {
        for _ in 0..REPAIRS {
            let found = best_fit(lifetimes, &order, alignment)?;
            let end = |n: usize| found.offsets[n] + aligned(lifetimes[n].size, alignment);
            let highest = (0..order.len()).find(|&n| end(order[n]) == found.size);
            if best.as_ref().is_none_or(|b| found.size < b.size) {
                best = Some(found);
            }
            match highest {
                Some(n) if n > 0 && best.as_ref().is_some_and(|b| b.size > least) => {
                    let moved = order.remove(n);
                    order.insert(n / 2, moved);
                }
                _ => break,
            }
        }
    }
    best
}

fn aligned(size: u64, alignment: u64) -> u64 {
    size.checked_next_multiple_of(alignment).unwrap_or(u64::MAX)
}

/// Places buffers in `order`, each in the smallest gap that holds it.
fn best_fit(lifetimes: &[Lifetime], order: &[usize], alignment: u64) -> Option<Placement> {
    let mut offsets = vec![0u64; lifetimes.len()];
    let mut placed: Vec<usize> = Vec::new();
    let mut total = 0u64;
    for &n in order {
        let size = lifetimes[n].size.checked_next_multiple_of(alignment)?;
        let mut taken: Vec<(u64, u64)> = placed
            .iter()
            .filter(|&&p| lifetimes[p].meets(&lifetimes[n]))
            .map(|&p| (offsets[p], offsets[p] + aligned(lifetimes[p].size, alignment)))
            .collect();
        taken.sort_unstable();
        let mut end = 0u64;
        let mut choice: Option<(u64, u64)> = None;
        for (from, to) in taken {
            let gap = from.saturating_sub(end);
            if gap >= size && from >= end && choice.is_none_or(|(smallest, _)| gap < smallest) {
                choice = Some((gap, end));
            }
            end = end.max(to);
        }
        let offset = choice.map_or(end, |(_, at)| at);
        offsets[n] = offset;
        total = total.max(offset.checked_add(size)?);
        placed.push(n);
    }
    Some(Placement { offsets, size: total })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound(lifetimes: &[Lifetime], placement: &Placement) {
        for (n, a) in lifetimes.iter().enumerate() {
            assert!(placement.offsets[n] + a.size <= placement.size);
            assert_eq!(placement.offsets[n] % 64, 0);
            for (m, b) in lifetimes.iter().enumerate().skip(n + 1) {
                let apart = placement.offsets[n] + a.size <= placement.offsets[m]
                    || placement.offsets[m] + b.size <= placement.offsets[n];
                assert!(!a.meets(b) || apart || a.size == 0 || b.size == 0, "{n} {m}");
            }
        }
    }

    #[test]
    fn a_chain_needs_its_two_largest_neighbours() {
        let sizes = [640, 1280, 320, 6400, 64];
        let chain: Vec<Lifetime> =
            sizes.iter().enumerate().map(|(n, &size)| Lifetime { size, first: n, last: n + 1 }).collect();
        let placement = place(&chain, 64).unwrap();
        sound(&chain, &placement);
        assert_eq!(placement.size, 6720);
    }

    /// Layers whose outputs are used once, or again a few steps later (residuals).
    #[test]
    fn networks_stay_within_a_tenth_of_the_largest_live_set() {
        let mut state = 1u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        for _ in 0..50 {
            let layers: Vec<Lifetime> = (0..60)
                .map(|n| Lifetime {
                    size: 64 * (1 + random(1000)),
                    first: n,
                    last: n + 1 + usize::from(random(4) == 0) * 3,
                })
                .collect();
            let placement = place(&layers, 64).unwrap();
            sound(&layers, &placement);
            let least = largest_live(&layers, 64);
            assert!(placement.size * 10 <= least * 11, "{} {least}", placement.size);
        }
    }

    #[test]
    fn sizes_that_overflow_have_no_place() {
        let huge = Lifetime { size: u64::MAX - 3, first: 0, last: 0 };
        assert_eq!(place(&[huge, huge], 64), None);
    }
}
