// SPDX-License-Identifier: Apache-2.0
//! `skript-number-kernels`: inserts calls of `skript_profile` around each launch of a kernel, and lists the launches in an attribute of
//! the module.
//!
//! A launch is a step of the profile. The runtime waits for the device at the beginning and end of a step. The bytes of a step are the
//! sizes of the distinct arrays that the kernel reads and writes. The host computes dynamic extents like the kernel. The number of
//! operations is unknown.
//!
//! Requires: `skript-outline-kernels`.

use super::mark::{call_with, operators};
use super::{TABLE, lists};
use crate::extents::size::element_bytes;
use crate::ir::copy::with_operands;
use crate::ir::types::DYNAMIC;
use crate::ir::{self, Builder, attributes, context, ops};
use crate::ir::{ValueKey, memref};
use melior::ir::attribute::{ArrayAttribute, DictionaryAttribute};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{Attribute, Identifier, ShapedTypeLike, Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError};
use skript_runtime::profile::SYMBOL;
use std::collections::HashSet;

pub(crate) const PASS: Pass = Pass {
    flag: "skript-number-kernels",
    summary: "insert calls of the profiler around launches of kernels, and list them in an attribute of the module",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Func],
    run: |root, _, rewriter| {
        if root.has_attribute(TABLE) {
            return Ok(());
        }
        let context = rewriter.context();
        let kernels: Vec<OperationRef> = ir::walk::named(root, ops::gpu::FUNC);
        let mut rows = Vec::new();
        for launch in ir::walk::named(ir::entry(root)?, ops::gpu::LAUNCH_FUNC) {
            let at = Builder::before(context, launch)?.with_location(launch.location());
            let number = i64::try_from(rows.len() + 1).unwrap_or(i64::MAX);
            let zero = at.idx(0);
            let name = launch.attribute("kernel").map(|name| name.to_string());
            let name = name.unwrap_or_default();
            let name = name.rsplit('@').next().unwrap_or_default();
            let is_launched = |kernel: &&OperationRef| ir::func::symbol(**kernel).as_deref() == Some(name);
            let kernel = kernels.iter().find(is_launched).copied();
            let bytes = match kernel {
                Some(kernel) => bytes(kernel, launch, &at)?,
                None => zero,
            };
            call_with(&at, [at.idx(number), zero, bytes])?;
            let next = launch.next_in_block();
            let next = next.ok_or_else(|| PassError::at(launch, "ends its block"))?;
            let after = Builder::before(context, next)?.with_location(launch.location());
            call_with(&after, [zero, zero, zero])?;
            rows.push(row(kernel.unwrap_or(launch), name));
        }
        let rows = ArrayAttribute::new(context, &rows);
        ir::set_attribute(root, TABLE, rows.into());
        let index = Type::index(context::of(root));
        Ok(ir::func::declare(root, SYMBOL, &[index; 3], &[])?)
    },
    ..Pass::NONE
};

/// The maximum number of nested views of an array, and of operations that compute an extent.
const MAX_DEPTH: usize = 64;

/// The number of operands of a launch before the operands of the kernel: blocks and threads.
const SIZES: usize = 6;

/// The bytes of the arrays that a kernel accesses, as a value of the host.
fn bytes<'c: 'a, 'a>(
    kernel: OperationRef<'c, 'a>,
    launch: OperationRef<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let mut sum = at.idx(0);
    let mut seen = HashSet::new();
    let names = [ops::memref::LOAD, ops::memref::STORE, ops::vector::LOAD, ops::vector::STORE];
    for op in ir::nested(kernel) {
        let name = ir::name(op);
        if !names.contains(&name.as_str()) {
            continue;
        }
        let is_store = [ops::memref::STORE, ops::vector::STORE].contains(&name.as_str());
        let array = viewed(op.operand(usize::from(is_store))?, kernel);
        let Some(array) = array.filter(|array| seen.insert(identity(*array))) else {
            continue;
        };
        let element = MemRefType::try_from(array.r#type())?.element();
        let element = element_bytes(element).unwrap_or(0);
        let mut factor = i64::try_from(element).unwrap_or(0);
        let mut number = Some(at.idx(1));
        let sizes = match ir::definition(array) {
            Some((view, _)) => view.operands().skip(2).collect::<Vec<Value>>(),
            None => Vec::new(),
        };
        let mut sizes = sizes.into_iter();
        for extent in memref::extents(array.r#type()) {
            if extent != DYNAMIC {
                factor = factor.saturating_mul(extent);
                continue;
            }
            let size = match sizes.next() {
                Some(size) => of_host(size, (kernel, launch), at, MAX_DEPTH)?,
                None => None,
            };
            number = number.zip(size).map(|(a, b)| at.muli(a, b));
        }
        if let Some(number) = number {
            let bytes = at.muli(number, at.idx(factor));
            sum = at.addi(sum, bytes);
        }
    }
    Ok(sum)
}

/// The array in device memory that contains an array of a kernel: an argument, or a view of the arena.
fn viewed<'c: 'a, 'a>(array: Value<'c, 'a>, kernel: OperationRef<'c, 'a>) -> Option<Value<'c, 'a>> {
    let mut array = array;
    for _ in 0..MAX_DEPTH {
        if let Some(argument) = ir::argument(array) {
            // Arguments that are not in the function type are shared arrays.
            let owner = argument.owner().parent_operation();
            let is_of_kernel = owner == Some(kernel);
            return (is_of_kernel && !array.r#type().to_string().contains("workgroup")).then_some(array);
        }
        let (op, _) = ir::definition(array)?;
        match ir::name(op).as_str() {
            ops::memref::VIEW => return Some(array),
            ops::memref::ALLOCA => return None,
            _ => array = ir::operand(op).ok()?,
        }
    }
    None
}

/// The buffer, the offset and the type of an array, which identify it.
fn identity(array: Value) -> (ValueKey, Option<ValueKey>, String) {
    let kind = array.r#type().to_string();
    match ir::definition(array).map(|(op, _)| op.operands().collect::<Vec<_>>()) {
        Some(operands) => match operands.as_slice() {
            [buffer, offset, ..] => (ValueKey::of(*buffer), Some(ValueKey::of(*offset)), kind),
            _ => (ValueKey::of(array), None, kind),
        },
        None => (ValueKey::of(array), None, kind),
    }
}

/// The value on the host that equals a value of a kernel. `None` if it differs between threads, or is loaded.
fn of_host<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    (kernel, launch): (OperationRef<'c, 'a>, OperationRef<'c, 'a>),
    at: &Builder<'c, 'a>,
    depth: usize,
) -> Result<Option<Value<'c, 'a>>, PassError> {
    let Some(depth) = depth.checked_sub(1) else {
        return Ok(None);
    };
    if let Some(argument) = ir::argument(value) {
        let is_of_kernel = argument.owner().parent_operation() == Some(kernel);
        let operand = launch.operand(SIZES + argument.argument_number());
        return Ok(operand.ok().filter(|_| is_of_kernel));
    }
    let Some((op, _)) = ir::definition(value) else {
        return Ok(None);
    };
    let is_index = ir::name(op).starts_with("arith.");
    if !is_index || op.result_count() != 1 || op.region_count() > 0 {
        return Ok(None);
    }
    let mut operands = Vec::new();
    for operand in op.operands() {
        match of_host(operand, (kernel, launch), at, depth)? {
            Some(operand) => operands.push(operand),
            None => return Ok(None),
        }
    }
    let copy = with_operands(op, &operands, at)?;
    Ok(Some(copy.result(0)?.into()))
}

fn row<'c>(kernel: OperationRef<'c, '_>, name: &str) -> Attribute<'c> {
    let context = context::of(kernel);
    let entry = |name: &str, value| (Identifier::new(context, name), value);
    let entries = [
        entry("operators", lists(context, &operators(kernel))),
        entry("kernel", attributes::string(context, name)),
    ];
    DictionaryAttribute::new(context, &entries).into()
}
