// SPDX-License-Identifier: Apache-2.0
//! `skript-widen-iterations`: lets an iteration of a parallel loop compute several consecutive elements.
//!
//! A thread of a GPU then reads and writes up to 16 bytes at once, and computes positions once for them. That is done where results
//! are next to each other along the innermost loop, at addresses that are multiples of their size, and the loop has enough iterations
//! for all threads. Other arrays are read element by element.
//!
//! Requires: loops instead of linalg operations. Guarantees: every element is computed by the same operations as before.

use super::alignment::is_aligned;
use super::code::{VECTOR, vectors};
use super::threads::{Bounds, constant};
use crate::extents::size::element_bytes;
use crate::ir::{self, Builder, ValueKey, attributes, memref, ops};
use crate::schedule::targets::gpus::Gpu;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{ShapedTypeLike, Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError, PassOption};
use std::collections::{HashMap, HashSet};

/// The pass `skript-widen-iterations`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-widen-iterations",
    summary: "let iterations of parallel loops compute several elements",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::MemRef, Dialect::Scf, Dialect::Vector],
    options: &[
        super::GPU,
        PassOption { name: "least", summary: "the iterations that a loop keeps", default: "65536" },
    ],
    run: |root, options, _| {
        let gpu = super::named_gpu(options)?;
        let least: u64 = options.get("least")?;
        for op in ir::walk::named(ir::entry(root)?, ops::scf::PARALLEL) {
            widen(op, gpu, least)?;
        }
        Ok(())
    },
};

/// What a load or store accesses in consecutive iterations.
enum Access {
    /// The same element.
    Same,
    /// Consecutive elements; groups of so many, a power of two, are at addresses that are multiples of their size.
    Next(i64),
    /// Elements anywhere.
    Other,
}

/// Widens a loop if that is possible.
fn widen<'c: 'a, 'a>(op: OperationRef<'c, 'a>, gpu: &Gpu, least: u64) -> Result<(), PassError> {
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
                Access::Next(own) => width = width.min(own),
                Access::Same | Access::Other => return Ok(()),
            }
        }
    }
    while width > 1 && (extent % width != 0 || rest.is_some_and(|rest| few(extent / width, rest, least))) {
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
        let own = match access(*op, inner, gpu, &varies) {
            Access::Next(own) => own >= width,
            Access::Same | Access::Other => false,
        };
        match ir::name(*op).as_str() {
            ops::memref::STORE => lanes.store(*op)?,
            ops::memref::LOAD if own => lanes.load(*op)?,
            _ => lanes.copy(*op)?,
        }
        replaced.push(*op);
    }
    for op in replaced.into_iter().rev() {
        ir::erase(op);
    }
    let step = Builder::before(ir::context::of(op), op)?.index(width)?;
    ir::mutation::set_operand(op, op.operand_count().saturating_sub(1), step);
    Ok(())
}

/// Whether so many iterations are fewer than a loop keeps.
fn few(extent: i64, rest: i64, least: u64) -> bool {
    extent.saturating_mul(rest).unsigned_abs() < least
}

/// The number of iterations of the innermost loop, which begins at 0, and of the others together; `None` if it is not known.
fn iterations(op: OperationRef) -> Option<(i64, Option<i64>)> {
    let (lower, upper, step) = Bounds::of(op).into_parts();
    let is = |value: Option<&Value>, wanted| value.and_then(|v| constant(*v)) == Some(wanted);
    if !is(lower.last(), 0) || !is(step.last(), 1) {
        return None;
    }
    let (last, others) = upper.split_last()?;
    let extent = constant(*last).filter(|extent| *extent > 0)?;
    let mut counts = others.iter().zip(&lower).map(|(upper, lower)| {
        let (upper, lower) = (constant(*upper)?, constant(*lower)?);
        Some(upper.saturating_sub(lower).max(0))
    });
    Some((extent, counts.try_fold(1_i64, |all, n| all.checked_mul(n?))))
}

/// The values that differ from iteration to iteration of the innermost loop.
fn varying<'c: 'a, 'a>(inner: Value<'c, 'a>, operations: &[OperationRef<'c, 'a>]) -> HashSet<ValueKey> {
    let mut found = HashSet::from([ValueKey::of(inner)]);
    for op in operations {
        if op.operands().any(|v| found.contains(&ValueKey::of(v))) {
            found.extend(op.results().map(ValueKey::of));
        }
    }
    found
}

/// What a load or a store accesses.
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

/// The largest number of consecutive elements along the last dimension of an array that a thread accesses at once.
fn consecutive(array: Value, gpu: &Gpu) -> Option<i64> {
    let kind = MemRefType::try_from(array.r#type()).ok()?;
    let element = kind.element().to_string();
    let bytes = element_bytes(&element)?;
    let (lanes, known) = vectors(gpu.language);
    if !is_aligned(array) || !memref::has_whole_bytes(array) || !known.contains(&element.as_str()) {
        return None;
    }
    let (strides, offset) = kind.strides_and_offset();
    let (last, outer) = strides.split_last()?;
    let extents = memref::extents(array.r#type());
    // Steps along a dimension of one element are not made.
    let outer = outer.iter().zip(&extents).filter(|(_, extent)| **extent != 1);
    let mut width = lanes.min(i64::try_from(VECTOR / bytes).ok()?);
    for number in outer.map(|(stride, _)| *stride).chain([offset]) {
        while width > 1 && (number == ir::types::DYNAMIC || number % width != 0) {
            width /= 2;
        }
    }
    (*last == 1 && width > 1).then_some(width)
}

/// The values of a group of iterations.
struct Lanes<'c, 'a> {
    width: i64,
    /// The values of each, in place of one that varies.
    values: HashMap<ValueKey, Vec<Value<'c, 'a>>>,
}

impl<'c: 'a, 'a> Lanes<'c, 'a> {
    /// The numbers of the iterations.
    fn count(&mut self, inner: Value<'c, 'a>, operations: &[OperationRef<'c, 'a>]) -> Result<(), PassError> {
        let Some(first) = operations.first() else {
            return Ok(());
        };
        let context = ir::context::of(*first);
        let at = Builder::before(context, *first)?.with_location(first.location());
        let mut numbers = vec![inner];
        for lane in 1..self.width {
            let lane = at.index(lane)?;
            let kind = Type::index(context);
            numbers.push(at.value(ops::arith::ADDI, &[inner, lane], &[], kind)?);
        }
        self.values.insert(ValueKey::of(inner), numbers);
        Ok(())
    }

    /// The value of an iteration in place of another one.
    fn of(&self, value: Value<'c, 'a>, lane: usize) -> Value<'c, 'a> {
        let known = self.values.get(&ValueKey::of(value));
        let known = known.and_then(|lanes| lanes.get(lane)).copied();
        known.unwrap_or(value)
    }

    fn lanes(&self) -> std::ops::Range<usize> {
        0..usize::try_from(self.width).unwrap_or(0)
    }

    /// One operation for each iteration.
    fn copy(&mut self, op: OperationRef<'c, 'a>) -> Result<(), PassError> {
        let at = Builder::before(ir::context::of(op), op)?.with_location(op.location());
        let mut results: Vec<Vec<Value>> = vec![Vec::new(); op.result_count()];
        for lane in self.lanes() {
            let copy = at.insert(melior::ir::Operation::clone(&op));
            ir::outline::replace_operands(copy, |value| Some(self.of(value, lane)));
            for (all, result) in results.iter_mut().zip(copy.results()) {
                all.push(result.into());
            }
        }
        for (result, all) in op.results().zip(results) {
            self.values.insert(ValueKey::of(result), all);
        }
        Ok(())
    }

    /// The vector of consecutive elements of an array, and what says that its address is a multiple of its size.
    fn vector(
        &self,
        op: OperationRef<'c, 'a>,
        array: Value<'c, 'a>,
    ) -> Result<(Type<'c>, melior::ir::Attribute<'c>), PassError> {
        let element = MemRefType::try_from(array.r#type())?.element();
        let bytes = element_bytes(&element.to_string()).ok_or("elements that are no bytes")?;
        let bytes = i64::try_from(bytes).unwrap_or(1).saturating_mul(self.width);
        let context = ir::context::of(op);
        Ok((ir::vector::of(&[self.width], element), attributes::i64(context, bytes)))
    }

    /// One load for all iterations.
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

    /// One store for all iterations.
    fn store(&mut self, op: OperationRef<'c, 'a>) -> Result<(), PassError> {
        let context = ir::context::of(op);
        let at = Builder::before(context, op)?.with_location(op.location());
        let operands: Vec<Value> = op.operands().collect();
        let [value, target @ ..] = operands.as_slice() else {
            return Err(PassError::at(op, "stores nothing"));
        };
        let array = op.operand(1)?;
        let (kind, bytes) = self.vector(op, array)?;
        let values: Vec<Value> = self.lanes().map(|lane| self.of(*value, lane)).collect();
        let all = at.value(ops::vector::FROM_ELEMENTS, &values, &[], kind)?;
        let operands = [&[all][..], target].concat();
        at.create(ops::vector::STORE, &operands, &[("alignment", bytes)], &[], Vec::new())?;
        Ok(())
    }
}
