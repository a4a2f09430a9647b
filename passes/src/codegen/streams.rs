// SPDX-License-Identifier: Apache-2.0
//! Copies of blocks to memory past the cache, and `skript-fence-streams`, which orders them before what other threads do.

use crate::ir::attribute_names::STEPS;
use crate::ir::memref::{self, Copy};
use crate::ir::{self, Builder, attributes, func, ops, vector};
use melior::Error;
use melior::ir::attribute::StringAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{Attribute, AttributeLike, ShapedTypeLike, Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError};
use std::collections::HashSet;

/// The pass `skript-fence-streams`.
///
/// Non-temporal stores of x86 are ordered with no other store. A thread that wrote some must wait for them before it reports that its
/// steps are computed, or lets other threads compute steps.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-fence-streams",
    summary: "wait for non-temporal stores before other threads may read what they wrote",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Llvm],
    run: |root, _, rewriter| fence(root, rewriter.context()),
    ..Pass::NONE
};

/// The instruction that waits for all stores.
const FENCE: &str = "llvm.x86.sse.sfence";

/// The attribute of a store past the cache.
const NONTEMPORAL: &str = "nontemporal";

/// Bytes of a cache line.
const LINE: i64 = 64;

fn fence<'c: 'a, 'a>(module: OperationRef<'c, 'a>, context: &'c melior::Context) -> Result<(), PassError> {
    let block = ir::blocks(module).first().copied();
    let functions = block.map(ir::operations).unwrap_or_default();
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
                let name: Attribute = StringAttribute::new(context, FENCE).into();
                let segments = attributes::i32s(context, &[0, 0]);
                let attributes = [
                    ("intrin", name),
                    ("operandSegmentSizes", segments),
                    ("op_bundle_sizes", attributes::i32s(context, &[])),
                ];
                let at = Builder::before(context, op)?;
                at.create(ops::llvm::CALL_INTRINSIC, &[], &attributes, &[], Vec::new())?;
            }
        }
    }
    Ok(())
}

/// The functions whose steps other threads may compute, and those that call one of them.
fn sharing(functions: &[OperationRef]) -> HashSet<String> {
    let mut found: HashSet<String> = HashSet::new();
    let with_steps = functions.iter().filter(|op| op.has_attribute(STEPS));
    found.extend(with_steps.filter_map(|op| func::symbol(*op)));
    loop {
        let before = found.len();
        for function in functions {
            let calls = ir::walk::named(*function, ops::llvm::CALL).into_iter();
            let mut callees = calls.filter_map(func::callee);
            if callees.any(|name| found.contains(&name)) {
                found.extend(func::symbol(*function));
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Whether a fence stands before an operation.
fn is_fenced(op: OperationRef) -> bool {
    let Some(block) = op.block() else {
        return false;
    };
    let operations = ir::operations(block);
    let position = operations.iter().position(|other| *other == op);
    let before =
        position.and_then(|position| position.checked_sub(1)).and_then(|position| operations.get(position));
    before.is_some_and(|before| {
        let name = before.attribute("intrin").and_then(StringAttribute::try_from);
        name.is_ok_and(|name| name.value() == FENCE)
    })
}

/// Whether a copy moves as many contiguous elements of whole bytes as its target has, from an array of its own.
pub(super) fn is_plain(copy: Copy) -> bool {
    let (Ok(from), Ok(to)) = (copy.source(), copy.target()) else {
        return false;
    };
    let suits = |array| memref::is_contiguous(array) && memref::has_whole_bytes(array);
    suits(from) && suits(to)
}

/// Lowers a copy from an array of the stack to contiguous elements: whole cache lines are written past the cache, what is before
/// the first one and after the last one by ordinary stores.
///
/// # Errors
/// The builder's error; an array that is not contiguous.
pub(super) fn lower<'c: 'a, 'a>(copy: Copy<'c, 'a>) -> Result<(), Error> {
    let op = copy.op();
    let context = ir::context::of(op);
    let at = Builder::before(context, op)?;
    let (from, to) = (copy.source()?, copy.target()?);
    let element = MemRefType::try_from(to.r#type())?.element();
    let bytes = crate::extents::size::element_bytes(&element.to_string());
    let bytes = bytes.and_then(|bytes| i64::try_from(bytes).ok());
    let bytes = bytes.ok_or(Error::OperationBuild)?;
    let count: i64 = memref::extents(to.r#type()).iter().product();
    let lanes = LINE / bytes.max(1);
    let (from, to) = (flat(&at, from, count)?, flat(&at, to, count)?);

    let index = Type::index(context);
    let binary = |name, a, b| at.value(name, &[a, b], &[], index);
    // The elements before the first whole line.
    let base = at.value(ops::memref::EXTRACT_ALIGNED_POINTER_AS_INDEX, &[to], &[], index)?;
    let offset = offset(&at, to)?;
    let offset = binary(ops::arith::MULI, offset, at.index(bytes)?)?;
    let address = binary(ops::arith::ADDI, base, offset)?;
    let before = binary(ops::arith::SUBI, at.index(0)?, address)?;
    let before = binary(ops::arith::ANDI, before, at.index(LINE - 1)?)?;
    let before = binary(ops::arith::DIVUI, before, at.index(bytes)?)?;
    let all = at.index(count)?;
    let before = binary(ops::arith::MINUI, before, all)?;
    let rest = binary(ops::arith::SUBI, all, before)?;
    let rest = binary(ops::arith::REMUI, rest, at.index(lanes)?)?;
    let end = binary(ops::arith::SUBI, all, rest)?;

    // Lanes of a vector that are elements, from one position on: the rest of a cache line that others may write as well.
    let kind = vector::of(&[lanes], element);
    let masks = vector::of(&[lanes], ir::types::flag(context));
    let part = |position, count| -> Result<(), Error> {
        let mask = at.value(ops::vector::CREATE_MASK, &[count], &[], masks)?;
        let other = at.value(ops::ub::POISON, &[], &[], kind)?;
        let operands = [from, position, mask, other];
        let value = at.value(ops::vector::MASKEDLOAD, &operands, &[], kind)?;
        let operands = [to, position, mask, value];
        at.create(ops::vector::MASKEDSTORE, &operands, &[], &[], Vec::new())?;
        Ok(())
    };
    let single = |at: &Builder<'c, 'a>, position| -> Result<(), Error> {
        let value = at.value(ops::memref::LOAD, &[from, position], &[], element)?;
        let operands = [value, to, position];
        at.create(ops::memref::STORE, &operands, &[], &[], Vec::new())?;
        Ok(())
    };
    let line = |at: &Builder<'c, 'a>, position| -> Result<(), Error> {
        let value = at.value(ops::vector::LOAD, &[from, position], &[], kind)?;
        let attributes = [
            (NONTEMPORAL, attributes::boolean(context, true)),
            ("alignment", attributes::i64(context, LINE)),
        ];
        let operands = [value, to, position];
        at.create(ops::vector::STORE, &operands, &attributes, &[], Vec::new())?;
        Ok(())
    };
    let zero = at.index(0)?;
    let has_masks = bytes >= 4;
    if has_masks {
        part(zero, before)?
    } else {
        ir::scf::counted(&at, [zero, before], 1, single)?
    }
    ir::scf::counted(&at, [before, end], lanes, line)?;
    if has_masks {
        part(end, rest)?
    } else {
        ir::scf::counted(&at, [end, all], 1, single)?
    }
    ir::erase(op);
    Ok(())
}

/// Where the first element is in the buffer.
fn offset<'c: 'a, 'a>(at: &Builder<'c, 'a>, array: Value<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
    let array_type = MemRefType::try_from(array.r#type())?;
    let (_, offset) = array_type.strides_and_offset();
    if offset >= 0 {
        return at.index(offset);
    }
    let index = Type::index(at.context);
    let base = format!("memref<{}>", array_type.element());
    let base = Type::parse(at.context, &base).ok_or(Error::OperationBuild)?;
    let results = [base, index, index, index];
    let name = ops::memref::EXTRACT_STRIDED_METADATA;
    let metadata = at.create(name, &[array], &[], &results, Vec::new())?;
    Ok(metadata.result(1)?.into())
}

/// The elements of a contiguous array as one dimension.
fn flat<'c: 'a, 'a>(at: &Builder<'c, 'a>, array: Value<'c, 'a>, count: i64) -> Result<Value<'c, 'a>, Error> {
    let array_type = MemRefType::try_from(array.r#type())?;
    if array_type.rank() < 2 {
        return Ok(array);
    }
    let (_, offset) = array_type.strides_and_offset();
    let offset = if offset >= 0 { offset.to_string() } else { "?".to_owned() };
    let layout = if array_type.layout().is_affine_map() {
        String::new()
    } else {
        format!(", strided<[1], offset: {offset}>")
    };
    let kind = format!("memref<{count}x{}{layout}>", array_type.element());
    let kind = Type::parse(at.context, &kind).ok_or(Error::OperationBuild)?;
    let dimensions: Vec<String> = (0..array_type.rank()).map(|d| d.to_string()).collect();
    let reassociation = format!("[[{}]]", dimensions.join(", "));
    let reassociation = Attribute::parse(at.context, &reassociation).ok_or(Error::OperationBuild)?;
    at.value(ops::memref::COLLAPSE_SHAPE, &[array], &[("reassociation", reassociation)], kind)
}
