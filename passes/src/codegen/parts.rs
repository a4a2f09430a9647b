// SPDX-License-Identifier: Apache-2.0
//! `skript-write-parts`: computes nested concatenations in the memory of the outermost concatenation.
//!
//! In networks whose layers read the results of all previous layers, a concatenation is part of a longer concatenation.
//! `eliminate-empty-tensors` computes the parts of one concatenation in place, but not nested concatenations: it would copy
//! each of them to the next one. This pass allocates a buffer for the outermost concatenation, and each nested concatenation
//! becomes a view of this buffer. For bufferization they remain different tensors, because its analysis is cubic in the
//! number of states of one tensor.
//!
//! The pass handles concatenations with static extents in one block. Their parts must be disjoint, and their intermediate
//! tensors must not have other users. A nested concatenation must not have readers after its insertion, because later parts
//! of the outer concatenation are then written to the buffer. The outermost concatenation must not be a result, which is in
//! the caller's buffer. The pass runs before `eliminate-empty-tensors`.

use crate::ir::bufferization::{ToTensor, tensor_of};
use crate::ir::shape::InsertSlice;
use crate::ir::walk::named;
use crate::ir::{self, Builder, ValueKey, memref, ops, typed, types};
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Value, ValueLike};
use skript_dialect::{Dialect, Pass};
use std::collections::HashSet;

/// The pass `skript-write-parts`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-write-parts",
    summary: "compute nested concatenations in the memory of the outermost concatenation",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Bufferization, Dialect::MemRef],
    run: |root, _, _| Ok(write_parts(root)?),
    ..Pass::NONE
};

/// Computes each nested concatenation in the memory of the concatenation that it is inserted into.
fn write_parts(module: OperationRef) -> Result<(), Error> {
    let mut buffers = HashSet::new();
    // The outermost concatenation is the last one.
    for insertion in named(module, ops::tensor::INSERT_SLICE).into_iter().rev() {
        if let Some(nested) = Nested::read(insertion, &buffers) {
            nested.write_in_place(&mut buffers)?;
        }
    }
    Ok(())
}

/// A concatenation that is inserted into an outer concatenation.
struct Nested<'c, 'a> {
    /// The insertion into the outer concatenation.
    insertion: OperationRef<'c, 'a>,
    /// The first insertion of the nested concatenation.
    first: OperationRef<'c, 'a>,
    /// The first insertion of the outer concatenation.
    outer: OperationRef<'c, 'a>,
    /// The buffer of the outer concatenation, if the pass has already created it.
    buffer: Option<Value<'c, 'a>>,
}

/// The number of the destination operand of an insertion.
const DESTINATION: usize = 1;

impl<'c: 'a, 'a> Nested<'c, 'a> {
    /// `buffers` are the buffers that the pass has created, and their views.
    fn read(insertion: OperationRef<'c, 'a>, buffers: &HashSet<ValueKey>) -> Option<Self> {
        let source = InsertSlice::cast(insertion)?.source().ok()?;
        let inner = Concatenation::read(ir::defining_op(source)?)?;
        let outer = Concatenation::read(insertion)?;
        let first = inner.first()?;
        let buffer = if begins_empty(outer.first()?) {
            None
        } else {
            let tensor = ToTensor::of(outer.first()?.operand(DESTINATION).ok()?)?;
            let buffer = tensor.buffer().ok()?;
            Some(buffers.get(&ValueKey::of(buffer)).map(|_| buffer)?)
        };
        let block = insertion.block();
        let has_no_later_reader = ir::users(source).into_iter().all(|user| {
            let outer = block.and_then(|block| ir::ancestor_in(block, user));
            outer.is_some_and(|outer| outer == insertion || ir::is_before(outer, insertion))
        });
        let is_full = types::extents(source.r#type())? == typed::i64s(insertion, "static_sizes");
        let is_supported = has_no_later_reader
            && is_full
            && inner.is_exclusive()
            && outer.is_exclusive()
            && begins_empty(first)
            && outer.is_disjoint()
            && !outer.is_result()
            && first.block() == block;
        is_supported.then_some(Nested { insertion, first, outer: outer.first()?, buffer })
    }

    /// Replaces the empty tensor of the nested concatenation by a view of the outer buffer.
    fn write_in_place(&self, buffers: &mut HashSet<ValueKey>) -> Result<(), Error> {
        let buffer = match self.buffer {
            Some(buffer) => buffer,
            None => self.new_buffer()?,
        };
        let next = ir::defining_op(buffer).and_then(|op| op.next_in_block()).ok_or(Error::OperationBuild)?;
        let at = Builder::at(next).with_location(self.first.location());
        let list = |name: &str| typed::i64s(self.insertion, name);
        let (offsets, sizes) = (list("static_offsets"), list("static_sizes"));
        let part = memref::subview(&at, buffer, &offsets, &sizes, &vec![1; sizes.len()])?;
        buffers.extend([buffer, part].map(ValueKey::of));
        begin_with(&at, self.first, part)
    }

    /// Allocates a buffer for the outer concatenation, at the beginning of the block.
    fn new_buffer(&self) -> Result<Value<'c, 'a>, Error> {
        let block = self.insertion.block();
        let start = block.and_then(|block| ir::operations(block).first().copied());
        let at = Builder::at(start.ok_or(Error::OperationBuild)?).with_location(self.outer.location());
        let tensor = self.outer.operand(DESTINATION)?.r#type();
        let r#type = types::memref(&types::shape(tensor), types::element_or_self(tensor));
        let buffer = at.alloc(r#type, &[]);
        begin_with(&at, self.outer, buffer)?;
        Ok(buffer)
    }
}

/// Replaces the destination of an insertion by the tensor of a buffer.
fn begin_with<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    first: OperationRef<'c, 'a>,
    buffer: Value<'c, 'a>,
) -> Result<(), Error> {
    let tensor = tensor_of(at, buffer, first.operand(DESTINATION)?.r#type())?;
    ir::use_instead(first, DESTINATION, tensor);
    Ok(())
}

/// Whether a first insertion inserts into an empty tensor of static extents.
fn begins_empty(first: OperationRef) -> bool {
    let empty =
        ir::operand_at(first, DESTINATION).and_then(|tensor| ir::defined_by(tensor, ops::tensor::EMPTY));
    empty.is_some_and(|op| op.operand_count() == 0)
}

/// The insertions of a concatenation, in order; each inserts into the result of the previous one.
struct Concatenation<'c, 'a>(Vec<OperationRef<'c, 'a>>);

impl<'c: 'a, 'a> Concatenation<'c, 'a> {
    /// Returns the concatenation that an insertion belongs to; `None` if `op` is not an insertion, or if the insertions are in several
    /// blocks.
    fn read(op: OperationRef<'c, 'a>) -> Option<Self> {
        let mut all = vec![op];
        let mut insertion = InsertSlice::cast(op)?;
        while let Some(before) = InsertSlice::of(insertion.destination().ok()?) {
            all.insert(0, before.op());
            insertion = before;
        }
        let mut last = op;
        while let Some(next) = next(last) {
            all.push(next);
            last = next;
        }
        all.iter().all(|insertion| insertion.block() == op.block()).then_some(Concatenation(all))
    }

    fn first(&self) -> Option<OperationRef<'c, 'a>> {
        self.0.first().copied()
    }

    /// Whether the result of each insertion is used only by the next insertion: another user might be computed in the same memory.
    fn is_exclusive(&self) -> bool {
        self.0.iter().zip(self.0.iter().skip(1)).all(|(insertion, next)| {
            insertion.result(0).is_ok_and(|result| ir::users(result.into()).iter().all(|user| user == next))
        })
    }

    /// Whether the parts have static offsets and extents and unit strides, and are disjoint.
    fn is_disjoint(&self) -> bool {
        let ranges = self.0.iter().map(|op| {
            let list = |name: &str| typed::i64s(*op, name);
            let is_static = op.operand_count() == 2 && list("static_strides").iter().all(|s| *s == 1);
            let ranges = list("static_offsets").into_iter().zip(list("static_sizes"));
            is_static.then(|| ranges.collect::<Vec<_>>())
        });
        let Some(ranges) = ranges.collect::<Option<Vec<_>>>() else {
            return false;
        };
        let mut later = ranges.iter();
        ranges.iter().all(|range| {
            later.next();
            later.clone().all(|other| memref::are_apart(range, other))
        })
    }

    /// Whether the concatenation is a result of the entry, whose buffer is the caller's.
    fn is_result(&self) -> bool {
        let last = self.0.last().and_then(|last| last.result(0).ok());
        last.is_none_or(|last| {
            let mut users = ir::users(last.into()).into_iter();
            users.any(|user| ir::name(user) == ops::bufferization::MATERIALIZE_IN_DESTINATION)
        })
    }
}

/// Returns the only insertion into the result of an insertion.
fn next<'c: 'a, 'a>(insertion: OperationRef<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    let result = Value::from(insertion.result(0).ok()?);
    let users = ir::users(result).into_iter();
    let mut insertions = users.filter(|user| {
        InsertSlice::cast(*user).is_some_and(|insertion| insertion.destination() == Ok(result))
    });
    let next = insertions.next()?;
    insertions.next().is_none().then_some(next)
}
