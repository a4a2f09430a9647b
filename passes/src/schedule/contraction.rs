// SPDX-License-Identifier: Apache-2.0
//! Contractions: reductions whose input elements are used by many elements of the result, such as matrix products and convolutions.
//!
//! The inputs have two sides. The parallel loops are batch loops, along which the inputs of both sides vary, row loops, along which only
//! one side varies, and column loops, along which only the other side varies. A block computes a tile of rows by columns
//! ([`super::gpu`]). A window is a reduction over several loops, whose iterations are numbered consecutively: a convolution is an
//! implicit matrix product, whose matrices are never stored.

use super::nest::{LoopKind, Nest};
use super::reading::read;
use super::targets::gpus::{Gpu, MatrixTile, Tile};
use melior::ir::{OperationRef, Type};

/// Number of buffers for the copies of the inputs (double buffering).
pub(super) const BUFFERS: i64 = 2;

/// Number of padding elements after each line of a copy that is written across lines, so that the lines are in different memory banks.
pub(super) const PADDING: u32 = 4;

/// Returns the product of the extents of some loops.
pub(super) fn product(extents: &[i64], loops: &[usize]) -> i64 {
    let factors = loops.iter().filter_map(|l| extents.get(*l));
    factors.fold(1, |all, extent| all.saturating_mul(*extent))
}

/// Whether an operation is a contraction that blocks of threads compute in tiles.
pub(super) fn is_tiled(op: OperationRef) -> bool {
    read(op).is_some_and(|reduction| {
        let body = &reduction.body;
        let mut nest = reduction.nest.clone();
        nest.keeps_order = true;
        nest.simplify(&[]);
        body.predicate.is_none()
            && body.used_dimensions().is_empty()
            && Contraction::from_nest(&nest).is_some()
    })
}

/// A contraction of a block of rows.
pub(super) struct Product {
    /// Rows and columns of a block.
    pub(super) sizes: [i64; 2],
    /// Number of products that are summed for each element.
    pub(super) depth: i64,
    /// Maximum over the sides of the bytes of one element of each input of the side.
    pub(super) bytes: i64,
}

/// Bytes of shared memory for the results of threads, in addition to the arrays of a block's rows and the copies.
pub(super) fn partial_bytes(gpu: &Gpu) -> i64 {
    i64::from(gpu.block) * 8
}

/// Estimates the cycles in which a block computes contractions one after the other, with `memory` bytes for the copies of each; `None`
/// if no tile has copies that fit.
pub(super) fn cycles(products: &[Product], memory: i64, gpu: &Gpu) -> Option<i64> {
    let parts = |count: i64, size: u32| count.saturating_add(i64::from(size) - 1) / i64::from(size);
    let each = products.iter().map(|product| {
        let [rows, columns] = product.sizes;
        let tiles = gpu.tiles.iter().filter(|tile| {
            let lines = i64::from(tile.rows + tile.columns + 2 * PADDING);
            let copies = lines * i64::from(tile.depth) * BUFFERS;
            copies.saturating_mul(product.bytes) <= memory
        });
        let cycles = tiles.map(|tile| {
            let tiles = parts(rows, tile.rows).saturating_mul(parts(columns, tile.columns));
            tiles.saturating_mul(tile.cycles())
        });
        Some(cycles.min()?.saturating_mul(product.depth))
    });
    each.sum()
}

/// The roles of the loops of a reduction in its tiles.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Contraction {
    pub(super) batch: Vec<usize>,
    pub(super) depth: Vec<usize>,
    /// The sides of the rows and of the columns.
    pub(super) sides: [Side; 2],
}

/// The loops and inputs of the rows, or of the columns.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) loops: Vec<usize>,
    pub(super) inputs: Vec<usize>,
}

/// The resources of a GPU that compute a contraction.
#[derive(Clone, Copy)]
pub(super) struct Share {
    /// The number of blocks that compute tiles concurrently.
    pub(super) blocks: u32,
    /// Bytes of shared memory of each block.
    pub(super) memory: u64,
}

impl Share {
    pub(super) fn whole(gpu: &Gpu) -> Share {
        Share { blocks: gpu.processors, memory: u64::from(gpu.shared_memory) }
    }
}

/// Minimum number of rows, and of columns, of a result that is computed in tiles.
const MIN_SIZE: i64 = 4;

/// Minimum number of products of a reduction that is computed in tiles.
const MIN_DEPTH: i64 = 4;

impl Contraction {
    /// Determines the roles of the loops; `None` if the inputs do not have two sides.
    pub(super) fn from_nest(nest: &Nest) -> Option<Contraction> {
        let stride = |operand: usize, l: usize| nest.operands.get(operand)?.strides.get(l).copied();
        let parallel: Vec<usize> = nest.loops_of_kind(LoopKind::Parallel).collect();
        let moves = |operand: usize, l: usize| stride(operand, l).is_some_and(|s| s != 0);
        let inputs = 0..nest.output;
        // Inputs that vary only along batch loops do not determine the sides.
        let loops_alone = |operand: usize| parallel.iter().filter(move |l| moves(operand, **l));
        let mut shared: Vec<usize> = parallel.clone();
        for operand in inputs.clone().filter(|n| loops_alone(*n).next().is_some()) {
            shared.retain(|l| moves(operand, *l));
        }
        let mut sides: Vec<Side> = Vec::new();
        let mut free = Vec::new();
        for operand in inputs {
            let loops: Vec<usize> = loops_alone(operand).filter(|l| !shared.contains(l)).copied().collect();
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
        // The side with the smaller strides in the output is the columns, so that consecutive threads write consecutive elements.
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
            depth: nest.loops_of_kind(LoopKind::Reduction).collect(),
            sides: [first, second],
        })
    }

    /// Selects the fastest tile; `None` if the result is too small for tiles. `expected` are the expected extents of the loops.
    pub(super) fn tile(&self, expected: &[i64], elements: &[Type], gpu: &Gpu, share: Share) -> Option<Tile> {
        let fits = |tile: &&Tile| {
            let bytes = |side: &Side, size: u32| -> u64 {
                let inputs = side.inputs.iter().filter_map(|n| elements.get(*n));
                let bytes = inputs.filter_map(|element| crate::extents::size::element_bytes(*element));
                let bytes: u64 = bytes.sum();
                bytes * BUFFERS.unsigned_abs() * u64::from(size + PADDING) * u64::from(tile.depth)
            };
            let [first, second] = &self.sides;
            bytes(first, tile.rows) + bytes(second, tile.columns) <= share.memory
        };
        let all = gpu.tiles.iter().filter(fits).copied();
        let waves = self.waves(expected, share)?;
        all.min_by_key(|tile| waves([tile.rows, tile.columns], tile.cycles()))
    }

    /// Selects the fastest tile for matrix units.
    pub(super) fn matrix_tile(
        &self,
        expected: &[i64],
        tiles: impl Iterator<Item = MatrixTile>,
        share: Share,
    ) -> Option<MatrixTile> {
        let waves = self.waves(expected, share)?;
        tiles.min_by_key(|tile| waves(tile.sizes, tile.cycles()))
    }

    /// Returns a function that estimates the time of all blocks for the sizes and the cycles of a tile; `None` if the result is too small
    /// for tiles.
    fn waves(&self, expected: &[i64], share: Share) -> Option<impl Fn([u32; 2], i64) -> i64> {
        let [first, second] = &self.sides;
        let all = [&first.loops, &second.loops, &self.depth, &self.batch];
        let [rows, columns, depth, batch] = all.map(|loops| product(expected, loops));
        if rows < MIN_SIZE || columns < MIN_SIZE || depth < MIN_DEPTH {
            return None;
        }
        let processors = share.blocks;
        Some(move |[tile_rows, tile_columns]: [u32; 2], cycles: i64| {
            let parts = |count: i64, size: u32| {
                let size = i64::from(size.max(1));
                count / size + i64::from(count % size != 0)
            };
            let blocks = parts(rows, tile_rows).saturating_mul(parts(columns, tile_columns));
            let waves = parts(blocks.saturating_mul(batch), processors);
            waves.saturating_mul(cycles)
        })
    }
}
