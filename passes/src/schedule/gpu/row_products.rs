// SPDX-License-Identifier: Apache-2.0
//! Contractions of a block of rows, such as the two products of attention: the threads of the block compute them in tiles.
//!
//! `skript-fuse-rows` puts a contraction into a loop over blocks of rows if all rows read its other operand, and if a block has enough
//! rows to amortize reading that operand again. The result of the block remains in shared memory for later operations.
//! `skript-map-rows` emits code that computes the tiles of a block one after the other, written by [`super::tiles`], with tensor cores
//! where they may be used. The copies of all contractions of a block are in one array for each element type.

use super::code::Shared;
use super::reductions::Kernels;
use crate::ir::effects::Effects;
use crate::ir::{self, Builder, memref, ops, regions};
use crate::schedule::contraction::Share;
use crate::schedule::elementwise::Merged;
use crate::schedule::reading::read_apart;
use crate::schedule::targets::gpus::{Gpu, Precision};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Region, Type, Value, ValueLike};
use skript_dialect::PassError;
use std::collections::HashMap;

/// A contraction with its generated code, before the operations are replaced.
pub(super) struct Planned<'c, 'a> {
    /// The generated code, in a block whose argument is the thread.
    region: Region<'c>,
    at: Builder<'c, 'a>,
    /// The values that the code uses.
    arguments: Vec<Value<'c, 'a>>,
    /// The arrays of copies. Each becomes a view of the one array for its element type.
    pub(super) shared: Vec<Shared<'c, 'a>>,
    /// The operation that the code replaces.
    last: OperationRef<'c, 'a>,
    /// The other operations that the code also computes.
    others: Vec<OperationRef<'c, 'a>>,
}

/// Resources that a contraction of a block may use.
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
    /// Generates the code of the contraction `op`, merged with the adjacent elementwise operations if possible; `None` if no tile fits.
    pub(super) fn from_op(
        op: OperationRef<'c, 'a>,
        means: Means,
        effects: &mut Effects<'c, 'a>,
    ) -> Option<Self> {
        let reduction = read_apart(op)?;
        let bare = Merged { reduction: reduction.clone(), last: op, others: Vec::new() };
        let merged = Merged::around(op, reduction, effects);
        Self::written(op, merged, means).or_else(|| Self::written(op, bare, means))
    }

    fn written(op: OperationRef<'c, 'a>, merged: Merged<'c, 'a>, means: Means) -> Option<Self> {
        let mut reduction = merged.reduction;
        if !reduction.sizes.is_empty() {
            return None;
        }
        for (kind, array) in reduction.signature.arrays.iter_mut().zip(&reduction.arrays) {
            *kind = array.r#type();
        }
        let kernels = Kernels {
            reduction: &reduction,
            operands: op.operands().collect(),
            gpu: means.gpu,
            precision: means.precision,
        };
        let tiled = kernels.tiled(&reduction.body, Share { blocks: 1, memory: means.memory })?;
        if tiled.threads() != means.threads {
            return None;
        }
        let place = Builder::before(ir::context::of(op), merged.last).ok()?;
        let (region, at, _) = place.region(&[place.index_type()]);
        let arguments = reduction.arguments();
        let shared = tiled.inside(at);
        Some(Planned { region, at, arguments, shared, last: merged.last, others: merged.others })
    }

    /// Returns the operations that the code replaces.
    pub(super) fn replaced(&self) -> impl Iterator<Item = OperationRef<'c, 'a>> {
        self.others.iter().copied().chain([self.last])
    }

    /// Whether the code accesses the buffer of an array.
    pub(super) fn uses(&self, array: Value<'c, 'a>) -> bool {
        let root = memref::root_of(array);
        let mut roots = self.arguments.iter().map(|argument| memref::root_of(*argument));
        roots.any(|other| other == root)
    }

    /// Replaces the operations by the code and a barrier; `copies` has the array for each element type.
    pub(super) fn replace(
        self,
        thread: Value<'c, 'a>,
        copies: &HashMap<Type<'c>, Value<'c, 'a>>,
    ) -> Result<(), PassError> {
        let before = Builder::before(self.at.context, self.last)?;
        for shared in &self.shared {
            let array = copies.get(&shared.element).copied();
            let array = array.ok_or("no array for copies")?;
            ir::replace_uses(shared.array, shared.view(array, &before));
        }
        let argument = ir::arguments(self.at.block).first().copied();
        ir::replace_uses(argument.ok_or("code without a thread")?, thread);
        self.at.op(ops::scf::YIELD, &[], &[], &[], Vec::new());
        regions::inline(self.last, &self.region)?;
        before.barrier();
        self.others.into_iter().for_each(ir::erase);
        ir::erase(self.last);
        Ok(())
    }
}
