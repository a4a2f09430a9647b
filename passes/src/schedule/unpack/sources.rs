// SPDX-License-Identifier: Apache-2.0
//! The maps that compute an array, down to the arrays that they read.

use crate::ir::effects::Effects;
use crate::ir::generic::LoopNest;
use crate::ir::memref::{self, Subview, is_view, root, root_of, users_of_buffer};
use crate::ir::{self, ValueKey, ops, typed, types};
use crate::schedule::buffer_uses::has_own_buffer;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{ShapedTypeLike, Value, ValueLike};
use std::collections::HashMap;

/// The maps before an operation that compute an array.
pub(super) struct Sources<'c, 'a> {
    /// The map that computes the elements of each buffer that are read, by the root of the buffer.
    maps: HashMap<ValueKey, LoopNest<'c, 'a>>,
    /// The buffers that no map computes.
    pub(super) arrays: Vec<Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Sources<'c, 'a> {
    /// `None` if no map computes the array of an operand of `user`, or if a buffer may change before `user`.
    pub(super) fn new(
        array: Value<'c, 'a>,
        user: OperationRef<'c, 'a>,
        effects: &mut Effects<'c, 'a>,
    ) -> Option<Self> {
        let mut sources = Sources { maps: HashMap::new(), arrays: Vec::new() };
        let mut pending = vec![(root(array), user)];
        while let Some((buffer, reader)) = pending.pop() {
            let key = ValueKey::of(buffer);
            if sources.arrays.contains(&buffer) {
                continue;
            }
            let map = map_of(buffer, reader, effects);
            if let Some(known) = sources.maps.get(&key) {
                // A buffer that is written again between two readers has two values.
                map.filter(|map| map.op == known.op)?;
                continue;
            }
            match map {
                Some(nest) => {
                    pending.extend(read_by(&nest).map(|read| (root(read), nest.op)));
                    sources.maps.insert(key, nest);
                }
                None if is_dense(buffer) && is_unchanged(buffer, user, effects) => {
                    sources.arrays.push(buffer)
                }
                None => return None,
            }
        }
        sources.maps.contains_key(&root_of(array)).then_some(sources)
    }

    /// The map that computes a buffer.
    pub(super) fn map(&self, buffer: Value<'c, 'a>) -> Option<&LoopNest<'c, 'a>> {
        self.maps.get(&root_of(buffer))
    }

    /// The map of an operation.
    pub(super) fn map_with_key(&self, key: usize) -> Option<&LoopNest<'c, 'a>> {
        self.maps.values().find(|nest| ir::key(nest.op) == key)
    }

    /// Whether the array is larger than all buffers that it is computed from, one of which has bytes.
    pub(super) fn are_packed(&self, array: Value<'c, 'a>) -> bool {
        let read = self.arrays.iter().try_fold(0_i64, |sum, array| sum.checked_add(bytes(*array)?));
        let is_byte = |array: &Value| types::bits(types::element_or_self(array.r#type())) == Some(8);
        read.zip(bytes(root(array))).is_some_and(|(read, all)| read < all) && self.arrays.iter().any(is_byte)
    }

    /// Erases the maps whose results nobody reads.
    pub(super) fn erase_unread(self, effects: &mut Effects<'c, 'a>) {
        let mut maps: Vec<LoopNest> = self.maps.into_values().collect();
        loop {
            let before = maps.len();
            maps.retain(|map| !erase_if_unread(map, effects));
            if maps.len() == before {
                return;
            }
        }
    }
}

/// Erases a map, and its buffer if nothing else uses it, if nobody reads the elements that it writes. Returns whether it did.
pub(super) fn erase_if_unread<'c: 'a, 'a>(map: &LoopNest<'c, 'a>, effects: &mut Effects<'c, 'a>) -> bool {
    let buffer = map.output().map(|output| root(output.value));
    let Some((buffer, mut users)) = buffer.and_then(|buffer| Some((buffer, users_of_buffer(buffer)?))) else {
        return false;
    };
    users.retain(|user| *user != map.op && !is_free(*user));
    if users.is_empty() {
        erase_buffer(buffer);
        return true;
    }
    let Some(users) = users.into_iter().map(|user| enclosing(user, map.op)).collect::<Option<Vec<_>>>()
    else {
        return false;
    };
    let later = users.into_iter().filter(|user| ir::is_before(map.op, *user));
    let next = later.reduce(|first, user| if ir::is_before(user, first) { user } else { first });
    let is_unread = next.is_none_or(|next| whole_map(next, buffer, effects).is_some());
    if is_unread {
        ir::erase(map.op);
    }
    is_unread
}

/// The operation itself, or the one that contains it, in the block of `sibling`.
fn enclosing<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    sibling: OperationRef<'c, 'a>,
) -> Option<OperationRef<'c, 'a>> {
    let is_sibling = |op: &OperationRef<'c, 'a>| op.block() == sibling.block();
    std::iter::once(op).chain(ir::walk::parents(op)).find(is_sibling)
}

fn is_free(op: OperationRef) -> bool {
    skript_dialect::op::is(&op, ops::memref::DEALLOC)
}

/// Erases a buffer with its views and its only writer.
fn erase_buffer(value: Value) {
    for user in ir::users(value) {
        if is_view(user)
            && let Ok(view) = user.result(0)
        {
            erase_buffer(view.into());
        } else {
            ir::erase(user);
        }
    }
    if let Some((op, _)) = ir::definition(value) {
        ir::erase(op);
    }
}

/// The arrays that a payload reads at computed positions.
fn tables<'n, 'c: 'a, 'a>(
    nest: &'n LoopNest<'c, 'a>,
) -> impl Iterator<Item = Value<'c, 'a>> + use<'n, 'c, 'a> {
    let loads = nest.payload.iter().filter(|op| skript_dialect::op::is(*op, ops::memref::LOAD));
    loads.filter_map(|load| ir::operand_at(*load, 0))
}

/// The arrays that a map reads.
pub(super) fn read_by<'n, 'c: 'a, 'a>(
    nest: &'n LoopNest<'c, 'a>,
) -> impl Iterator<Item = Value<'c, 'a>> + use<'n, 'c, 'a> {
    let inputs = nest.inputs().iter().filter(|input| input.is_read());
    inputs.map(|input| input.value).chain(tables(nest))
}

/// The number of bytes of a buffer with static extents.
fn bytes(array: Value) -> Option<i64> {
    let bits = i64::from(types::bits(types::element_or_self(array.r#type()))?);
    let extents = memref::extents(array.r#type()).into_iter();
    extents.filter(|extent| *extent >= 0).try_fold(bits / 8, i64::checked_mul)
}

/// Whether a buffer has static extents and no gaps.
fn is_dense(buffer: Value) -> bool {
    MemRefType::try_from(buffer.r#type())
        .is_ok_and(|array| array.has_static_shape() && array.affine_map().is_identity())
}

/// The map that computes all elements of a buffer that `reader` reads, in its block.
pub(super) fn map_of<'c: 'a, 'a>(
    buffer: Value<'c, 'a>,
    reader: OperationRef<'c, 'a>,
    effects: &mut Effects<'c, 'a>,
) -> Option<LoopNest<'c, 'a>> {
    let (allocation, _) = ir::definition(buffer)?;
    if ir::name(allocation) != ops::memref::ALLOC || !is_dense(buffer) {
        return None;
    }
    let users = users_of_buffer(buffer)?;
    let writers: Vec<_> = users.into_iter().filter(|op| writes(*op, buffer, effects)).collect();
    if writers.iter().any(|writer| writer.block() != reader.block()) {
        return None;
    }
    let earlier = writers.into_iter().filter(|writer| ir::is_before(*writer, reader));
    let last = earlier.reduce(|last, writer| if ir::is_before(last, writer) { writer } else { last })?;
    whole_map(last, buffer, effects)
}

/// The map of a writer that computes all elements of a buffer, without reading it.
fn whole_map<'c: 'a, 'a>(
    writer: OperationRef<'c, 'a>,
    buffer: Value<'c, 'a>,
    effects: &mut Effects<'c, 'a>,
) -> Option<LoopNest<'c, 'a>> {
    let read = LoopNest::read(writer).or_else(|| LoopNest::read_with_remainders(writer));
    let nest = read.filter(|nest| nest.is_on_arrays() && !nest.reduces())?;
    let output = nest.output()?;
    let is_own = |value: Value| root_of(value) == ValueKey::of(buffer);
    let reads_it = nest.inputs().iter().any(|input| is_own(input.value)) || tables(&nest).any(is_own);
    let is_whole = nest.is_in_order(output) && !output.is_read() && memref::is_contiguous(output.value);
    let count = |extents: &[i64]| extents.iter().try_fold(1_i64, |all, extent| all.checked_mul(*extent));
    let covers_all = is_whole && count(nest.static_extents()?) == count(&memref::extents(buffer.r#type()));
    (covers_all && !reads_it && writes(writer, buffer, effects)).then_some(nest)
}

/// Whether a buffer that no map computes has the same elements in all operations before `user` that read it and in `user`.
fn is_unchanged<'c: 'a, 'a>(
    buffer: Value<'c, 'a>,
    user: OperationRef<'c, 'a>,
    effects: &mut Effects<'c, 'a>,
) -> bool {
    if let Some((maker, _)) = ir::definition(buffer)
        && ir::name(maker) == ops::memref::GET_GLOBAL
    {
        return true;
    }
    let Some(users) = users_of_buffer(buffer).filter(|_| has_own_buffer(buffer)) else {
        return false;
    };
    let mut writers = users.into_iter().filter(|op| writes(*op, buffer, effects));
    match writers.next() {
        None => true,
        // A buffer that is written once, before all operations that read it.
        Some(writer) => {
            let is_argument = ir::argument(buffer).is_some();
            !is_argument
                && writers.next().is_none()
                && writer.block() == user.block()
                && ir::is_before(writer, user)
        }
    }
}

fn writes<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    buffer: Value<'c, 'a>,
    effects: &mut Effects<'c, 'a>,
) -> bool {
    !is_free(op) && effects.written(op).into_iter().any(|written| root_of(written) == ValueKey::of(buffer))
}

/// A slice of a buffer whose number is known only at run time.
pub(super) struct Slice<'c, 'a> {
    pub(super) number: Value<'c, 'a>,
    /// The number of slices.
    pub(super) count: i64,
    /// The elements from a slice to the next one.
    pub(super) stride: i64,
}

/// The static part of the offset of an array in its buffer, and the slices that select the array; `None` unless the buffer is dense and
/// all strides are static.
pub(super) fn slices<'c: 'a, 'a>(array: Value<'c, 'a>) -> Option<(i64, Vec<Slice<'c, 'a>>)> {
    if let Some((_, offset)) = layout(array) {
        return Some((offset, Vec::new()));
    }
    let view = Subview::of(array)?;
    let source = view.source().ok()?;
    let (strides, mut offset) = layout(source)?;
    let view = view.op();
    let [offsets, sizes, steps] =
        ["static_offsets", "static_sizes", "static_strides"].map(|name| typed::i64s(view, name));
    if !steps.iter().all(|step| *step == 1) {
        return None;
    }
    let mut numbers = view.operands().skip(1);
    let mut slices = Vec::new();
    let extents = memref::extents(source.r#type());
    for (((first, size), extent), stride) in offsets.into_iter().zip(sizes).zip(extents).zip(strides) {
        if size < 0 {
            return None;
        }
        if first >= 0 {
            offset = first.checked_mul(stride)?.checked_add(offset)?;
        } else {
            slices.push(Slice { number: numbers.next()?, count: extent - size + 1, stride });
        }
    }
    Some((offset, slices))
}

/// The strides and the offset of an array in its buffer; `None` unless the buffer is dense and they are static.
pub(super) fn layout(array: Value) -> Option<(Vec<i64>, i64)> {
    let (strides, offset) = MemRefType::try_from(array.r#type()).ok()?.strides_and_offset();
    let is_static = offset >= 0 && strides.iter().all(|stride| *stride >= 0);
    (is_static && is_dense(root(array))).then_some((strides, offset))
}
