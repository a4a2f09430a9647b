// SPDX-License-Identifier: Apache-2.0
//! Maps loops that select a position (argmax, argmin) to several threads of a block.
//!
//! Such a loop stores the selected position in an element of an array. It replaces the position by the loop counter if the value at the
//! counter is strictly better than the value at the selected position, which one comparison operation decides:
//! ```text
//! for l: if value(l) > value(y[i]): y[i] = l
//! ```
//! Formulas that select positions ([`crate::structure::ArgReduction`]) are lowered to such loops, and the branch is marked by
//! `skript.selects`. A position may have several counters, each of which has a separate array: positions are numbered in the order of the
//! loops.
//!
//! Thread t of T visits positions t, t + T, …, starting with the initial value. A tree reduction combines the selected positions of the
//! threads; among equal values, the first position is selected. The result is the same as that of the sequential loop, also for NaN: a NaN
//! is not better than any value, and no value is better than a NaN. So an initial position whose value is NaN is never replaced.

use super::launch::{Group, Launch, blocks};
use crate::ir::attribute_names::SELECTS;
use crate::ir::builder::arith::Integers;
use crate::ir::memref;
use crate::ir::operator::Operator;
use crate::ir::scf::Bounds;
use crate::ir::walk::{parent, parents};
use crate::ir::{self, Builder, ValueKey, ops, types};
use crate::schedule::targets::gpus::Gpu;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{BlockRef, Value, ValueLike};
use skript_dialect::{PassError, op};
use std::collections::HashMap;

/// Minimum number of positions of a row that several threads search.
const MIN_LENGTH: i64 = 64;

/// Minimum number of positions that a thread visits.
const MIN_POSITIONS: i64 = 4;

/// Number of results from which on one thread computes each result.
const MANY: i64 = 1 << 13;

/// Maximum depth of the operations that compute a value.
const DEPTH: usize = 64;

/// A nest of loops that selects positions.
struct Selection<'c, 'a> {
    /// The indices of the loops over results.
    iterations: Vec<Value<'c, 'a>>,
    /// The numbers of iterations of the loops over results.
    counts: Vec<Value<'c, 'a>>,
    /// The counters of a position, outermost first, and their numbers of iterations.
    counters: Vec<(Value<'c, 'a>, Value<'c, 'a>)>,
    /// For each counter, the store that replaces the selected position.
    stores: Vec<OperationRef<'c, 'a>>,
    compare: OperationRef<'c, 'a>,
    /// The value at the counters.
    value: Value<'c, 'a>,
    /// The value at the selected position.
    held_value: Value<'c, 'a>,
}

/// Replaces `root` by a launch. Returns false if `root` is not a loop that selects a position, or if a launch would not be faster.
pub(super) fn map<'c: 'a, 'a>(root: OperationRef<'c, 'a>, gpu: &Gpu) -> Result<bool, PassError> {
    let Some(selection) = Selection::read(root) else {
        return Ok(false);
    };
    let mut results = selection.counts.iter().map(|count| ir::integer(*count));
    let results = results.try_fold(1_i64, |all, count| Some(all.saturating_mul(count?)));
    let mut lengths = selection.counters.iter().map(|(_, count)| ir::integer(*count));
    let length = lengths.try_fold(1_i64, |all, count| Some(all.saturating_mul(count?)));
    if results.is_some_and(|results| results >= MANY) || length.is_some_and(|n| n < MIN_LENGTH) {
        return Ok(false);
    }
    let (mut threads, max_threads) = (i64::from(gpu.warp), i64::from(gpu.block));
    while threads * 2 <= max_threads && length.is_some_and(|length| threads * MIN_POSITIONS < length) {
        threads *= 2;
    }
    let used = selection.stores.iter().flat_map(|store| store.operands());
    let mut used = used.chain([selection.value, selection.held_value]);
    if !used.all(|value| selection.is_computed(value, root, DEPTH)) {
        return Ok(false);
    }
    let at = Builder::before(ir::context::of(root), root)?;
    let mut writer = Writer { selection: &selection, root, at, known: HashMap::new() };
    writer.write(threads, max_threads / threads);
    ir::erase(root);
    Ok(true)
}

/// Returns the operations of a block that have regions or side effects, except its terminator.
fn with_effects<'c: 'a, 'a>(block: BlockRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let is_value = |op: &OperationRef<'c, 'a>| {
        ir::name(*op) == ops::memref::LOAD || op.region_count() == 0 && op::is_pure(op)
    };
    let mut operations = ir::operations(block);
    operations.pop();
    operations.into_iter().filter(|op| !is_value(op)).collect()
}

/// Whether a value is defined inside an operation.
fn is_inside<'c: 'a, 'a>(value: Value<'c, 'a>, root: OperationRef<'c, 'a>) -> bool {
    match ir::argument(value) {
        Some(argument) => argument.owner().parent_operation().is_some_and(|op| is_within(op, root)),
        None => ir::definition(value).and_then(|(op, _)| parent(op)).is_some_and(|op| is_within(op, root)),
    }
}

/// Whether an operation is `root` or nested in it.
fn is_within<'c: 'a, 'a>(op: OperationRef<'c, 'a>, root: OperationRef<'c, 'a>) -> bool {
    op == root || parents(op).any(|op| op == root)
}

/// Strips the index conversions of a value.
fn converted<'c: 'a, 'a>(value: Value<'c, 'a>) -> Value<'c, 'a> {
    let mut value = value;
    for _ in 0..DEPTH {
        let conversion = ir::definition(value).map(|(op, _)| op).filter(|op| {
            let name = ir::name(*op);
            [ops::arith::INDEX_CAST, ops::arith::EXTSI, ops::arith::TRUNCI].contains(&name.as_str())
        });
        match conversion.and_then(|op| ir::operand(op).ok()) {
            Some(source) => value = source,
            None => break,
        }
    }
    value
}

impl<'c: 'a, 'a> Selection<'c, 'a> {
    /// Matches loops around a branch that is marked to select a position.
    fn read(root: OperationRef<'c, 'a>) -> Option<Self> {
        let mut loops = Vec::new();
        let mut choice = root;
        while ir::name(choice) != ops::scf::IF {
            let bounds = Bounds::all(choice);
            let is_plain = |bound: &Bounds<'c, 'a>| bound.are_numbers() && !is_inside(bound.upper, root);
            if bounds.is_empty() || choice.result_count() > 0 || !bounds.iter().all(is_plain) {
                return None;
            }
            let block = ir::first_block(choice)?;
            loops.extend(ir::arguments(block).into_iter().zip(bounds.iter().map(|bound| bound.upper)));
            let [inner] = *with_effects(block).as_slice() else {
                return None;
            };
            choice = inner;
        }
        choice.attribute(SELECTS).ok()?;
        let compare = ir::definition(ir::operand(choice).ok()?)?.0;
        let stores = with_effects(ir::first_block(choice)?);
        let [left, right] = ir::both_operands(compare).ok()?;
        let (value, held_value) = match [left, right].map(|side| reads_held(side, &stores, DEPTH)) {
            [false, true] => (left, right),
            [true, false] => (right, left),
            _ => return None,
        };
        let (iterations, counts, counters) = (Vec::new(), Vec::new(), Vec::new());
        let mut selection =
            Selection { iterations, counts, counters, stores: Vec::new(), compare, value, held_value };
        for (index, count) in loops {
            let holds = |store: &&OperationRef<'c, 'a>| {
                store.operands().next().is_some_and(|value| converted(value) == index)
            };
            if let Some(store) = stores.iter().find(holds) {
                selection.counters.push((index, count));
                selection.stores.push(*store);
            } else {
                selection.iterations.push(index);
                selection.counts.push(count);
            }
        }
        (selection.stores.len() == stores.len()).then_some(selection)
    }

    /// Computes whether one value is better than another.
    fn is_better(&self, one: Value<'c, 'a>, other: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Value<'c, 'a> {
        let is_left = self.compare.operands().next() == Some(self.value);
        let sides = if is_left { [one, other] } else { [other, one] };
        Operator::from_op(self.compare).apply(at, &sides, types::flag(at.context))
    }

    /// Whether a value can be recomputed from iterations and counters.
    fn is_computed(&self, value: Value<'c, 'a>, root: OperationRef<'c, 'a>, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        let is_loop =
            || self.iterations.contains(&value) || self.counters.iter().any(|(counter, _)| *counter == value);
        if !is_inside(value, root) || is_loop() {
            return true;
        }
        ir::definition(value).is_some_and(|(op, _)| {
            let is_plain = op.region_count() == 0 && op.result_count() == 1;
            is_plain && op.operands().all(|operand| self.is_computed(operand, root, depth))
        })
    }
}

/// Whether a value depends on an element that one of the stores replaces.
fn reads_held<'c: 'a, 'a>(value: Value<'c, 'a>, stores: &[OperationRef<'c, 'a>], depth: usize) -> bool {
    let (Some((op, _)), Some(depth)) = (ir::definition(value), depth.checked_sub(1)) else {
        return false;
    };
    let is_held = |store: &OperationRef<'c, 'a>| op.operands().eq(store.operands().skip(1));
    ir::name(op) == ops::memref::LOAD && stores.iter().any(is_held)
        || op.operands().any(|operand| reads_held(operand, stores, depth))
}

/// Writes the code of the threads.
struct Writer<'s, 'c, 'a> {
    selection: &'s Selection<'c, 'a>,
    root: OperationRef<'c, 'a>,
    at: Builder<'c, 'a>,
    /// The values in the kernel by the values of the loops that they replace.
    known: HashMap<ValueKey, Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Writer<'_, 'c, 'a> {
    /// Recomputes a value in the kernel.
    fn value(&mut self, value: Value<'c, 'a>) -> Value<'c, 'a> {
        if let Some(known) = self.known.get(&ValueKey::of(value)) {
            return *known;
        }
        let inside = ir::definition(value).filter(|_| is_inside(value, self.root));
        let Some((op, _)) = inside else {
            return value;
        };
        let operands: Vec<Value> = op.operands().map(|operand| self.value(operand)).collect();
        Operator::from_op(op).apply(&self.at, &operands, value.r#type())
    }

    /// Writes the launch: each block computes `rows` results, with `threads` threads for each result.
    fn write(&mut self, threads: i64, rows: i64) {
        let selection = self.selection;
        let host = self.at;
        let product =
            |counts: &[Value<'c, 'a>]| counts.iter().fold(host.idx(1), |all, count| host.muli(all, *count));
        let lengths: Vec<Value> = selection.counters.iter().map(|(_, length)| *length).collect();
        let (count, total) = (product(&lengths), product(&selection.counts));
        let (size, none) = (host.idx(rows), host.idx(0));
        let tiles = host.ceildivui(total, size);
        // Without positions, no block is launched.
        let tiles = host.select(host.cmpi(Integers::Greater, count, none), tiles, none);
        let [blocks, one] = blocks(&host, tiles);
        let launch = Launch::new(&host);
        self.at = launch.at;
        self.threads(&launch, [count, total], &lengths, [threads, rows]);
        launch.end([tiles, blocks, one, host.idx(threads * rows)], 0);
    }

    /// Writes the code of a thread for a block of results.
    fn threads(
        &mut self,
        launch: &Launch<'c, 'a>,
        [count, total]: [Value<'c, 'a>; 2],
        lengths: &[Value<'c, 'a>],
        [threads, rows]: [i64; 2],
    ) {
        let (selection, at) = (self.selection, launch.at);
        let word = types::word(at.context);
        let kind = selection.value.r#type();
        let arrays = [kind, word].map(|kind| launch.share(memref::shared(&[threads * rows], kind)));
        let step = at.idx(threads);
        let line = at.divui(launch.thread, step);
        let first = at.remui(launch.thread, step);
        let result = at.addi(at.muli(launch.tile, at.idx(rows)), line);
        let is_inside = at.cmpi(Integers::Less, result, total);
        let mut quotient = at.minui(result, at.subi(total, at.idx(1)));
        for (iteration, count) in selection.iterations.iter().zip(&selection.counts).rev() {
            self.known.insert(ValueKey::of(*iteration), at.remui(quotient, *count));
            quotient = at.divui(quotient, *count);
        }
        let inits = [self.value(selection.held_value), at.int(-1, word)];
        let best_of_thread = at.for_([first, count, step], &inits, |inside, counter, best| {
            self.at = inside;
            self.place(counter, lengths);
            let value = self.value(selection.value);
            let is_better = selection.is_better(value, best[0], &inside);
            let number = inside.index_cast(counter, word);
            vec![inside.select(is_better, value, best[0]), inside.select(is_better, number, best[1])]
        });
        self.at = at;
        for (value, array) in at.results(best_of_thread).into_iter().zip(arrays) {
            at.store(value, array, &[launch.thread]);
        }
        let zero = at.int(0, word);
        let thread = launch.thread;
        let group =
            Group { number: first, thread, place: thread, stride: 1, count: threads, arrays: &arrays };
        group.combine(&at, |at, one, other| {
            let (a, b) = ([one[0], other[0]], [one[1], other[1]]);
            let is_some = at.cmpi(Integers::SignedAtLeast, b[1], zero);
            let is_only = at.cmpi(Integers::SignedLess, b[0], zero);
            let is_first = at.cmpi(Integers::SignedLess, b[1], b[0]);
            let is_better = selection.is_better(a[1], a[0], at);
            let is_worse = selection.is_better(a[0], a[1], at);
            // Among equal values, the first position is selected.
            let equal = at.select(is_worse, at.truth(false), is_first);
            let takes = at.ori(is_only, at.ori(is_better, equal));
            let takes = at.andi(is_some, takes);
            vec![at.select(takes, a[1], a[0]), at.select(takes, b[1], b[0])]
        });
        let is_first = at.cmpi(Integers::Equal, first, at.idx(0));
        let selected = at.load(arrays[1], &[thread]);
        let is_some = at.cmpi(Integers::SignedAtLeast, selected, zero);
        let writes = at.andi(at.andi(is_first, is_inside), is_some);
        at.when(writes, |inside| {
            self.at = inside;
            let position = inside.index_cast(selected, inside.index_type());
            self.place(position, lengths);
            for store in &selection.stores {
                let operands: Vec<Value> = store.operands().map(|value| self.value(value)).collect();
                inside.store(operands[0], operands[1], &operands[2..]);
            }
        });
        // The threads wait before the next tile reuses the shared memory.
        at.barrier();
    }

    /// Computes the counters of a position from its number, in row-major order.
    fn place(&mut self, number: Value<'c, 'a>, lengths: &[Value<'c, 'a>]) {
        let mut quotient = number;
        for (n, ((counter, _), length)) in self.selection.counters.iter().zip(lengths).enumerate().rev() {
            let mut position = quotient;
            if n > 0 {
                position = self.at.remui(quotient, *length);
                quotient = self.at.divui(quotient, *length);
            }
            self.known.insert(ValueKey::of(*counter), position);
        }
    }
}
