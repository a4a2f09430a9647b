// SPDX-License-Identifier: Apache-2.0
//! Contractions of a block of rows, such as the two products of an attention: the threads that share the rows compute them in tiles.
//!
//! `skript-fuse-rows` puts a contraction into a loop over blocks of rows if all rows read its other operand, and if a block has enough of them
//! to read it again. The result of the block stays in shared memory for what follows. `skript-map-rows` lets the block compute its tiles
//! one after the other, as [`super::tiles`] writes them, by tensor cores where these may be used. The copies of all contractions of a
//! block are in one array for each type of elements.

use super::code::{Code, Number, Shared};
use super::contraction::{Contraction, Share};
use super::reductions::Kernels;
use super::tiles::{BUFFERS, PADDING};
use crate::ir::effects::Effects;
use crate::ir::memref::may_overlap;
use crate::ir::splice::splice;
use crate::ir::{self, memref, ops};
use crate::schedule::elementwise::Merged;
use crate::schedule::reading::read;
use crate::schedule::targets::gpus::{Gpu, Precision};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Value, ValueLike};
use skript_dialect::PassError;
use std::collections::HashMap;

/// Whether an operation is a contraction that blocks of threads compute in tiles.
pub(in crate::schedule) fn is_tiled(op: OperationRef) -> bool {
    read(op).is_some_and(|reduction| {
        let body = &reduction.body;
        let mut nest = reduction.nest.clone();
        nest.keeps_order = true;
        nest.simplify(&[]);
        body.predicate.is_none() && body.used_dimensions().is_empty() && Contraction::of(&nest).is_some()
    })
}

/// A contraction of a block of rows.
pub(in crate::schedule) struct Product {
    /// Rows of a block, and columns.
    pub(in crate::schedule) sizes: [i64; 2],
    /// Products of each element.
    pub(in crate::schedule) depth: i64,
    /// Bytes of an element of all inputs of a side, at most.
    pub(in crate::schedule) bytes: i64,
}

/// Bytes of shared memory that a block has beside the arrays of its rows and copies: results of threads.
pub(in crate::schedule) fn partial_bytes(gpu: &Gpu) -> i64 {
    i64::from(gpu.block) * 8
}

/// The cycles in which a block computes contractions one after the other, with so many bytes for the copies of each; `None` if a tile
/// has no copies of that size.
pub(in crate::schedule) fn cycles(products: &[Product], memory: i64, gpu: &Gpu) -> Option<i64> {
    let parts = |count: i64, size: u32| count.saturating_add(i64::from(size) - 1) / i64::from(size);
    let each = products.iter().map(|product| {
        let [rows, columns] = product.sizes;
        let tiles = gpu.tiles.iter().filter(|tile| {
            let lines = i64::from(tile.rows + tile.columns + 2 * PADDING);
            let copies = lines * i64::from(tile.depth) * i64::try_from(BUFFERS).unwrap_or(1);
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

/// A contraction with its code, before the operations are replaced.
pub(super) struct Planned<'c, 'a> {
    text: String,
    /// The values that the code refers to, before the thread and the arrays of copies.
    arguments: Vec<Value<'c, 'a>>,
    /// The arrays of copies, as parts of one for each type of elements.
    pub(super) shared: Vec<Shared>,
    /// The operation whose place the code takes.
    last: OperationRef<'c, 'a>,
    others: Vec<OperationRef<'c, 'a>>,
}

/// What a contraction of a block may use.
#[derive(Clone, Copy)]
pub(super) struct Means<'g> {
    pub(super) gpu: &'g Gpu,
    pub(super) precision: Precision,
    /// Threads of the block.
    pub(super) threads: i64,
    /// Bytes of shared memory for copies.
    pub(super) memory: u64,
}

impl<'c: 'a, 'a> Planned<'c, 'a> {
    /// The code of the contraction `op`, with the elementwise operations around it; `None` if no tile fits.
    pub(super) fn of(op: OperationRef<'c, 'a>, means: Means, effects: &mut Effects<'c, 'a>) -> Option<Self> {
        let reduction = read(op)?;
        let output = reduction.output()?;
        let mut inputs = reduction.arrays.get(..reduction.nest.output)?.iter();
        if !inputs.all(|input| !may_overlap(*input, output)) {
            return None;
        }
        let bare = Merged { reduction: reduction.clone(), last: op, others: Vec::new() };
        let merged = Merged::of(op, reduction, effects);
        Self::written(op, merged, means).or_else(|| Self::written(op, bare, means))
    }

    fn written(op: OperationRef<'c, 'a>, merged: Merged<'c, 'a>, means: Means) -> Option<Self> {
        let mut reduction = merged.reduction;
        for (kind, array) in reduction.signature.arrays.iter_mut().zip(&reduction.arrays) {
            *kind = array.r#type().to_string();
        }
        let kernels = Kernels {
            reduction: &reduction,
            operands: op.operands().collect(),
            gpu: means.gpu,
            precision: means.precision,
        };
        let share = Share { blocks: 1, memory: means.memory };
        // The thread is the argument after all others.
        let arguments = reduction.arguments().len();
        let end = |code: Code, tiles: Number, threads: i64| {
            let thread = arguments + code.dynamic_extents();
            let fits = threads == means.threads;
            fits.then(|| code.inside(&tiles, &format!("%{thread}")))
        };
        let (made, arguments) = kernels.tiles(&reduction.body, share, true, end)?;
        let (text, shared) = made?;
        Some(Planned { text, arguments, shared, last: merged.last, others: merged.others })
    }

    /// The operations that the code computes.
    pub(super) fn replaced(&self) -> impl Iterator<Item = OperationRef<'c, 'a>> {
        self.others.iter().copied().chain([self.last])
    }

    /// Whether the code accesses the buffer of an array.
    pub(super) fn uses(&self, array: Value<'c, 'a>) -> bool {
        let root = memref::root_of(array);
        let mut roots = self.arguments.iter().map(|own| memref::root_of(*own));
        roots.any(|own| own == root)
    }

    /// Replaces the operations; `copies` has the array for each type of elements. The threads wait for each other after the code.
    pub(super) fn replace(
        self,
        thread: Value<'c, 'a>,
        copies: &HashMap<String, Value<'c, 'a>>,
    ) -> Result<(), PassError> {
        let mut arguments = self.arguments;
        arguments.push(thread);
        let mut text = String::new();
        for own in &self.shared {
            let array = copies.get(&own.element).copied();
            let array = array.ok_or("no array for copies")?;
            let name = format!("%{}", arguments.len());
            text.push_str(&own.view(&name, &array.r#type().to_string()));
            arguments.push(array);
        }
        text.push_str(&self.text);
        text.push_str(ops::gpu::BARRIER);
        splice(self.last, &arguments, &text, &[])?;
        self.others.into_iter().for_each(ir::erase);
        ir::erase(self.last);
        Ok(())
    }
}
