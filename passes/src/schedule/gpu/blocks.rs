// SPDX-License-Identifier: Apache-2.0
//! `skript-map-rows`: lets the threads of a block compute the operations on a row together.
//!
//! `skript-fuse-rows` makes one parallel loop of operations with common rows, such as those of a softmax or of a normalization. A block
//! computes an iteration of it, one operation after the other, and waits for all threads after each. The points of an elementwise
//! operation are shared by the threads. A reduction has as many threads as results, or all of them for each result: thread t of T combines
//! elements t, t + T, …, and shared memory has the results, which are combined in pairs; several results have an equal part of the threads
//! each. Loops around operations stay, with the same iterations for all threads. Contractions are computed in tiles ([`super::row_products`]). Arrays of a row that nothing else reads are in shared memory.
//!
//! Requires: buffers, linalg operations. Guarantees: the order of sums depends on extents and on the number of threads alone.

use super::code::SHARED;
use super::outline::MOST_BLOCKS;
use super::reductions::runs_on_host;
use super::row_products::{Means, Planned, partial_bytes};
use super::threads::{Bounds, positions};
use super::works::{Threads, Work};
use crate::extents::size;
use crate::ir::attribute_names::RESIDENT;
use crate::ir::copy::arguments;
use crate::ir::effects::Effects;
use crate::ir::splice::splice;
use crate::ir::{self, Builder, func, memref, mutation, ops, regions, uses};
use crate::schedule::targets::gpus::{Gpu, Precision};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{BlockRef, ShapedTypeLike, Value, ValueLike};
use skript_dialect::{Pass, PassError};
use std::collections::{HashMap, HashSet};

/// The pass `skript-map-rows`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-map-rows",
    summary: "let the threads of a block compute the operations on a row together",
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
            if let Some(rows) = Rows::of(op) {
                rows.map((gpu, precision), &mut effects)?;
            }
        }
        Ok(())
    },
};

/// Whether the threads of a block may compute an operation together: it fills, copies, is elementwise, or reduces by one operation
/// whose order may change.
pub(in crate::schedule) fn is_shared(op: OperationRef) -> bool {
    Work::of(op).is_some()
}

/// A parallel loop whose iterations are operations on rows.
struct Rows<'c, 'a> {
    op: OperationRef<'c, 'a>,
    body: BlockRef<'c, 'a>,
    works: Vec<Work<'c, 'a>>,
    /// Arrays of a row.
    arrays: Vec<OperationRef<'c, 'a>>,
    /// Whether there are loops around operations.
    has_loops: bool,
}

impl<'c: 'a, 'a> Rows<'c, 'a> {
    fn of(op: OperationRef<'c, 'a>) -> Option<Self> {
        let body = ir::first_block(op).filter(|_| op.result_count() == 0)?;
        let mut rows = Rows { op, body, works: Vec::new(), arrays: Vec::new(), has_loops: false };
        rows.add(body)?;
        let reduces = |work: &Work| work.reductions.contains(&true);
        rows.works.iter().any(reduces).then_some(rows)
    }

    /// Adds the operations of a block: that of the loop, or of a loop in it.
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
                _ => self.works.push(Work::of(*op)?),
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
        let bounds = Bounds::of(self.op);
        let (counts, all) = bounds.counts(&before)?;
        let means = Means { gpu, precision, threads, memory: self.memory_for_copies(gpu) };
        let (mut planned, replaced) = self.plan(means, effects);
        let is_left = |work: &Work| !replaced.contains(&uses::key(work.op));
        let left = || self.works.iter().filter(|work| is_left(work));
        let mut arrays = Vec::new();
        let mut shared = Vec::new();
        for array in &self.arrays {
            let value: Value = array.result(0)?.into();
            let is_used =
                left().any(|work| work.uses(value)) || planned.values().any(|planned| planned.uses(value));
            if is_used {
                let kind = MemRefType::try_from(value.r#type())?;
                arrays.push(*array);
                shared.push(shared_array(&memref::extents(kind.into()), &kind.element().to_string()));
            }
        }
        // One array for the results of threads, by the type of its elements.
        let mut kinds: Vec<String> = Vec::new();
        for work in left() {
            let element = work.element()?.to_string();
            if work.reductions.contains(&true) && !kinds.contains(&element) {
                kinds.push(element);
            }
        }
        shared.extend(kinds.iter().map(|kind| shared_array(&[threads], kind)));
        // One array for the copies of contractions, by the type of its elements.
        let mut copies: Vec<(String, i64)> = Vec::new();
        for own in self.works.iter().filter_map(|work| planned.get(&uses::key(work.op))) {
            for own in &own.shared {
                match copies.iter_mut().find(|(element, _)| *element == own.element) {
                    Some((_, count)) => *count = own.end().max(*count),
                    None => copies.push((own.element.clone(), own.end())),
                }
            }
        }
        shared.extend(copies.iter().map(|(kind, count)| shared_array(&[*count], kind)));
        let names: Vec<String> =
            shared.iter().enumerate().map(|(n, kind)| format!("%s{n} : {kind}")).collect();
        // Else the assembler of PTX keeps registers for more blocks than shared memory has space for, or spills some.
        let resident = if self.has_loops || !copies.is_empty() {
            format!(" {{{RESIDENT} = {RESIDENT_BLOCKS} : i32}}")
        } else {
            String::new()
        };
        let text = format!(
            "%one = arith.constant 1 : index\n%most = arith.constant {MOST_BLOCKS} : index\n\
             %few = arith.minui %0, %most : index\n%blocks = arith.maxui %few, %one : index\n\
             %threads = arith.constant {threads} : index\n\
             gpu.launch blocks(%bx, %by, %bz) in (%gx = %blocks, %gy = %one, %gz = %one) \
             threads(%thread, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) workgroup({}) {{\n\
             scf.for %row = %bx to %0 step %gx {{\ngpu.barrier\n}}\ngpu.terminator\n}}{resident}",
            names.join(", ")
        );
        let spliced = splice(self.op, &[all], &text, &[])?;
        let launch = spliced.operations.last().copied().ok_or("no launch")?;
        let inner = ir::first_block(launch).ok_or("a launch without a body")?;
        let values: Vec<Value> = arguments(inner);
        let thread = values.get(3).copied().ok_or("a launch without threads")?;
        let shared = values.get(SIZES..).unwrap_or_default();
        let looped = ir::operations(inner).first().copied().ok_or("no loop")?;
        let row = ir::first_block(looped).ok_or("a loop without a body")?;
        let number = arguments(row).first().copied().ok_or("a loop without a number")?;
        let first = ir::operations(row).first().copied().ok_or("an empty loop")?;
        let at = Builder::before(context, first)?;
        let indices = positions(number, &bounds, &counts, &at)?;
        for (old, new) in arguments(self.body).into_iter().zip(indices) {
            ir::replace_uses(old, new);
        }
        let width = at.index(threads)?;
        let mut block = Threads {
            thread,
            width,
            count: threads,
            warp: i64::from(gpu.warp),
            kinds: &kinds,
            partial: shared.get(arrays.len()..).unwrap_or_default(),
        };
        let copied = shared.iter().skip(arrays.len() + kinds.len());
        let copied = copies.iter().map(|(kind, _)| kind.clone()).zip(copied.copied());
        let copied: HashMap<String, Value> = copied.collect();
        for work in &self.works {
            match planned.remove(&uses::key(work.op)) {
                Some(planned) => planned.replace(thread, &copied)?,
                None if replaced.contains(&uses::key(work.op)) => {}
                None => work.lower(&mut block)?,
            }
        }
        for (array, shared) in arrays.into_iter().zip(shared) {
            ir::replace_uses(array.result(0)?.into(), *shared);
            ir::erase(array);
            in_shared_memory(*shared)?;
        }
        // The barrier of the loop follows what the last operation has.
        regions::inline(first, &regions::take(self.op, 0)?)?;
        ir::erase(self.op);
        Ok(())
    }

    /// The code of contractions, by their keys, and the keys of all operations that it computes.
    fn plan(
        &self,
        means: Means,
        effects: &mut Effects<'c, 'a>,
    ) -> (HashMap<usize, Planned<'c, 'a>>, HashSet<usize>) {
        let (mut planned, mut replaced) = (HashMap::new(), HashSet::new());
        for work in self.works.iter().filter(|work| work.is_contraction()) {
            let Some(own) = Planned::of(work.op, means, effects) else {
                continue;
            };
            let keys: Vec<usize> = own.replaced().map(uses::key).collect();
            if keys.iter().all(|key| !replaced.contains(key)) {
                replaced.extend(keys);
                planned.insert(uses::key(work.op), own);
            }
        }
        (planned, replaced)
    }

    /// Bytes of shared memory that arrays of rows and results of threads leave for copies.
    fn memory_for_copies(&self, gpu: &Gpu) -> u64 {
        let arrays = self.arrays.iter().filter_map(|op| op.result(0).ok());
        let bytes = arrays.filter_map(|array| size::bytes(array.into()));
        let used = bytes.sum::<u64>() + partial_bytes(gpu).unsigned_abs();
        u64::from(gpu.shared_memory).saturating_sub(used)
    }

    /// The threads of a block: as many as the longest row has elements, at least those of a warp; all for tiles of contractions.
    fn threads(&self, gpu: &Gpu) -> i64 {
        let (least, most) = (i64::from(gpu.warp), i64::from(gpu.block));
        if self.works.iter().any(Work::is_contraction) {
            return most;
        }
        let longest = self.works.iter().map(Work::points).max().unwrap_or(most);
        let mut threads = least;
        while threads * 2 <= most && threads < longest {
            threads *= 2;
        }
        threads
    }
}

/// Blocks with contractions, or with loops around operations, that a processor has registers for, at least.
const RESIDENT_BLOCKS: u32 = 2;

/// Arguments of the body of a launch before its shared arrays.
const SIZES: usize = 12;

/// Gives views of an array that is in shared memory its memory space.
fn in_shared_memory(array: Value) -> Result<(), PassError> {
    for user in ir::users(array) {
        let is_part = [ops::memref::EXTRACT_STRIDED_METADATA, ops::memref::REINTERPRET_CAST];
        if !memref::is_view(user) && !is_part.contains(&ir::name(user).as_str()) {
            continue;
        }
        let view: Value = user.result(0)?.into();
        let kind = view.r#type().to_string();
        if !kind.contains(SHARED) {
            let own = kind.strip_suffix('>').unwrap_or(&kind);
            let kind = format!("{own}, {SHARED}>");
            mutation::retype(view, ir::parse_type(user.context(), &kind)?);
        }
        in_shared_memory(view)?;
    }
    Ok(())
}

fn shared_array(extents: &[i64], element: &str) -> String {
    let extents: String = extents.iter().map(|n| format!("{n}x")).collect();
    format!("memref<{extents}{element}, {SHARED}>")
}
