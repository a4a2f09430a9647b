// SPDX-License-Identifier: Apache-2.0
//! Classifies the values in the body of a loop by their dependences: on nothing in the loop, on the number of the step, or on other
//! values.

use super::counted::Counted;
use crate::ir::generic::LoopNest;
use crate::ir::shape;
use crate::ir::{self, ValueKey, ops, typed, types};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::{melior, op};
use std::collections::{HashMap, HashSet};

/// The dependence of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// The same in each step.
    Invariant,
    /// An integer: `factor * step + offset`.
    Index { factor: i64, offset: i64 },
    /// A tensor that only depends on the number of the step.
    Stepwise,
}

/// The classes of the values in a body. Values that depend on loop-carried values have no class.
pub(super) struct Classes<'c, 'a> {
    pub(super) body: Vec<OperationRef<'c, 'a>>,
    /// Every value that the loop defines.
    inside: HashSet<ValueKey>,
    classes: HashMap<ValueKey, Class>,
    /// Whether all steps are executed, because the loop has no checks and no calls, which could end the run.
    completes: bool,
    /// The number of steps, if it is static.
    steps: Option<i64>,
}

/// The maximum magnitude of factors and offsets, so that their sums do not overflow.
const MAX_MAGNITUDE: i64 = 1 << 31;

impl<'c: 'a, 'a> Classes<'c, 'a> {
    pub(super) fn new(counted: &Counted<'c, 'a>) -> Self {
        let mut inside = HashSet::new();
        let mut completes = true;
        for block in ir::blocks(counted.op) {
            inside.extend(ir::arguments(block).into_iter().map(ValueKey::of));
        }
        for inner in ir::nested(counted.op) {
            inside.extend(inner.results().map(ValueKey::of));
            for block in ir::blocks(inner) {
                inside.extend(ir::arguments(block).into_iter().map(ValueKey::of));
            }
            completes &= computes(inner);
        }
        let step = Class::Index { factor: 1, offset: 0 };
        let mut classes = Classes {
            body: ir::operations(counted.body),
            inside,
            classes: HashMap::from([(ValueKey::of(counted.counter), step)]),
            completes,
            steps: counted.static_steps(),
        };
        for op in classes.body.clone() {
            if let Some(class) = classes.visit(op) {
                for result in op.results() {
                    classes.classes.insert(ValueKey::of(result), class);
                }
            }
        }
        classes
    }

    /// The class of a value. `None` if it depends on loop-carried values.
    pub(super) fn class(&self, value: Value<'c, 'a>) -> Option<Class> {
        if self.is_outside(value) {
            Some(Class::Invariant)
        } else {
            self.classes.get(&ValueKey::of(value)).copied()
        }
    }

    /// Whether a value is defined before the loop.
    pub(super) fn is_outside(&self, value: Value<'c, 'a>) -> bool {
        !self.inside.contains(&ValueKey::of(value))
    }

    /// Whether all operands are the same in each step.
    fn is_invariant(&self, op: OperationRef<'c, 'a>) -> bool {
        let is_invariant = |value| self.class(value) == Some(Class::Invariant);
        op.operands().all(is_invariant)
    }

    fn visit(&self, op: OperationRef<'c, 'a>) -> Option<Class> {
        let class = match ir::name(op).as_str() {
            ops::linalg::GENERIC => return self.generic(op),
            ops::arith::INDEX_CAST | ops::arith::ADDI | ops::arith::SUBI | ops::arith::MULI => self.index(op),
            ops::tensor::FROM_ELEMENTS => self.element(op),
            ops::tensor::EXTRACT_SLICE => self.slice(op),
            ops::tensor::COLLAPSE_SHAPE | ops::tensor::EXPAND_SHAPE => self.reshape(op),
            _ => None,
        };
        // A slice at a dynamic offset may be out of bounds for steps that are not executed.
        let is_slice = op::is(&op, ops::tensor::EXTRACT_SLICE) && op.operand_count() > 1
            || op::is(&op, ops::tensor::INSERT_SLICE) && op.operand_count() > 2;
        let is_simple = op.region_count() == 0 || op::is(&op, ops::linalg::FILL);
        let is_free = is_simple && !is_slice;
        let is_invariant = || is_free && op::is_speculatable(&op) && self.is_invariant(op);
        class.or_else(|| is_invariant().then_some(Class::Invariant))
    }

    fn index(&self, op: OperationRef<'c, 'a>) -> Option<Class> {
        let form = |position| {
            let value: Value = ir::operand_at(op, position)?;
            if let Some(Class::Index { factor, offset }) = self.class(value) {
                return Some((factor, offset));
            }
            Some((0, ir::integer(value)?))
        };
        let (factor, offset) = form(0)?;
        let (factor, offset) = match ir::name(op).as_str() {
            ops::arith::INDEX_CAST => (factor, offset),
            ops::arith::ADDI => (factor + form(1)?.0, offset + form(1)?.1),
            ops::arith::SUBI => (factor - form(1)?.0, offset - form(1)?.1),
            _ => match (factor, form(1)?.0) {
                (_, 0) => (factor.checked_mul(form(1)?.1)?, offset.checked_mul(form(1)?.1)?),
                (0, other) => (offset.checked_mul(other)?, offset.checked_mul(form(1)?.1)?),
                _ => return None,
            },
        };
        let fits = |n: i64| (-MAX_MAGNITUDE..=MAX_MAGNITUDE).contains(&n);
        (factor != 0 && fits(factor) && fits(offset)).then_some(Class::Index { factor, offset })
    }

    /// A tensor with one element, the number of the step.
    fn element(&self, op: OperationRef<'c, 'a>) -> Option<Class> {
        let is_index = matches!(self.class(ir::operand_at(op, 0)?), Some(Class::Index { .. }));
        (op.operand_count() == 1 && is_index).then_some(Class::Stepwise)
    }

    /// A slice of a loop-invariant tensor at the number of the step, or a slice of a stepwise tensor.
    fn slice(&self, op: OperationRef<'c, 'a>) -> Option<Class> {
        let source = ir::operand_at(op, 0)?;
        let others: Vec<Value> = op.operands().skip(1).collect();
        match self.class(source)? {
            Class::Stepwise => others.iter().all(|other| self.is_outside(*other)).then_some(Class::Stepwise),
            Class::Invariant => {
                let slice = Slice::from_op(op, self)?;
                let extents = types::extents(source.r#type())?;
                let is_inside = self.completes || slice.is_inside(self.steps, &extents);
                is_inside.then_some(Class::Stepwise)
            }
            Class::Index { .. } => None,
        }
    }

    fn reshape(&self, op: OperationRef<'c, 'a>) -> Option<Class> {
        let source = ir::operand_at(op, 0)?;
        let is_stepwise = self.class(source) == Some(Class::Stepwise);
        let is_static =
            |value: Value| types::extents(value.r#type()).is_some_and(|e| !e.contains(&types::DYNAMIC));
        let result: Value = op.result(0).ok()?.into();
        let is_static = is_static(source) && is_static(result) && op.operand_count() == 1;
        shape::reassociation(op)?;
        (is_stepwise && is_static).then_some(Class::Stepwise)
    }

    fn generic(&self, op: OperationRef<'c, 'a>) -> Option<Class> {
        let nest = LoopNest::read(op).filter(|_| op.result_count() == 1)?;
        let operands = nest.operands.iter().map(|operand| self.class(operand.value));
        let operands: Vec<Class> = operands.collect::<Option<_>>()?;
        let is_tensor = |class: &Class| !matches!(class, Class::Index { .. });
        if !operands.iter().all(is_tensor) {
            return None;
        }
        let is_stepwise = operands.contains(&Class::Stepwise);
        let mut known: HashSet<ValueKey> =
            nest.operands.iter().map(|operand| ValueKey::of(operand.element)).collect();
        for inner in &nest.payload {
            // A read that may be out of bounds must not move before a check, and must not be added for steps that are not executed.
            let is_read = op::is(inner, ops::tensor::EXTRACT) && is_stepwise && self.completes;
            let is_safe = is_read || op::is(inner, ops::linalg::INDEX) || op::is_speculatable(inner);
            let mut operands = inner.operands();
            let is_known =
                operands.all(|operand| known.contains(&ValueKey::of(operand)) || self.is_outside(operand));
            if !is_safe || !is_known || inner.region_count() != 0 {
                return None;
            }
            known.extend(inner.results().map(ValueKey::of));
        }
        let is_known =
            |value: &Value<'c, 'a>| known.contains(&ValueKey::of(*value)) || self.is_outside(*value);
        if !nest.yielded.iter().all(is_known) {
            return None;
        }
        Some(if is_stepwise { Class::Stepwise } else { Class::Invariant })
    }
}

/// Whether an operation only computes values, and is not a check or a call.
fn computes(op: OperationRef) -> bool {
    let name = ir::name(op);
    ["arith.", "linalg.", "math.", "scf.", "tensor."].iter().any(|dialect| name.starts_with(dialect))
}

/// A `tensor.extract_slice` of a tensor at a multiple of the step, with static offsets in the other dimensions.
pub(super) struct Slice {
    /// The dimension of the source that the step selects from.
    pub(super) dimension: usize,
    pub(super) factor: i64,
    pub(super) offset: i64,
    /// The offsets in all dimensions. The offset in `dimension` is invalid.
    pub(super) offsets: Vec<i64>,
    pub(super) sizes: Vec<i64>,
    /// The dimension of the source for each dimension of the result.
    pub(super) kept: Vec<usize>,
}

impl Slice {
    pub(super) fn from_op<'c: 'a, 'a>(op: OperationRef<'c, 'a>, classes: &Classes<'c, 'a>) -> Option<Self> {
        let offsets = typed::i64s(op, "static_offsets");
        let sizes = typed::i64s(op, "static_sizes");
        let strides = typed::i64s(op, "static_strides");
        let mut dynamic = (0..offsets.len()).filter(|n| offsets.get(*n) == Some(&types::DYNAMIC));
        let (dimension, None) = (dynamic.next()?, dynamic.next()) else {
            return None;
        };
        let Class::Index { factor, offset } = classes.class(ir::operand_at(op, 1)?)? else {
            return None;
        };
        let is_one = |n: &i64| *n == 1;
        if !strides.iter().all(is_one) || !sizes.get(dimension).is_some_and(is_one) {
            return None;
        }
        // Sizes must be defined before the loop.
        let mut others = op.operands().skip(2);
        if !others.all(|size| classes.is_outside(size)) {
            return None;
        }
        let result = types::extents(op.result(0).ok()?.r#type())?;
        Some(Slice { dimension, factor, offset, kept: kept(&sizes, &result, dimension)?, offsets, sizes })
    }

    /// Whether the slices of all steps are known to be in bounds of a tensor with these extents.
    fn is_inside(&self, steps: Option<i64>, extents: &[i64]) -> bool {
        let last =
            steps.and_then(|steps| self.factor.checked_mul(steps.checked_sub(1)?)?.checked_add(self.offset));
        let extent = extents.get(self.dimension).copied().unwrap_or(types::DYNAMIC);
        let is_inside = |n: i64| (0..extent).contains(&n);
        last.is_some_and(is_inside) && is_inside(self.offset)
    }

    /// Whether the slices of all steps together are a slice.
    pub(super) fn is_one_slice(&self) -> bool {
        let others = 1..self.sizes.len();
        self.dimension == 0 && self.factor == 1 && self.offset == 0 && self.kept == others.collect::<Vec<_>>()
    }

    /// Whether all sizes are static.
    pub(super) fn is_static(&self) -> bool {
        !self.sizes.contains(&types::DYNAMIC)
    }
}

/// The dimensions of a slice that its result has. The result may lack dimensions with one element, in particular that of the step.
fn kept(sizes: &[i64], result: &[i64], step: usize) -> Option<Vec<usize>> {
    let mut dropped = sizes.len().checked_sub(result.len())?;
    let mut kept: Vec<usize> = (0..sizes.len()).collect();
    if dropped > 0 {
        kept.retain(|n| *n != step);
        dropped -= 1;
    }
    for n in (0..sizes.len()).rev() {
        if dropped > 0 && n != step && sizes.get(n) == Some(&1) {
            kept.retain(|other| *other != n);
            dropped -= 1;
        }
    }
    let extents: Vec<i64> = kept.iter().map(|n| sizes.get(*n).copied()).collect::<Option<_>>()?;
    (extents == result).then_some(kept)
}
