// SPDX-License-Identifier: Apache-2.0
//! How the rows of windows are divided, and which rows each operation computes.

use super::super::emit::STACK;
use super::super::member::{element_bytes, extents};
use super::{Local, Part, Strips};
use crate::ir::ValueKey;

/// Rows of windows in a block at most: more share nothing else.
const MOST_ROWS: i64 = 16;

/// Sequences of blocks that start with rows of their own, at least: fewer leave threads without work.
const FEWEST_SEQUENCES: i64 = 4;

/// One row of this many is computed twice at most.
const REPEATED: i64 = 24;

/// Different kinds of blocks at most: each is code of its own.
const MOST_KINDS: usize = 3;

/// Which rows of windows are computed together, and one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Division {
    /// Rows of windows in a block; the last one may have fewer.
    pub(super) rows: i64,
    /// The number of blocks.
    pub(super) blocks: i64,
    /// The number of sequences of blocks. In one of them, the rows that two blocks share are computed once.
    pub(super) sequences: i64,
}

/// Blocks in which each operation computes the same rows, counted from the block's first one.
pub(super) struct Kind {
    /// The first block that is of another kind.
    pub(super) end: i64,
    /// By part: the first iteration, as if the block were the first one, and the number of iterations.
    pub(super) spans: Vec<(i64, i64)>,
}

/// The rows of a strip that are computed at once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Range {
    /// Those that windows of the block before read as well.
    Shared,
    /// All others, and the windows.
    Own,
}

impl<'c: 'a, 'a> Strips<'c, 'a> {
    /// Rows that the windows of two blocks read.
    pub(super) fn shared(&self) -> i64 {
        self.window - self.step
    }

    /// Rows that the windows of a block read.
    pub(super) fn strip(&self, rows: i64) -> i64 {
        (rows - 1) * self.step + self.window
    }

    /// Bytes of the part of an array that one image has.
    pub(super) fn bytes_of_image(&self, local: &Local) -> Option<i64> {
        let extents = extents(local.array)?.into_iter().enumerate();
        let mut extents = extents.filter(|(dimension, _)| local.images != Some(*dimension));
        let bytes = element_bytes(local.array)?;
        extents.try_fold(bytes, |all, (_, extent)| all.checked_mul(extent?))
    }

    /// Bytes of one row of an array, in one image.
    fn bytes_of_row(&self, local: &Local) -> Option<i64> {
        let rows = extents(local.array)?.get(local.dimension).copied()??;
        Some(self.bytes_of_image(local)? / rows.max(1))
    }

    /// Bytes of all arrays of the strips, of which each kind of blocks has its own beside that of the windows; `None` if there are too
    /// many kinds.
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
        bytes.try_fold(0_i64, |all, own| all.checked_add(own?))
    }

    /// Selects the division; `None` if nothing is gained.
    pub(super) fn divide(&self, cache: i64) -> Option<Division> {
        let windowed = self.locals.get(&ValueKey::of(self.input))?;
        let read = extents(windowed.array)?.get(windowed.dimension).copied()??;
        let sequences = |blocks: i64| {
            let sequences = match self.shared() {
                0 => blocks,
                shared => blocks.min(1 + read / REPEATED / shared),
            };
            // Threads get equal numbers of them.
            if sequences < blocks && self.images == Some(1) {
                sequences / FEWEST_SEQUENCES * FEWEST_SEQUENCES
            } else {
                sequences
            }
        };
        let division = |rows: i64| {
            let blocks = (self.extent + rows - 1) / rows;
            Division { rows, blocks, sequences: sequences(blocks) }
        };
        let fits = |division: &Division| {
            let stack = self.stack(division);
            stack.is_some_and(|bytes| bytes <= STACK.min(cache / 2))
        };
        // Rows that are shared are copied, from behind them.
        let least = (self.shared() + self.step - 1) / self.step;
        let most = self.extent.min(MOST_ROWS);
        let divisions = (least.max(1)..=most).rev().map(division);
        let most = divisions.into_iter().find(fits)?;
        let mut divisors = (most.rows / 2 + 1..=most.rows).rev();
        let rows = divisors.find(|rows| *rows >= least && self.extent % rows == 0);
        let whole = rows.map(division).filter(fits);
        let images = self.images.unwrap_or(1);
        Some(whole.unwrap_or(most))
            .filter(|division| division.sequences.saturating_mul(images) >= FEWEST_SEQUENCES)
    }

    /// The kinds of blocks; `None` if there are too many.
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
        (kinds.len() <= MOST_KINDS).then_some(kinds)
    }

    /// The rows that each part computes.
    fn spans(&self, division: &Division, block: i64, range: Range) -> Vec<(i64, i64)> {
        let first = block * division.rows;
        let rows = division.rows.min(self.extent - first);
        let begin = first * self.step;
        let own = begin + self.shared();
        let (from, to, windows) = match range {
            Range::Shared => (begin, own, 0),
            Range::Own => (own, begin + self.strip(rows), rows),
        };
        let spans = self.parts.iter().map(|part| {
            let Some(shift) = part.shift else {
                return (0, windows);
            };
            let extent = part.member.extent(part.row).flatten().unwrap_or(0);
            let from = (from - shift).clamp(0, extent);
            let to = (to - shift).clamp(from, extent);
            (from - block * self.advance(division, part), to - from)
        });
        spans.collect()
    }

    /// Iterations of a part from one block to the next.
    pub(super) fn advance(&self, division: &Division, part: &Part) -> i64 {
        match part.shift {
            None => division.rows,
            Some(_) => division.rows * self.step,
        }
    }
}
