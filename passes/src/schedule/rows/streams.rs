// SPDX-License-Identifier: Apache-2.0
//! `skript-stream-results`: writes results larger than the cache with non-temporal stores.
//!
//! An ordinary store first reads the cache line that it writes, and the line evicts another line. This is wasteful if the result is
//! evicted before it is read again. The pass computes such a result in blocks on the stack of a thread, and ends each block with a
//! `memref.copy` that has the attribute `skript.stream`, which `skript-lower-copies` lowers to non-temporal stores. Blocks are short, so
//! that reads and writes of memory alternate. The pass handles the results of elementwise operations, which become parallel loops over
//! blocks, and the results that a parallel loop over rows writes row by row.
//!
//! Requires: buffers. Guarantees: each element is computed by the same operations as before.

use super::blocks::Blocks;
use super::emit;
use super::group::{Group, Row};
use super::member::{Access, Kind, Member, element_bytes};
use super::{is_in_parallel, tile};
use crate::extents::size;
use crate::ir::attribute_names::{STREAM, WORK};
use crate::ir::memref::{self, has_whole_bytes, is_contiguous, root, root_of, users_of_buffer};
use crate::ir::outline::{captured, replace_operands};
use crate::ir::walk::{named, parents};
use crate::ir::{self, Builder, ValueKey, attributes, ops, typed};
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
    summary: "write results larger than the cache with non-temporal stores",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::MemRef, Dialect::Scf],
    options: &[
        PassOption {
            name: "cache-bytes",
            summary: "bytes of the last-level cache; 0: do not stream results",
            default: "33554432",
        },
        PassOption {
            name: "rows-only",
            summary: "stream only rows in loops, not elementwise operations outside of loops",
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
            for map in outside.filter_map(|op| Map::from_op(op, cache)) {
                emit::emit(&map.group, &map.blocks, false, rewriter.context())?;
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

/// Bytes of a block on the stack: a small block, so that the processor computes the next block while it writes this one.
const BLOCK: i64 = 1 << 10;

/// Maximum number of bytes of a row that is a block.
const MAX_ROW: i64 = 4 << 10;

/// Maximum number of scalar operations for each element of a streamed result: more operations hide the memory latency.
const MAX_OPERATIONS: i64 = 12;

/// Minimum number of bytes of a row: most cache lines of such a row are written completely.
const MIN_ROW: i64 = 512;

/// Whether a result of `result` bytes is evicted from the cache before it is read. `all` is the number of bytes of the arrays that the
/// operation accesses. The caller may read a result that has no readers in the module soon after the call.
fn is_large(result: i64, all: i64, is_read: bool, cache: i64) -> bool {
    if is_read { result >= cache } else { result >= cache / 4 && all >= cache / 4 * 3 }
}

/// Returns the bytes of an array with static extents.
fn bytes(array: Value) -> Option<i64> {
    let memref = MemRefType::try_from(array.r#type()).ok()?;
    if !memref.has_static_shape() {
        return None;
    }
    i64::try_from(size::bytes(array)?).ok()
}

/// Returns the total bytes of the arrays that an operation accesses; each array is counted once.
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
    fn from_op(op: OperationRef<'c, 'a>, cache: i64) -> Option<Self> {
        let member = Member::from_op(op).filter(|member| member.kind == Kind::Elementwise)?;
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
        let result_bytes = bytes(array)?;
        let others = users_of_buffer(array)?.into_iter();
        let is_read = others.filter(|user| *user != op).count() > 0 || !is_argument(array);
        if !is_large(result_bytes, accessed(op), is_read, cache) {
            return None;
        }

        let extents = memref::extents(array.r#type());
        // The loop of each dimension; other dimensions of the result have one element.
        let loops: Vec<Option<usize>> = output.forms.iter().map(|f| f.as_index()).collect();
        let innermost = loops.iter().flatten().next_back().copied()?;
        if !inputs.iter().all(|input| is_read_in_order(input, innermost)) {
            return None;
        }
        let points: i64 = extents.iter().product();
        let work = member.work(&HashMap::new());
        if work > points.saturating_mul(MAX_OPERATIONS) {
            return None;
        }
        let bytes_of_element = element_bytes(array)?;
        let is_row = |extent: &i64| extent * bytes_of_element <= MAX_ROW;
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
}

/// Whether an array is an argument: all of its readers in the module are among its users.
fn is_argument(array: Value) -> bool {
    ir::argument(root(array)).is_some()
}

/// Whether consecutive iterations of a loop read consecutive elements or the same element.
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

/// A row of a large result that an iteration of a parallel loop writes.
struct WrittenRow<'c, 'a> {
    view: Value<'c, 'a>,
    users: Vec<OperationRef<'c, 'a>>,
    /// The terminator of the loop's body.
    last: OperationRef<'c, 'a>,
}

/// Returns the rows of large results that a loop writes in each iteration.
fn written_rows<'c: 'a, 'a>(op: OperationRef<'c, 'a>, cache: i64) -> Vec<WrittenRow<'c, 'a>> {
    let Some(body) = ir::first_block(op) else {
        return Vec::new();
    };
    let operations = ir::operations(body).into_iter();
    let views = operations.filter(|op| ir::name(*op) == ops::memref::SUBVIEW);
    views
        .filter_map(|view| view.result(0).ok().map(Value::from))
        .filter_map(|view| WrittenRow::from_view(view, op, body, cache))
        .collect()
}

impl<'c: 'a, 'a> WrittenRow<'c, 'a> {
    fn from_view(
        view: Value<'c, 'a>,
        in_loop: OperationRef<'c, 'a>,
        body: BlockRef<'c, 'a>,
        cache: i64,
    ) -> Option<Self> {
        let array = root(view);
        let is_plain = has_own_buffer(view) && has_whole_bytes(view) && is_contiguous(view);
        let bytes_of_row = bytes(view).filter(|n| is_plain && (MIN_ROW..=MAX_ROW).contains(n))?;
        let elements = bytes_of_row / element_bytes(view)?;
        let work = typed::integer(in_loop, WORK)?;
        if work > elements * MAX_OPERATIONS {
            return None;
        }
        let (mut users, mut is_read) = (Vec::new(), !is_argument(array));
        for user in users_of_buffer(array)? {
            if user == in_loop || parents(user).any(|parent| parent == in_loop) {
                users.push(user)
            } else {
                is_read = true
            }
        }
        if !is_large(bytes(array)?, accessed(in_loop), is_read, cache) {
            return None;
        }
        let uses_view = ir::users(view);
        let is_direct = |user: &OperationRef| uses_view.contains(user);
        if !users.iter().all(is_direct) {
            return None;
        }
        let mut operations = ir::operations(body).into_iter();
        let first = operations.find(|op| users.contains(op))?;
        // The source of a copy is already computed, and the copy may already be streamed.
        if ir::name(first) == ops::memref::COPY {
            return None;
        }
        // All other users must be in the body, after the first user.
        if !users.iter().all(|user| ir::ancestor_in(body, *user).is_some()) {
            return None;
        }
        // The first user must write all elements.
        let member = Member::from_op(first)?;
        let mut accesses = member.accesses.iter().filter(|a| a.array == view);
        let writes = accesses.all(|a| a.writes && !a.reads && member.covers(a));
        // The users must be operations that can access another array instead.
        let is_free = |user: &OperationRef| Member::from_op(*user).is_some();
        if !writes || !users.iter().all(is_free) {
            return None;
        }
        let last = ir::operations(body).last().copied()?;
        Some(WrittenRow { view, users, last })
    }

    /// Computes the row on the stack, and copies it at the end of the iteration.
    fn stream(&self, context: &'c Context) -> Result<(), PassError> {
        let (maker, _) = ir::definition(self.view).ok_or("a view without a definition")?;
        let at = Builder::before(context, maker)?;
        let block = tile::allocate(self.view, &memref::extents(self.view.r#type()), true, &at)?;
        for user in &self.users {
            replace_operands(*user, |operand| (operand == self.view).then_some(block));
        }
        let at = Builder::before(context, self.last)?.with_location(maker.location());
        let stream = [(STREAM, attributes::unit(context))];
        at.create(ops::memref::COPY, &[block, self.view], &stream, &[], Vec::new())?;
        Ok(())
    }
}
