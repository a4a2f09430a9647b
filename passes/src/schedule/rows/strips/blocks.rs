// SPDX-License-Identifier: Apache-2.0
//! The division of the rows of windows into blocks, and the rows that each operation computes in a block.

use super::super::member::{element_bytes, shape};
use super::super::tile::STACK;
use super::{Local, Part, Strips};
use crate::ir::ValueKey;

/// Maximum number of rows of windows in a block: larger blocks have no further reuse.
const MAX_ROWS: i64 = 16;

/// Minimum number of independent sequences of blocks: with fewer sequences some threads would have no work.
const MIN_SEQUENCES: i64 = 4;

/// At most one of this number of rows is computed twice.
const REPEATED: i64 = 24;

/// Maximum number of kinds of blocks: each kind has separate code.
const MAX_KINDS: usize = 3;

/// The division of the rows of windows into blocks, and of the blocks into sequences.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Division {
    /// Rows of windows in a block; the last block may have fewer.
    pub(super) rows: i64,
    /// The number of blocks.
    pub(super) blocks: i64,
    /// The number of sequences of blocks. Within a sequence, the rows that two adjacent blocks share are computed once.
    pub(super) sequences: i64,
}

/// Consecutive blocks in which each operation computes the same rows, relative to the first row of the block.
pub(super) struct Kind {
    /// The block after the last block of this kind.
    pub(super) end: i64,
    /// For each part, the first iteration relative to the block, and the number of iterations.
    pub(super) spans: Vec<(i64, i64)>,
}

/// The rows of a strip that are computed together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Range {
    /// The rows that windows of the previous block also read.
    Shared,
    /// All other rows, and the windows.
    Own,
}

impl<'c: 'a, 'a> Strips<'c, 'a> {
    /// The number of rows that the windows of two adjacent blocks share.
    pub(super) fn shared(&self) -> i64 {
        self.window - self.step
    }

    /// The number of rows that the windows of a block read.
    pub(super) fn strip(&self, rows: i64) -> i64 {
        (rows - 1) * self.step + self.window
    }

    /// Bytes of an array for one image.
    pub(super) fn bytes_of_image(&self, local: &Local) -> Option<i64> {
        let extents = shape(local.array)?.into_iter().enumerate();
        let mut extents = extents.filter(|(dimension, _)| local.images != Some(*dimension));
        let bytes = element_bytes(local.array)?;
        extents.try_fold(bytes, |all, (_, extent)| all.checked_mul(extent?))
    }

    /// Bytes of one row of an array, for one image.
    fn bytes_of_row(&self, local: &Local) -> Option<i64> {
        let rows = shape(local.array)?.get(local.dimension).copied()??;
        Some(self.bytes_of_image(local)? / rows.max(1))
    }

    /// Bytes of all arrays of the strips. Each kind of blocks has separate arrays, except the array that the windows read. `None` if
    /// there are too many kinds.
    fn stack(&self, division: &Division) -> Option<i64> {
        let others = |range: Range, rows: i64| {
            let kinds = i64::try_from(self.kinds(division, range)?.len()).ok()?;
            Some(kinds * rows)
        };
        let others = [others(Range::Shared, self.shared())?, others(Range::Own, division.rows * self.step)?];
        let mut bytes = self.locals.values().map(|local| {
            let rows =
                if local.array == self.input { self.strip(division.rows) } else { others.iter().sum() };
            self.bytes_of_row(local)?.checked_mul(rows)
        });
        bytes.try_fold(0_i64, |all, bytes| all.checked_add(bytes?))
    }

    /// Selects the division; `None` if no division is faster.
    pub(super) fn divide(&self, cache: i64) -> Option<Division> {
        let windowed = self.locals.get(&ValueKey::of(self.input))?;
        let read = shape(windowed.array)?.get(windowed.dimension).copied()??;
        let sequences = |blocks: i64| {
            let sequences = match self.shared() {
                0 => blocks,
                shared => blocks.min(1 + read / REPEATED / shared),
            };
            // Each thread computes the same number of sequences.
            if sequences < blocks && self.images == Some(1) {
                sequences / MIN_SEQUENCES * MIN_SEQUENCES
            } else {
                sequences
            }
        };
        let division = |rows: i64| {
            let blocks = (self.extent + rows - 1) / rows;
            Division { rows, blocks, sequences: sequences(blocks) }
        };
        let fits =
            |division: &Division| self.stack(division).is_some_and(|bytes| bytes <= STACK.min(cache / 2));
        // The shared rows are copied from the end of the strip to its begin, so the two must not overlap.
        let min_rows = (self.shared() + self.step - 1) / self.step;
        let max_rows = self.extent.min(MAX_ROWS);
        let divisions = (min_rows.max(1)..=max_rows).rev().map(division);
        let largest = divisions.into_iter().find(fits)?;
        let mut divisors = (largest.rows / 2 + 1..=largest.rows).rev();
        let rows = divisors.find(|rows| *rows >= min_rows && self.extent % rows == 0);
        let equal = rows.map(division).filter(fits);
        let images = self.images.unwrap_or(1);
        Some(equal.unwrap_or(largest))
            .filter(|division| division.sequences.saturating_mul(images) >= MIN_SEQUENCES)
    }

    /// Groups the blocks by kind; `None` if there are too many kinds.
    pub(super) fn kinds(&self, division: &Division, range: Range) -> Option<Vec<Kind>> {
        let mut kinds: Vec<Kind> = Vec::new();
        for block in 0..division.blocks {
            let spans = self.spans(division, block, range);
            let is_same = |kind: &Kind| {
                let mut pairs = kind.spans.iter().zip(&spans);
                pairs.all(|(old, new)| old.1 == new.1 && (old.0 == new.0 || new.1 == 0))
            };
            match kinds.last_mut().filter(|kind| is_same(kind)) {
                Some(kind) => kind.end = block + 1,
                None => kinds.push(Kind { end: block + 1, spans }),
            }
        }
        (kinds.len() <= MAX_KINDS).then_some(kinds)
    }

    /// Computes the rows of each part in a block.
    fn spans(&self, division: &Division, block: i64, range: Range) -> Vec<(i64, i64)> {
        let first = block * division.rows;
        let rows = division.rows.min(self.extent - first);
        let begin = first * self.step;
        let first_own = begin + self.shared();
        let (from, to, windows) = match range {
            Range::Shared => (begin, first_own, 0),
            Range::Own => (first_own, begin + self.strip(rows), rows),
        };
        let spans = self.parts.iter().map(|part| {
            let Some(shift) = part.shift else {
                return (0, windows);
            };
            let extent = part.member.extent(part.row).flatten();
            let extent =
                extent.unwrap_or_else(|| unreachable!("internal compiler error: a dynamic number of rows"));
            let from = (from - shift).clamp(0, extent);
            let to = (to - shift).clamp(from, extent);
            (from - block * self.advance(division, part), to - from)
        });
        spans.collect()
    }

    /// The distance from one block to the next, in iterations of a part.
    pub(super) fn advance(&self, division: &Division, part: &Part) -> i64 {
        match part.shift {
            None => division.rows,
            Some(_) => division.rows * self.step,
        }
    }
}
