// SPDX-License-Identifier: Apache-2.0
//! Groups of operations that are fused into a loop over blocks of rows.
//!
//! Rows are loops that all operations of a group share: an element that one operation writes and another reads is in the same row in
//! both operations.

use super::member::{Access, Kind, Member};
use crate::ir::effects::Effects;
use crate::ir::memref::root_of;
use crate::ir::outline::captured;
use crate::ir::{self, ValueKey, ops};
use crate::schedule::buffer_uses::has_own_buffer;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{TypeLike, Value, ValueLike};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// Maximum number of operations before and after a reduction that are considered for its group.
const MAX_DISTANCE: usize = 48;

/// Minimum number of rows of a group after adding an operation that has only some of its rows.
const MIN_ROWS: i64 = 16;

/// A loop that all operations of a group share.
#[derive(Clone)]
pub(super) struct Row {
    /// The extent of the loop; `None` if it is dynamic.
    pub(super) extent: Option<i64>,
    /// For each member, the number of its loop.
    pub(super) loops: Vec<usize>,
}

impl Row {
    /// Whether an input of a member does not depend on the row.
    pub(super) fn is_free_in(&self, number: usize, member: &Member) -> bool {
        let l = self.loops.get(number);
        l.is_some_and(|l| member.inputs().any(|access| access.dimension(*l) == Some(None)))
    }
}

/// Operations with common rows.
#[derive(Clone)]
pub(super) struct Group<'c, 'a> {
    /// The operations, in the order of the block.
    pub(super) members: Vec<Member<'c, 'a>>,
    pub(super) rows: Vec<Row>,
    /// Whether payloads may read the index of a row: the sum of the first row of the block and the position in the block.
    pub(super) has_positions: bool,
}

impl<'c: 'a, 'a> Group<'c, 'a> {
    /// Creates a group of one reduction: its parallel loops are the rows.
    fn seed(op: OperationRef<'c, 'a>, has_positions: bool) -> Option<Self> {
        let seeds = [Kind::Reduction, Kind::Window];
        let member = Member::from_op(op).filter(|member| seeds.contains(&member.kind))?;
        let loops = 0..member.reductions.len();
        let is_row =
            |l: &usize| member.is_divisible(*l, has_positions) && member.extent(*l).flatten() != Some(1);
        let row = |l| Row { extent: member.extent(l).flatten(), loops: vec![l] };
        let rows = loops.filter(is_row).map(row).collect();
        let mut group = Group { members: vec![member], rows, has_positions };
        group.keep_common();
        (!group.rows.is_empty()).then_some(group)
    }

    /// Collects the group around the reduction at a position of a block. `accepts` returns whether a group may be fused and extended;
    /// payloads may read the indices of rows if `has_positions`.
    pub(super) fn around(
        block: &[OperationRef<'c, 'a>],
        position: usize,
        effects: &mut Effects<'c, 'a>,
        has_positions: bool,
        accepts: impl Fn(&Self) -> bool,
    ) -> Option<Self> {
        let seed = Self::seed(*block.get(position)?, has_positions);
        let mut group = seed.filter(&accepts)?;
        let before = block.iter().take(position).rev().take(MAX_DISTANCE);
        group.extend(before, Direction::Before, effects, &accepts);
        let after = block.iter().skip(position + 1).take(MAX_DISTANCE);
        group.extend(after, Direction::After, effects, &accepts);
        (group.members.len() > 1).then_some(group)
    }

    /// Adds neighbours of the members in one direction, nearest first.
    fn extend<'n>(
        &mut self,
        neighbours: impl Iterator<Item = &'n OperationRef<'c, 'a>>,
        direction: Direction,
        effects: &mut Effects<'c, 'a>,
        accepts: &impl Fn(&Self) -> bool,
    ) where
        'c: 'n,
        'a: 'n,
    {
        // Operations between members that are not in the group yet: later members may connect them to the group.
        let mut others: Vec<(OperationRef<'c, 'a>, Touched)> = Vec::new();
        for op in neighbours.copied().filter(|op| !is_free(*op)) {
            let touched = Touched::from_op(op, effects);
            let mut remaining = others.clone();
            let joined = self.with(op).filter(accepts).map(|mut group| {
                group.join(&mut remaining, accepts);
                group
            });
            let is_independent = remaining.iter().all(|(_, other)| !other.conflicts(&touched));
            match joined.filter(|_| is_independent) {
                Some(joined) => {
                    *self = joined;
                    others = remaining;
                }
                // The search ends, because later operations may depend on this one, and would run before it.
                None if direction == Direction::After && self.touched(effects).conflicts(&touched) => {
                    return;
                }
                None => others.push((op, touched)),
            }
        }
    }

    /// Adds operations between members that the last member connects to the group, such as the fill of its result.
    fn join(&mut self, others: &mut Vec<(OperationRef<'c, 'a>, Touched)>, accepts: &impl Fn(&Self) -> bool) {
        let mut position = 0;
        while let Some((op, touched)) = others.get(position) {
            let mut remaining = others.iter().filter(|(other, _)| other != op);
            let is_independent = remaining.all(|(_, other)| !other.conflicts(touched));
            match self.with(*op).filter(accepts).filter(|_| is_independent) {
                Some(joined) => {
                    *self = joined;
                    others.remove(position);
                }
                None => position += 1,
            }
        }
    }

    /// Returns the group with one more operation; `None` if no data flows between them, or if they have no common row.
    fn with(&self, op: OperationRef<'c, 'a>) -> Option<Self> {
        let member = Member::from_op(op).filter(|member| self.flows_into(member))?;
        let loops: Vec<Option<usize>> = (0..self.rows.len()).map(|row| self.loop_of(row, &member)).collect();
        let mut group = self.clone();
        let mut members = group.members.iter();
        let position = members.position(|other| ir::is_before(op, other.op)).unwrap_or(group.members.len());
        group.members.insert(position, member);
        let before = group.rows.len();
        let mut taken = HashSet::new();
        let rows = std::mem::take(&mut group.rows).into_iter().zip(loops);
        for (mut row, l) in rows {
            if let Some(l) = l.filter(|l| taken.insert(*l)) {
                row.loops.insert(position, l);
                group.rows.push(row);
            }
        }
        group.keep_common();
        let has_enough = group.rows.len() == before || group.row_count() >= MIN_ROWS;
        let is_sound = group.arrays_are_distinct() && !group.rows.is_empty();
        (is_sound && has_enough).then_some(group)
    }

    /// Whether an operation reads an array that members write, or vice versa.
    fn flows_into(&self, other: &Member<'c, 'a>) -> bool {
        let mut accesses = self.accesses();
        accesses.any(|a| other.accesses.iter().any(|b| a.array == b.array && (a.writes || b.writes)))
    }

    /// Whether the group has an operation that reduces products.
    pub(super) fn has_product(&self) -> bool {
        self.products().next().is_some()
    }

    /// Returns the operations that reduce products, with their numbers.
    pub(super) fn products(&self) -> impl Iterator<Item = (usize, &Member<'c, 'a>)> {
        self.members.iter().enumerate().filter(|(_, member)| member.kind == Kind::Product)
    }

    /// Whether there is more than one row.
    pub(super) fn has_several_rows(&self) -> bool {
        self.rows.iter().any(|row| row.extent != Some(1))
    }

    /// Whether the elements of a row are not contiguous in some array.
    pub(super) fn has_columns(&self) -> bool {
        self.numbered().any(|(number, access)| {
            let rows = self.rows_of(number, access);
            let mut dimensions = rows.into_iter().zip(access.extents.iter().copied());
            let last = dimensions.rfind(|(_, extent)| *extent != Some(1));
            let is_row = last.is_some_and(|(row, _)| row.is_some());
            is_row && dimensions.any(|(row, extent)| row.is_none() && extent != Some(1))
        })
    }

    /// The number of rows; a dynamic extent counts as [`MIN_ROWS`].
    fn row_count(&self) -> i64 {
        let extents = self.rows.iter().map(|row| row.extent);
        extents.fold(1, |all: i64, extent| all.saturating_mul(extent.unwrap_or(MIN_ROWS)))
    }

    /// Returns the loop of an operation that corresponds to a row, determined by the shared arrays that the operation or a member writes. An
    /// array that is only read, such as the keys and the values of attention, may be subscripted differently.
    fn loop_of(&self, row: usize, other: &Member<'c, 'a>) -> Option<usize> {
        let row = self.rows.get(row)?;
        let mut common = None;
        let is_passed = |access: &&Access| {
            self.accesses().chain(&other.accesses).any(|other| other.array == access.array && other.writes)
        };
        for access in other.accesses.iter().filter(is_passed) {
            for (member, l) in self.members.iter().zip(&row.loops) {
                let shared = member.accesses.iter().filter(|a| a.array == access.array);
                for shared in shared {
                    let Some(dimension) = shared.dimension(*l).flatten() else {
                        continue;
                    };
                    let l = access.forms.get(dimension)?.as_index()?;
                    if *common.get_or_insert(l) != l {
                        return None;
                    }
                }
            }
        }
        common
    }

    /// Drops the rows along which a member cannot be divided, and the rows that do not correspond to exactly one dimension of each written
    /// array.
    fn keep_common(&mut self) {
        let (members, written) = (&self.members, self.written());
        let has_positions = self.has_positions;
        self.rows.retain(|row| {
            let mut dimensions: HashMap<ValueKey, usize> = HashMap::new();
            members.iter().zip(&row.loops).all(|(member, l)| {
                member.is_divisible(*l, has_positions)
                    && member.extent(*l) == Some(row.extent)
                    && member.accesses.iter().all(|access| match access.dimension(*l) {
                        None => false,
                        Some(None) => !written.contains(&root_of(access.array)),
                        Some(Some(dimension)) => {
                            let is_written = written.contains(&root_of(access.array));
                            let known = dimensions.entry(ValueKey::of(access.array));
                            let is_known = *known.or_insert(dimension) == dimension;
                            access.is_whole(dimension) && (is_known || !is_written)
                        }
                    })
            })
        });
    }

    /// Returns the roots of the arrays that members write.
    fn written(&self) -> HashSet<ValueKey> {
        self.accesses().filter(|access| access.writes).map(|access| root_of(access.array)).collect()
    }

    /// Whether members access each written buffer through only one array.
    fn arrays_are_distinct(&self) -> bool {
        let mut arrays: HashMap<ValueKey, ValueKey> = HashMap::new();
        let written = self.written();
        let mut accesses = self.accesses();
        accesses.all(|access| {
            let (root, array) = (root_of(access.array), ValueKey::of(access.array));
            !written.contains(&root)
                || match arrays.entry(root) {
                    Entry::Occupied(known) => *known.get() == array,
                    Entry::Vacant(new) => {
                        new.insert(array);
                        has_own_buffer(access.array)
                    }
                }
        })
    }

    /// Returns the accesses of all members.
    fn accesses(&self) -> impl Iterator<Item = &Access<'c, 'a>> {
        self.members.iter().flat_map(|member| &member.accesses)
    }

    /// Returns the accesses of all members, each with the number of its member.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &Access<'c, 'a>)> {
        self.members
            .iter()
            .enumerate()
            .flat_map(|(n, member)| member.accesses.iter().map(move |access| (n, access)))
    }

    /// Returns, for each dimension of an array, the corresponding row.
    pub(super) fn rows_of(&self, number: usize, access: &Access) -> Vec<Option<usize>> {
        let mut rows = vec![None; access.forms.len()];
        for (position, row) in self.rows.iter().enumerate() {
            let l = row.loops.get(number).copied();
            let dimension = l.and_then(|l| access.dimension(l).flatten());
            if let Some(row) = dimension.and_then(|d| rows.get_mut(d)) {
                *row = Some(position);
            }
        }
        rows
    }

    fn touched(&self, effects: &mut Effects<'c, 'a>) -> Touched {
        let mut all = Touched::default();
        for member in &self.members {
            let touched = Touched::from_op(member.op, effects);
            all.reads.extend(touched.reads);
            all.writes.extend(touched.writes);
        }
        all
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Before,
    After,
}

/// Whether an operation does not access memory, so that it need not be moved.
pub(super) fn is_free(op: OperationRef) -> bool {
    let name = ir::name(op);
    name == ops::memref::ALLOC || op.region_count() == 0 && skript_dialect::op::is_pure(&op)
}

/// The buffers that an operation reads and writes. `None` represents all buffers that may have aliases.
#[derive(Clone, Default)]
pub(super) struct Touched {
    reads: HashSet<Option<ValueKey>>,
    writes: HashSet<Option<ValueKey>>,
}

impl Touched {
    pub(super) fn from_op<'c: 'a, 'a>(op: OperationRef<'c, 'a>, effects: &mut Effects<'c, 'a>) -> Self {
        let outside = captured(op).into_iter();
        let arrays = outside.filter(|value| value.r#type().is_mem_ref());
        let written = effects.written(op).into_iter();
        let mut root =
            |array: Value<'c, 'a>| effects.of_buffer(array, has_own_buffer).then(|| root_of(array));
        Touched { reads: arrays.map(&mut root).collect(), writes: written.map(root).collect() }
    }

    pub(super) fn conflicts(&self, other: &Touched) -> bool {
        let meets = |a: &Touched, b: &Touched| !a.writes.is_disjoint(&b.reads);
        meets(self, other) || meets(other, self) || !self.writes.is_disjoint(&other.writes)
    }
}
