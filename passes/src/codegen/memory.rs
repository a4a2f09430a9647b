// SPDX-License-Identifier: Apache-2.0
//! `skript-plan-memory`: turns every allocation of the entry into a view of one arena, the last argument of the entry.
//!
//! A buffer is live from its allocation to the last use of anything that may be a view of it; if that use is in a loop
//! that does not contain the allocation, to the end of the loop. An entry that has an arena keeps it: later allocations
//! follow its content.
//!
//! Requires: a bufferized entry of one block, and allocations with row-major types whose extents are static or have
//! upper bounds. Guarantees: no `memref.alloc` or `memref.dealloc` is left, and buffers that are live at the same time
//! do not overlap.

use super::placement::{Lifetime, place};
use crate::error::CodegenError;
use crate::extents::size;
use crate::ir;
use crate::ir::attribute_names;
use crate::ir::ops;
use crate::ir::{ancestor_in, key};
use crate::ir::{attributes, mutation};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::{DimSize, MemRefType};
use melior::ir::{ShapedTypeLike, TypeLike, Value, ValueLike};
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

/// Bytes; a cache line, and the widest vector.
const ALIGNMENT: u64 = 64;

/// The arena's layout, as `skript-plan-memory` left it at the module.
///
/// # Errors
/// [`CodegenError::Module`] if the pass has not run.
pub(crate) fn layout(module: OperationRef) -> Result<ArenaLayout, CodegenError> {
    let number = |name| {
        let value = module.attribute(name).and_then(IntegerAttribute::try_from);
        value
            .map(|value| value.value().cast_unsigned())
            .map_err(|_| CodegenError::Module("the module's memory is not planned".to_owned()))
    };
    Ok(ArenaLayout {
        size: number(attribute_names::ARENA_SIZE)?,
        alignment: number(attribute_names::ARENA_ALIGNMENT)?,
    })
}

/// Plans the entry's memory.
///
/// # Errors
/// [`CodegenError::Module`] for an allocation outside of the entry, without a bound of its size, or that a loop passes
/// to its next iteration.
fn plan_memory(module: OperationRef) -> Result<ArenaLayout, CodegenError> {
    let entry = ir::uncalled_entry(module)?;
    let steps = Steps::of(entry);
    for op in ir::nested(module) {
        if ir::name(op) == ops::memref::ALLOC && !steps.span.contains_key(&key(op)) {
            return Err(refuse(op, "allocated outside the entry"));
        }
    }
    let named = |name: &str| {
        let mut found = ir::nested(entry);
        found.retain(|op| ir::name(*op) == name);
        found
    };
    let (allocations, deallocations) = (named(ops::memref::ALLOC), named(ops::memref::DEALLOC));
    let mut lifetimes = Vec::with_capacity(allocations.len());
    for op in &allocations {
        let (first, last) = steps.lifetime(*op)?;
        let size = byte_size(*op)?;
        lifetimes.push(Lifetime { size, first, last });
    }
    let too_large = || CodegenError::Module(format!("the arena would be too large: {SMALLER}"));
    let plan = place(&lifetimes, ALIGNMENT).ok_or_else(too_large)?;
    let known = arena(entry)?;
    let taken = known.map_or(0, |(_, size)| size.next_multiple_of(ALIGNMENT));
    let size = match (known, plan.size) {
        (Some((_, size)), 0) => size,
        (_, more) => taken.checked_add(more).ok_or_else(too_large)?,
    };
    if size > LARGEST {
        return Err(CodegenError::Module(format!(
            "a call needs {size} bytes for the tensors between its operators, at most {LARGEST} are supported: {SMALLER}"
        )));
    }
    let r#type = ir::parse_type(entry.context(), &format!("memref<{size}xi8>"))?;
    let arena = match known {
        Some((arena, _)) => {
            mutation::retype(arena, r#type);
            ir::set_signature(entry, None)?;
            arena
        }
        None => ir::append_argument(entry, r#type, ARENA)?,
    };
    let places = plan.offsets.iter().zip(&lifetimes);
    for (op, (offset, lifetime)) in allocations.iter().zip(places) {
        replace(*op, arena, taken + offset, lifetime.size)?;
    }
    for op in deallocations {
        ir::erase(op);
    }
    Ok(ArenaLayout { size, alignment: ALIGNMENT })
}

/// The attributes of the arena, which identify it: no other byte array has this alignment.
const ARENA: &str = "{llvm.noalias, llvm.align = 64 : i64}";

/// The arena that the entry has already, and its bytes.
fn arena<'c, 'a>(entry: OperationRef<'c, 'a>) -> Result<Option<(Value<'c, 'a>, u64)>, CodegenError> {
    let body = ir::body(entry)?;
    let last = body.argument_count().checked_sub(1);
    let Some(argument) = last.and_then(|n| body.argument(n).ok()).map(Value::from) else {
        return Ok(None);
    };
    let said = last.and_then(|n| ir::argument_attributes(entry).get(n).copied());
    let is_arena = said == Some(ir::parse_attribute(entry.context(), ARENA)?);
    let memref = MemRefType::try_from(argument.r#type()).ok();
    let memref = memref.filter(|m| is_arena && m.rank() == 1 && m.element().to_string() == "i8");
    let size = memref.and_then(|memref| match memref.dim_size(0).ok()? {
        DimSize::Static(size) => Some(size),
        DimSize::Dynamic => None,
    });
    Ok(size.map(|size| (argument, size)))
}

fn refuse(op: OperationRef, why: &str) -> CodegenError {
    CodegenError::Module(format!("{}: buffer {why}: `{op}`", op.location()))
}

/// Ops numbered in the order of the text; an op with regions spans those inside.
struct Steps {
    span: HashMap<usize, (usize, usize)>,
}

impl Steps {
    fn of(entry: OperationRef) -> Steps {
        let mut steps = Steps { span: HashMap::new() };
        steps.number(entry, &mut 0);
        steps
    }

    fn number(&mut self, op: OperationRef, next: &mut usize) {
        let first = *next;
        *next += 1;
        for block in ir::blocks(op) {
            for inner in ir::operations(block) {
                self.number(inner, next);
            }
        }
        self.span.insert(key(op), (first, *next - 1));
    }

    /// First and last step at which the buffer is in use.
    fn lifetime(&self, allocation: OperationRef) -> Result<(usize, usize), CodegenError> {
        let block = allocation.block().ok_or_else(|| refuse(allocation, "in no block"))?;
        let users = users_of_views(allocation)?;
        let mut home = block;
        // A view that leaves the block through a branch's result lives in the block around.
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

/// All ops that use the buffer or a possible view of it.
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
                let loops = matches!(ir::name(parent).as_str(), ops::scf::FOR | ops::scf::WHILE);
                let inside = ancestor_of(parent, allocation);
                if loops && inside {
                    return Err(refuse(allocation, "passed to the next iteration of a loop"));
                }
                pending.extend(memrefs(parent.results().map(Value::from)));
                if loops {
                    pending.extend(block_memrefs(parent));
                }
            }
            if matches!(ir::name(user).as_str(), ops::scf::FOR | ops::scf::WHILE) {
                pending.extend(block_memrefs(user));
            }
        }
    }
    Ok(users)
}

/// Whether `outer` holds `op`.
pub(crate) fn ancestor_of(outer: OperationRef, op: OperationRef) -> bool {
    let mut next = op.parent_operation();
    while let Some(parent) = next {
        if key(parent) == key(outer) {
            return true;
        }
        next = parent.parent_operation();
    }
    false
}

fn memrefs<'c, 'a>(values: impl Iterator<Item = Value<'c, 'a>>) -> Vec<Value<'c, 'a>> {
    values.filter(|v| v.r#type().is_mem_ref()).collect()
}

fn block_memrefs<'c, 'a>(op: OperationRef<'c, 'a>) -> Vec<Value<'c, 'a>> {
    let mut found = Vec::new();
    for block in ir::blocks(op) {
        let arguments = (0..block.argument_count()).filter_map(|n| block.argument(n).ok());
        found.extend(memrefs(arguments.map(Value::from)));
    }
    found
}

fn byte_size(op: OperationRef) -> Result<u64, CodegenError> {
    let result = op.result(0).map_err(|e| CodegenError::Module(e.to_string()))?;
    size::bytes(result.into()).ok_or_else(|| refuse(op, "has a size known only at run time"))
}

/// Replaces an allocation of at most so many bytes by a view of the arena.
fn replace<'c, 'a>(
    op: OperationRef<'c, 'a>,
    arena: Value<'c, 'a>,
    offset: u64,
    bytes: u64,
) -> Result<(), CodegenError> {
    let context = ir::context::of(op);
    let failed = |e: melior::Error| CodegenError::Module(e.to_string());
    let block = op.block().ok_or_else(|| refuse(op, "in no block"))?;
    let result = op.result(0).map_err(failed)?;
    let constant =
        ir::template(context, &[], &format!("%c = arith.constant {offset} : index"), op.location())?;
    let constant = block.insert_operation_before(op, constant);
    let start = Value::from(constant.result(0).map_err(failed)?);
    let mut operands = vec![arena, start];
    operands.extend(op.operands());
    let sizes: Vec<String> = (2..operands.len()).map(|n| format!("%{n}")).collect();
    let view = ir::template(
        context,
        &operands,
        &format!("%v = memref.view %0[%1][{}] : {} to {}", sizes.join(", "), arena.r#type(), result.r#type()),
        op.location(),
    )?;
    let view = block.insert_operation_before(op, view);
    if operands.len() > 2 {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        ir::set_attribute(view, attribute_names::BYTES, attributes::i64(context, bytes));
    }
    ir::replace_uses(result.into(), view.result(0).map_err(failed)?.into());
    ir::erase(op);
    Ok(())
}
