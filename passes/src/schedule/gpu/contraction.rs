// SPDX-License-Identifier: Apache-2.0
//! Reductions whose inputs are shared by many elements of the result, such as products of matrices and convolutions.
//!
//! The loops of the result fall into those that both sides of the inputs move along (the batch), those of one side (the rows) and
//! those of the other (the columns). A block computes a tile of rows by columns ([`super::tiles`]). Windows are reductions over several
//! loops, whose iterations are numbered: a convolution is a product of matrices that are never stored.

use super::super::nest::{LoopKind, Nest};
use super::super::targets::gpus::{Gpu, MatrixTile, Tile};
use super::code::product;
use super::tiles::{BUFFERS, PADDING};

/// What the loops of a reduction are for its tiles.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Contraction {
    pub(super) batch: Vec<usize>,
    pub(super) depth: Vec<usize>,
    /// Rows, and columns.
    pub(super) sides: [Side; 2],
}

/// The inputs that move along the rows, or along the columns.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) loops: Vec<usize>,
    pub(super) inputs: Vec<usize>,
}

/// What a contraction has of a GPU.
#[derive(Clone, Copy)]
pub(super) struct Share {
    /// Blocks that compute its tiles at the same time.
    pub(super) blocks: u32,
    /// Bytes of shared memory of each.
    pub(super) memory: u64,
}

impl Share {
    /// The whole GPU.
    pub(super) fn whole(gpu: &Gpu) -> Share {
        Share { blocks: gpu.processors, memory: u64::from(gpu.shared_memory) }
    }
}

/// Rows and columns of the smallest result that is computed in tiles.
const SMALLEST: i64 = 4;

/// Products of the smallest reduction that is computed in tiles.
const SHORTEST: i64 = 4;

impl Contraction {
    /// The roles of the loops; `None` if no input is shared by elements of the result.
    pub(super) fn of(nest: &Nest) -> Option<Contraction> {
        let stride = |operand: usize, l: usize| {
            let own = nest.operands.get(operand)?;
            own.strides.get(l).copied()
        };
        let kinds = nest.loops.iter().map(|own| own.kind).enumerate();
        let all = |kind| kinds.clone().filter(move |(_, own)| *own == kind);
        let parallel: Vec<usize> = all(LoopKind::Parallel).map(|(l, _)| l).collect();
        let depth: Vec<usize> = all(LoopKind::Reduction).map(|(l, _)| l).collect();
        let moves = |operand: usize, l: usize| stride(operand, l).is_some_and(|s| s != 0);
        let inputs = 0..nest.output;
        // Inputs without loops of their own move with any side.
        let own = |operand: usize| parallel.iter().filter(move |l| moves(operand, **l));
        let mut shared: Vec<usize> = parallel.clone();
        for operand in inputs.clone().filter(|n| own(*n).next().is_some()) {
            shared.retain(|l| moves(operand, *l));
        }
        let mut sides: Vec<Side> = Vec::new();
        let mut free = Vec::new();
        for operand in inputs {
            let loops: Vec<usize> = own(operand).filter(|l| !shared.contains(l)).copied().collect();
            if loops.is_empty() {
                free.push(operand);
                continue;
            }
            let (mut merged, others): (Vec<Side>, Vec<Side>) =
                sides.into_iter().partition(|side| side.loops.iter().any(|l| loops.contains(l)));
            let mut side = Side { loops, inputs: vec![operand] };
            for other in &mut merged {
                side.loops.append(&mut other.loops);
                side.inputs.append(&mut other.inputs);
            }
            side.loops.sort_unstable();
            side.loops.dedup();
            side.inputs.sort_unstable();
            sides = others;
            sides.push(side);
        }
        let [mut first, mut second] = <[Side; 2]>::try_from(sides).ok()?;
        // Consecutive threads write consecutive elements: along the columns.
        let closest = |side: &Side| {
            let strides = side.loops.iter().filter_map(|l| stride(nest.output, *l));
            strides.min().unwrap_or(i64::MAX)
        };
        if closest(&first) < closest(&second) {
            std::mem::swap(&mut first, &mut second);
        }
        first.inputs.extend(free);
        let batch = |l: &usize| !first.loops.contains(l) && !second.loops.contains(l);
        Some(Contraction {
            batch: parallel.iter().copied().filter(batch).collect(),
            depth,
            sides: [first, second],
        })
    }

    /// The tile with the shortest time; `None` if the result is too small for any.
    ///
    /// `expected` are the extents that it is selected for.
    pub(super) fn tile(
        &self,
        expected: &[i64],
        elements: &[String],
        gpu: &Gpu,
        share: Share,
    ) -> Option<Tile> {
        let fits = |tile: &&Tile| {
            let bytes = |side: &Side, size: u32| -> u64 {
                let inputs = side.inputs.iter().filter_map(|n| elements.get(*n));
                let bytes = inputs.filter_map(|own| crate::extents::size::element_bytes(own));
                let bytes: u64 = bytes.sum();
                bytes * BUFFERS * u64::from(size + PADDING) * u64::from(tile.depth)
            };
            let [first, second] = &self.sides;
            bytes(first, tile.rows) + bytes(second, tile.columns) <= share.memory
        };
        let all = gpu.tiles.iter().filter(fits).copied();
        let waves = self.waves(expected, share)?;
        all.min_by_key(|tile| waves([tile.rows, tile.columns], tile.cycles()))
    }

    /// The tile of products of matrices with the shortest time.
    pub(super) fn matrix_tile(
        &self,
        expected: &[i64],
        tiles: impl Iterator<Item = MatrixTile>,
        share: Share,
    ) -> Option<MatrixTile> {
        let waves = self.waves(expected, share)?;
        tiles.min_by_key(|tile| waves(tile.sizes, tile.cycles()))
    }

    /// The time of all blocks, by the size of a tile and its cycles; `None` if the result is too small for tiles.
    fn waves(&self, expected: &[i64], share: Share) -> Option<impl Fn([u32; 2], i64) -> i64> {
        let [first, second] = &self.sides;
        let all = [&first.loops, &second.loops, &self.depth, &self.batch];
        let [rows, columns, depth, batch] = all.map(|loops| product(expected, loops));
        if rows < SMALLEST || columns < SMALLEST || depth < SHORTEST {
            return None;
        }
        let processors = share.blocks;
        Some(move |[own_rows, own_columns]: [u32; 2], cycles: i64| {
            let parts = |count: i64, size: u32| {
                let size = i64::from(size.max(1));
                count / size + i64::from(count % size != 0)
            };
            let blocks = parts(rows, own_rows).saturating_mul(parts(columns, own_columns));
            let waves = parts(blocks.saturating_mul(batch), processors);
            waves.saturating_mul(cycles)
        })
    }
}
