// SPDX-License-Identifier: Apache-2.0
//! `skript-fuse-rows`: fuses operations with common rows into loops over blocks of rows.
//!
//! A softmax and a normalization read each row three times, and attention writes a matrix of scores that it reads again. Such
//! operations have common rows: parallel loops along which an element that one operation writes is read by the others only at the same
//! position. The pass collects `linalg.generic` and `linalg.fill` operations around a reduction that have common rows, and replaces
//! them by a parallel loop over blocks of rows. The body of the loop has the same operations on views of the arrays. An array without
//! other readers is replaced by an array with the size of one block. A block is as large as the cache allows. A contraction belongs to
//! a group if its other operand fits the cache, as the keys and values of attention do.
//!
//! An operation that reads a padded array in windows (pooling, depthwise convolutions) is fused with the operations that pad the array:
//! the channels are the rows, and the padded array of one block of channels fits the cache.
//!
//! A window over the result of a contraction, such as a pooling after a convolution, is fused with the contraction if the result is
//! larger than four times the cache ([`strips`]): the rows that a block of windows reads are in a small array. The rows that the
//! windows of two adjacent blocks share are kept for the next block.
//!
//! On a GPU (`gpu`), the threads of a block compute its rows cooperatively (`skript-map-rows`). A block has one row, or several rows if
//! contractions belong to the group, as in attention. Arrays without other readers are in shared memory. Rows that are too long for
//! shared memory are computed in blocks of columns ([`columns`]). If bufferization reuses one array for several tensors, these are
//! allocated separately first ([`ranges`]). One emitter ([`tile`]) emits the code of all these forms.
//!
//! Requires: buffers. A block contains the full extent of each dynamic dimension that is not a row. Guarantees: each element is
//! computed by the same operations in the same order as before, independently of the number of rows in a block.

mod blocks;
mod columns;
mod emit;
mod group;
mod member;
mod ranges;
mod shared;
mod storage;
pub(crate) mod streams;
mod strips;
mod tile;

use crate::ir::effects::Effects;
use crate::ir::func;
use crate::ir::{self, ops};
use crate::prepare::constants::Constants;
use crate::schedule::targets::gpus::Gpu;
use blocks::Blocks;
use columns::Columns;
use group::Group;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, OperationRef};
use skript_dialect::{Dialect, Pass, PassError, PassOption, melior, op};
use std::collections::HashSet;
use strips::Strips;

/// The pass `skript-fuse-rows`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-fuse-rows",
    summary: "fuse operations with common rows into loops over blocks of rows",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::MemRef, Dialect::Scf],
    options: &[
        PassOption {
            name: "cache-bytes",
            summary: "bytes of the per-core cache that holds a block of rows",
            default: "1048576",
        },
        PassOption {
            name: "gpu",
            summary: "the GPU whose threads compute each block of rows cooperatively; none for a CPU",
            default: "none",
        },
    ],
    run: |root, options, rewriter| {
        let memory = match options.text("gpu") {
            "none" => Memory::Cache(options.get("cache-bytes")?),
            _ => Memory::Shared(crate::schedule::targets::gpus::named_gpu(options)?),
        };
        fuse(root, memory, rewriter.context())
    },
};

/// The memory that holds a block of rows.
#[derive(Clone, Copy)]
enum Memory {
    /// The cache of a core, with its size in bytes.
    Cache(i64),
    /// The shared memory of a GPU, for the arrays of a block that have no other readers.
    Shared(&'static Gpu),
}

impl Memory {
    fn blocks(self, group: &Group) -> Option<Blocks> {
        match self {
            Memory::Cache(bytes) => Blocks::new(group, bytes),
            Memory::Shared(gpu) => shared::blocks(group, gpu, false),
        }
    }

    /// Whether a group may be computed in blocks, now or after more operations are added.
    fn accepts(self, group: &Group) -> bool {
        match self {
            Memory::Cache(_) => self.blocks(group).is_some(),
            Memory::Shared(gpu) => shared::blocks(group, gpu, true).is_some(),
        }
    }

    /// Whether one loop computes all blocks, including a last block with fewer rows. Payloads may then read the positions of rows.
    fn has_one_loop(self) -> bool {
        matches!(self, Memory::Shared(_))
    }
}

fn fuse<'c: 'a, 'a>(
    root: OperationRef<'c, 'a>,
    memory: Memory,
    context: &'c melior::Context,
) -> Result<(), PassError> {
    let mut effects = Effects::new(func::functions(root));
    // Operations that depend only on variables run once.
    let entry = ir::entry(root).ok();
    let constants = entry.map(|entry| Constants::new(entry, root)).unwrap_or_default();
    let writers: HashSet<usize> = constants.writers().iter().map(|(op, _)| ir::key(*op)).collect();
    let operations_of = |block: BlockRef<'c, 'a>| -> Vec<OperationRef<'c, 'a>> {
        ir::operations(block).into_iter().filter(|op| !writers.contains(&ir::key(*op))).collect()
    };
    let with_blocks = ir::nested(root).into_iter();
    let mut blocks: Vec<BlockRef> =
        with_blocks.filter(|op| op.region_count() > 0 && !is_in_parallel(*op)).flat_map(ir::blocks).collect();
    blocks.retain(|block| ir::operations(*block).into_iter().any(|op| ir::name(op) == ops::linalg::GENERIC));
    for block in blocks {
        if memory.has_one_loop() {
            ranges::separate(block, context)?;
            effects.forget_buffers();
        }
        let mut operations = operations_of(block);
        let mut position = 0;
        while position < operations.len() {
            let Some(erased) = fuse_around(&operations, position, memory, &mut effects, context)? else {
                position += 1;
                continue;
            };
            effects.forget_buffers();
            // The loops replace the last operation of the group. Operations before it may belong to another group.
            let before = operations.iter().take(position);
            position = before.filter(|op| !erased.contains(&ir::key(**op))).count();
            operations = operations_of(block);
        }
    }
    Ok(())
}

/// Fuses operations around the operation at a position of a block. Returns the keys of the erased operations; `None` if nothing is
/// fused.
fn fuse_around<'c: 'a, 'a>(
    operations: &[OperationRef<'c, 'a>],
    position: usize,
    memory: Memory,
    effects: &mut Effects<'c, 'a>,
    context: &'c melior::Context,
) -> Result<Option<HashSet<usize>>, PassError> {
    if let Memory::Cache(cache) = memory
        && let Some(strips) = Strips::around(operations, position, effects, cache)
    {
        return strips.emit(context).map(Some);
    }
    let has_one_loop = memory.has_one_loop();
    let whole_rows = |effects: &mut Effects<'c, 'a>, accepts: &dyn Fn(&Group) -> bool| {
        let group =
            Group::around(operations, position, effects, has_one_loop, accepts).filter(blocks::gains)?;
        let rows = memory.blocks(&group)?;
        Some((group, rows))
    };
    let mut group = whole_rows(effects, &|group| memory.accepts(group));
    // Blocks of full rows are preferred, unless blocks of columns fuse more contractions.
    let products = group.as_ref().map_or(0, |(group, _)| group.products().count());
    if let Memory::Shared(gpu) = memory
        && let Some((columns, rows)) = of_columns(operations, position, effects, gpu)
        && columns.group.products().count() > products
    {
        return columns::emit(&columns, &rows, context).map(Some);
    }
    if group.is_none() && has_one_loop {
        group = whole_rows(effects, &|group| !group.has_product() && memory.accepts(group));
    }
    group.map(|(group, rows)| emit::emit(&group, &rows, has_one_loop, context)).transpose()
}

/// Returns the group around a reduction for blocks of columns, and the blocks.
fn of_columns<'c: 'a, 'a>(
    operations: &[OperationRef<'c, 'a>],
    position: usize,
    effects: &mut Effects<'c, 'a>,
    gpu: &Gpu,
) -> Option<(Columns<'c, 'a>, Blocks)> {
    let accepts = |group: &Group<'c, 'a>| shared::is_supported(group) && Columns::new(group).is_some();
    let group = Group::around(operations, position, effects, true, accepts)?;
    let columns = Columns::new(&group).filter(Columns::is_complete)?;
    let blocks = shared::of_columns(&columns, gpu)?;
    Some((columns, blocks))
}

/// Whether an operation is a parallel loop or nested in one.
pub(super) fn is_in_parallel(op: OperationRef) -> bool {
    std::iter::once(op).chain(ir::walk::parents(op)).any(|op| op::is(&op, ops::scf::PARALLEL))
}
