// SPDX-License-Identifier: Apache-2.0
//! Reals that all lanes of a vector share, such as the scales of a few elements: for each block, the kernel computes those of all its
//! vectors at once, in the lanes of vectors, and stores them before its loop over blocks reads them.

use super::lines::Line;
use crate::ir::generic::LoopNest;
use crate::ir::{self, ValueKey};
use melior::ir::Value;

/// The minimum number of positions in a block at which a value is read, so that vectors are faster.
const MIN_POSITIONS: usize = 4;

/// The maximum number of scales of a tile: 64 kB.
const MAX_SCALES: i64 = 1 << 14;

/// A value of a map, for a row of a tile.
#[derive(Clone, Copy)]
pub(super) struct Place<'c, 'a> {
    pub(super) row: i64,
    /// The key of the map.
    pub(super) nest: usize,
    pub(super) value: Value<'c, 'a>,
}

impl<'c: 'a, 'a> Place<'c, 'a> {
    pub(super) fn new(row: i64, nest: &LoopNest<'c, 'a>, value: Value<'c, 'a>) -> Self {
        Place { row, nest: ir::key(nest.op), value }
    }

    fn key(&self) -> (i64, usize, ValueKey) {
        (self.row, self.nest, ValueKey::of(self.value))
    }
}

/// A value at all positions of a block at which lanes share it.
pub(super) struct Group<'c, 'a> {
    pub(super) place: Place<'c, 'a>,
    /// The factors of the lines of all loops of the map.
    factors: Vec<Vec<i64>>,
    /// The constants of these lines, in order: one for each position.
    constants: Vec<Vec<i64>>,
    /// The index of the first scale among those of a block.
    first: i64,
    pub(super) lanes: usize,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Positions are added.
    Open,
    Computed,
    /// Each vector computes its value.
    Refused,
}

/// Where a scale is.
pub(super) enum Found {
    /// The index among those of a block.
    Index(i64),
    /// The kernel must be emitted again to compute it.
    Added,
    Refused,
}

/// The scales of a kernel.
#[derive(Default)]
pub(super) struct Scales<'c, 'a> {
    groups: Vec<Group<'c, 'a>>,
    /// The number of scales of a block.
    pub(super) of_block: i64,
}

impl<'c: 'a, 'a> Scales<'c, 'a> {
    /// The index of a value at this position, which is added if groups are open.
    pub(super) fn find(&mut self, place: Place<'c, 'a>, loops: &[Line]) -> Found {
        let factors: Vec<Vec<i64>> = loops.iter().map(|line| line.factors.clone()).collect();
        let constants: Option<Vec<i64>> = loops.iter().map(|line| line.lanes.first().copied()).collect();
        let Some(constants) = constants else {
            return Found::Refused;
        };
        let known = |group: &&mut Group| group.place.key() == place.key() && group.factors == factors;
        let Some(group) = self.groups.iter_mut().find(known) else {
            let (constants, state) = (vec![constants], State::Open);
            self.groups.push(Group { place, factors, constants, first: 0, lanes: 0, state });
            return Found::Added;
        };
        match (group.state, group.constants.binary_search(&constants)) {
            (State::Open, at) => {
                if let Err(at) = at {
                    group.constants.insert(at, constants);
                }
                Found::Added
            }
            (State::Computed, Ok(at)) => Found::Index(group.first + ir::signed(at)),
            _ => Found::Refused,
        }
    }

    /// Decides which of the added values are computed before a loop over `blocks` blocks. Returns whether there are any added ones.
    pub(super) fn settle(&mut self, lanes: usize, blocks: i64) -> bool {
        let mut is_changed = false;
        for group in self.groups.iter_mut().filter(|group| group.state == State::Open) {
            let count = group.constants.len();
            group.lanes = count.next_power_of_two().clamp(MIN_POSITIONS, lanes.max(MIN_POSITIONS));
            let after = self.of_block + ir::signed(count.next_multiple_of(group.lanes));
            let fits = after.checked_mul(blocks).is_some_and(|scales| scales <= MAX_SCALES);
            group.state = if count >= MIN_POSITIONS && fits { State::Computed } else { State::Refused };
            if group.state == State::Computed {
                (group.first, self.of_block) = (self.of_block, after);
            }
            is_changed = true;
        }
        is_changed
    }

    /// The groups that are computed, by number.
    pub(super) fn computed(&self) -> impl Iterator<Item = (usize, &Group<'c, 'a>)> {
        self.groups.iter().enumerate().filter(|(_, group)| group.state == State::Computed)
    }

    /// Lets each vector compute the value of a group.
    pub(super) fn refuse(&mut self, number: usize) {
        if let Some(group) = self.groups.get_mut(number) {
            group.state = State::Refused;
        }
    }
}

impl Group<'_, '_> {
    /// The index of the first scale of each vector, and the positions of its lanes. The last position is repeated.
    pub(super) fn vectors(&self) -> Vec<(i64, Vec<Line>)> {
        let line = |chunk: &[Vec<i64>], l: usize| {
            let constants = chunk.iter().chain(std::iter::repeat_n(chunk.last(), self.lanes).flatten());
            let lanes = constants.take(self.lanes).filter_map(|loops| loops.get(l).copied()).collect();
            Line { factors: self.factors[l].clone(), lanes }
        };
        let chunks = self.constants.chunks(self.lanes).enumerate();
        let lines = |chunk: &[Vec<i64>]| (0..self.factors.len()).map(|l| line(chunk, l)).collect();
        chunks.map(|(n, chunk)| (self.first + ir::signed(n * self.lanes), lines(chunk))).collect()
    }
}
