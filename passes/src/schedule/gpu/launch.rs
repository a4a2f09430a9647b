// SPDX-License-Identifier: Apache-2.0
//! Launches of thread blocks that divide the tiles of a kernel, and the reduction of the values of the threads of a block.

use super::outline::MAX_BLOCKS;
use crate::ir::attribute_names::RESIDENT;
use crate::ir::numbers::Numbers;
use crate::ir::{Builder, attributes, ops};
use crate::schedule::counts::as_i64;
use melior::ir::block::BlockLike;
use melior::ir::{Region, Type, TypeLike, Value, ValueLike};

/// A launch under construction. Block b of B computes tiles b, b + B, b + 2B, …
pub(super) struct Launch<'c, 'a> {
    host: Builder<'c, 'a>,
    region: Region<'c>,
    body: Builder<'c, 'a>,
    tiles: Region<'c>,
    /// The insertion point for the code of a tile.
    pub(super) at: Builder<'c, 'a>,
    /// The number of the tile.
    pub(super) tile: Value<'c, 'a>,
    /// The number of the thread in its block.
    pub(super) thread: Value<'c, 'a>,
    arguments: Vec<Value<'c, 'a>>,
}

/// Number of index arguments of `gpu.launch`: block and thread identifiers, and grid and block sizes, each in three dimensions.
const NUMBERS: usize = 12;

impl<'c: 'a, 'a> Launch<'c, 'a> {
    /// Begins a launch at an insertion point of the host code.
    pub(super) fn new(host: &Builder<'c, 'a>) -> Launch<'c, 'a> {
        let index = host.index_type();
        let (region, body, arguments) = host.region(&[index; NUMBERS]);
        let (tiles, at, tile) = body.region(&[index]);
        Launch { host: *host, region, body, tiles, at, tile: tile[0], thread: arguments[3], arguments }
    }

    /// Adds an array in shared memory.
    pub(super) fn share(&self, r#type: Type<'c>) -> Value<'c, 'a> {
        self.body.block.add_argument(r#type, self.host.location)
    }

    /// Completes the launch; its sizes are index values of the host. `resident` is the minimum number of resident blocks per SM of an
    /// NVIDIA GPU; 0 lets ptxas decide.
    pub(super) fn end(self, [tiles, blocks, one, threads]: [Value<'c, 'a>; 4], resident: u32) {
        self.at.op(ops::scf::YIELD, &[], &[], &[], Vec::new());
        let bounds = [self.arguments[0], tiles, self.arguments[6]];
        self.body.op(ops::scf::FOR, &bounds, &[], &[], vec![self.tiles]);
        self.body.op(ops::gpu::TERMINATOR, &[], &[], &[], Vec::new());
        let host = self.host;
        let mut attributes = vec![host.segments(&[0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0])];
        let shared = self.body.block.argument_count() - NUMBERS;
        if shared > 0 {
            let count = attributes::i64(host.context, as_i64(shared));
            attributes.push(("workgroup_attributions", count));
        }
        if resident > 0 {
            attributes.push((RESIDENT, host.i32_attribute(resident.into())));
        }
        let sizes = [blocks, one, one, threads, one, one];
        host.op(ops::gpu::LAUNCH, &sizes, &attributes, &[], vec![self.region]);
    }
}

/// Computes the number of blocks for `tiles` tiles, which is at least 1. Also returns the index 1.
pub(super) fn blocks<'c: 'a, 'a>(host: &Builder<'c, 'a>, tiles: Value<'c, 'a>) -> [Value<'c, 'a>; 2] {
    let (one, max_blocks) = (host.idx(1), host.idx(MAX_BLOCKS));
    [host.maxui(host.minui(tiles, max_blocks), one), one]
}

/// A group of threads of a block, with a value of each thread in each of the shared arrays.
pub(super) struct Group<'g, 'c, 'a> {
    /// The number of the thread in its group.
    pub(super) number: Value<'c, 'a>,
    /// The number of the thread in its block.
    pub(super) thread: Value<'c, 'a>,
    /// The number of the thread in its block, as an index.
    pub(super) place: Value<'c, 'a>,
    /// Distance between consecutive threads of a group, in threads of the block.
    pub(super) stride: i64,
    /// Number of threads of a group, a power of two.
    pub(super) count: i64,
    /// The shared arrays, indexed by the number of the thread in its block.
    pub(super) arrays: &'g [Value<'c, 'a>],
}

impl<'c: 'a, 'a> Group<'_, 'c, 'a> {
    /// Combines the values of a group by a tree reduction: first the values of threads t and t + T/2, then of t and t + T/4, and so on.
    /// The result is the value of the first thread. `combine` receives, for each of the two threads, one value of each array.
    pub(super) fn combine(
        &self,
        at: &Builder<'c, 'a>,
        combine: impl Fn(&Builder<'c, 'a>, &[Value<'c, 'a>], &[Value<'c, 'a>]) -> Vec<Value<'c, 'a>>,
    ) {
        let kind = self.thread.r#type();
        at.barrier();
        let mut half = self.count / 2;
        while half > 0 {
            let is_first = Numbers { at: *at, kind }.is_below(self.number, half);
            at.when(is_first, |at| {
                let numbers = Numbers { at, kind };
                let other = numbers.add(self.thread, half * self.stride);
                let other = if kind.is_index() { numbers.value(other) } else { numbers.index(other) };
                let pairs = self
                    .arrays
                    .iter()
                    .map(|array| (at.load(*array, &[self.place]), at.load(*array, &[other])));
                let (one, other): (Vec<Value>, Vec<Value>) = pairs.unzip();
                let combined = combine(&at, &one, &other);
                for (value, array) in combined.into_iter().zip(self.arrays) {
                    at.store(value, *array, &[self.place]);
                }
            });
            at.barrier();
            half /= 2;
        }
    }
}
