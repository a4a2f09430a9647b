// SPDX-License-Identifier: Apache-2.0
//! Operations that are computed together, one block of rows after the other.
//!
//! Rows are loops that all operations of a group have: an element that one operation writes, and another reads, has the same row in both.

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

/// Operations before and after a reduction that are looked at.
const FARTHEST: usize = 48;

/// Rows that a group keeps if an operation has not all of those that it had.
const FEWEST_ROWS: i64 = 16;

/// A loop of all operations of a group.
#[derive(Clone)]
pub(super) struct Row {
    /// `None` if it is dynamic.
    pub(super) extent: Option<i64>,
    /// By member: the number of its loop.
    pub(super) loops: Vec<usize>,
}

/// Operations with common rows.
#[derive(Clone)]
pub(super) struct Group<'c, 'a> {
    /// In the order of the block.
    pub(super) members: Vec<Member<'c, 'a>>,
    pub(super) rows: Vec<Row>,
    /// Whether payloads may read the position of a row: that in its block plus that of the block.
    pub(super) has_positions: bool,
}

impl<'c: 'a, 'a> Group<'c, 'a> {
    /// A reduction alone: its parallel loops are the rows.
    fn seed(op: OperationRef<'c, 'a>, has_positions: bool) -> Option<Self> {
        let seeds = [Kind::Reduction, Kind::Window];
        let member = Member::of(op).filter(|member| seeds.contains(&member.kind))?;
        let loops = 0..member.reductions.len();
        let is_row = |l: &usize| member.is_divisible(*l, has_positions);
        let rows = loops.filter(is_row).map(|l| Row { extent: member.extent(l).flatten(), loops: vec![l] });
        let rows = rows.filter(|row| row.extent != Some(1)).collect();
        let mut group = Group { members: vec![member], rows, has_positions };
        group.keep_common();
        (!group.rows.is_empty()).then_some(group)
    }

    /// The group around the reduction at a position of a block. `accepts` says whether a group may be computed together, and be
    /// extended, `has_positions` whether payloads may read the positions of rows.
    pub(super) fn around(
        block: &[OperationRef<'c, 'a>],
        position: usize,
        effects: &mut Effects<'c, 'a>,
        has_positions: bool,
        accepts: impl Fn(&Self) -> bool,
    ) -> Option<Self> {
        let seed = Self::seed(*block.get(position)?, has_positions);
        let mut group = seed.filter(&accepts)?;
        let before = block.iter().take(position).rev().take(FARTHEST);
        group.extend(before, Direction::Before, effects, &accepts);
        let after = block.iter().skip(position + 1).take(FARTHEST);
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
        // Operations between members that are none: those that become members later connect some of them.
        let mut others: Vec<(OperationRef<'c, 'a>, Touched)> = Vec::new();
        for op in neighbours.copied().filter(|op| !is_free(*op)) {
            let own = Touched::of(op, effects);
            let mut rest = others.clone();
            let joined = self.with(op).filter(accepts).map(|mut group| {
                group.join(&mut rest, accepts);
                group
            });
            let is_apart = rest.iter().all(|(_, other)| !other.conflicts(&own));
            match joined.filter(|_| is_apart) {
                Some(joined) => {
                    *self = joined;
                    others = rest;
                }
                // What follows members would run before them.
                None if direction == Direction::After && self.touched(effects).conflicts(&own) => {
                    return;
                }
                None => others.push((op, own)),
            }
        }
    }

    /// Adds operations between members that the last one connects, such as what fills its result.
    fn join(&mut self, others: &mut Vec<(OperationRef<'c, 'a>, Touched)>, accepts: &impl Fn(&Self) -> bool) {
        let mut position = 0;
        while let Some((op, own)) = others.get(position) {
            let mut rest = others.iter().filter(|(other, _)| other != op);
            let apart = rest.all(|(_, other)| !other.conflicts(own));
            match self.with(*op).filter(accepts).filter(|_| apart) {
                Some(joined) => {
                    *self = joined;
                    others.remove(position);
                }
                None => position += 1,
            }
        }
    }

    /// The group with one more operation; `None` if no data flows between them, or it has no row of the group.
    fn with(&self, op: OperationRef<'c, 'a>) -> Option<Self> {
        let member = Member::of(op).filter(|member| self.flows_into(member))?;
        let loops: Vec<Option<usize>> = (0..self.rows.len()).map(|row| self.loop_of(row, &member)).collect();
        let mut group = self.clone();
        let mut members = group.members.iter();
        let position = members.position(|other| ir::is_before(op, other.op));
        let position = position.unwrap_or(group.members.len());
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
        let has_enough = group.rows.len() == before || group.row_count() >= FEWEST_ROWS;
        let is_sound = group.arrays_are_apart() && !group.rows.is_empty();
        (is_sound && has_enough).then_some(group)
    }

    /// Whether an operation reads what members write, or the other way round.
    fn flows_into(&self, other: &Member<'c, 'a>) -> bool {
        let mut own = self.accesses();
        own.any(|a| {
            let mut others = other.accesses.iter();
            others.any(|b| a.array == b.array && (a.writes || b.writes))
        })
    }

    /// Whether an operation reduces products.
    pub(super) fn has_product(&self) -> bool {
        self.members.iter().any(|m| m.kind == Kind::Product)
    }

    /// The number of operations that reduce products.
    pub(super) fn products(&self) -> usize {
        let products = self.members.iter().filter(|m| m.kind == Kind::Product);
        products.count()
    }

    /// Whether there is more than one row.
    pub(super) fn has_several_rows(&self) -> bool {
        self.rows.iter().any(|row| row.extent != Some(1))
    }

    /// Whether the elements of a row are as far from each other as rows are long, in some array.
    pub(super) fn has_columns(&self) -> bool {
        self.numbered().any(|(number, access)| {
            let rows = self.rows_of(number, access);
            let extents = access.extents().unwrap_or_default();
            let mut dimensions = rows.into_iter().zip(extents);
            let last = dimensions.rfind(|(_, extent)| *extent != Some(1));
            let is_row = last.is_some_and(|(row, _)| row.is_some());
            is_row && dimensions.any(|(row, extent)| row.is_none() && extent != Some(1))
        })
    }

    /// The number of rows; a bound if one of them is dynamic.
    fn row_count(&self) -> i64 {
        let extents = self.rows.iter().map(|row| row.extent);
        extents.fold(1, |all: i64, extent| all.saturating_mul(extent.unwrap_or(FEWEST_ROWS)))
    }

    /// The loop of an operation that is a row, by the arrays that it shares with members, and that one of them writes: what all read, such as
    /// the keys and the values of an attention, may have the row elsewhere.
    fn loop_of(&self, row: usize, other: &Member<'c, 'a>) -> Option<usize> {
        let row = self.rows.get(row)?;
        let mut found = None;
        let is_passed = |access: &&Access| {
            let mut all = self.accesses().chain(&other.accesses);
            all.any(|own| own.array == access.array && own.writes)
        };
        for access in other.accesses.iter().filter(is_passed) {
            for (member, l) in self.members.iter().zip(&row.loops) {
                let shared = member.accesses.iter().filter(|a| a.array == access.array);
                for own in shared {
                    let Some(dimension) = own.dimension(*l).flatten() else {
                        continue;
                    };
                    let l = access.forms.get(dimension)?.as_index()?;
                    if *found.get_or_insert(l) != l {
                        return None;
                    }
                }
            }
        }
        found
    }

    /// Drops rows that some member cannot be divided by, or that an array which members write has not, or not in one dimension.
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

    /// The roots of the arrays that members write.
    fn written(&self) -> HashSet<ValueKey> {
        let accesses = self.accesses().filter(|access| access.writes);
        accesses.map(|access| root_of(access.array)).collect()
    }

    /// Whether each buffer that members write is accessed by them as one array alone.
    fn arrays_are_apart(&self) -> bool {
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

    /// What members read and write.
    fn accesses(&self) -> impl Iterator<Item = &Access<'c, 'a>> {
        self.members.iter().flat_map(|member| &member.accesses)
    }

    /// What members read and write, with the number of the member.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &Access<'c, 'a>)> {
        self.members
            .iter()
            .enumerate()
            .flat_map(|(n, member)| member.accesses.iter().map(move |access| (n, access)))
    }

    /// For each dimension of an array, the row that it is.
    pub(super) fn rows_of(&self, number: usize, access: &Access) -> Vec<Option<usize>> {
        let mut found = vec![None; access.forms.len()];
        for (position, row) in self.rows.iter().enumerate() {
            let l = row.loops.get(number).copied();
            let dimension = l.and_then(|l| access.dimension(l).flatten());
            if let Some(own) = dimension.and_then(|d| found.get_mut(d)) {
                *own = Some(position);
            }
        }
        found
    }

    fn touched(&self, effects: &mut Effects<'c, 'a>) -> Touched {
        let mut all = Touched::default();
        for member in &self.members {
            let own = Touched::of(member.op, effects);
            all.reads.extend(own.reads);
            all.writes.extend(own.writes);
        }
        all
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Before,
    After,
}

/// Whether an operation accesses no memory: it stays where it is.
pub(super) fn is_free(op: OperationRef) -> bool {
    let name = ir::name(op);
    name == ops::memref::ALLOC || op.region_count() == 0 && skript_dialect::op::is_pure(&op)
}

/// The buffers that an operation reads and writes. `None` stands for any that may be reached under several names.
#[derive(Clone, Default)]
pub(super) struct Touched {
    reads: HashSet<Option<ValueKey>>,
    writes: HashSet<Option<ValueKey>>,
}

impl Touched {
    pub(super) fn of<'c: 'a, 'a>(op: OperationRef<'c, 'a>, effects: &mut Effects<'c, 'a>) -> Self {
        let outside = captured(op).into_iter();
        let arrays = outside.filter(|value| value.r#type().is_mem_ref());
        let written = effects.written(op).into_iter();
        let mut root = |array: Value<'c, 'a>| {
            let has_own = effects.of_buffer(array, has_own_buffer);
            has_own.then(|| root_of(array))
        };
        Touched { reads: arrays.map(&mut root).collect(), writes: written.map(root).collect() }
    }

    pub(super) fn conflicts(&self, other: &Touched) -> bool {
        let meets = |a: &Touched, b: &Touched| !a.writes.is_disjoint(&b.reads);
        meets(self, other) || meets(other, self) || !self.writes.is_disjoint(&other.writes)
    }
}
