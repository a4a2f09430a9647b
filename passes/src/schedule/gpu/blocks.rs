// SPDX-License-Identifier: Apache-2.0
//! `skript-map-rows`: maps the operations on a row to the threads of a block.
//!
//! `skript-fuse-rows` creates one parallel loop for operations with common rows, such as those of a softmax or of a normalization. A
//! block computes an iteration of this loop, one operation after the other, with a barrier after each. The points of an elementwise
//! operation are distributed over the threads. Each result of a reduction is computed by one thread or by a group of threads: thread t
//! of T combines elements t, t + T, …, and a tree reduction in shared memory combines the results of the threads. If there are several
//! results, all groups have the same size. All threads execute the same iterations of loops around operations. Contractions are computed
//! in tiles ([`super::row_products`]). Arrays of a row without other readers are in shared memory.
//!
//! Requires: buffers, linalg operations. Guarantees: the order of sums depends only on extents and on the number of threads.

use super::launch::{Launch, blocks};
use super::reductions::runs_on_host;
use super::row_products::{Means, Planned};
use super::threads::{counts, positions};
use super::works::Threads;
use crate::extents::size;
use crate::ir::copy::arguments;
use crate::ir::effects::Effects;
use crate::ir::scf::Bounds;
use crate::ir::{self, Builder, attributes, func, memref, mutation, ops, regions, types, uses};
use crate::schedule::contraction::partial_bytes;
use crate::schedule::targets::gpus::{Gpu, Precision};
use crate::schedule::works::Work;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{BlockRef, ShapedTypeLike, Type, Value, ValueLike};
use skript_dialect::{Pass, PassError};
use std::collections::{HashMap, HashSet};

/// The pass `skript-map-rows`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-map-rows",
    summary: "map the operations on a row to the threads of a block",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: super::DIALECTS,
    options: &[super::GPU, super::PRECISION],
    run: |root, options, _| {
        let gpu = super::named_gpu(options)?;
        let precision = super::named_precision(options)?;
        let entry = ir::entry(root)?;
        let mut effects = Effects::new(func::functions(root));
        let loops = ir::walk::named(entry, ops::scf::PARALLEL).into_iter();
        for op in loops.filter(|op| runs_on_host(*op, entry)) {
            if let Some(rows) = Rows::from_loop(op) {
                rows.map((gpu, precision), &mut effects)?;
            }
        }
        Ok(())
    },
};

/// A parallel loop whose iterations are operations on rows.
struct Rows<'c, 'a> {
    op: OperationRef<'c, 'a>,
    body: BlockRef<'c, 'a>,
    /// The operations.
    works: Vec<Work<'c, 'a>>,
    /// The allocations of the arrays of a row.
    arrays: Vec<OperationRef<'c, 'a>>,
    /// Whether there are loops around operations.
    has_loops: bool,
}

impl<'c: 'a, 'a> Rows<'c, 'a> {
    fn from_loop(op: OperationRef<'c, 'a>) -> Option<Self> {
        let body = ir::first_block(op).filter(|_| op.result_count() == 0)?;
        let mut rows = Rows { op, body, works: Vec::new(), arrays: Vec::new(), has_loops: false };
        rows.add(body)?;
        let reduces = |work: &Work| work.reductions.contains(&true);
        rows.works.iter().any(reduces).then_some(rows)
    }

    /// Adds the operations of a block: the body of the parallel loop, or of a loop in it.
    fn add(&mut self, block: BlockRef<'c, 'a>) -> Option<()> {
        let operations = ir::operations(block);
        let (_, operations) = operations.split_last()?;
        for op in operations {
            match ir::name(*op).as_str() {
                ops::scf::FOR if op.result_count() == 0 => {
                    self.has_loops = true;
                    self.add(ir::first_block(*op)?)?;
                }
                ops::memref::ALLOCA => {
                    let array: Value = op.result(0).ok()?.into();
                    let users = memref::users_of_buffer(array)?.into_iter();
                    let is_static = memref::extents(array.r#type()).iter().all(|n| *n >= 0);
                    let is_read = |name: String| {
                        let known = [ops::memref::DIM, ops::memref::COPY];
                        known.contains(&name.as_str()) || !name.starts_with("memref.")
                    };
                    let is_direct = users.map(ir::name).all(is_read);
                    (is_static && is_direct).then(|| self.arrays.push(*op))?;
                }
                _ if op.region_count() == 0 && skript_dialect::op::is_pure(op) => {}
                _ => self.works.push(Work::from_op(*op)?),
            }
        }
        Some(())
    }

    /// Replaces the loop by blocks of threads.
    fn map(
        self,
        (gpu, precision): (&Gpu, Precision),
        effects: &mut Effects<'c, 'a>,
    ) -> Result<(), PassError> {
        let threads = self.threads(gpu);
        let context = ir::context::of(self.op);
        let before = Builder::before(context, self.op)?;
        let bounds = Bounds::all(self.op);
        let (counts, all) = counts(&bounds, &before)?;
        let means = Means { gpu, precision, threads, memory: self.memory_for_copies(gpu) };
        let (mut planned, replaced) = self.plan(means, effects);
        let is_left = |work: &Work| !replaced.contains(&uses::key(work.op));
        let left = || self.works.iter().filter(|work| is_left(work));
        // Without an explicit number of resident blocks, ptxas would limit the registers for more blocks than fit shared memory, or spill.
        let is_large = self.has_loops || planned.values().any(|planned| !planned.shared.is_empty());
        let launch = Launch::new(&before);
        let mut arrays = Vec::new();
        for array in &self.arrays {
            let value: Value = array.result(0)?.into();
            let is_used =
                left().any(|work| work.uses(value)) || planned.values().any(|planned| planned.uses(value));
            if is_used {
                let kind = value.r#type();
                let shared = memref::shared(&memref::extents(kind), types::element_or_self(kind));
                arrays.push((*array, launch.share(shared)));
            }
        }
        // One array for the results of threads, for each element type.
        let mut partial: Vec<(Type, Value)> = Vec::new();
        for work in left().filter(|work| work.reductions.contains(&true)) {
            let element = work.element();
            if partial.iter().all(|(known, _)| *known != element) {
                partial.push((element, launch.share(memref::shared(&[threads], element))));
            }
        }
        // One array for the copies of contractions, for each element type.
        let mut copies: Vec<(Type, i64)> = Vec::new();
        for planned in self.works.iter().filter_map(|work| planned.get(&uses::key(work.op))) {
            for shared in &planned.shared {
                match copies.iter_mut().find(|(element, _)| *element == shared.element) {
                    Some((_, count)) => *count = shared.end().max(*count),
                    None => copies.push((shared.element, shared.end())),
                }
            }
        }
        let share = |(kind, count): (Type<'c>, i64)| (kind, launch.share(memref::shared(&[count], kind)));
        let copied: HashMap<Type, Value> = copies.into_iter().map(share).collect();
        let (thread, number) = (launch.thread, launch.tile);
        let block = launch.at.block;
        launch.at.barrier();
        let [blocks, one] = blocks(&before, all);
        let resident = if is_large { RESIDENT_BLOCKS } else { 0 };
        launch.end([all, blocks, one, before.idx(threads)], resident);
        let first = ir::operations(block).first().copied().ok_or("an empty loop")?;
        let at = Builder::before(context, first)?;
        let indices = positions(number, &bounds, &counts, &at);
        for (old, new) in arguments(self.body).into_iter().zip(indices) {
            ir::replace_uses(old, new);
        }
        let width = at.idx(threads);
        let block = Threads { thread, width, count: threads, warp: i64::from(gpu.warp), partial: &partial };
        for work in &self.works {
            match planned.remove(&uses::key(work.op)) {
                Some(planned) => planned.replace(thread, &copied)?,
                None if replaced.contains(&uses::key(work.op)) => {}
                None => work.lower(&block)?,
            }
        }
        for (array, shared) in arrays {
            ir::replace_uses(array.result(0)?.into(), shared);
            ir::erase(array);
            in_shared_memory(shared)?;
        }
        // The barrier of the launch follows the last operation.
        regions::inline(first, &regions::take(self.op, 0)?)?;
        ir::erase(self.op);
        Ok(())
    }

    /// Plans the contractions. Returns their code by the keys of the operations, and the keys of all operations that the code replaces.
    fn plan(
        &self,
        means: Means,
        effects: &mut Effects<'c, 'a>,
    ) -> (HashMap<usize, Planned<'c, 'a>>, HashSet<usize>) {
        let (mut planned, mut replaced) = (HashMap::new(), HashSet::new());
        for work in self.works.iter().filter(|work| work.is_contraction()) {
            let Some(code) = Planned::from_op(work.op, means, effects) else {
                continue;
            };
            let keys: Vec<usize> = code.replaced().map(uses::key).collect();
            if keys.iter().all(|key| !replaced.contains(key)) {
                replaced.extend(keys);
                planned.insert(uses::key(work.op), code);
            }
        }
        (planned, replaced)
    }

    /// Bytes of shared memory for copies: the memory without the arrays of rows and the results of threads.
    fn memory_for_copies(&self, gpu: &Gpu) -> u64 {
        let arrays = self.arrays.iter().filter_map(|op| op.result(0).ok());
        let bytes = arrays.filter_map(|array| size::bytes(array.into()));
        let used = bytes.sum::<u64>() + partial_bytes(gpu).unsigned_abs();
        u64::from(gpu.shared_memory).saturating_sub(used)
    }

    /// Selects the number of threads of a block: the number of elements of the longest row, but at least one warp; the maximum number for
    /// tiles of contractions.
    fn threads(&self, gpu: &Gpu) -> i64 {
        let (warp, max_threads) = (i64::from(gpu.warp), i64::from(gpu.block));
        if self.works.iter().any(Work::is_contraction) {
            return max_threads;
        }
        let longest = self.works.iter().map(Work::points).max().unwrap_or(max_threads);
        let mut threads = warp;
        while threads * 2 <= max_threads && threads < longest {
            threads *= 2;
        }
        threads
    }
}

/// Minimum number of resident blocks per SM, for blocks with contractions or with loops around operations.
const RESIDENT_BLOCKS: u32 = 2;

/// Sets the memory space of the views of an array in shared memory.
fn in_shared_memory(array: Value) -> Result<(), PassError> {
    for user in ir::users(array) {
        let is_part = [ops::memref::EXTRACT_STRIDED_METADATA, ops::memref::REINTERPRET_CAST];
        if !memref::is_view(user) && !is_part.contains(&ir::name(user).as_str()) {
            continue;
        }
        let view: Value = user.result(0)?.into();
        let view_type = MemRefType::try_from(view.r#type())?;
        let space = attributes::workgroup(ir::context::of(user));
        if view_type.memory_space() != Some(space) {
            let extents = memref::extents(view_type.into());
            let kind = MemRefType::new(view_type.element(), &extents, Some(view_type.layout()), Some(space));
            mutation::retype(view, kind.into());
        }
        in_shared_memory(view)?;
    }
    Ok(())
}
