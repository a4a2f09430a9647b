// SPDX-License-Identifier: Apache-2.0
//! The upper bounds of each tensor's extents.
//!
//! Bounds propagate forward to a fixed point: from `skript.bounds` of the entry's arguments and from clamps of extents
//! (`arith.minsi %n, %c16`) through calls, branches, loops and formulas. Where two bounds meet, the larger one is used.

use super::size;
use crate::ir::argument_attributes;
use crate::ir::arith::Constant;
use crate::ir::attribute_names;
use crate::ir::copy::{arguments, operation_name};
use crate::ir::func::{self, symbol};
use crate::ir::ops;
use crate::ir::{ValueKey, attributes, types};
use crate::ir::{blocks, entry, nested, operations};
use crate::ir::{first, last};
use melior::ir::attribute::DenseI64ArrayAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, OperationRef, Type, Value, ValueLike};
use skript_dialect::op;
use std::collections::HashMap;

/// The number of rounds, beyond one for each function, after which bounds that still grow count as unbounded.
const ROUNDS: usize = 64;

/// Why an operation has no form on tensors with static extents.
const NO_FORM: &str = "has no form on tensors padded to their bounds";

/// An operation that padding does not support.
#[derive(Clone, Debug)]
pub struct Refusal<'c, 'a> {
    /// The operation that cannot be padded.
    pub op: OperationRef<'c, 'a>,
    /// The problem, to be printed after its name.
    pub what: String,
}

impl<'c, 'a> Refusal<'c, 'a> {
    fn at(op: OperationRef<'c, 'a>, what: impl Into<String>) -> Self {
        Refusal { op, what: what.into() }
    }
}

/// The upper bounds of every tensor with dynamic extents.
pub struct Bounds<'c, 'a> {
    functions: HashMap<String, OperationRef<'c, 'a>>,
    known: HashMap<ValueKey, Vec<i64>>,
    grew: bool,
}

impl<'c: 'a, 'a> Bounds<'c, 'a> {
    /// # Errors
    /// A dynamic extent without an upper bound, or an operation that does not support padded tensors, at its location.
    pub fn of(module: OperationRef<'c, 'a>) -> Result<Self, Refusal<'c, 'a>> {
        let functions: Vec<_> = blocks(module).into_iter().flat_map(operations).collect();
        let mut bounds = Bounds {
            functions: functions.iter().filter_map(|f| Some((symbol(*f)?, *f))).collect(),
            known: HashMap::new(),
            grew: true,
        };
        let first = entry(module).map_err(|e| Refusal::at(module, e.to_string()))?;
        bounds.enter(first)?;
        for _ in 0..ROUNDS + functions.len() {
            bounds.grew = false;
            for function in &functions {
                for op in nested(*function) {
                    bounds.visit(op)?;
                }
            }
            if !bounds.grew {
                return Ok(bounds);
            }
        }
        Err(Refusal::at(first, "has a tensor that grows without a bound"))
    }

    /// The extents of a tensor, with upper bounds for dynamic ones.
    pub fn extents(&self, value: Value<'c, 'a>) -> Vec<i64> {
        let mut extents = types::extents(value.r#type()).unwrap_or_default();
        if let Some(known) = self.known.get(&ValueKey::of(value)) {
            for (extent, bound) in extents.iter_mut().zip(known) {
                *extent = (*bound).max(*extent);
            }
        }
        // The tensor has no value: its function is never called.
        for extent in &mut extents {
            *extent = (*extent).max(0);
        }
        extents
    }

    /// The tensor type with its upper bounds as extents; other types unchanged.
    pub fn padded(&self, value: Value<'c, 'a>) -> Type<'c> {
        if is_open(value) { types::of_extents(value.r#type(), &self.extents(value)) } else { value.r#type() }
    }

    /// The maximum of an extent.
    pub(crate) fn of_extent(&self, extent: Value<'c, 'a>) -> Option<i64> {
        let of_dimension = |tensor: Value<'c, 'a>, dimension: usize, _: usize| {
            let extent = self.extents(tensor).get(dimension).copied()?;
            u64::try_from(extent).ok()
        };
        i64::try_from(size::largest(extent, size::DEPTH, &of_dimension)?).ok()
    }

    /// The function that an operation calls, if it has a body.
    pub fn callee(&self, call: OperationRef<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
        let function = self.functions.get(&func::callee(call)?)?;
        blocks(*function).first().map(|_| *function)
    }

    /// The bounds that the entry's arguments state.
    fn enter(&mut self, function: OperationRef<'c, 'a>) -> Result<(), Refusal<'c, 'a>> {
        let Some(body) = blocks(function).first().copied() else {
            return Ok(());
        };
        let stated = argument_attributes(function);
        for (position, argument) in arguments(body).into_iter().enumerate() {
            if !is_open(argument) {
                continue;
            }
            let array = stated
                .get(position)
                .and_then(|own| attributes::entry(*own, attribute_names::BOUNDS))
                .and_then(|a| DenseI64ArrayAttribute::try_from(a).ok())
                .ok_or_else(|| {
                    let message = format!("states no bounds of argument {position}");
                    Refusal::at(function, message)
                })?;
            let bounds = (0..array.len()).filter_map(|d| array.element(d).ok());
            self.join(argument, &bounds.collect::<Vec<i64>>());
        }
        Ok(())
    }

    fn join(&mut self, value: Value<'c, 'a>, extents: &[i64]) {
        if !is_open(value) {
            return;
        }
        let known = self.known.entry(ValueKey::of(value)).or_insert_with(|| vec![0; extents.len()]);
        for (bound, extent) in known.iter_mut().zip(extents) {
            if extent > bound {
                *bound = *extent;
                self.grew = true;
            }
        }
    }

    fn join_each(&mut self, to: &[Value<'c, 'a>], from: &[Value<'c, 'a>]) {
        for (to, from) in to.iter().zip(from) {
            self.join(*to, &self.extents(*from));
        }
    }

    fn visit(&mut self, op: OperationRef<'c, 'a>) -> Result<(), Refusal<'c, 'a>> {
        let results: Vec<Value<'c, 'a>> = op.results().map(Into::into).collect();
        let operands: Vec<Value<'c, 'a>> = op.operands().collect();
        if !results.iter().chain(&operands).any(|v| is_open(*v)) {
            return Ok(());
        }
        match (operation_name(op).as_str(), operands.as_slice()) {
            (ops::skript::FORMULA, _) => {
                let outs = last(&operands, results.len());
                self.join_each(&results, outs);
                for block in blocks(op) {
                    let inner = arguments(block);
                    self.join_each(last(&inner, outs.len()), outs);
                }
                for extent in first(&operands, operands.len().saturating_sub(results.len())) {
                    self.of_extent(*extent).ok_or_else(|| unbounded(op))?;
                }
            }
            (ops::skript::INVOKE | ops::func::CALL, _) => {
                let callee = self.callee(op).ok_or_else(|| Refusal::at(op, NO_FORM))?;
                let Some(body) = blocks(callee).first().copied() else {
                    return Ok(());
                };
                self.join_each(&arguments(body), &operands);
                self.join_each(&results, &end(body));
            }
            (ops::scf::IF, _) => {
                for block in blocks(op) {
                    self.join_each(&results, &end(block));
                }
            }
            (ops::scf::WHILE, _) => {
                let (before, after) = match blocks(op).as_slice() {
                    [before, after] => (*before, *after),
                    _ => return Err(Refusal::at(op, NO_FORM)),
                };
                self.join_each(&arguments(before), &operands);
                self.join_each(&arguments(before), &end(after));
                let passed = end(before);
                self.join_each(&arguments(after), passed.get(1..).unwrap_or(&[]));
                self.join_each(&results, passed.get(1..).unwrap_or(&[]));
            }
            (ops::tensor::EMPTY, sizes) | (ops::tensor::SPLAT, [_, sizes @ ..]) => {
                self.sized(op, sizes)?;
            }
            (ops::tensor::EXTRACT_SLICE, [source, ..]) => {
                let slice = Slice::of(op).ok_or_else(|| Refusal::at(op, NO_FORM))?;
                let whole = self.extents(*source);
                for (dimension, size) in slice.sizes.iter().enumerate() {
                    let from_begin = slice.offsets.get(dimension) == Some(&0);
                    if *size == types::DYNAMIC && !from_begin {
                        return Err(Refusal::at(op, NO_FORM));
                    }
                    if whole.get(dimension).is_some_and(|e| size > e) && self.settled(*source) {
                        return Err(Refusal::at(op, "has more elements than its source"));
                    }
                }
                let sizes = slice.dynamic_sizes(&operands, 1);
                let open = slice.sizes.iter().zip(&whole);
                let open = open.filter(|(s, _)| **s == types::DYNAMIC).map(|(_, e)| *e);
                let mut least = Vec::new();
                for (size, most) in sizes.iter().zip(open) {
                    let bound = self.of_extent(*size).ok_or_else(|| unbounded(op))?;
                    least.push(bound.min(most));
                }
                self.open(op, &least);
            }
            (ops::tensor::INSERT_SLICE, [_, into, ..]) => {
                Slice::of(op).ok_or_else(|| Refusal::at(op, NO_FORM))?;
                self.join_each(&results, &[*into]);
            }
            (ops::tensor::CAST, [source]) => self.join_each(&results, &[*source]),
            (ops::tensor::DIM, [_, dimension]) => {
                constant(*dimension).ok_or_else(|| Refusal::at(op, NO_FORM))?;
            }
            (ops::skript::ACCESS | ops::tensor::EXTRACT | ops::func::RETURN | ops::scf::YIELD, _) => {}
            (ops::scf::CONDITION, _) => {}
            _ if op::has_elementwise_trait(&op) => {
                for operand in &operands {
                    if types::element_of(operand.r#type()).is_some() {
                        let extents = self.extents(*operand);
                        results.iter().for_each(|r| self.join(*r, &extents));
                    }
                }
            }
            (ops::skript::INTRINSIC, _) => {
                let outs = last(&operands, results.len());
                self.join_each(&results, outs);
            }
            _ => return Err(Refusal::at(op, NO_FORM)),
        }
        Ok(())
    }

    /// Whether bounds have reached a tensor yet.
    fn settled(&self, value: Value<'c, 'a>) -> bool {
        !is_open(value) || self.known.contains_key(&ValueKey::of(value))
    }

    /// The result of an operation whose operands are the result's dynamic extents.
    fn sized(&mut self, op: OperationRef<'c, 'a>, sizes: &[Value<'c, 'a>]) -> Result<(), Refusal<'c, 'a>> {
        let mut bounds = Vec::new();
        for size in sizes {
            bounds.push(self.of_extent(*size).ok_or_else(|| unbounded(op))?);
        }
        self.open(op, &bounds);
        Ok(())
    }

    /// Upper bounds of the dynamic extents of an operation's only result, in order.
    fn open(&mut self, op: OperationRef<'c, 'a>, bounds: &[i64]) {
        let mut next = bounds.iter();
        for result in op.results() {
            let extents: Vec<i64> = types::extents(result.r#type())
                .unwrap_or_default()
                .into_iter()
                .map(|e| match e {
                    types::DYNAMIC => next.next().copied().unwrap_or(0),
                    fixed => fixed,
                })
                .collect();
            self.join(result.into(), &extents);
        }
    }
}

/// Offsets and sizes of a slice whose strides are 1; [`types::DYNAMIC`] for those that are operands.
pub struct Slice {
    /// The offset in each dimension, in elements.
    pub offsets: Vec<i64>,
    /// The extent in each dimension, in elements.
    pub sizes: Vec<i64>,
}

impl Slice {
    /// `None`: some stride is not 1.
    pub fn of(op: OperationRef<'_, '_>) -> Option<Self> {
        let list = |name: &str| -> Option<Vec<i64>> {
            let array = DenseI64ArrayAttribute::try_from(op.attribute(name).ok()?).ok()?;
            (0..array.len()).map(|i| array.element(i).ok()).collect()
        };
        let plain = list("static_strides")?.iter().all(|s| *s == 1);
        plain.then_some(Slice { offsets: list("static_offsets")?, sizes: list("static_sizes")? })
    }

    /// The operands that are offsets, after `before` others.
    pub(crate) fn dynamic_offsets<'v, V>(&self, operands: &'v [V], before: usize) -> &'v [V] {
        let count = self.offsets.iter().filter(|o| **o == types::DYNAMIC).count();
        operands.get(before..before + count).unwrap_or(&[])
    }

    /// The operands that are sizes.
    pub(crate) fn dynamic_sizes<'v, V>(&self, operands: &'v [V], before: usize) -> &'v [V] {
        let offsets = self.offsets.iter().filter(|o| **o == types::DYNAMIC).count();
        let count = self.sizes.iter().filter(|s| **s == types::DYNAMIC).count();
        let first = before + offsets;
        operands.get(first..first + count).unwrap_or(&[])
    }
}

/// Whether a value is a tensor with dynamic extents.
pub fn is_open<'c>(value: impl ValueLike<'c>) -> bool {
    !open_dimensions(value.r#type()).is_empty()
}

/// The dynamic dimensions of a type.
pub(crate) fn open_dimensions(r#type: Type<'_>) -> Vec<usize> {
    let extents = types::extents(r#type).unwrap_or_default();
    let open = extents.iter().enumerate().filter(|(_, e)| **e == types::DYNAMIC);
    open.map(|(dimension, _)| dimension).collect()
}

/// The operands of a block's terminator.
pub fn end<'c: 'a, 'a>(block: BlockRef<'c, 'a>) -> Vec<Value<'c, 'a>> {
    let last = operations(block).last().copied();
    last.map(|op| op.operands().collect()).unwrap_or_default()
}

/// The value of a constant integer.
pub fn constant(value: Value<'_, '_>) -> Option<i64> {
    Constant::of(value)?.integer()
}

fn unbounded<'c, 'a>(op: OperationRef<'c, 'a>) -> Refusal<'c, 'a> {
    Refusal::at(op, "has an extent without a bound")
}
