// SPDX-License-Identifier: Apache-2.0
//! `skript-plan-memory`: turns every allocation of the entry into a view of one arena, the last argument of the entry.
//!
//! A buffer is live from its allocation to the last use of a possible view of it, or to the end of a loop that contains the last
//! use but not the allocation. If the entry already has an arena, new buffers are placed after its contents.
//!
//! Requires: a bufferized entry of one block, and allocations with row-major types whose extents are static or have
//! upper bounds. Guarantees: no `memref.alloc` or `memref.dealloc` is left, and buffers that are live at the same time
//! do not overlap.

use super::placement::{Lifetime, place};
use crate::error::CodegenError;
use crate::extents::size;
use crate::ir;
use crate::ir::attribute_names;
use crate::ir::attribute_names::NOALIAS;
use crate::ir::ops;
use crate::ir::{Builder, types};
use crate::ir::{ancestor_in, key};
use crate::ir::{attributes, mutation, typed};
use melior::Context;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{Attribute, ShapedTypeLike, TypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass};
use skript_runtime::SMALLER;
use skript_runtime::artifact::{ArenaLayout, LARGEST};
use std::collections::{HashMap, HashSet};

/// The pass `skript-plan-memory`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-plan-memory",
    summary: "turn allocations into views of one arena",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::MemRef],
    run: |root, _, rewriter| {
        let layout = plan_memory(root)?;
        let number = |n: u64| attributes::i64(rewriter.context(), n.cast_signed());
        mutation::set(root, attribute_names::ARENA_SIZE, number(layout.size));
        mutation::set(root, attribute_names::ARENA_ALIGNMENT, number(layout.alignment));
        Ok(())
    },
    ..Pass::NONE
};

/// Alignment in bytes: the size of a cache line and of the widest vector.
const ALIGNMENT: u64 = 64;

/// Returns the arena's layout, which `skript-plan-memory` recorded in the module.
///
/// # Errors
/// [`CodegenError::Module`] if the pass has not run.
pub(crate) fn layout(module: OperationRef) -> Result<ArenaLayout, CodegenError> {
    let number = |name| {
        typed::integer(module, name)
            .map(i64::cast_unsigned)
            .ok_or_else(|| CodegenError::Module("the module's memory is not planned".to_owned()))
    };
    Ok(ArenaLayout {
        size: number(attribute_names::ARENA_SIZE)?,
        alignment: number(attribute_names::ARENA_ALIGNMENT)?,
    })
}

/// Plans the entry's memory. Rejects allocations that are outside of the entry, have no upper bound, or are passed to the next
/// iteration of a loop.
fn plan_memory(module: OperationRef) -> Result<ArenaLayout, CodegenError> {
    let entry = ir::uncalled_entry(module)?;
    let steps = Steps::new(entry);
    for op in ir::nested(module) {
        if ir::name(op) == ops::memref::ALLOC && !steps.span.contains_key(&key(op)) {
            return Err(refuse(op, "allocated outside the entry"));
        }
    }
    let [allocations, deallocations] =
        [ops::memref::ALLOC, ops::memref::DEALLOC].map(|name| ir::walk::named(entry, name));
    let mut lifetimes = Vec::with_capacity(allocations.len());
    for op in &allocations {
        let (first, last) = steps.lifetime(*op)?;
        let size = byte_size(*op)?;
        lifetimes.push(Lifetime { size, first, last });
    }
    let too_large = || CodegenError::Module(format!("the arena would be too large: {SMALLER}"));
    let plan = place(&lifetimes, ALIGNMENT).ok_or_else(too_large)?;
    let present = arena(entry)?;
    let occupied = present.map_or(0, |(_, size)| size.next_multiple_of(ALIGNMENT));
    let size = match (present, plan.size) {
        (Some((_, size)), 0) => size,
        (_, more) => occupied.checked_add(more).ok_or_else(too_large)?,
    };
    if size > LARGEST {
        return Err(CodegenError::Module(format!(
            "a call needs {size} bytes for the tensors between its operators, at most {LARGEST} are supported: {SMALLER}"
        )));
    }
    let context = ir::context::of(entry);
    let bytes = i64::try_from(size).map_err(|_| too_large())?;
    let r#type = types::memref(&[bytes], types::int(context, 8));
    let arena = match present {
        Some((arena, _)) => {
            mutation::retype(arena, r#type);
            ir::set_signature(entry, None)?;
            arena
        }
        None => ir::append_argument(entry, r#type, arena_attributes(context))?,
    };
    for ((op, offset), lifetime) in allocations.into_iter().zip(&plan.offsets).zip(&lifetimes) {
        replace(op, arena, occupied + offset, lifetime.size)?;
    }
    for op in deallocations {
        ir::erase(op);
    }
    Ok(ArenaLayout { size, alignment: ALIGNMENT })
}

/// The attributes that identify the arena: other byte arrays do not have this alignment.
fn arena_attributes(context: &Context) -> Attribute<'_> {
    let alignment = attributes::i64(context, 64);
    attributes::dictionary(context, &[(NOALIAS, attributes::unit(context)), ("llvm.align", alignment)])
}

/// Returns the existing arena of the entry, and its size in bytes.
fn arena<'c, 'a>(entry: OperationRef<'c, 'a>) -> Result<Option<(Value<'c, 'a>, u64)>, CodegenError> {
    let arguments = ir::arguments(ir::body(entry)?);
    let Some((argument, others)) = arguments.split_last() else {
        return Ok(None);
    };
    let attributes = ir::argument_attributes(entry).get(others.len()).copied();
    let is_arena = attributes == Some(arena_attributes(ir::context::of(entry)));
    let memref = MemRefType::try_from(argument.r#type()).ok();
    let size = memref
        .filter(|memref| is_arena && memref.rank() == 1 && memref.element().to_string() == "i8")
        .and_then(|memref| u64::try_from(*types::shape(memref.into()).first()?).ok());
    Ok(size.map(|size| (*argument, size)))
}

fn refuse(op: OperationRef, why: &str) -> CodegenError {
    CodegenError::Module(format!("{}: buffer {why}: `{op}`", op.location()))
}

/// Operations numbered in textual order; the span of an operation includes its nested operations.
struct Steps {
    span: HashMap<usize, (usize, usize)>,
}

impl Steps {
    fn new(entry: OperationRef) -> Steps {
        let mut steps = Steps { span: HashMap::new() };
        steps.number(entry, &mut 0);
        steps
    }

    fn number(&mut self, op: OperationRef, next: &mut usize) {
        let first = *next;
        *next += 1;
        for inner in ir::children(op) {
            self.number(inner, next);
        }
        self.span.insert(key(op), (first, *next - 1));
    }

    /// Computes the first and the last step at which a buffer is live.
    fn lifetime(&self, allocation: OperationRef) -> Result<(usize, usize), CodegenError> {
        let block = allocation.block().ok_or_else(|| refuse(allocation, "in no block"))?;
        let users = users_of_views(allocation)?;
        let mut home = block;
        // A view that a branch yields is live in the enclosing block.
        while !users.iter().all(|u| ancestor_in(home, *u).is_some()) {
            let outer = home.parent_operation().and_then(|op| op.block());
            home = outer.ok_or_else(|| refuse(allocation, "used outside its function"))?;
        }
        let span = |op: OperationRef| {
            let op = ancestor_in(home, op).unwrap_or(op);
            self.span.get(&key(op)).copied()
        };
        let (mut first, mut last) =
            span(allocation).ok_or_else(|| refuse(allocation, "allocated outside the entry"))?;
        for user in users {
            if let Some((from, to)) = span(user) {
                first = first.min(from);
                last = last.max(to);
            }
        }
        Ok((first, last))
    }
}

/// Returns all operations that use a buffer or a possible view of it.
fn users_of_views<'c, 'a>(
    allocation: OperationRef<'c, 'a>,
) -> Result<Vec<OperationRef<'c, 'a>>, CodegenError> {
    let mut seen = HashSet::new();
    let mut users = Vec::new();
    let mut pending = memrefs(allocation.results().map(Value::from));
    while let Some(view) = pending.pop() {
        if !seen.insert(view.to_raw().ptr as usize) {
            continue;
        }
        for user in ir::users(view) {
            users.push(user);
            pending.extend(memrefs(user.results().map(Value::from)));
            let name = ir::name(user);
            if name == ops::func::RETURN {
                return Err(refuse(allocation, "returned by the entry"));
            }
            let Some(parent) = user.parent_operation() else {
                continue;
            };
            if name == ops::scf::YIELD || name == ops::scf::CONDITION {
                if is_loop(parent) && ancestor_of(parent, allocation) {
                    return Err(refuse(allocation, "passed to the next iteration of a loop"));
                }
                pending.extend(memrefs(parent.results().map(Value::from)));
                if is_loop(parent) {
                    pending.extend(block_memrefs(parent));
                }
            }
            if is_loop(user) {
                pending.extend(block_memrefs(user));
            }
        }
    }
    Ok(users)
}

fn is_loop(op: OperationRef) -> bool {
    matches!(ir::name(op).as_str(), ops::scf::FOR | ops::scf::WHILE)
}

/// Whether `outer` is an ancestor of `op`.
pub(crate) fn ancestor_of(outer: OperationRef, op: OperationRef) -> bool {
    ir::walk::parents(op).any(|parent| key(parent) == key(outer))
}

fn memrefs<'c, 'a>(values: impl Iterator<Item = Value<'c, 'a>>) -> Vec<Value<'c, 'a>> {
    values.filter(|v| v.r#type().is_mem_ref()).collect()
}

fn block_memrefs<'c, 'a>(op: OperationRef<'c, 'a>) -> Vec<Value<'c, 'a>> {
    memrefs(ir::blocks(op).into_iter().flat_map(ir::arguments))
}

fn byte_size(op: OperationRef) -> Result<u64, CodegenError> {
    size::bytes(op.result(0)?.into()).ok_or_else(|| refuse(op, "has a size known only at run time"))
}

/// Replaces an allocation of at most `bytes` bytes by a view of the arena.
fn replace<'c, 'a>(
    op: OperationRef<'c, 'a>,
    arena: Value<'c, 'a>,
    offset: u64,
    bytes: u64,
) -> Result<(), CodegenError> {
    let result = op.result(0)?;
    let at = Builder::at(op);
    // Both are at most the size of the arena, which `plan_memory` has checked.
    let [offset, bytes] = [offset, bytes].map(u64::cast_signed);
    let operands: Vec<Value> = [arena, at.idx(offset)].into_iter().chain(op.operands()).collect();
    let view = at.op(ops::memref::VIEW, &operands, &[], &[result.r#type()], Vec::new());
    if operands.len() > 2 {
        ir::set_attribute(view, attribute_names::BYTES, attributes::i64(at.context, bytes));
    }
    ir::replace_uses(result.into(), view.result(0)?.into());
    ir::erase(op);
    Ok(())
}
