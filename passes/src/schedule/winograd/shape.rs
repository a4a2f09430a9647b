// SPDX-License-Identifier: Apache-2.0
//! The tiles of a window's output, and what they cost.

use super::matrices::{FOUR, Filtering, TWO, WINDOW};
use super::window::Window;
use crate::schedule::nest::Nest;
use crate::schedule::target::Target;

/// A window in tiles.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) window: Window,
    pub(super) filtering: &'static Filtering,
    /// Channels of the input and of the output.
    pub(super) channels: i64,
    pub(super) filters: i64,
    /// Extents of the output.
    pub(super) height: i64,
    pub(super) width: i64,
    /// Lanes along the channels of the input, and of the output.
    pub(super) input_lanes: i64,
    pub(super) output_lanes: i64,
    /// Tiles along the rows and along the columns of one image.
    pub(super) tile_rows: i64,
    pub(super) tile_columns: i64,
    /// Rows of tiles of all images.
    pub(super) all_rows: i64,
    /// Rows of tiles of a block, which stays in the cache between the steps.
    pub(super) rows: i64,
}

/// Bytes of an element.
const BYTES: i64 = 4;

/// Largest number of bytes on the stack for a row of tiles.
const STACK: i64 = 1 << 17;

/// Narrowest vectors.
const FEWEST_LANES: i64 = 4;

/// Fewest tiles of a block: each multiplies all transformed weights, which come from beyond the cache.
const FEWEST_TILES: i64 = 48;

/// The share of the multiply-adds that could start that a direct window reaches, and that products of transformed elements reach.
const DIRECT_SHARE: f64 = 0.6;
const PRODUCT_SHARE: f64 = 0.7;

/// Cycles to transform a vector of the input, and of the products.
const INPUT_CYCLES: f64 = 4.0;
const OUTPUT_CYCLES: f64 = 5.0;

/// Bytes of weights per cycle that come from beyond the cache.
const WEIGHT_BYTES: f64 = 4.0;

/// The part of the direct window's cycles that must be gained.
const LEAST_GAIN: f64 = 0.1;

impl Shape {
    /// The shape with the fewest cycles; `None` if the direct window is about as fast. `outputs` is the extent of a tile, if it is given.
    pub(super) fn best(
        window: impl Fn() -> Option<Window>,
        nest: &Nest,
        target: Target,
        outputs: i64,
    ) -> Option<Shape> {
        let shapes = [&TWO, &FOUR].into_iter().filter_map(|filtering| {
            let is_given = outputs == 0 || outputs == filtering.outputs;
            let shape = Shape::of(window()?, nest, filtering, target).filter(|_| is_given)?;
            let lanes = (target.vector_bits / 32) as f64;
            let rate = lanes * f64::from(target.costs.fma_ports);
            let (cycles, direct) = (shape.cycles(rate), shape.direct_cycles(rate));
            (outputs != 0 || cycles < direct * (1.0 - LEAST_GAIN)).then_some((cycles, shape))
        });
        let best = shapes.min_by(|a, b| a.0.total_cmp(&b.0));
        best.map(|(_, shape)| shape)
    }

    fn of(window: Window, nest: &Nest, filtering: &'static Filtering, target: Target) -> Option<Shape> {
        let extent = |l: usize| nest.loops.get(l).map(|own| own.extent);
        let (height, width) = (extent(window.rows[0])?, extent(window.columns[0])?);
        let (channels, filters) = (extent(window.channels)?, extent(window.filters)?);
        let mut images = window.batches.iter().map(|l| extent(*l));
        let images = images.try_fold(1_i64, |all, n| all.checked_mul(n?))?;
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
        let fewest = (FEWEST_TILES + shape.tile_columns - 1) / shape.tile_columns;
        let most = (target.cache_bytes / row.max(1)).max(fewest).min(shape.all_rows);
        let blocks = (shape.all_rows + most - 1) / most;
        shape.rows = (shape.all_rows + blocks - 1) / blocks;
        Some(shape)
    }

    /// Blocks of rows of tiles.
    pub(super) fn blocks(&self) -> i64 {
        (self.all_rows + self.rows - 1) / self.rows
    }

    /// Tiles of a block.
    pub(super) fn tiles(&self) -> i64 {
        self.rows * self.tile_columns
    }

    /// Columns of the input that a row of tiles depends on; those beyond the input are zeros.
    pub(super) fn patch_columns(&self) -> i64 {
        self.tile_columns * self.filtering.outputs + WINDOW - 1
    }

    /// Elements of the input, for a vector of channels and a row of tiles.
    pub(super) fn patch(&self) -> i64 {
        self.filtering.inputs() * self.patch_columns() * self.input_lanes
    }

    /// Elements of the output of which one dimension is transformed, for a vector of channels and a row of tiles.
    pub(super) fn partial(&self) -> i64 {
        let tile = self.filtering.outputs * self.filtering.inputs();
        tile * self.tile_columns * self.output_lanes
    }

    /// Elements of a row of the output, for a vector of channels.
    pub(super) fn output_row(&self) -> i64 {
        self.tile_columns * self.filtering.outputs * self.output_lanes
    }

    /// The transformed elements of the input, and the products, of a block.
    pub(super) fn inputs(&self) -> i64 {
        self.filtering.products() * self.tiles() * self.channels
    }

    pub(super) fn products(&self) -> i64 {
        self.filtering.products() * self.tiles() * self.filters
    }

    /// Estimate for the direct window; `rate` is the multiply-adds that can start in one cycle.
    fn direct_cycles(&self, rate: f64) -> f64 {
        let images = self.all_rows as f64 / self.tile_rows as f64;
        let outputs = images * (self.height * self.width * self.filters) as f64;
        let products = outputs * (self.channels * WINDOW * WINDOW) as f64;
        products / (rate * DIRECT_SHARE)
    }

    /// Estimate for the tiles.
    fn cycles(&self, rate: f64) -> f64 {
        let elements = (self.channels * self.filters) as f64;
        let one = self.filtering.products() as f64;
        let tiles = (self.blocks() * self.tiles()) as f64 * one;
        let products = tiles * elements / (rate * PRODUCT_SHARE);
        let weights = self.blocks() as f64 * one * elements * BYTES as f64 / WEIGHT_BYTES;
        let input = (self.channels / self.input_lanes) as f64 * INPUT_CYCLES;
        let output = (self.filters / self.output_lanes) as f64 * OUTPUT_CYCLES;
        products.max(weights) + tiles * (input + output)
    }
}

/// The widest vectors that channels fill.
fn lanes(channels: i64, most: i64) -> Option<i64> {
    let mut lanes = most;
    while lanes >= FEWEST_LANES && channels % lanes != 0 {
        lanes /= 2;
    }
    (lanes >= FEWEST_LANES).then_some(lanes)
}
