// SPDX-License-Identifier: Apache-2.0
//! `skript-widen-iterations`: computes several consecutive elements in one iteration of a parallel loop.
//!
//! A thread of a GPU then reads and writes up to 16 bytes per access, and computes the common part of addresses once. The pass widens a
//! loop if its results are contiguous and aligned along the innermost loop, and if enough iterations remain for all threads. Other
//! arrays are read element by element.
//!
//! Requires: loops instead of linalg operations. Guarantees: every element is computed by the same operations as before.

use super::alignment::is_aligned;
use super::code::{VECTOR, vectors};
use crate::extents::size::element_bytes;
use crate::ir::scf::Bounds;
use crate::ir::{self, Builder, ValueKey, attributes, memref, ops};
use crate::schedule::counts::{as_i64, as_usize};
use crate::schedule::targets::gpus::Gpu;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{ShapedTypeLike, Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError, PassOption};
use std::collections::{HashMap, HashSet};

/// The pass `skript-widen-iterations`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-widen-iterations",
    summary: "compute several consecutive elements in one iteration of a parallel loop",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::MemRef, Dialect::Scf, Dialect::Vector],
    options: &[
        super::GPU,
        PassOption {
            name: "least",
            summary: "minimum number of iterations of a widened loop",
            default: "65536",
        },
    ],
    run: |root, options, _| {
        let gpu = super::named_gpu(options)?;
        let min_iterations: u64 = options.get("least")?;
        for op in ir::walk::named(ir::entry(root)?, ops::scf::PARALLEL) {
            widen(op, gpu, min_iterations)?;
        }
        Ok(())
    },
};

/// The access pattern of a load or store in consecutive iterations.
enum Access {
    /// The same element.
    Same,
    /// Consecutive elements; groups of this number of elements, a power of two, are aligned to their size.
    Next(i64),
    /// Any other elements.
    Other,
}

/// Widens a loop if that is possible.
fn widen<'c: 'a, 'a>(op: OperationRef<'c, 'a>, gpu: &Gpu, min_iterations: u64) -> Result<(), PassError> {
    let Some(body) = ir::first_block(op).filter(|_| op.result_count() == 0) else {
        return Ok(());
    };
    let Some(inner) = ir::arguments(body).last().copied() else {
        return Ok(());
    };
    let operations = ir::operations(body);
    let Some((_, operations)) = operations.split_last() else {
        return Ok(());
    };
    let varying = varying(inner, operations);
    let varies = |value: Value<'c, 'a>| varying.contains(&ValueKey::of(value));
    let Some((extent, rest)) = iterations(op) else {
        return Ok(());
    };
    let mut width = extent;
    for op in operations {
        let name = ir::name(*op);
        let is_access = [ops::memref::LOAD, ops::memref::STORE].contains(&name.as_str());
        if op.region_count() > 0 || !is_access && !skript_dialect::op::is_pure(op) {
            return Ok(());
        }
        if name == ops::memref::STORE {
            match access(*op, inner, gpu, &varies) {
                Access::Next(count) => width = width.min(count),
                Access::Same | Access::Other => return Ok(()),
            }
        }
    }
    while width > 1
        && (extent % width != 0 || rest.is_some_and(|rest| few(extent / width, rest, min_iterations)))
    {
        width /= 2;
    }
    if width < 2 || !operations.iter().any(|op| ir::name(*op) == ops::memref::STORE) {
        return Ok(());
    }
    let mut lanes = Lanes { width, values: HashMap::new() };
    lanes.count(inner, operations)?;
    let mut replaced = Vec::new();
    for op in operations {
        let is_widened = match ir::name(*op).as_str() {
            ops::memref::STORE => true,
            _ => op.results().any(|result| varies(result.into())),
        };
        if !is_widened {
            continue;
        }
        let is_wide = matches!(access(*op, inner, gpu, &varies), Access::Next(count) if count >= width);
        match ir::name(*op).as_str() {
            ops::memref::STORE => lanes.store(*op)?,
            ops::memref::LOAD if is_wide => lanes.load(*op)?,
            _ => lanes.copy(*op)?,
        }
        replaced.push(*op);
    }
    for op in replaced.into_iter().rev() {
        ir::erase(op);
    }
    let step = Builder::before(ir::context::of(op), op)?.idx(width);
    ir::mutation::set_operand(op, op.operand_count().saturating_sub(1), step);
    Ok(())
}

/// Whether a loop has fewer iterations than the minimum.
fn few(extent: i64, rest: i64, min_iterations: u64) -> bool {
    extent.saturating_mul(rest).unsigned_abs() < min_iterations
}

/// Returns the number of iterations of the innermost loop, which begins at 0, and the product of the iterations of the other loops; `None`
/// if a number is unknown.
fn iterations(op: OperationRef) -> Option<(i64, Option<i64>)> {
    let bounds = Bounds::all(op);
    let (last, others) = bounds.split_last()?;
    let extent = ir::integer(last.upper).filter(|extent| last.are_numbers() && *extent > 0)?;
    let mut counts = others.iter().map(|bounds| {
        let (upper, lower) = (ir::integer(bounds.upper)?, ir::integer(bounds.lower)?);
        Some(upper.saturating_sub(lower).max(0))
    });
    Some((extent, counts.try_fold(1_i64, |all, n| all.checked_mul(n?))))
}

/// Returns the values that are not invariant in the innermost loop.
fn varying<'c: 'a, 'a>(inner: Value<'c, 'a>, operations: &[OperationRef<'c, 'a>]) -> HashSet<ValueKey> {
    let mut varying = HashSet::from([ValueKey::of(inner)]);
    for op in operations {
        if op.operands().any(|v| varying.contains(&ValueKey::of(v))) {
            varying.extend(op.results().map(ValueKey::of));
        }
    }
    varying
}

/// Determines the access pattern of a load or a store.
fn access<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    inner: Value<'c, 'a>,
    gpu: &Gpu,
    varies: &dyn Fn(Value<'c, 'a>) -> bool,
) -> Access {
    let first = usize::from(ir::name(op) == ops::memref::STORE);
    let mut operands = op.operands().skip(first);
    let Some(array) = operands.next() else {
        return Access::Other;
    };
    let subscripts: Vec<Value> = operands.collect();
    let Some((last, others)) = subscripts.split_last() else {
        return Access::Same;
    };
    if others.iter().any(|subscript| varies(*subscript)) {
        return Access::Other;
    }
    if !varies(*last) {
        return Access::Same;
    }
    if ValueKey::of(*last) == ValueKey::of(inner) {
        consecutive(array, gpu).map_or(Access::Other, Access::Next)
    } else {
        Access::Other
    }
}

/// Returns the maximum number of consecutive elements along the last dimension of an array that a thread can access at once.
fn consecutive(array: Value, gpu: &Gpu) -> Option<i64> {
    let kind = MemRefType::try_from(array.r#type()).ok()?;
    let bytes = element_bytes(kind.element())?;
    let element = kind.element().to_string();
    let (lanes, known) = vectors(gpu.language);
    if !is_aligned(array) || !memref::has_whole_bytes(array) || !known.contains(&element.as_str()) {
        return None;
    }
    let (strides, offset) = kind.strides_and_offset();
    let (last, outer) = strides.split_last()?;
    let extents = memref::extents(array.r#type());
    // The stride of a dimension with one element is irrelevant.
    let steps = outer.iter().zip(&extents).filter(|(_, extent)| **extent != 1);
    let mut width = lanes.min(VECTOR / as_i64(bytes));
    for number in steps.map(|(stride, _)| *stride).chain([offset]) {
        while width > 1 && (number == ir::types::DYNAMIC || number % width != 0) {
            width /= 2;
        }
    }
    (*last == 1 && width > 1).then_some(width)
}

/// The values of a group of iterations.
struct Lanes<'c, 'a> {
    width: i64,
    /// For each varying value, its value in each iteration.
    values: HashMap<ValueKey, Vec<Value<'c, 'a>>>,
}

impl<'c: 'a, 'a> Lanes<'c, 'a> {
    /// Computes the loop index of each iteration.
    fn count(&mut self, inner: Value<'c, 'a>, operations: &[OperationRef<'c, 'a>]) -> Result<(), PassError> {
        let Some(first) = operations.first() else {
            return Ok(());
        };
        let context = ir::context::of(*first);
        let at = Builder::before(context, *first)?.with_location(first.location());
        let mut numbers = vec![inner];
        for lane in 1..self.width {
            let lane = at.idx(lane);
            numbers.push(at.addi(inner, lane));
        }
        self.values.insert(ValueKey::of(inner), numbers);
        Ok(())
    }

    /// Returns the replacement of a value in an iteration.
    fn lane(&self, value: Value<'c, 'a>, lane: usize) -> Value<'c, 'a> {
        self.values.get(&ValueKey::of(value)).and_then(|lanes| lanes.get(lane)).copied().unwrap_or(value)
    }

    fn lanes(&self) -> std::ops::Range<usize> {
        0..as_usize(self.width)
    }

    /// Copies an operation for each iteration.
    fn copy(&mut self, op: OperationRef<'c, 'a>) -> Result<(), PassError> {
        let at = Builder::before(ir::context::of(op), op)?.with_location(op.location());
        let mut results: Vec<Vec<Value>> = vec![Vec::new(); op.result_count()];
        for lane in self.lanes() {
            let copy = at.insert(melior::ir::Operation::clone(&op));
            ir::outline::replace_operands(copy, |value| Some(self.lane(value, lane)));
            for (all, result) in results.iter_mut().zip(copy.results()) {
                all.push(result.into());
            }
        }
        for (result, all) in op.results().zip(results) {
            self.values.insert(ValueKey::of(result), all);
        }
        Ok(())
    }

    /// Returns the type of a vector of consecutive elements of an array, and the attribute of its alignment.
    fn vector(
        &self,
        op: OperationRef<'c, 'a>,
        array: Value<'c, 'a>,
    ) -> Result<(Type<'c>, melior::ir::Attribute<'c>), PassError> {
        let element = MemRefType::try_from(array.r#type())?.element();
        let bytes = element_bytes(element).ok_or("elements that are not whole bytes")?;
        let bytes = as_i64(bytes).saturating_mul(self.width);
        let context = ir::context::of(op);
        Ok((ir::vector::of(&[self.width], element), attributes::i64(context, bytes)))
    }

    /// Emits one vector load for all iterations.
    fn load(&mut self, op: OperationRef<'c, 'a>) -> Result<(), PassError> {
        let context = ir::context::of(op);
        let at = Builder::before(context, op)?.with_location(op.location());
        let operands: Vec<Value> = op.operands().collect();
        let array = ir::operand(op)?;
        let (kind, bytes) = self.vector(op, array)?;
        let all = at.value(ops::vector::LOAD, &operands, &[("alignment", bytes)], kind)?;
        let element = ir::vector::element_or_self(kind);
        let mut lanes = Vec::new();
        for lane in 0..self.width {
            let lane = ir::attributes::i64s(context, &[lane]);
            let lane = [("static_position", lane)];
            lanes.push(at.value(ops::vector::EXTRACT, &[all], &lane, element)?);
        }
        let result: Value = op.result(0)?.into();
        self.values.insert(ValueKey::of(result), lanes);
        Ok(())
    }

    /// Emits one vector store for all iterations.
    fn store(&mut self, op: OperationRef<'c, 'a>) -> Result<(), PassError> {
        let context = ir::context::of(op);
        let at = Builder::before(context, op)?.with_location(op.location());
        let operands: Vec<Value> = op.operands().collect();
        let [value, target @ ..] = operands.as_slice() else {
            return Err(PassError::at(op, "stores nothing"));
        };
        let array = op.operand(1)?;
        let (kind, bytes) = self.vector(op, array)?;
        let values: Vec<Value> = self.lanes().map(|lane| self.lane(*value, lane)).collect();
        let all = at.value(ops::vector::FROM_ELEMENTS, &values, &[], kind)?;
        let operands = [&[all][..], target].concat();
        at.create(ops::vector::STORE, &operands, &[("alignment", bytes)], &[], Vec::new())?;
        Ok(())
    }
}
