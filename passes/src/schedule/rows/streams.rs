// SPDX-License-Identifier: Apache-2.0
//! `skript-stream-results`: results larger than the cache are written past it.
//!
//! A store reads the cache line that it writes a part of, and the line replaces another one. Of a result that no cache holds until it is
//! read again, both is in vain. The pass computes such a result in blocks on the stack of a thread, and ends each block with a `memref.copy`
//! that has the attribute `skript.stream`; `skript-lower-copies` makes non-temporal stores of it. Blocks are short, so that reads and
//! writes of memory alternate. Results are those of elementwise operations, which become parallel loops over blocks, and those that a
//! parallel loop over rows writes row by row.
//!
//! Requires: buffers. Guarantees: each element is computed by the same operations as before.

use super::blocks::Blocks;
use super::emit;
use super::group::{Group, Row};
use super::is_in_parallel;
use super::member::{Access, Kind, Member, element_bytes};
use crate::extents::size;
use crate::ir::attribute_names::{STREAM, WORK};
use crate::ir::memref::{self, has_whole_bytes, is_contiguous, root, root_of, users_of_buffer};
use crate::ir::outline::captured;
use crate::ir::walk::named;
use crate::ir::{self, Builder, ValueKey, attributes, mutation, ops, typed, types};
use crate::schedule::buffer_uses::has_own_buffer;
use melior::Context;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{BlockRef, ShapedTypeLike, TypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError, PassOption, melior};
use std::collections::HashMap;

/// The pass `skript-stream-results`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-stream-results",
    summary: "write results larger than the cache past it",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::MemRef, Dialect::Scf],
    options: &[
        PassOption {
            name: "cache-bytes",
            summary: "bytes of the last level of the cache; 0 if results are never streamed",
            default: "33554432",
        },
        PassOption {
            name: "rows-only",
            summary: "whether elementwise operations outside of loops stay",
            default: "false",
        },
    ],
    run: |root, options, rewriter| {
        let cache: i64 = options.get("cache-bytes")?;
        if cache <= 0 {
            return Ok(());
        }
        if !options.get::<bool>("rows-only")? {
            let all = named(root, ops::linalg::GENERIC).into_iter();
            let outside = all.filter(|op| !is_in_parallel(*op));
            for map in outside.filter_map(|op| Map::of(op, cache)) {
                map.divide(rewriter.context())?;
            }
        }
        for op in named(root, ops::scf::PARALLEL) {
            let is_inner = ir::walk::parent(op).is_some_and(is_in_parallel);
            for row in written_rows(op, cache).into_iter().filter(|_| !is_inner) {
                row.stream(rewriter.context())?;
            }
        }
        Ok(())
    },
};

/// Bytes of a block on the stack: the processor computes the next one while it writes this one.
const BLOCK: i64 = 1 << 10;

/// Bytes of the longest row that is a block.
const LONGEST: i64 = 4 << 10;

/// Operations on scalars for each element of a result: with more, the time of memory is hidden behind them.
const FEW_OPERATIONS: i64 = 12;

/// Bytes of the shortest block: most of its cache lines are written as a whole.
const SHORTEST: i64 = 512;

/// Whether a result of so many bytes finds no cache that holds it until it is read. `all` are the bytes of the arrays that the operation
/// accesses: of results that nothing in the module reads, what was written last may still be there.
fn is_large(result: i64, all: i64, is_read: bool, cache: i64) -> bool {
    if is_read { result >= cache } else { result >= cache / 4 && all >= cache / 4 * 3 }
}

/// Bytes of an array of static extents.
fn bytes(array: Value) -> Option<i64> {
    let memref = MemRefType::try_from(array.r#type()).ok()?;
    if !memref.has_static_shape() {
        return None;
    }
    i64::try_from(size::bytes(array)?).ok()
}

/// Bytes of the arrays that an operation accesses, each once.
fn accessed(op: OperationRef) -> i64 {
    let outside = captured(op).into_iter();
    let arrays = outside.filter(|value| value.r#type().is_mem_ref());
    let arrays: HashMap<ValueKey, i64> =
        arrays.map(|array| (root_of(array), bytes(root(array)).unwrap_or(0))).collect();
    arrays.into_values().fold(0, i64::saturating_add)
}

/// An elementwise operation with a large result, outside of loops.
struct Map<'c, 'a> {
    group: Group<'c, 'a>,
    blocks: Blocks,
}

impl<'c: 'a, 'a> Map<'c, 'a> {
    fn of(op: OperationRef<'c, 'a>, cache: i64) -> Option<Self> {
        let member = Member::of(op).filter(|member| member.kind == Kind::Elementwise)?;
        let (output, inputs) = member.accesses.split_last()?;
        let array = output.array;
        let is_result = output.writes && !output.reads && member.covers(output);
        let is_apart = |input: &Access| !input.writes && root_of(input.array) != root_of(array);
        let is_sound = is_result
            && inputs.iter().all(is_apart)
            && inputs.iter().all(|input| bytes(input.array).is_some());
        if !is_sound {
            return None;
        }
        if !has_own_buffer(array) || !has_whole_bytes(array) || !is_contiguous(array) {
            return None;
        }
        let own = bytes(array)?;
        let others = users_of_buffer(array)?.into_iter();
        let is_read = others.filter(|user| *user != op).count() > 0 || !is_argument(array);
        if !is_large(own, accessed(op), is_read, cache) {
            return None;
        }

        let extents = memref::extents(array.r#type());
        // The loop of each dimension; along all others the result has one element.
        let loops: Vec<Option<usize>> = output.forms.iter().map(|f| f.as_index()).collect();
        let innermost = loops.iter().flatten().next_back().copied()?;
        if !inputs.iter().all(|input| is_read_in_order(input, innermost)) {
            return None;
        }
        let points: i64 = extents.iter().product();
        let work = member.work(&HashMap::new());
        if work > points.saturating_mul(FEW_OPERATIONS) {
            return None;
        }
        let bytes_of_element = element_bytes(array)?;
        let is_row = |extent: &i64| extent * bytes_of_element <= LONGEST;
        let row = extents.last().filter(|extent| is_row(extent)).copied();
        let mut left = (BLOCK / bytes_of_element).max(row.unwrap_or(1));
        let (mut rows, mut blocks) = (Vec::new(), Vec::new());
        for (extent, l) in extents.iter().zip(&loops).rev() {
            let Some(l) = l.filter(|_| *extent > 1) else {
                continue;
            };
            let count = left.min(*extent);
            left /= extent;
            if count == *extent {
                continue;
            }
            let is_divisible = |access: &Access| access.dimension(l).is_some();
            let is_row = member.is_divisible(l, false) && member.accesses.iter().all(is_divisible);
            if !is_row {
                return None;
            }
            rows.insert(0, Row { extent: Some(*extent), loops: vec![l] });
            blocks.insert(0, count.max(1));
        }
        (!rows.is_empty()).then_some(Map {
            group: Group { members: vec![member], rows, has_positions: false },
            blocks: Blocks(blocks),
        })
    }

    /// Replaces the operation by parallel loops over blocks.
    fn divide(&self, context: &'c Context) -> Result<(), PassError> {
        emit::emit(&self.group, &self.blocks, false, context)?;
        Ok(())
    }
}

/// Whether an array is an argument: nothing in the module but what uses it reads it.
fn is_argument(array: Value) -> bool {
    ir::argument(root(array)).is_some()
}

/// Whether consecutive iterations of a loop read consecutive elements, or the same one.
fn is_read_in_order(input: &Access, l: usize) -> bool {
    let Ok(memref) = MemRefType::try_from(input.array.r#type()) else {
        return false;
    };
    let (strides, _) = memref.strides_and_offset();
    match input.dimension(l) {
        Some(None) => true,
        Some(Some(dimension)) => strides.get(dimension) == Some(&1),
        None => false,
    }
}

/// A part of a large result that an iteration of a parallel loop writes.
struct WrittenRow<'c, 'a> {
    view: Value<'c, 'a>,
    users: Vec<OperationRef<'c, 'a>>,
    /// What ends the loop's body.
    last: OperationRef<'c, 'a>,
}

/// The parts of large results that a loop writes in each iteration.
fn written_rows<'c: 'a, 'a>(op: OperationRef<'c, 'a>, cache: i64) -> Vec<WrittenRow<'c, 'a>> {
    let Some(body) = ir::first_block(op) else {
        return Vec::new();
    };
    let operations = ir::operations(body).into_iter();
    let views = operations.filter(|own| ir::name(*own) == ops::memref::SUBVIEW);
    views
        .filter_map(|view| view.result(0).ok().map(Value::from))
        .filter_map(|view| WrittenRow::of(view, op, body, cache))
        .collect()
}

impl<'c: 'a, 'a> WrittenRow<'c, 'a> {
    fn of(
        view: Value<'c, 'a>,
        in_loop: OperationRef<'c, 'a>,
        body: BlockRef<'c, 'a>,
        cache: i64,
    ) -> Option<Self> {
        let array = root(view);
        let suits = has_own_buffer(view) && has_whole_bytes(view) && is_contiguous(view);
        let own = bytes(view).filter(|own| suits && (SHORTEST..=LONGEST).contains(own))?;
        let elements = own / element_bytes(view)?;
        let work = typed::integer(in_loop, WORK)?;
        if work > elements * FEW_OPERATIONS {
            return None;
        }
        let (mut users, mut is_read) = (Vec::new(), !is_argument(array));
        for user in users_of_buffer(array)? {
            if is_within(user, in_loop) { users.push(user) } else { is_read = true }
        }
        if !is_large(bytes(array)?, accessed(in_loop), is_read, cache) {
            return None;
        }
        let uses_view = ir::users(view);
        let is_own = |user: &OperationRef| uses_view.contains(user);
        if !users.iter().all(is_own) {
            return None;
        }
        let mut operations = ir::operations(body).into_iter();
        let first = operations.find(|own| users.contains(own))?;
        // A copy is computed already, and may be streamed already.
        if ir::name(first) == ops::memref::COPY {
            return None;
        }
        // Others in the body come after it.
        if !users.iter().all(|user| ir::ancestor_in(body, *user).is_some()) {
            return None;
        }
        // The first one writes all elements.
        let member = Member::of(first)?;
        let mut accesses = member.accesses.iter().filter(|a| a.array == view);
        let writes = accesses.all(|a| a.writes && !a.reads && member.covers(a));
        // Kernels and elementwise operations access any array.
        let is_free = |user: &OperationRef| Member::of(*user).is_some();
        if !writes || own <= 0 || !users.iter().all(is_free) {
            return None;
        }
        let last = ir::operations(body).last().copied()?;
        Some(WrittenRow { view, users, last })
    }

    /// Computes the part on the stack, and copies it at the end of the iteration.
    fn stream(&self, context: &'c Context) -> Result<(), PassError> {
        let (maker, _) = ir::definition(self.view).ok_or("a view without a definition")?;
        let extents = memref::extents(self.view.r#type());
        let element = MemRefType::try_from(self.view.r#type())?.element();
        let at = Builder::before(context, maker)?;
        let attributes = [
            ("operandSegmentSizes", attributes::i32s(context, &[0, 0])),
            ("alignment", attributes::i64(context, 64)),
        ];
        let kind = types::memref(&extents, element);
        let block = at.value(ops::memref::ALLOCA, &[], &attributes, kind)?;
        for user in &self.users {
            let operands: Vec<Value> = user.operands().collect();
            for (number, operand) in operands.into_iter().enumerate() {
                if operand == self.view {
                    mutation::set_operand(*user, number, block);
                }
            }
        }
        let at = Builder::before(context, self.last)?.with_location(maker.location());
        let stream = [(STREAM, attributes::unit(context))];
        at.create(ops::memref::COPY, &[block, self.view], &stream, &[], Vec::new())?;
        Ok(())
    }
}

/// Whether an operation is in another one.
fn is_within(op: OperationRef, other: OperationRef) -> bool {
    let mut own = Some(op);
    while let Some(op) = own {
        if op == other {
            return true;
        }
        own = ir::walk::parent(op);
    }
    false
}
