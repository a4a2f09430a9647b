// SPDX-License-Identifier: Apache-2.0
//! `skript-sort-comparisons`: counts comparisons between all pairs of elements of a row by sorting the row.
//!
//! `y[i] += x[k] < x[i] || (x[k] == x[i] && k < i) ? 1 : 0` compares all pairs of elements. The count for a pair depends only on the order of
//! the elements and on the order of their positions ([`cases`]). After a stable sort, the elements that are less, the equal elements that
//! precede or follow, and the greater elements are contiguous. Their numbers can be computed from the position of an element in the sorted
//! row, and from the begin and the end of the range of equal elements. So ranks, numbers of equal elements and similar results take the time
//! of a merge sort. NaN is sorted last.
//!
//! Requires: static buffers. Guarantees: results do not change; short rows are not sorted.

mod cases;

use crate::ir::builder::arith::{Integers, Reals};
use crate::ir::generic::LoopNest;
use crate::ir::walk::named;
use crate::ir::{self, Builder, ops, types};
use cases::{Payload, Relation};
use melior::ir::operation::OperationRef;
use melior::ir::r#type::MemRefType;
use melior::ir::{ShapedTypeLike, TypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass};
use std::cmp::Ordering;
use std::collections::HashMap;

/// The pass `skript-sort-comparisons`.
pub const PASS: Pass = Pass {
    flag: "skript-sort-comparisons",
    summary: "count comparisons between all pairs of elements of a row by sorting the row",
    dependent_dialects: &[Dialect::Arith, Dialect::MemRef, Dialect::Scf],
    run: |root, _, rewriter| {
        for op in named(root, ops::linalg::GENERIC) {
            if let Some(counts) = Counts::new(op) {
                counts.write(&Builder::before(rewriter.context(), op)?);
                ir::erase(op);
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Minimum length of a sorted row: vectorized comparisons of shorter rows are faster.
const MIN_LENGTH: i64 = 1024;

/// Maximum length of a row: positions are 32-bit integers.
const MAX_LENGTH: i64 = 1 << 30;

/// The count that each other element contributes, by comparison result; separately for NaN.
#[derive(Default)]
struct Weights {
    less: i64,
    equal_before: i64,
    itself: i64,
    equal_after: i64,
    greater: i64,
    nan: i64,
}

impl Weights {
    fn largest(&self) -> i64 {
        let equal = [self.equal_before, self.itself, self.equal_after];
        let all = equal.into_iter().chain([self.less, self.greater, self.nan]);
        all.map(i64::saturating_abs).fold(0, i64::max)
    }
}

/// A reduction that counts comparisons.
struct Counts<'c, 'a> {
    /// The array and the result.
    operands: [Value<'c, 'a>; 2],
    types: [MemRefType<'c>; 2],
    /// The loops that subscript the array, and the loops that subscript the result.
    subscripts: [Vec<usize>; 2],
    /// The extents of the loops.
    extents: Vec<i64>,
    /// The loop of the own position.
    own: usize,
    /// The loop of the other position.
    other: usize,
    /// The counts if the own element is a number.
    numbers: Weights,
    /// The counts if the own element is NaN: numbers count as less, other NaN as equal.
    nans: Weights,
}

impl<'c: 'a, 'a> Counts<'c, 'a> {
    fn new(op: OperationRef<'c, 'a>) -> Option<Self> {
        let nest = LoopNest::read(op)?;
        let [first, second, result] = nest.operands.as_slice() else {
            return None;
        };
        if first.value != second.value || first.value == result.value {
            return None;
        }
        let (array, counted) = (first.array()?, result.array()?);
        let other = nest.reductions.iter().position(|reduces| *reduces)?;
        let (mut one, mut two, target) = (first.indices()?, second.indices()?, result.indices()?);
        let depends = |list: &[usize], number: usize| list.iter().filter(|n| **n == number).count();
        let is_swapped = depends(&one, other) == 0;
        if is_swapped {
            std::mem::swap(&mut one, &mut two);
        }
        let differing = one.iter().zip(&two).find(|(a, b)| a != b);
        let second = *differing.map(|(_, second)| second)?;
        let replaced: Vec<usize> = one.iter().map(|n| if *n == other { second } else { *n }).collect();
        let is_one_row = replaced == two && depends(&one, other) == 1 && depends(&one, second) == 0;
        let is_whole = nest.loops(false).all(|n| depends(&target, n) == 1);
        // The arrays must be static, with exactly one reduction loop.
        let is_supported = target.len() + 1 == nest.reductions.len() && nest.loops(true).count() == 1;
        let extents = nest.static_extents()?.to_vec();
        if !is_one_row || !is_whole || !is_supported {
            return None;
        }

        let length = *extents.get(second)?;
        let is_long = (MIN_LENGTH..=MAX_LENGTH).contains(&length) && extents.get(other) == Some(&length);
        let is_real = matches!(array.element().to_string().as_str(), "f32" | "f64");
        let is_known = is_real || matches!(array.element().to_string().as_str(), "i32" | "i64");
        let is_counted = matches!(counted.element().to_string().as_str(), "i32" | "i64");
        if !is_long || !is_known || !is_counted {
            return None;
        }

        let payload = Payload::new(&nest, [other, second], usize::from(!is_swapped))?;
        let always = |relation: Relation| {
            let before = payload.count(relation, Ordering::Less)?;
            let after = payload.count(relation, Ordering::Greater)?;
            (before == after).then_some(before)
        };
        let mut numbers = Weights {
            less: always(Relation::Less)?,
            equal_before: payload.count(Relation::Equal, Ordering::Less)?,
            itself: payload.count(Relation::Equal, Ordering::Equal)?,
            equal_after: payload.count(Relation::Equal, Ordering::Greater)?,
            greater: always(Relation::Greater)?,
            nan: 0,
        };
        let mut nans = Weights::default();
        if is_real {
            numbers.nan = always(Relation::OtherNan)?;
            nans = Weights {
                less: always(Relation::OwnNan)?,
                equal_before: payload.count(Relation::BothNan, Ordering::Less)?,
                itself: payload.count(Relation::BothNan, Ordering::Equal)?,
                equal_after: payload.count(Relation::BothNan, Ordering::Greater)?,
                ..nans
            };
        }
        // An index is a 32-bit integer on some processors.
        let fits = |weights: &Weights| weights.largest().saturating_mul(length) < 1 << 31;
        if !fits(&numbers) || !fits(&nans) {
            return None;
        }
        Some(Counts {
            operands: [first.value, result.value],
            types: [array, counted],
            subscripts: [one, target],
            extents,
            own: second,
            other,
            numbers,
            nans,
        })
    }

    fn is_real(&self) -> bool {
        self.types[0].element().is_float()
    }

    /// Whether a loop is along a row.
    fn is_along(&self, number: usize) -> bool {
        number == self.own || number == self.other
    }

    /// Emits the sort and the counts.
    fn write(&self, at: &Builder<'c, 'a>) {
        let length = self.extents[self.own];
        let rows: Vec<usize> = (0..self.extents.len()).filter(|number| !self.is_along(*number)).collect();
        let extents: Vec<i64> = rows.iter().map(|number| self.extents[*number]).collect();
        // The array has two halves for each row: each pass of the sort reads one half and writes the other.
        let order = types::memref(&[&extents[..], &[2, length]].concat(), types::int(at.context, 32));
        let order = at.make(ops::memref::ALLOC, &[], &[at.segments(&[0, 0])], order);
        let passes = 64 - i64::from((length - 1).leading_zeros());
        let row = |at: Builder<'c, 'a>, places: &[Value<'c, 'a>]| {
            let places = rows.iter().copied().zip(places.iter().copied()).collect();
            let row = Row { counts: self, order, places, length: at.idx(length), at };
            row.sort(passes);
            row.count(passes % 2);
        };
        if rows.is_empty() {
            return row(*at, &[]);
        }
        let (region, inside, places) = at.region(&vec![at.index_type(); rows.len()]);
        row(inside, &places);
        inside.op(ops::scf::REDUCE, &[], &[], &[], Vec::new());
        let (zero, one) = (at.idx(0), at.idx(1));
        let ends: Vec<Value> = extents.iter().map(|extent| at.idx(*extent)).collect();
        let bounds = [vec![zero; rows.len()], ends, vec![one; rows.len()]].concat();
        let count = i32::try_from(rows.len()).unwrap_or(i32::MAX);
        let segments = [at.segments(&[count, count, count, 0])];
        at.op(ops::scf::PARALLEL, &bounds, &segments, &[], vec![region]);
    }
}

/// The emitter for a row.
struct Row<'s, 'c, 'a> {
    counts: &'s Counts<'c, 'a>,
    /// The array of positions, sorted by their elements, in one of two halves.
    order: Value<'c, 'a>,
    /// The index of each loop over rows.
    places: HashMap<usize, Value<'c, 'a>>,
    length: Value<'c, 'a>,
    at: Builder<'c, 'a>,
}

impl<'c: 'a, 'a> Row<'_, 'c, 'a> {
    /// Returns the subscripts of the array or the result for a position in the row.
    fn subscripts(&self, array: usize, position: Value<'c, 'a>) -> Vec<Value<'c, 'a>> {
        let subscripts = self.counts.subscripts[array].iter();
        subscripts.map(|number| self.places.get(number).copied().unwrap_or(position)).collect()
    }

    /// Loads an element of the row.
    fn load(&self, at: &Builder<'c, 'a>, position: Value<'c, 'a>) -> Value<'c, 'a> {
        at.load(self.counts.operands[0], &self.subscripts(0, position))
    }

    /// Returns the subscripts of a place in a half of the sorted positions.
    fn place(&self, half: Value<'c, 'a>, place: Value<'c, 'a>) -> Vec<Value<'c, 'a>> {
        let rows = (0..self.counts.extents.len()).filter_map(|number| self.places.get(&number).copied());
        rows.chain([half, place]).collect()
    }

    /// Loads the position at a place in a half of the sorted positions: as a 32-bit integer, and as an index.
    fn placed(&self, at: &Builder<'c, 'a>, half: Value<'c, 'a>, place: Value<'c, 'a>) -> [Value<'c, 'a>; 2] {
        let word = at.load(self.order, &self.place(half, place));
        [word, at.index_cast(word, at.index_type())]
    }

    /// Computes whether `left` sorts before `right`, which is at the same or a later position.
    fn before(&self, at: &Builder<'c, 'a>, left: Value<'c, 'a>, right: Value<'c, 'a>) -> Value<'c, 'a> {
        if !self.counts.is_real() {
            return at.cmpi(Integers::SignedLess, left, right);
        }
        let is_less = at.cmpf(Reals::Less, left, right);
        let is_last = at.cmpf(Reals::Unordered, right, right);
        let is_number = at.cmpf(Reals::Ordered, left, left);
        at.ori(is_less, at.andi(is_last, is_number))
    }

    /// Emits a loop over the positions of the row.
    fn each(&self, body: impl FnOnce(Builder<'c, 'a>, Value<'c, 'a>)) {
        self.at.each([self.at.idx(0), self.length, self.at.idx(1)], body);
    }

    /// Emits a merge sort: merges runs of 1, 2, 4, … positions.
    fn sort(&self, passes: i64) {
        let at = self.at;
        let word = types::int(at.context, 32);
        let (zero, one, two) = (at.idx(0), at.idx(1), at.idx(2));
        self.each(|at, p| at.store(at.index_cast(p, word), self.order, &self.place(zero, p)));
        at.each([zero, at.idx(passes), one], |at, pass| {
            let from = at.andi(pass, one);
            let to = at.xori(from, one);
            let (width, twice) = (at.shli(one, pass), at.shli(two, pass));
            at.each([zero, self.length, twice], |at, low| {
                let middle = at.minsi(at.addi(low, width), self.length);
                let high = at.minsi(at.addi(low, twice), self.length);
                at.for_([low, high, one], &[low, middle], |at, p, ends| {
                    self.merge(&at, [from, to], [middle, high], p, [ends[0], ends[1]])
                });
            });
        });
    }

    /// Emits one step of a merge: writes the next position of two runs, and returns the new places in both runs.
    fn merge(
        &self,
        at: &Builder<'c, 'a>,
        [from, to]: [Value<'c, 'a>; 2],
        [middle, high]: [Value<'c, 'a>; 2],
        p: Value<'c, 'a>,
        [a, c]: [Value<'c, 'a>; 2],
    ) -> Vec<Value<'c, 'a>> {
        let (one, last) = (at.idx(1), at.subi(self.length, at.idx(1)));
        let has_a = at.cmpi(Integers::SignedLess, a, middle);
        let has_c = at.cmpi(Integers::SignedLess, c, high);
        let near = [a, c].map(|place| at.minsi(place, last));
        let [first, second] = near.map(|near| self.placed(at, from, near));
        let elements = [first, second].map(|[_, position]| self.load(at, position));
        let is_before = self.before(at, elements[1], elements[0]);
        let is_next = at.ori(at.xori(has_a, at.truth(true)), is_before);
        let takes = at.andi(has_c, is_next);
        at.store(at.select(takes, second[0], first[0]), self.order, &self.place(to, p));
        let step = at.convert(ops::arith::EXTUI, takes, types::int(at.context, 32));
        let step = at.index_cast(step, at.index_type());
        let next_c = at.addi(c, step);
        vec![at.addi(a, at.subi(one, step)), next_c]
    }

    /// Emits the counts. A forward loop computes where a range of equal elements begins, a backward loop where it ends.
    fn count(&self, sorted: i64) {
        let counts = self.counts;
        let at = self.at;
        let (zero, one, sorted) = (at.idx(0), at.idx(1), at.idx(sorted));
        let (number, nan) = (&counts.numbers, &counts.nans);
        let pair = |at: &Builder<'c, 'a>, p, near| {
            let [_, own] = self.placed(at, sorted, p);
            let [_, near] = self.placed(at, sorted, near);
            (own, self.load(at, own), self.load(at, near))
        };
        at.for_([zero, self.length, one], &[zero], |at, p, begin| {
            let earlier = at.maxsi(at.subi(p, one), zero);
            let (place, own, near) = pair(&at, p, earlier);
            let differs = self.before(&at, near, own);
            let weight = self.weights(&at, own);
            let start = at.select(differs, p, begin[0]);
            let less = weight(number.less, nan.less);
            let preceding = weight(number.equal_before, nan.equal_before);
            let itself = weight(number.itself, nan.itself);
            let below = at.muli(start, less);
            let earlier = at.muli(at.subi(p, start), preceding);
            self.add(&at, place, at.addi(at.addi(below, earlier), itself));
            vec![start]
        });
        let is_needed = number.equal_after != 0 || number.greater != 0 || number.nan != 0;
        if !is_needed && nan.equal_after == 0 {
            return;
        }
        let last = at.subi(self.length, one);
        at.for_([zero, self.length, one], &[self.length, zero], |at, n, carried| {
            let (end, ordered) = (carried[0], carried[1]);
            let p = at.subi(last, n);
            let next = at.addi(p, one);
            let (place, own, near) = pair(&at, p, at.minsi(next, last));
            let differs = self.before(&at, own, near);
            let is_nan = self.is_nan(&at, own);
            let weight = self.weights(&at, own);
            // The first number that the backward loop visits is the last number of the row.
            let stop = at.select(differs, next, end);
            let none = at.cmpi(Integers::Equal, ordered, zero);
            let numbers = at.select(is_nan, ordered, at.select(none, next, ordered));
            let following = weight(number.equal_after, nan.equal_after);
            let (greater, unordered) = (weight(number.greater, 0), weight(number.nan, 0));
            let later = at.muli(at.subi(stop, next), following);
            let above = at.muli(at.subi(numbers, stop), greater);
            let others = at.muli(at.subi(self.length, numbers), unordered);
            self.add(&at, place, at.addi(at.addi(later, above), others));
            vec![stop, numbers]
        });
    }

    fn is_nan(&self, at: &Builder<'c, 'a>, own: Value<'c, 'a>) -> Value<'c, 'a> {
        if self.counts.is_real() { at.cmpf(Reals::Unordered, own, own) } else { at.truth(false) }
    }

    /// Returns a function that selects a weight by whether an element is NaN.
    fn weights(&self, at: &Builder<'c, 'a>, own: Value<'c, 'a>) -> impl Fn(i64, i64) -> Value<'c, 'a> {
        let (at, is_nan) = (*at, self.is_nan(at, own));
        move |number, nan| {
            let number = at.idx(number);
            at.select(is_nan, at.idx(nan), number)
        }
    }

    /// Adds a number to the result at a position.
    fn add(&self, at: &Builder<'c, 'a>, position: Value<'c, 'a>, total: Value<'c, 'a>) {
        let result = self.counts.operands[1];
        let place = self.subscripts(1, position);
        let count = at.index_cast(total, types::element_or_self(result.r#type()));
        at.store(at.addi(at.load(result, &place), count), result, &place);
    }
}
