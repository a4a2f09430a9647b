// SPDX-License-Identifier: Apache-2.0
//! Collects the sequences of operations in host code that become single-threaded kernels.
//!
//! Such a sequence stores to arrays of the device. It includes the reads and the computations that only the sequence uses, if no
//! operation between them and the sequence writes.

use super::memory_space::HostMemory;
use crate::ir::attribute_names::SPLIT;
use crate::ir::scf::Bounds;
use crate::ir::{self, ValueKey, ops, uses};
use melior::ir::Value;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use skript_dialect::op;
use std::collections::{HashMap, HashSet};

/// The role of a host operation for the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Reads arrays of the device, or computes: the operation may be part of a kernel.
    Reads,
    /// Writes arrays of the device without control flow on the host: the operation is part of a kernel.
    Writes,
    /// Control flow on the host around operations on the device.
    Decides,
    /// A parallel loop or a launch: a separate kernel.
    Parallel,
    /// Any other operation of the host.
    Host,
}

/// Minimum number of iterations of a parallel loop inside a sequential loop that becomes a separate kernel.
const MIN_ITERATIONS: i64 = 32;

/// Roles of operations.
pub(super) struct Roles<'m> {
    pub(super) memory: &'m HostMemory,
}

impl Roles<'_> {
    pub(super) fn role<'c: 'a, 'a>(&self, op: OperationRef<'c, 'a>) -> Role {
        match ir::name(op).as_str() {
            ops::scf::PARALLEL if op.result_count() == 0 => Role::Parallel,
            ops::gpu::LAUNCH => Role::Parallel,
            ops::memref::STORE => match op.operand(1) {
                Ok(array) if self.memory.holds(array) => Role::Host,
                _ => Role::Writes,
            },
            ops::memref::LOAD => Role::Reads,
            ops::scf::FOR | ops::scf::IF | ops::scf::WHILE | ops::scf::PARALLEL => self.of_region(op),
            _ if op.region_count() == 0 && op::is_pure(&op) => Role::Reads,
            _ => Role::Host,
        }
    }

    fn of_region<'c: 'a, 'a>(&self, op: OperationRef<'c, 'a>) -> Role {
        let mut combined = Role::Reads;
        for inner in ir::blocks(op).into_iter().flat_map(ir::operations) {
            let role = match ir::name(inner).as_str() {
                ops::scf::YIELD | ops::scf::CONDITION | ops::scf::REDUCE => Role::Reads,
                // The array is local to the kernel.
                ops::memref::ALLOCA => Role::Reads,
                _ => self.role(inner),
            };
            combined = match (combined, role) {
                (_, Role::Host | Role::Decides) | (Role::Decides, _) => Role::Decides,
                (_, Role::Parallel) if is_large(inner) => Role::Decides,
                (_, Role::Parallel | Role::Writes) | (Role::Writes, _) => Role::Writes,
                (Role::Reads, Role::Reads) => Role::Reads,
                (other, _) => other,
            };
        }
        // A kernel has no results, so an operation with used results remains on the host.
        match combined {
            Role::Writes if op.results().any(op::is_used) => Role::Decides,
            _ => combined,
        }
    }
}

/// Whether a parallel loop has enough iterations for a kernel, or dynamic extents.
fn is_large(op: OperationRef) -> bool {
    if ir::name(op) == ops::gpu::LAUNCH || op.has_attribute(SPLIT) {
        return true;
    }
    let all =
        Bounds::all(op).iter().try_fold(1_i64, |all, bounds| Some(all.saturating_mul(bounds.iterations()?)));
    all.is_none_or(|all| all >= MIN_ITERATIONS)
}

/// The operations of a single-threaded kernel.
pub(super) struct Sequence<'c, 'a> {
    /// Operations that write, which move into the kernel.
    pub(super) writes: Vec<OperationRef<'c, 'a>>,
    /// Operations whose results the writes use, which are copied into the kernel, in the order of the block.
    pub(super) reads: Vec<OperationRef<'c, 'a>>,
}

/// A block of host code whose sequences are being collected.
pub(super) struct Block<'c, 'a, 'm> {
    roles: &'m Roles<'m>,
    /// The operations of the block, before kernels are outlined.
    operations: Vec<OperationRef<'c, 'a>>,
    /// The positions of the block's operations.
    order: HashMap<usize, usize>,
    /// The position after the last operation that may write and is not part of the sequence.
    since: usize,
    /// The writes of the current sequence.
    writes: Vec<OperationRef<'c, 'a>>,
}

impl<'c: 'a, 'a, 'm> Block<'c, 'a, 'm> {
    pub(super) fn new(roles: &'m Roles<'m>, operations: &[OperationRef<'c, 'a>]) -> Self {
        let order = operations.iter().enumerate();
        Block {
            roles,
            order: order.map(|(n, op)| (uses::key(*op), n)).collect(),
            operations: operations.to_vec(),
            since: 0,
            writes: Vec::new(),
        }
    }

    /// Appends an operation that writes to the current sequence.
    pub(super) fn add(&mut self, op: OperationRef<'c, 'a>) {
        self.writes.push(op);
    }

    /// Whether the host or another kernel uses a result of an operation that reads after the beginning of the sequence.
    pub(super) fn is_needed_outside(&self, op: OperationRef<'c, 'a>) -> bool {
        if self.writes.is_empty() {
            return false;
        }
        let mut pending: Vec<OperationRef> = vec![op];
        let mut seen = HashSet::new();
        while let Some(op) = pending.pop() {
            for result in op.results() {
                for user in ir::users(result.into()) {
                    let Some(user) = op.block().and_then(|block| ir::ancestor_in(block, user)) else {
                        return true;
                    };
                    if !seen.insert(uses::key(user)) {
                        continue;
                    }
                    match self.roles.role(user) {
                        Role::Writes => {}
                        Role::Reads if user.next_in_block().is_some() => pending.push(user),
                        _ => return true,
                    }
                }
            }
        }
        false
    }

    /// Returns the sequences so far, which end before `after`, each with the operation before which its kernel is launched.
    ///
    /// If the host or a later kernel uses an element of an array, the host reads it at its position in the block. A sequence ends at this
    /// position, because the read must follow the kernels that were launched before.
    pub(super) fn take(
        &mut self,
        after: OperationRef<'c, 'a>,
    ) -> Vec<(Sequence<'c, 'a>, OperationRef<'c, 'a>)> {
        let Some(end) = self.order.get(&uses::key(after)).copied() else {
            return Vec::new();
        };
        let mut sequences = Vec::new();
        let mut pending = std::mem::take(&mut self.writes);
        while let Some(first) = pending.first().and_then(|op| self.order.get(&uses::key(*op))) {
            let Some((position, read)) = self.read_for_later(*first, end) else {
                break;
            };
            let is_before =
                |op: &OperationRef<'c, 'a>| self.order.get(&uses::key(*op)).is_some_and(|n| *n < position);
            let (before, behind) = pending.iter().partition(|op| is_before(op));
            pending = behind;
            self.writes = before;
            sequences.extend(self.take(read));
        }
        if !pending.is_empty() {
            let sequence = Sequence { reads: self.reads(&pending), writes: pending };
            sequences.push((sequence, after));
            self.since = end;
        }
        sequences
    }

    /// Returns the first operation after position `from` that reads arrays for operations at or after position `end`.
    fn read_for_later(&self, from: usize, end: usize) -> Option<(usize, OperationRef<'c, 'a>)> {
        let mut between = self.operations.get(from..end)?.iter().enumerate();
        between
            .find(|(_, op)| {
                self.roles.role(**op) == Role::Reads
                    && !self.arrays_read(**op).is_empty()
                    && self.is_used_from(**op, end)
            })
            .map(|(n, op)| (from + n, *op))
    }

    /// Whether operations at or after a position use a result of an operation.
    fn is_used_from(&self, op: OperationRef<'c, 'a>, end: usize) -> bool {
        let mut pending = vec![op];
        let mut seen = HashSet::new();
        while let Some(op) = pending.pop() {
            let results: Vec<Value> = op.results().map(Value::from).collect();
            for user in results.into_iter().flat_map(ir::users) {
                let user = op.block().and_then(|block| ir::ancestor_in(block, user));
                let position = user.and_then(|user| self.order.get(&uses::key(user)));
                let (Some(user), Some(position)) = (user, position) else {
                    continue;
                };
                if *position >= end {
                    return true;
                }
                if seen.insert(uses::key(user)) && self.roles.role(user) == Role::Reads {
                    pending.push(user);
                }
            }
        }
        false
    }

    /// Records an operation that may write.
    pub(super) fn pass(&mut self, op: OperationRef<'c, 'a>) {
        self.since = self.order.get(&uses::key(op)).map_or(0, |n| n + 1);
    }

    /// Returns the operations of the block whose results the given operations use, and that can be copied into their kernel.
    pub(super) fn reads(&self, of: &[OperationRef<'c, 'a>]) -> Vec<OperationRef<'c, 'a>> {
        let keys: HashSet<usize> = of.iter().map(|op| uses::key(*op)).collect();
        let mut needed: HashMap<usize, OperationRef> = HashMap::new();
        let mut seen: HashSet<ValueKey> = HashSet::new();
        let mut pending: Vec<Value> = of.iter().flat_map(|op| ir::outline::captured(*op)).collect();
        while let Some(value) = pending.pop() {
            if !seen.insert(ValueKey::of(value)) {
                continue;
            }
            let Some((op, _)) = ir::definition(value) else {
                continue;
            };
            // Values of other blocks are arguments; views and constants are rebuilt.
            let Some(position) = self.order.get(&uses::key(op)).copied() else {
                continue;
            };
            // A view whose offsets are computed is copied together with the computation.
            let is_fixed = op.operands().all(|value| self.is_fixed(value));
            if keys.contains(&uses::key(op)) || ir::outline::is_rebuilt(op) && is_fixed {
                continue;
            }
            if self.is_movable(op, position) {
                needed.insert(position, op);
                pending.extend(ir::outline::captured(op));
            }
        }
        let mut needed: Vec<(usize, OperationRef)> = needed.into_iter().collect();
        needed.sort_by_key(|(position, _)| *position);
        needed.into_iter().map(|(_, op)| op).collect()
    }

    /// Whether a value is a constant, or is not defined in the block.
    fn is_fixed(&self, value: Value<'c, 'a>) -> bool {
        let op = ir::definition(value).map(|(op, _)| op);
        op.is_none_or(|op| {
            let is_in_block = self.order.contains_key(&uses::key(op));
            !is_in_block || op.operand_count() == 0 && ir::outline::is_rebuilt(op)
        })
    }

    fn is_movable(&self, op: OperationRef<'c, 'a>, position: usize) -> bool {
        let reads = self.arrays_read(op);
        if reads.iter().any(|array| self.roles.memory.holds(*array)) {
            return false;
        }
        self.roles.role(op) == Role::Reads && (position >= self.since || reads.is_empty())
    }

    fn arrays_read(&self, op: OperationRef<'c, 'a>) -> Vec<Value<'c, 'a>> {
        let all = ir::outline::with_nested(op).into_iter();
        let loads = all.filter(|op| ir::name(*op) == ops::memref::LOAD);
        loads.filter_map(|op| ir::operand(op).ok()).collect()
    }
}

impl<'c: 'a, 'a> Block<'c, 'a, '_> {
    /// Returns the operations of the block that a parallel loop depends on and that its threads may compute: operations that do not read
    /// arrays, or only arrays that are never written.
    pub(super) fn reads_of_inputs(
        &self,
        of: OperationRef<'c, 'a>,
        entry: OperationRef<'c, 'a>,
    ) -> Vec<OperationRef<'c, 'a>> {
        let all = self.reads(&[of]);
        let is_input = |array: &Value<'c, 'a>| is_read_only(*array, entry);
        let mut refused: HashSet<usize> = HashSet::new();
        for op in &all {
            let fits = self.arrays_read(*op).iter().all(is_input);
            // The host cannot compute from values of the device, but a kernel can compute from values of the host.
            if !fits {
                refused.insert(uses::key(*op));
            }
        }
        all.into_iter().filter(|op| !refused.contains(&uses::key(*op))).collect()
    }
}

/// Whether an array is an argument of the entry that is never written.
fn is_read_only<'c: 'a, 'a>(array: Value<'c, 'a>, entry: OperationRef<'c, 'a>) -> bool {
    let root = ir::memref::root(array);
    let body = ir::first_block(entry).map(|block| block.to_raw().ptr);
    let of_entry = ir::argument(root).map(|argument| argument.owner().to_raw().ptr);
    let users = ir::memref::users_of_buffer(root);
    of_entry.is_some()
        && of_entry == body
        && users.is_some_and(|users| {
            users.iter().all(|user| matches!(ir::name(*user).as_str(), ops::memref::LOAD | ops::memref::DIM))
        })
}
