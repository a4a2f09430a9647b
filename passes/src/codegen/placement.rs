// SPDX-License-Identifier: Apache-2.0
//! Assigns offsets to buffers with lifetimes: buffers that are live at the same time do not overlap.

/// A buffer to place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lifetime {
    /// Size in bytes.
    pub size: u64,
    /// The first step at which the buffer is live.
    pub first: usize,
    /// The last step at which the buffer is live.
    pub last: usize,
}

/// The positions of buffers in the arena.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placement {
    /// The offset of each buffer in bytes.
    pub offsets: Vec<u64>,
    /// The size of the arena in bytes.
    pub size: u64,
}

impl Lifetime {
    fn overlaps(&self, other: &Lifetime) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// Returns the size in bytes of the largest set of buffers that are live at once: a lower bound of the arena's size.
pub(crate) fn largest_live(lifetimes: &[Lifetime], alignment: u64) -> u64 {
    let live_at = |step: usize| {
        let live = lifetimes.iter().filter(|l| l.first <= step && step <= l.last);
        live.map(|l| aligned(l.size, alignment)).fold(0, u64::saturating_add)
    };
    lifetimes.iter().map(|l| live_at(l.first)).fold(0, u64::max)
}

/// Maximum number of repairs of an order. A repair moves the buffer at the end of the arena to an earlier position in the order.
const REPAIRS: usize = 64;

/// Places buffers by best fit in three orders (largest first, longest-lived first, earliest first), each with repairs. Returns the
/// placement with the smallest arena, the first such placement if several are equal. `None` if the sizes overflow.
pub(crate) fn place(lifetimes: &[Lifetime], alignment: u64) -> Option<Placement> {
    let length = |l: &Lifetime| l.last - l.first;
    let lower_bound = largest_live(lifetimes, alignment);
    let mut by_size: Vec<usize> = (0..lifetimes.len()).collect();
    by_size.sort_by_key(|&n| (std::cmp::Reverse(lifetimes[n].size), lifetimes[n].first));
    let mut by_length = by_size.clone();
    by_length.sort_by_key(|&n| std::cmp::Reverse(length(&lifetimes[n])));
    let mut by_start = by_size.clone();
    by_start.sort_by_key(|&n| lifetimes[n].first);
    let mut best: Option<Placement> = None;
    for mut order in [by_size, by_length, by_start] {
        for _ in 0..REPAIRS {
            let placement = best_fit(lifetimes, &order, alignment)?;
            let end = |n: usize| placement.offsets[n] + aligned(lifetimes[n].size, alignment);
            let highest = (0..order.len()).find(|&n| end(order[n]) == placement.size);
            if best.as_ref().is_none_or(|b| placement.size < b.size) {
                best = Some(placement);
            }
            match highest {
                Some(n) if n > 0 && best.as_ref().is_some_and(|b| b.size > lower_bound) => {
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

/// Places buffers in `order`, each in the smallest gap that is large enough.
fn best_fit(lifetimes: &[Lifetime], order: &[usize], alignment: u64) -> Option<Placement> {
    let mut offsets = vec![0u64; lifetimes.len()];
    let mut placed: Vec<usize> = Vec::new();
    let mut total = 0u64;
    for &n in order {
        let size = lifetimes[n].size.checked_next_multiple_of(alignment)?;
        let mut taken: Vec<(u64, u64)> = placed
            .iter()
            .filter(|&&p| lifetimes[p].overlaps(&lifetimes[n]))
            .map(|&p| (offsets[p], offsets[p] + aligned(lifetimes[p].size, alignment)))
            .collect();
        taken.sort_unstable();
        let mut end = 0u64;
        let mut smallest: Option<(u64, u64)> = None;
        for (from, to) in taken {
            let gap = from.saturating_sub(end);
            if gap >= size && from >= end && smallest.is_none_or(|(smallest, _)| gap < smallest) {
                smallest = Some((gap, end));
            }
            end = end.max(to);
        }
        let offset = smallest.map_or(end, |(_, offset)| offset);
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
                let disjoint = placement.offsets[n] + a.size <= placement.offsets[m]
                    || placement.offsets[m] + b.size <= placement.offsets[n];
                assert!(!a.overlaps(b) || disjoint || a.size == 0 || b.size == 0, "{n} {m}");
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
            let lower_bound = largest_live(&layers, 64);
            assert!(placement.size * 10 <= lower_bound * 11, "{} {lower_bound}", placement.size);
        }
    }

    #[test]
    fn sizes_that_overflow_have_no_place() {
        let huge = Lifetime { size: u64::MAX - 3, first: 0, last: 0 };
        assert_eq!(place(&[huge, huge], 64), None);
    }
}
