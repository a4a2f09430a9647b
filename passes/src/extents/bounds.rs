// SPDX-License-Identifier: Apache-2.0
//! Computes upper bounds of each tensor's extents.
//!
//! Bounds are propagated forward to a fixpoint: from `skript.bounds` of the entry's arguments and from clamps of extents
//! (`arith.minsi %n, %c16`) through calls, branches, loops and formulas. The join of two bounds is their maximum.

use super::size;
use crate::facts::{UpperBounds, end};
use crate::ir::argument_attributes;
use crate::ir::arith::integer;
use crate::ir::attribute_names;
use crate::ir::copy::{arguments, operation_name};
use crate::ir::func::{self, symbol};
use crate::ir::ops;
use crate::ir::{ValueKey, attributes, types};
use crate::ir::{blocks, entry, nested, operations};
use crate::ir::{first, last};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Type, Value, ValueLike};
use skript_dialect::op;
use std::collections::HashMap;

/// Maximum number of rounds, in addition to one round for each function. Bounds that still grow then count as unbounded.
const ROUNDS: usize = 64;

/// The message for an operation that padding does not support.
const NO_FORM: &str = "has no form on tensors padded to their bounds";

/// An operation that padding does not support.
#[derive(Clone, Debug)]
pub struct Refusal<'c, 'a> {
    /// The operation that cannot be padded.
    pub op: OperationRef<'c, 'a>,
    /// The problem, which is printed after the name of the operation.
    pub what: String,
}

impl<'c, 'a> Refusal<'c, 'a> {
    fn new(op: OperationRef<'c, 'a>, what: impl Into<String>) -> Self {
        Refusal { op, what: what.into() }
    }
}

/// The upper bounds of every tensor with dynamic extents.
pub struct Bounds<'c, 'a> {
    functions: HashMap<String, OperationRef<'c, 'a>>,
    known: UpperBounds,
    /// Whether a bound grew in the current round.
    grew: bool,
}

impl<'c: 'a, 'a> Bounds<'c, 'a> {
    /// Computes the bounds of all tensors of a module.
    ///
    /// # Errors
    /// Fails if a dynamic extent has no upper bound, or if padding does not support an operation.
    pub fn new(module: OperationRef<'c, 'a>) -> Result<Self, Refusal<'c, 'a>> {
        let functions: Vec<_> = blocks(module).into_iter().flat_map(operations).collect();
        let mut bounds = Bounds {
            functions: functions.iter().filter_map(|f| Some((symbol(*f)?, *f))).collect(),
            known: HashMap::new(),
            grew: true,
        };
        let first = entry(module).map_err(|e| Refusal::new(module, e.to_string()))?;
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
        Err(Refusal::new(first, "has a tensor that grows without a bound"))
    }

    /// Returns the static extents of a tensor, and the upper bounds of its dynamic extents.
    pub fn extents(&self, value: Value<'c, 'a>) -> Vec<i64> {
        let mut extents = types::shape(value.r#type());
        if let Some(known) = self.known.get(&ValueKey::of(value)) {
            for (extent, bound) in extents.iter_mut().zip(known) {
                *extent = (*bound).max(*extent);
            }
        }
        // A tensor without known bounds is in a function that is never called.
        for extent in &mut extents {
            *extent = (*extent).max(0);
        }
        extents
    }

    pub(crate) fn known(&self) -> &UpperBounds {
        &self.known
    }

    /// Returns the tensor type with upper bounds as extents; returns other types unchanged.
    pub fn padded(&self, value: Value<'c, 'a>) -> Type<'c> {
        if is_open(value) { types::of_extents(value.r#type(), &self.extents(value)) } else { value.r#type() }
    }

    /// Returns the maximum value of an extent.
    pub(crate) fn of_extent(&self, extent: Value<'c, 'a>) -> Option<i64> {
        let of_dimension = |tensor: Value<'c, 'a>, dimension: usize, _: usize| {
            let extent = self.extents(tensor).get(dimension).copied()?;
            u64::try_from(extent).ok()
        };
        i64::try_from(size::largest(extent, size::DEPTH, &of_dimension)?).ok()
    }

    /// Returns the function that an operation calls, if the function has a body.
    pub fn callee(&self, call: OperationRef<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
        let function = self.functions.get(&func::callee(call)?)?;
        blocks(*function).first().map(|_| *function)
    }

    /// Adds the bounds that the entry's arguments declare.
    fn enter(&mut self, function: OperationRef<'c, 'a>) -> Result<(), Refusal<'c, 'a>> {
        let Some(body) = blocks(function).first().copied() else {
            return Ok(());
        };
        let stated = argument_attributes(function);
        for (position, argument) in arguments(body).into_iter().enumerate() {
            if !is_open(argument) {
                continue;
            }
            let bounds = stated
                .get(position)
                .and_then(|entries| attributes::entry(*entries, attribute_names::BOUNDS))
                .and_then(attributes::integers)
                .ok_or_else(|| {
                    let message = format!("states no bounds of argument {position}");
                    Refusal::new(function, message)
                })?;
            self.join(argument, &bounds);
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
                let callee = self.callee(op).ok_or_else(|| Refusal::new(op, NO_FORM))?;
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
                    _ => return Err(Refusal::new(op, NO_FORM)),
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
            (ops::tensor::EXTRACT_SLICE, [source, ..]) => self.slice(op, *source)?,
            (ops::tensor::INSERT_SLICE, [_, into, ..]) => {
                Slice::from_op(op).ok_or_else(|| Refusal::new(op, NO_FORM))?;
                self.join_each(&results, &[*into]);
            }
            (ops::tensor::CAST, [source]) => self.join_each(&results, &[*source]),
            (ops::tensor::DIM, [_, dimension]) => {
                integer(*dimension).ok_or_else(|| Refusal::new(op, NO_FORM))?;
            }
            (ops::skript::ACCESS | ops::tensor::EXTRACT, _) => {}
            (ops::func::RETURN | ops::scf::YIELD | ops::scf::CONDITION, _) => {}
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
            _ => return Err(Refusal::new(op, NO_FORM)),
        }
        Ok(())
    }

    fn slice(&mut self, op: OperationRef<'c, 'a>, source: Value<'c, 'a>) -> Result<(), Refusal<'c, 'a>> {
        let slice = Slice::from_op(op).ok_or_else(|| Refusal::new(op, NO_FORM))?;
        let whole = self.extents(source);
        let operands: Vec<Value<'c, 'a>> = op.operands().collect();
        let mut sizes = slice.dynamic_sizes(&operands, 1).iter();
        let mut bounds = Vec::new();
        for ((offset, size), extent) in slice.offsets.iter().zip(&slice.sizes).zip(&whole) {
            if *size == types::DYNAMIC {
                let size = sizes.next().filter(|_| *offset == 0).ok_or_else(|| Refusal::new(op, NO_FORM))?;
                let bound = self.of_extent(*size).ok_or_else(|| unbounded(op))?;
                bounds.push(bound.min(*extent));
            } else if size > extent && self.settled(source) {
                return Err(Refusal::new(op, "has more elements than its source"));
            }
        }
        self.open(op, &bounds);
        Ok(())
    }

    /// Whether the bounds of a tensor are known yet.
    fn settled(&self, value: Value<'c, 'a>) -> bool {
        !is_open(value) || self.known.contains_key(&ValueKey::of(value))
    }

    /// Adds the bounds of an operation's result; `sizes` are the operands that are the result's dynamic extents.
    fn sized(&mut self, op: OperationRef<'c, 'a>, sizes: &[Value<'c, 'a>]) -> Result<(), Refusal<'c, 'a>> {
        let mut bounds = Vec::new();
        for size in sizes {
            bounds.push(self.of_extent(*size).ok_or_else(|| unbounded(op))?);
        }
        self.open(op, &bounds);
        Ok(())
    }

    /// Adds the upper bounds of the dynamic extents of an operation's only result, in order.
    fn open(&mut self, op: OperationRef<'c, 'a>, bounds: &[i64]) {
        let mut next = bounds.iter();
        for result in op.results() {
            let extents: Vec<i64> = types::shape(result.r#type())
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

/// Offsets and sizes of a slice with unit strides; [`types::DYNAMIC`] for values that are operands.
pub struct Slice {
    /// The offset in each dimension, in elements.
    pub offsets: Vec<i64>,
    /// The extent in each dimension, in elements.
    pub sizes: Vec<i64>,
}

impl Slice {
    /// `None` if a stride is not 1.
    pub fn from_op(op: OperationRef<'_, '_>) -> Option<Self> {
        let list = |name: &str| attributes::integers(op.attribute(name).ok()?);
        let plain = list("static_strides")?.iter().all(|s| *s == 1);
        plain.then_some(Slice { offsets: list("static_offsets")?, sizes: list("static_sizes")? })
    }

    /// Returns the operands that are offsets, after `before` other operands.
    pub(crate) fn dynamic_offsets<'v, V>(&self, operands: &'v [V], before: usize) -> &'v [V] {
        let count = self.offsets.iter().filter(|o| **o == types::DYNAMIC).count();
        operands.get(before..before + count).unwrap_or(&[])
    }

    /// Returns the operands that are sizes, after `before` other operands and the offsets.
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

/// Returns the dynamic dimensions of a type.
pub(crate) fn open_dimensions(r#type: Type<'_>) -> Vec<usize> {
    let extents = types::shape(r#type);
    let open = extents.iter().enumerate().filter(|(_, e)| **e == types::DYNAMIC);
    open.map(|(dimension, _)| dimension).collect()
}

fn unbounded<'c, 'a>(op: OperationRef<'c, 'a>) -> Refusal<'c, 'a> {
    Refusal::new(op, "has an extent without a bound")
}
