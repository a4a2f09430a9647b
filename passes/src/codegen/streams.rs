// SPDX-License-Identifier: Apache-2.0
//! Copies with non-temporal stores, and `skript-fence-streams`, which orders these stores before accesses of other threads.

use crate::ir::attribute_names::STEPS;
use crate::ir::memref::{self, Copy};
use crate::ir::{self, Builder, attributes, func, llvm, ops, typed, types, vector};
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{AttributeLike, ShapedTypeLike, Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError};
use std::collections::HashSet;

/// The pass `skript-fence-streams`.
///
/// Non-temporal stores on x86 are not ordered with other stores. A thread must wait for them before it reports its steps as
/// complete, and before other threads compute steps.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-fence-streams",
    summary: "wait for non-temporal stores before other threads may read the stored elements",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Llvm],
    run: |root, _, rewriter| fence(root, rewriter.context()),
    ..Pass::NONE
};

/// The intrinsic that waits for all stores.
const FENCE: &str = "llvm.x86.sse.sfence";

/// The attribute of a non-temporal store.
const NONTEMPORAL: &str = "nontemporal";

/// Size of a cache line in bytes.
const LINE: i64 = 64;

fn fence<'c: 'a, 'a>(module: OperationRef<'c, 'a>, context: &'c melior::Context) -> Result<(), PassError> {
    let functions = ir::children(module);
    let sharing = sharing(&functions);
    for function in functions {
        let operations = ir::nested(function);
        let streams = |op: &OperationRef| op.has_attribute(NONTEMPORAL);
        if !operations.iter().any(streams) {
            continue;
        }
        for op in operations {
            let is_end = match ir::name(op).as_str() {
                ops::llvm::RETURN => true,
                ops::llvm::CALL => func::callee(op).is_some_and(|name| sharing.contains(&name)),
                _ => false,
            };
            if is_end && !is_fenced(op) {
                let at = Builder::before(context, op)?;
                llvm::call_intrinsic(&at, FENCE, &[], &[])?;
            }
        }
    }
    Ok(())
}

/// Returns the functions whose steps other threads may compute, and their direct and indirect callers.
fn sharing(functions: &[OperationRef]) -> HashSet<String> {
    let with_steps = functions.iter().filter(|op| op.has_attribute(STEPS));
    let mut sharing: HashSet<String> = with_steps.filter_map(|op| func::symbol(*op)).collect();
    loop {
        let before = sharing.len();
        for function in functions {
            let calls = ir::walk::named(*function, ops::llvm::CALL).into_iter();
            if calls.filter_map(func::callee).any(|name| sharing.contains(&name)) {
                sharing.extend(func::symbol(*function));
            }
        }
        if sharing.len() == before {
            return sharing;
        }
    }
}

/// Whether the previous operation is a fence.
fn is_fenced(op: OperationRef) -> bool {
    let operations = op.block().map_or_else(Vec::new, ir::operations);
    let preceding = operations.iter().zip(operations.iter().skip(1)).find(|(_, next)| **next == op);
    preceding.is_some_and(|(preceding, _)| typed::string(*preceding, "intrin").as_deref() == Some(FENCE))
}

/// Whether both arrays of a copy are contiguous, with elements of whole bytes.
pub(super) fn is_plain(copy: Copy) -> bool {
    let is_plain = |array| memref::is_contiguous(array) && memref::has_whole_bytes(array);
    copy.source().is_ok_and(is_plain) && copy.target().is_ok_and(is_plain)
}

/// Lowers a copy from a stack array to contiguous elements. Non-temporal stores write full cache lines; ordinary stores write
/// the elements before the first full line and after the last full line.
pub(super) fn lower<'c: 'a, 'a>(copy: Copy<'c, 'a>) -> Result<(), Error> {
    let at = Builder::at(copy.op());
    let (from, to) = (copy.source()?, copy.target()?);
    let element = MemRefType::try_from(to.r#type())?.element();
    let bytes = crate::extents::size::element_bytes(element);
    let bytes = bytes.and_then(|bytes| i64::try_from(bytes).ok()).ok_or(Error::OperationBuild)?;
    let count: i64 = memref::extents(to.r#type()).iter().product();
    let lanes = LINE / bytes.max(1);
    let kind = vector::of(&[lanes], element);
    let (from, to) = (flat(&at, from, count)?, flat(&at, to, count)?);
    let transfer = Transfer { from, to, kind };

    // `before` is the number of elements before the first full line, `rest` the number of elements after the last full line.
    let base = at.aligned_pointer(to);
    let offset = offset(&at, to)?;
    let address = at.addi(base, at.muli(offset, at.idx(bytes)));
    let distance = at.subi(at.idx(0), address);
    let distance = at.andi(distance, at.idx(LINE - 1));
    let before = at.divui(distance, at.idx(bytes));
    let all = at.idx(count);
    let before = at.minui(before, all);
    let rest = at.subi(all, before);
    let rest = at.remui(rest, at.idx(lanes));
    let end = at.subi(all, rest);

    let zero = at.idx(0);
    let line = |at: &Builder<'c, 'a>, position| transfer.line(position, at);
    let single = |at: &Builder<'c, 'a>, position| transfer.single(position, at);
    let has_masks = bytes >= 4;
    if has_masks {
        transfer.masked(zero, before, &at)?;
    } else {
        ir::scf::counted(&at, [zero, before], 1, single)?;
    }
    ir::scf::counted(&at, [before, end], lanes, line)?;
    if has_masks {
        transfer.masked(end, rest, &at)?;
    } else {
        ir::scf::counted(&at, [end, all], 1, single)?;
    }
    ir::erase(copy.op());
    Ok(())
}

/// Moves elements between two arrays of one dimension.
struct Transfer<'c, 'a> {
    from: Value<'c, 'a>,
    to: Value<'c, 'a>,
    /// A vector of a cache line.
    kind: Type<'c>,
}

impl<'c: 'a, 'a> Transfer<'c, 'a> {
    /// Moves the first `count` elements of a vector: other threads may write the other elements of the cache line.
    fn masked(
        &self,
        position: Value<'c, 'a>,
        count: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let masks = vector::shaped_like(self.kind, types::flag(at.context));
        let mask = at.value(ops::vector::CREATE_MASK, &[count], &[], masks)?;
        let other = at.value(ops::ub::POISON, &[], &[], self.kind)?;
        let operands = [self.from, position, mask, other];
        let value = at.value(ops::vector::MASKEDLOAD, &operands, &[], self.kind)?;
        at.create(ops::vector::MASKEDSTORE, &[self.to, position, mask, value], &[], &[], Vec::new())?;
        Ok(())
    }

    fn single(&self, position: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<(), Error> {
        at.store(at.load(self.from, &[position]), self.to, &[position]);
        Ok(())
    }

    /// Moves a full cache line.
    fn line(&self, position: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<(), Error> {
        let value = at.value(ops::vector::LOAD, &[self.from, position], &[], self.kind)?;
        let attributes = [
            (NONTEMPORAL, attributes::boolean(at.context, true)),
            ("alignment", attributes::i64(at.context, LINE)),
        ];
        at.create(ops::vector::STORE, &[value, self.to, position], &attributes, &[], Vec::new())?;
        Ok(())
    }
}

/// Computes the offset of an array in its buffer, in elements.
fn offset<'c: 'a, 'a>(at: &Builder<'c, 'a>, array: Value<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
    let array_type = MemRefType::try_from(array.r#type())?;
    let (_, offset) = array_type.strides_and_offset();
    if offset >= 0 {
        return at.index(offset);
    }
    Ok(at.offset_of(array))
}

/// Views the elements of a contiguous array as a one-dimensional array.
fn flat<'c: 'a, 'a>(at: &Builder<'c, 'a>, array: Value<'c, 'a>, count: i64) -> Result<Value<'c, 'a>, Error> {
    let array_type = MemRefType::try_from(array.r#type())?;
    if array_type.rank() < 2 {
        return Ok(array);
    }
    let (_, offset) = array_type.strides_and_offset();
    let element = array_type.element();
    let kind = if array_type.layout().is_affine_map() {
        types::memref(&[count], element)
    } else {
        memref::strided(at.context, &[count], element, (offset, &[1]), None)
    };
    let dimensions: Vec<usize> = (0..array_type.rank()).collect();
    let reassociation = attributes::groups(at.context, &[dimensions]);
    at.value(ops::memref::COLLAPSE_SHAPE, &[array], &[("reassociation", reassociation)], kind)
}
