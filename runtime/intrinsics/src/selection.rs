// SPDX-License-Identifier: Apache-2.0
//! Selects the first `k` elements of a row in an order, without sorting the row.
//!
//! Elements are compared by integer keys: the order of reals with equal zeros, and NaN after all numbers.

/// An element with a key in the order of its values.
pub(crate) trait Ordered: Copy {
    /// The keys.
    type Key: Ord + Copy + std::ops::Not<Output = Self::Key>;

    /// Smaller for smaller elements. `!` reverses the order of keys.
    fn key(self) -> Self::Key;

    /// False only if the key is not smaller than the key of `last`; one comparison, which LLVM vectorizes.
    fn may_be_less(self, last: Self) -> bool;

    /// False only if the key is not greater than the key of `last`.
    fn may_be_greater(self, last: Self) -> bool;

    /// The smaller element; neither is unordered. LLVM compiles `smaller` and `greater` to one instruction each.
    fn smaller(self, other: Self) -> Self;

    fn greater(self, other: Self) -> Self;

    /// Whether the element is NaN.
    fn is_unordered(self) -> bool;
}

impl Ordered for f32 {
    type Key = i32;

    fn key(self) -> i32 {
        // -0 + 0 is 0.
        let bits = (self + 0.0).to_bits().cast_signed();
        let key = bits ^ ((bits >> 31) & i32::MAX);
        if self.is_nan() { i32::MAX } else { key }
    }

    #[expect(clippy::neg_cmp_op_on_partial_ord, reason = "true for NaN")]
    fn may_be_less(self, last: f32) -> bool {
        !(self >= last)
    }

    #[expect(clippy::neg_cmp_op_on_partial_ord, reason = "true for NaN")]
    fn may_be_greater(self, last: f32) -> bool {
        !(self <= last)
    }

    fn smaller(self, other: f32) -> f32 {
        if self < other { self } else { other }
    }

    fn greater(self, other: f32) -> f32 {
        if self > other { self } else { other }
    }

    fn is_unordered(self) -> bool {
        self.is_nan()
    }
}

impl Ordered for f64 {
    type Key = i64;

    fn key(self) -> i64 {
        let bits = (self + 0.0).to_bits().cast_signed();
        let key = bits ^ ((bits >> 63) & i64::MAX);
        if self.is_nan() { i64::MAX } else { key }
    }

    #[expect(clippy::neg_cmp_op_on_partial_ord, reason = "true for NaN")]
    fn may_be_less(self, last: f64) -> bool {
        !(self >= last)
    }

    #[expect(clippy::neg_cmp_op_on_partial_ord, reason = "true for NaN")]
    fn may_be_greater(self, last: f64) -> bool {
        !(self <= last)
    }

    fn smaller(self, other: f64) -> f64 {
        if self < other { self } else { other }
    }

    fn greater(self, other: f64) -> f64 {
        if self > other { self } else { other }
    }

    fn is_unordered(self) -> bool {
        self.is_nan()
    }
}

impl Ordered for i64 {
    type Key = i64;

    fn key(self) -> i64 {
        self
    }

    fn may_be_less(self, last: i64) -> bool {
        self < last
    }

    fn may_be_greater(self, last: i64) -> bool {
        self > last
    }

    fn smaller(self, other: i64) -> i64 {
        if self < other { self } else { other }
    }

    fn greater(self, other: i64) -> i64 {
        if self > other { self } else { other }
    }

    fn is_unordered(self) -> bool {
        false
    }
}

/// Maximum number of selected elements that are kept in a sorted list; more are selected by partitioning.
const MAX_LISTED: usize = 32;

/// Number of elements that are compared with the last kept element at once.
const BLOCK: usize = 32;

/// Number of lanes that [`best_of`] compares at once.
const LANES: usize = 8;

/// Positions of the first `k` elements in order, largest first if `down`; equal elements are in order of position.
pub(crate) fn first<T: Ordered>(row: &[T], k: usize, down: bool) -> Vec<usize> {
    if down {
        by_key(row, k, |x| !x.key(), T::may_be_greater, T::greater)
    } else {
        by_key(row, k, T::key, T::may_be_less, T::smaller)
    }
}

/// `may_precede` is false only where the key is not smaller.
fn by_key<T: Ordered, K: Ord + Copy>(
    row: &[T],
    k: usize,
    key: impl Fn(T) -> K,
    may_precede: impl Fn(T, T) -> bool,
    earlier: impl Fn(T, T) -> T,
) -> Vec<usize> {
    let k = k.min(row.len());
    if k > MAX_LISTED {
        return partition(row, k, key);
    }
    let is_long = row.len() >= 2 * k * BLOCK;
    let selected = is_long.then(|| from_blocks(row, k, &key, &may_precede, &earlier));
    selected.flatten().unwrap_or_else(|| listed(row, k, key, may_precede))
}

/// Selects from the blocks whose best element is among the `k` best of all blocks: no other block contains one of the first `k`
/// elements of the row. `None` if an element is unordered.
fn from_blocks<T: Ordered, K: Ord + Copy>(
    row: &[T],
    k: usize,
    key: &impl Fn(T) -> K,
    may_precede: &impl Fn(T, T) -> bool,
    earlier: &impl Fn(T, T) -> T,
) -> Option<Vec<usize>> {
    let (blocks, tail) = row.as_chunks::<BLOCK>();
    let mut bests = Vec::with_capacity(blocks.len());
    for block in blocks {
        bests.push(best_of(block, earlier)?);
    }
    let last = listed(&bests, k, key, may_precede).pop()?;
    let limit = *bests.get(last)?;
    let mut kept: Vec<(K, usize)> = Vec::with_capacity(k);
    let mut consider = |x: T, position: usize| {
        let candidate = key(x);
        if kept.len() < k {
            let after = kept.partition_point(|(other, _)| *other <= candidate);
            kept.insert(after, (candidate, position));
        } else if kept.last().is_some_and(|(last, _)| candidate < *last) {
            insert(&mut kept, (candidate, position));
        }
    };
    for ((block, best), start) in blocks.iter().zip(bests).zip((0..).step_by(BLOCK)) {
        if may_precede(limit, best) {
            continue;
        }
        for (x, position) in block.iter().zip(start..) {
            if !may_precede(limit, *x) {
                consider(*x, position);
            }
        }
    }
    for (x, position) in tail.iter().zip(row.len() - tail.len()..) {
        consider(*x, position);
    }
    Some(kept.into_iter().map(|(_, position)| position).collect())
}

/// The first element of a block in the order; `None` if an element is unordered. Each step processes the lanes of one vector.
fn best_of<T: Ordered>(block: &[T; BLOCK], earlier: &impl Fn(T, T) -> T) -> Option<T> {
    let (groups, _) = block.as_chunks::<LANES>();
    let (first, others) = groups.split_first()?;
    let mut bests = *first;
    let mut unordered = first.map(|x| u32::from(x.is_unordered()));
    for group in others {
        for ((best, flag), x) in bests.iter_mut().zip(&mut unordered).zip(group) {
            *best = earlier(*x, *best);
            *flag |= u32::from(x.is_unordered());
        }
    }
    let [a, b, c, d, e, f, g, h] = bests;
    let [a, b, c, d] = [earlier(a, e), earlier(b, f), earlier(c, g), earlier(d, h)];
    let best = earlier(earlier(a, c), earlier(b, d));
    (unordered == [0; LANES]).then_some(best)
}

/// Selects with a sorted list of the first elements seen so far.
fn listed<T: Copy, K: Ord + Copy>(
    row: &[T],
    k: usize,
    key: impl Fn(T) -> K,
    may_precede: impl Fn(T, T) -> bool,
) -> Vec<usize> {
    let k = k.min(row.len());
    let (start, rest) = row.split_at(k);
    let mut kept: Vec<(K, usize)> = start.iter().map(|x| key(*x)).zip(0..).collect();
    kept.sort_unstable();
    let Some((mut last_key, position)) = kept.last().copied() else {
        return Vec::new();
    };
    let Some(mut last) = row.get(position).copied() else {
        return Vec::new();
    };
    let mut block_start = k;
    let (blocks, tail) = rest.as_chunks::<BLOCK>();
    for block in blocks.iter().map(<[T; BLOCK]>::as_slice).chain([tail]) {
        // The earlier of equal elements is kept, so only smaller keys replace it.
        if block.iter().fold(false, |any, x| any | may_precede(*x, last)) {
            for (position, x) in (block_start..).zip(block) {
                // One comparison rejects most elements, so few keys are computed.
                if !may_precede(*x, last) {
                    continue;
                }
                let candidate = key(*x);
                if candidate < last_key {
                    insert(&mut kept, (candidate, position));
                    if let Some((key, position)) = kept.last() {
                        last_key = *key;
                        last = row.get(*position).copied().unwrap_or(last);
                    }
                }
            }
        }
        block_start += block.len();
    }
    kept.into_iter().map(|(_, position)| position).collect()
}

/// Inserts an element into a sorted list, after all elements whose keys are not greater; drops the last element of the list.
fn insert<K: Ord + Copy>(kept: &mut [(K, usize)], new: (K, usize)) {
    let mut next = new;
    let after = kept.partition_point(|(key, _)| *key <= new.0);
    for slot in kept.iter_mut().skip(after) {
        next = std::mem::replace(slot, next);
    }
}

fn partition<T: Copy, K: Ord + Copy>(row: &[T], k: usize, key: impl Fn(T) -> K) -> Vec<usize> {
    let mut all: Vec<(K, usize)> = row.iter().map(|x| key(*x)).zip(0..).collect();
    if k < all.len() {
        all.select_nth_unstable(k);
        all.truncate(k);
    }
    all.sort_unstable();
    all.into_iter().map(|(_, position)| position).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Ordering;

    /// A stable sort in the order that the library specifies.
    fn sorted(row: &[f32], k: usize, down: bool) -> Vec<usize> {
        let ascending = |a: f32, b: f32| match (a.is_nan(), b.is_nan()) {
            (false, false) if a < b => Ordering::Less,
            (false, false) if a > b => Ordering::Greater,
            (false, false) => Ordering::Equal,
            (a, b) => a.cmp(&b),
        };
        let mut order: Vec<usize> = (0..row.len()).collect();
        order.sort_by(|a, b| {
            let order = ascending(row[*a], row[*b]);
            if down { order.reverse() } else { order }
        });
        order.truncate(k);
        order
    }

    /// Pseudo-random elements, some of them special values; `values` is the number of distinct numbers.
    fn row(length: usize, values: usize) -> Vec<f32> {
        let special = [f32::NAN, -f32::NAN, 0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY];
        let mut state = (length * 7 + values) as u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % (values + special.len())
        };
        let value = |n: usize| special.get(n).copied().unwrap_or(n as f32 - 9.0);
        (0..length).map(|_| value(next())).collect()
    }

    #[test]
    fn the_first_of_a_stable_sort() {
        for length in [0, 1, 2, 31, 32, 33, 64, 100, 1000] {
            for values in [1, 20, 5000] {
                let row = row(length, values);
                let wide: Vec<f64> = row.iter().map(|x| f64::from(*x)).collect();
                for k in [0, 1, 4, 31, 32, 33, 100, 999, 1000, 2000] {
                    for down in [false, true] {
                        let expected = sorted(&row, k, down);
                        assert_eq!(first(&row, k, down), expected, "{length} {values} {k}");
                        assert_eq!(first(&wide, k, down), expected, "{length} {values} {k}");
                        let ints: Vec<i64> = row.iter().map(|x| *x as i64).collect();
                        let narrow: Vec<f32> = ints.iter().map(|x| *x as f32).collect();
                        let expected = sorted(&narrow, k, down);
                        assert_eq!(first(&ints, k, down), expected, "{length} {values} {k}");
                    }
                }
            }
        }
    }

    #[test]
    fn keys_order_the_smallest_and_largest_numbers() {
        let tiny = f64::from_bits(1);
        let row = [f64::MAX, tiny, -tiny, f64::MIN, 0.0, -0.0];
        assert_eq!(first(&row, 6, false), [3, 2, 4, 5, 1, 0]);
        assert_eq!(first(&row, 6, true), [0, 1, 4, 5, 2, 3]);
    }
}
