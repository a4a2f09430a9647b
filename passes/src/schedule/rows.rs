// SPDX-License-Identifier: Apache-2.0
//! `skript-fuse-rows`: computes operations with common rows one block of rows after the other.
//!
//! A softmax reads each row three times, a normalization as often, and attention writes a matrix of scores that it reads again. What
//! such operations have in common are rows: loops along which an element that one operation writes is read by the others at the same
//! position alone. The pass collects `linalg.generic` and `linalg.fill` operations around a reduction that have common rows, and
//! replaces them by a parallel loop over blocks of rows. Its body has the same operations on views of the arrays; arrays that nothing
//! else reads have the size of one block. A block is as large as the cache allows. Products belong to a group if their other
//! operand stays in a cache, as the keys and values of an attention do.
//!
//! Windows of a padded array (pooling, depthwise convolutions) are such operations with the ones that pad: channels are their rows, and
//! the padded array of one block of channels stays in the cache.
//!
//! Windows of what a contraction computes, a pooling behind a convolution, are computed with it if the result is larger than four caches: the
//! rows that a block of windows reads are in an array of their own. Rows that windows of two blocks read are kept for the next one.
//!
//! On a GPU (`gpu`), the threads of a block compute its rows together (`skript-map-rows`). A block is one row, or several if contractions
//! belong to the group, as in an attention: arrays that nothing else reads are in the memory that the threads share. Rows that are too
//! long for that are computed in blocks of columns ([`columns`]). Tensors that bufferization keeps in one array, one after the other, get arrays
//! of their own before ([`ranges`]).
//!
//! Requires: buffers. Dynamic extents beside those of rows are whole in each block. Guarantees: each element is computed by the same
//! operations in the same order as before, whatever the number of rows in a block.

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
use skript_dialect::{Dialect, Pass, PassError, PassOption, melior};
use std::collections::HashSet;
use strips::Strips;

/// The pass `skript-fuse-rows`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-fuse-rows",
    summary: "compute operations with common rows one block of rows after the other",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::MemRef, Dialect::Scf],
    options: &[
        PassOption {
            name: "cache-bytes",
            summary: "bytes of the cache of one core that holds a block of rows",
            default: "1048576",
        },
        PassOption {
            name: "gpu",
            summary: "the GPU whose threads compute each block of rows together; none for a processor",
            default: "none",
        },
    ],
    run: |root, options, rewriter| {
        let memory = match options.text("gpu") {
            "none" => Memory::Cache(options.get("cache-bytes")?),
            _ => Memory::Shared(crate::schedule::gpu::named_gpu(options)?),
        };
        fuse(root, memory, rewriter.context())
    },
};

/// What holds a block of rows.
#[derive(Clone, Copy)]
enum Memory {
    /// The cache of a core, of so many bytes.
    Cache(i64),
    /// Memory that the threads of a block of a GPU share: for the arrays of its rows that nothing else reads.
    Shared(&'static Gpu),
}

impl Memory {
    /// The blocks of a group.
    fn blocks(self, group: &Group) -> Option<Blocks> {
        match self {
            Memory::Cache(bytes) => Blocks::of(group, bytes),
            Memory::Shared(gpu) => shared::blocks(group, gpu, false),
        }
    }

    /// Whether a group may be computed in blocks, as it is or once more operations belong to it.
    fn accepts(self, group: &Group) -> bool {
        match self {
            Memory::Cache(_) => self.blocks(group).is_some(),
            Memory::Shared(gpu) => shared::blocks(group, gpu, true).is_some(),
        }
    }

    /// Whether all blocks have the same loop, the last one with fewer rows. Payloads may read the positions of rows there.
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
    // What depends on variables alone is computed once.
    let entry = ir::entry(root).ok();
    let constants = entry.map(|entry| Constants::of(entry, root));
    let constants = constants.unwrap_or_default();
    let writers: HashSet<usize> = constants.writers().iter().map(|(op, _)| ir::key(*op)).collect();
    let operations_of = |block: BlockRef<'c, 'a>| -> Vec<OperationRef<'c, 'a>> {
        let operations = ir::operations(block).into_iter();
        operations.filter(|op| !writers.contains(&ir::key(*op))).collect()
    };
    let with_blocks = ir::nested(root).into_iter();
    let mut blocks: Vec<BlockRef> =
        with_blocks.filter(|op| op.region_count() > 0 && !is_in_parallel(*op)).flat_map(ir::blocks).collect();
    blocks.retain(|block| {
        let mut operations = ir::operations(*block).into_iter();
        operations.any(|op| ir::name(op) == ops::linalg::GENERIC)
    });
    for block in blocks {
        if memory.has_one_loop() {
            ranges::separate(block, context)?;
            effects.forget_buffers();
        }
        let mut operations = operations_of(block);
        let mut position = 0;
        while position < operations.len() {
            if let Memory::Cache(cache) = memory
                && let Some(strips) = Strips::around(&operations, position, &mut effects, cache)
            {
                let erased = strips.emit(context)?;
                effects.forget_buffers();
                let before = operations.iter().take(position);
                position = before.filter(|op| !erased.contains(&ir::key(**op))).count();
                operations = operations_of(block);
                continue;
            }
            let has_one_loop = memory.has_one_loop();
            let found = |effects: &mut Effects<'c, 'a>, accepts: &dyn Fn(&Group) -> bool| {
                let group = Group::around(&operations, position, effects, has_one_loop, accepts);
                let group = group.filter(blocks::gains)?;
                let rows = memory.blocks(&group)?;
                Some((group, rows))
            };
            let mut group = found(&mut effects, &|group| memory.accepts(group));
            // Whole rows come first, unless some of the contractions would be left alone then.
            let products = group.as_ref().map_or(0, |(group, _)| group.products());
            if let Memory::Shared(gpu) = memory
                && let Some((columns, rows)) = of_columns(&operations, position, &mut effects, gpu)
                && columns.group.products() > products
            {
                let erased = columns::emit(&columns, &rows, context)?;
                effects.forget_buffers();
                let before = operations.iter().take(position);
                position = before.filter(|op| !erased.contains(&ir::key(**op))).count();
                operations = operations_of(block);
                continue;
            }
            if group.is_none() && has_one_loop {
                group = found(&mut effects, &|group| !group.has_product() && memory.accepts(group));
            }
            let Some((group, rows)) = group else {
                position += 1;
                continue;
            };
            let erased = emit::emit(&group, &rows, has_one_loop, context)?;
            effects.forget_buffers();
            // The loops stand where the last operation of the group did. Others may be part of another group.
            let before = operations.iter().take(position);
            position = before.filter(|op| !erased.contains(&ir::key(**op))).count();
            operations = operations_of(block);
        }
    }
    Ok(())
}

/// The group around a reduction whose columns are computed in blocks, and these.
fn of_columns<'c: 'a, 'a>(
    operations: &[OperationRef<'c, 'a>],
    position: usize,
    effects: &mut Effects<'c, 'a>,
    gpu: &Gpu,
) -> Option<(Columns<'c, 'a>, Blocks)> {
    let accepts = |group: &Group<'c, 'a>| shared::suits(group) && Columns::of(group).is_some();
    let group = Group::around(operations, position, effects, true, accepts)?;
    let columns = Columns::of(&group).filter(Columns::is_complete)?;
    let blocks = shared::of_columns(&columns, gpu)?;
    Some((columns, blocks))
}

/// Whether an operation is a parallel loop, or in one.
pub(super) fn is_in_parallel(op: OperationRef) -> bool {
    let mut own = Some(op);
    while let Some(op) = own {
        if ir::name(op) == ops::scf::PARALLEL {
            return true;
        }
        own = ir::walk::parent(op);
    }
    false
}
