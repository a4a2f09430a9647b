// SPDX-License-Identifier: Apache-2.0
//! The tiles of a window's output, and their costs.

use super::matrices::{FOUR, Filtering, TWO, WINDOW};
use super::window::Window;
use crate::schedule::nest::Nest;
use crate::schedule::target::Target;

/// The shape of a window that is computed in tiles.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) window: Window,
    pub(super) filtering: &'static Filtering,
    /// Channels of the input.
    pub(super) channels: i64,
    /// Channels of the output.
    pub(super) filters: i64,
    /// Rows of the output.
    pub(super) height: i64,
    /// Columns of the output.
    pub(super) width: i64,
    /// Vector lanes along the channels of the input.
    pub(super) input_lanes: i64,
    /// Vector lanes along the channels of the output.
    pub(super) output_lanes: i64,
    /// Number of rows of tiles of one image.
    pub(super) tile_rows: i64,
    /// Number of columns of tiles of one image.
    pub(super) tile_columns: i64,
    /// Number of rows of tiles of all images.
    pub(super) all_rows: i64,
    /// Number of rows of tiles of a block, which fits the cache, so that each step finds the results of the previous one there.
    pub(super) rows: i64,
}

/// Bytes of an element.
const BYTES: i64 = 4;

/// Maximum number of bytes on the stack for a row of tiles.
const STACK: i64 = 1 << 17;

/// Minimum number of vector lanes.
const MIN_LANES: i64 = 4;

/// Minimum number of tiles of a block: each block reads all transformed weights, which do not fit the cache.
const MIN_TILES: i64 = 48;

/// The fraction of peak multiply-add throughput that a direct window reaches.
const DIRECT_FRACTION: f64 = 0.6;

/// The fraction of peak multiply-add throughput that the products of transformed elements reach.
const PRODUCT_FRACTION: f64 = 0.7;

/// Cycles to transform a vector of the input.
const INPUT_CYCLES: f64 = 4.0;

/// Cycles to transform a vector of the products.
const OUTPUT_CYCLES: f64 = 5.0;

/// Bytes of weights per cycle that are read from beyond the cache.
const WEIGHT_BYTES: f64 = 4.0;

/// Minimum gain, as a fraction of the cycles of the direct window.
const MIN_GAIN: f64 = 0.1;

impl Shape {
    /// Returns the shape with the fewest cycles; `None` if the direct window is about as fast. `outputs` is the required extent of a
    /// tile, or 0.
    pub(super) fn best(
        window: impl Fn() -> Option<Window>,
        nest: &Nest,
        target: Target,
        outputs: i64,
    ) -> Option<Shape> {
        let shapes = [&TWO, &FOUR].into_iter().filter_map(|filtering| {
            let is_given = outputs == 0 || outputs == filtering.outputs;
            let shape = Shape::new(window()?, nest, filtering, target).filter(|_| is_given)?;
            let lanes = (target.vector_bits / 32) as f64;
            let rate = lanes * f64::from(target.costs.fma_ports);
            let (cycles, direct) = (shape.cycles(rate), shape.direct_cycles(rate));
            (outputs != 0 || cycles < direct * (1.0 - MIN_GAIN)).then_some((cycles, shape))
        });
        shapes.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, shape)| shape)
    }

    fn new(window: Window, nest: &Nest, filtering: &'static Filtering, target: Target) -> Option<Shape> {
        let extent = |l: usize| nest.loops.get(l).map(|r#loop| r#loop.extent);
        let (height, width) = (extent(window.rows[0])?, extent(window.columns[0])?);
        let (channels, filters) = (extent(window.channels)?, extent(window.filters)?);
        let images =
            window.batches.iter().map(|l| extent(*l)).try_fold(1_i64, |all, n| all.checked_mul(n?))?;
        let tiles = |extent: i64| (extent + filtering.outputs - 1) / filtering.outputs;
        let all = target.vector_bits / 32;
        let mut shape = Shape {
            filtering,
            channels,
            filters,
            height,
            width,
            input_lanes: lanes(channels, all)?,
            output_lanes: lanes(filters, all)?,
            tile_rows: tiles(height),
            tile_columns: tiles(width),
            all_rows: images.checked_mul(tiles(height))?,
            rows: 1,
            window,
        };
        let stack = shape.patch().max(shape.partial()).checked_mul(BYTES)?;
        if stack > STACK {
            return None;
        }
        let row = filtering.products() * shape.tile_columns * (channels + filters) * BYTES;
        let min_rows = (MIN_TILES + shape.tile_columns - 1) / shape.tile_columns;
        let max_rows = (target.cache_bytes / row.max(1)).max(min_rows).min(shape.all_rows);
        let blocks = (shape.all_rows + max_rows - 1) / max_rows;
        shape.rows = (shape.all_rows + blocks - 1) / blocks;
        Some(shape)
    }

    /// Number of blocks.
    pub(super) fn blocks(&self) -> i64 {
        (self.all_rows + self.rows - 1) / self.rows
    }

    /// Number of tiles of a block.
    pub(super) fn tiles(&self) -> i64 {
        self.rows * self.tile_columns
    }

    /// Number of columns of the input that a row of tiles depends on; columns beyond the input are zeros.
    pub(super) fn patch_columns(&self) -> i64 {
        self.tile_columns * self.filtering.outputs + WINDOW - 1
    }

    /// Number of input elements for a vector of channels and a row of tiles.
    pub(super) fn patch(&self) -> i64 {
        self.filtering.inputs() * self.patch_columns() * self.input_lanes
    }

    /// Number of output elements after the transform of one dimension, for a vector of channels and a row of tiles.
    pub(super) fn partial(&self) -> i64 {
        let tile = self.filtering.outputs * self.filtering.inputs();
        tile * self.tile_columns * self.output_lanes
    }

    /// Number of elements of a row of the output, for a vector of channels.
    pub(super) fn output_row(&self) -> i64 {
        self.tile_columns * self.filtering.outputs * self.output_lanes
    }

    /// Number of transformed input elements of a block.
    pub(super) fn inputs(&self) -> i64 {
        self.filtering.products() * self.tiles() * self.channels
    }

    /// Number of products of a block.
    pub(super) fn products(&self) -> i64 {
        self.filtering.products() * self.tiles() * self.filters
    }

    /// Estimates the cycles of the direct window; `rate` is the number of multiply-adds that can start per cycle.
    fn direct_cycles(&self, rate: f64) -> f64 {
        let images = self.all_rows as f64 / self.tile_rows as f64;
        let outputs = images * (self.height * self.width * self.filters) as f64;
        let products = outputs * (self.channels * WINDOW * WINDOW) as f64;
        products / (rate * DIRECT_FRACTION)
    }

    /// Estimates the cycles of the tiles.
    fn cycles(&self, rate: f64) -> f64 {
        let elements = (self.channels * self.filters) as f64;
        let one = self.filtering.products() as f64;
        let tiles = (self.blocks() * self.tiles()) as f64 * one;
        let products = tiles * elements / (rate * PRODUCT_FRACTION);
        let weights = self.blocks() as f64 * one * elements * BYTES as f64 / WEIGHT_BYTES;
        let input = (self.channels / self.input_lanes) as f64 * INPUT_CYCLES;
        let output = (self.filters / self.output_lanes) as f64 * OUTPUT_CYCLES;
        products.max(weights) + tiles * (input + output)
    }
}

/// Returns the lanes of the widest vectors that the channels fill.
fn lanes(channels: i64, max_lanes: i64) -> Option<i64> {
    let mut lanes = max_lanes;
    while lanes >= MIN_LANES && channels % lanes != 0 {
        lanes /= 2;
    }
    (lanes >= MIN_LANES).then_some(lanes)
}
