// SPDX-License-Identifier: Apache-2.0
//! `skript-write-parts`: makes a tensor that is inserted into another one in the memory of the other.
//!
//! A tensor is joined from parts and then, with more parts, to a longer one, as in networks whose layers read the results of
//! all layers before. `eliminate-empty-tensors` makes the parts of one of them in place, but not tensors inside of tensors:
//! each would be copied to the next. Here the longest one gets a buffer, and the others are views of it. For bufferization they
//! are different tensors: its analysis takes cubic time in the states of one.
//!
//! Only tensors of static extents, joined in one block, whose parts do not overlap, whose states nothing else uses, and that
//! nobody reads after the insertion: from then on the buffer is that of the longer tensor alone. A result stays in the buffer of its caller. Run it before
//! `eliminate-empty-tensors`.

use super::inits::maker;
use crate::error::CodegenError;
use crate::ir;
use crate::ir::bufferization::ToTensor;
use crate::ir::memref;
use crate::ir::shape::InsertSlice;
use crate::ir::walk::named;
use crate::ir::{Builder, ValueKey, attributes, context, ops, typed, types};
use melior::Context;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Value, ValueLike};
use skript_dialect::{Dialect, Pass};
use std::collections::HashSet;

/// The pass `skript-write-parts`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-write-parts",
    summary: "make a tensor that is inserted into another one in the memory of the other",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Bufferization, Dialect::MemRef],
    run: |root, _, _| Ok(write_parts(root)?),
    ..Pass::NONE
};

/// Gives tensors below the module the memory of those that they are inserted into.
///
/// # Errors
/// [`CodegenError::Module`] if an op is malformed.
fn write_parts(module: OperationRef) -> Result<(), CodegenError> {
    let holder = module.context();
    let context = context::borrow(&holder);
    let mut buffers = HashSet::new();
    // The longest tensor is the last one.
    for insertion in named(module, ops::tensor::INSERT_SLICE).into_iter().rev() {
        if let Some(part) = Part::of(insertion, &buffers) {
            part.place(context, &mut buffers).map_err(|e| CodegenError::Module(e.to_string()))?;
        }
    }
    Ok(())
}

/// A tensor that is joined in an empty one, and then inserted into another one that is joined as well.
struct Part<'c, 'a> {
    /// The insertion into the other one.
    insertion: OperationRef<'c, 'a>,
    /// The first insertion into the tensor.
    first: OperationRef<'c, 'a>,
    /// The first insertion into the other one.
    outer: OperationRef<'c, 'a>,
    /// The buffer of the other one, if it has one already.
    buffer: Option<Value<'c, 'a>>,
}

/// Of an insertion, the operand that is the tensor before.
const DESTINATION: usize = 1;

impl<'c: 'a, 'a> Part<'c, 'a> {
    /// `buffers` are those that the pass has made, and their views.
    fn of(insertion: OperationRef<'c, 'a>, buffers: &HashSet<ValueKey>) -> Option<Self> {
        let source = InsertSlice::cast(insertion)?.source().ok()?;
        let inner = Joined::of(ir::definition(source)?.0)?;
        let outer = Joined::of(insertion)?;
        let first = inner.first()?;
        let buffer = if Joined::begins_empty(outer.first()?) {
            None
        } else {
            let tensor = ToTensor::of(outer.first()?.operand(DESTINATION).ok()?)?;
            let buffer = tensor.buffer().ok()?;
            Some(buffers.get(&ValueKey::of(buffer)).map(|_| buffer)?)
        };
        let block = insertion.block();
        let mut readers = ir::users(source).into_iter();
        let ends = readers.all(|user| {
            let own = block.and_then(|block| ir::ancestor_in(block, user));
            own.is_some_and(|own| own == insertion || ir::is_before(own, insertion))
        });
        let is_whole = types::extents(source.r#type())? == typed::i64s(insertion, "static_sizes");
        let are_alone = inner.is_alone() && outer.is_alone();
        let fits = ends && is_whole && are_alone && Joined::begins_empty(first);
        let fits = fits && outer.is_disjoint();
        (fits && !outer.is_result() && first.block() == block).then_some(Part {
            insertion,
            first,
            outer: outer.first()?,
            buffer,
        })
    }

    fn place(&self, context: &'c Context, buffers: &mut HashSet<ValueKey>) -> Result<(), melior::Error> {
        let buffer = match self.buffer {
            Some(buffer) => buffer,
            None => self.new_buffer(context)?,
        };
        let (maker, _) = ir::definition(buffer).ok_or(melior::Error::OperationBuild)?;
        let next = maker.next_in_block();
        let next = next.ok_or(melior::Error::OperationBuild)?;
        let at = Builder::before(context, next)?.with_location(self.first.location());
        let list = |name: &str| typed::i64s(self.insertion, name);
        let (offsets, sizes) = (list("static_offsets"), list("static_sizes"));
        let part = memref::subview(&at, buffer, &offsets, &sizes, &vec![1; sizes.len()])?;
        buffers.extend([buffer, part].map(ValueKey::of));
        begin_with(&at, self.first, part)
    }

    /// A buffer for the other tensor, at the beginning of the block.
    fn new_buffer(&self, context: &'c Context) -> Result<Value<'c, 'a>, melior::Error> {
        let error = melior::Error::OperationBuild;
        let block = self.insertion.block();
        let start = block.and_then(|block| ir::operations(block).first().copied());
        let at = Builder::before(context, start.ok_or(error)?)?;
        let at = at.with_location(self.outer.location());
        let tensor = self.outer.operand(DESTINATION)?.r#type();
        let parts = types::extents(tensor).zip(types::element_of(tensor));
        let (extents, element) = parts.ok_or(melior::Error::OperationBuild)?;
        let attributes = [
            ("operandSegmentSizes", attributes::i32s(at.context, &[0, 0])),
            ("alignment", attributes::i64(at.context, ALIGNMENT)),
        ];
        let r#type = types::memref(&extents, element);
        let buffer = at.value(ops::memref::ALLOC, &[], &attributes, r#type)?;
        begin_with(&at, self.outer, buffer)?;
        Ok(buffer)
    }
}

/// The alignment of buffers in bytes, as bufferization has it.
const ALIGNMENT: i64 = 64;

/// Lets an insertion insert into the tensor of a buffer.
fn begin_with<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    first: OperationRef<'c, 'a>,
    buffer: Value<'c, 'a>,
) -> Result<(), melior::Error> {
    let unit = attributes::unit(at.context);
    let alone = [("restrict", unit), ("writable", unit)];
    let r#type = first.operand(DESTINATION)?.r#type();
    let tensor = at.value(ops::bufferization::TO_TENSOR, &[buffer], &alone, r#type)?;
    ir::use_instead(first, DESTINATION, tensor);
    Ok(())
}

/// The insertions that join a tensor, in order; each inserts into the result of the one before.
struct Joined<'c, 'a>(Vec<OperationRef<'c, 'a>>);

impl<'c: 'a, 'a> Joined<'c, 'a> {
    /// Those that an insertion belongs to; `None` for another operation, and for insertions in several blocks.
    fn of(op: OperationRef<'c, 'a>) -> Option<Self> {
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
        let is_here = |own: &OperationRef| own.block() == op.block();
        all.iter().all(is_here).then_some(Joined(all))
    }

    fn first(&self) -> Option<OperationRef<'c, 'a>> {
        self.0.first().copied()
    }

    /// Whether a first insertion inserts into an empty tensor of static extents.
    fn begins_empty(first: OperationRef) -> bool {
        let empty = first.operand(DESTINATION).ok().and_then(maker);
        empty.is_some_and(|op| ir::name(op) == ops::tensor::EMPTY && op.operand_count() == 0)
    }

    /// Whether nothing uses a state but the next insertion: another tensor that begins with it may be in its memory as well.
    fn is_alone(&self) -> bool {
        self.0.windows(2).all(|pair| match pair {
            [own, next] => own.result(0).is_ok_and(|result| {
                let users = ir::users(result.into());
                users.iter().all(|user| user == next)
            }),
            _ => true,
        })
    }

    /// Whether the parts have static offsets and extents, no gaps, and no element in common.
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
        ranges.iter().all(|own| {
            later.next();
            later.clone().all(|other| memref::are_apart(own, other))
        })
    }

    /// Whether the joined tensor is a result of the entry, which has a buffer.
    fn is_result(&self) -> bool {
        let last = self.0.last().and_then(|last| last.result(0).ok());
        last.is_none_or(|last| {
            let mut users = ir::users(last.into()).into_iter();
            users.any(|user| ir::name(user) == ops::bufferization::MATERIALIZE_IN_DESTINATION)
        })
    }
}

/// The only insertion into the result of another one.
fn next<'c: 'a, 'a>(insertion: OperationRef<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    let result = Value::from(insertion.result(0).ok()?);
    let users = ir::users(result).into_iter();
    let mut insertions = users.filter(|user| {
        let insertion = InsertSlice::cast(*user);
        insertion.is_some_and(|insertion| insertion.destination().is_ok_and(|own| own == result))
    });
    let own = insertions.next()?;
    insertions.next().is_none().then_some(own)
}
