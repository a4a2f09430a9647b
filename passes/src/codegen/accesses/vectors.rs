// SPDX-License-Identifier: Apache-2.0
//! Verifies accesses of scalars and vectors.

use super::Verifier;
use super::arrays::Array;
use crate::ir::arith::Constant;
use crate::ir::{ValueKey, dense, ops, typed, vector};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{TypeLike, Value, ValueLike};
use skript_dialect::{PassError, melior};
use skript_symbolic::Polynomial;

/// The lanes of a vector that may be accessed.
#[derive(Clone, Debug)]
pub(super) enum Mask {
    /// The first lanes. Their number is at most the minimum of these numbers.
    First(Vec<Polynomial>),
    /// Arbitrary lanes, which depend on elements of arrays.
    Any,
}

/// The operand positions of a memory access.
struct Form {
    array: usize,
    /// The position of the mask among the operands after the subscripts.
    mask: Option<usize>,
    /// The stored vector: operand 0, or a position after the subscripts. `None` for a load, whose result is the vector.
    vector: Option<usize>,
}

/// The operand positions of an access; `None` for other operations.
fn form(name: &str) -> Option<Form> {
    let (array, mask, vector) = match name {
        ops::memref::LOAD | ops::vector::LOAD => (0, None, None),
        ops::memref::STORE | ops::vector::STORE => (1, None, Some(0)),
        ops::vector::MASKEDLOAD => (0, Some(0), None),
        ops::vector::MASKEDSTORE => (0, Some(0), Some(1)),
        ops::vector::GATHER => (0, Some(1), None),
        ops::vector::SCATTER => (0, Some(1), Some(2)),
        _ => return None,
    };
    Some(Form { array, mask, vector })
}

impl<'c: 'a, 'a> Verifier<'_, 'c, 'a> {
    /// Records the lanes that a mask selects.
    pub(super) fn mask(&mut self, op: OperationRef<'c, 'a>, name: &str) {
        let result = op.results().next().map(Value::from);
        let Some(result) = result.filter(|result| result.r#type().is_vector()) else {
            return;
        };
        let operands: Vec<Value> = op.operands().collect();
        let mask = match name {
            ops::vector::CREATE_MASK => match operands.as_slice() {
                [count] => Mask::First(vec![self.number(*count)]),
                _ => Mask::Any,
            },
            ops::vector::CONSTANT_MASK => match typed::i64s(op, "mask_dim_sizes").as_slice() {
                [count] => Mask::First(vec![Polynomial::constant(*count)]),
                _ => Mask::Any,
            },
            ops::arith::ANDI => {
                let masks = operands.iter().map(|operand| self.masks.get(&ValueKey::of(*operand)));
                let counts = masks.filter_map(|mask| match mask {
                    Some(Mask::First(counts)) => Some(counts.clone()),
                    Some(Mask::Any) | None => None,
                });
                let counts: Vec<Vec<Polynomial>> = counts.collect();
                if counts.is_empty() { Mask::Any } else { Mask::First(counts.concat()) }
            }
            ops::arith::CONSTANT => match constant_mask(op) {
                Some(count) => Mask::First(vec![Polynomial::constant(count)]),
                None => Mask::Any,
            },
            _ => Mask::Any,
        };
        self.masks.insert(ValueKey::of(result), mask);
    }

    /// Proves that a load or a store is in bounds of its memory.
    pub(super) fn access(&mut self, op: OperationRef<'c, 'a>, name: &str) -> Result<(), PassError> {
        let Some(form) = form(name) else {
            return Ok(());
        };
        let operands: Vec<Value> = op.operands().collect();
        let Some((array, rest)) = operands.get(form.array..).and_then(<[Value]>::split_first) else {
            return Ok(());
        };
        let Some(array) = self.arrays.get(&ValueKey::of(*array)).cloned() else {
            return Ok(());
        };
        let (subscripts, rest) = rest.split_at(array.strides.len().min(rest.len()));
        let subscripts: Vec<Polynomial> = subscripts.iter().map(|s| self.number(*s)).collect();
        let Some(first) = array.address(&subscripts) else {
            return Ok(());
        };
        let vector = match form.vector {
            None => op.results().next().map(Value::from),
            Some(0) if form.array == 1 => operands.first().copied(),
            Some(position) => rest.get(position).copied(),
        };
        let lanes = vector.and_then(|vector| vector::extents(vector.r#type()));
        let Some(lanes) = lanes else {
            return self.prove(op, &array, &first, &first);
        };
        let mask = form.mask.and_then(|position| rest.get(position).copied());
        let distances = match name {
            ops::vector::GATHER | ops::vector::SCATTER => rest.first().copied(),
            _ => None,
        };
        self.lanes(op, &array, &first, &lanes, mask, distances)
    }

    /// Proves that the lanes of a vector are in bounds of their memory.
    fn lanes(
        &mut self,
        op: OperationRef<'c, 'a>,
        array: &Array,
        first: &Polynomial,
        lanes: &[i64],
        mask: Option<Value<'c, 'a>>,
        distances: Option<Value<'c, 'a>>,
    ) -> Result<(), PassError> {
        let all: i64 = lanes.iter().product();
        let counts = match mask.map(|mask| self.masks.get(&ValueKey::of(mask))) {
            None => Vec::new(),
            Some(Some(Mask::First(counts))) => counts.clone(),
            // The active lanes depend on elements.
            Some(Some(Mask::Any) | None) => return Ok(()),
        };
        let distance = match distances.map(equal_distance) {
            None => 1,
            Some(Some(distance)) => distance,
            // The distances depend on elements, or are unequal.
            Some(None) => return Ok(()),
        };
        let mark = self.prover.mark();
        let mut last = Polynomial::constant(all - 1);
        for count in counts {
            // A vector without active lanes is not accessed, so at least one lane is assumed to be active.
            self.prover.assume_at_most(&Polynomial::constant(1), &count);
            let Some(last_active) = count.plus(-1) else {
                self.prover.rollback(mark);
                return Ok(());
            };
            last = self.prover.min(&last, &last_active);
            self.extend_marks(&[&last, &count]);
        }
        let last = last.scale(distance).and_then(|last| first.add(&last));
        let proven = match last {
            Some(last) => self.prove(op, array, first, &last),
            None => Ok(()),
        };
        self.prover.rollback(mark);
        proven
    }
}

/// Returns the number of active lanes of a constant mask, if they are the first lanes.
fn constant_mask(op: OperationRef) -> Option<i64> {
    let kind = op.result(0).ok()?.r#type();
    if vector::element_or_self(kind).to_string() != "i1" {
        return None;
    }
    let lanes = vector::extents(kind)?;
    let [lanes] = lanes.as_slice() else {
        return None;
    };
    let value = Constant::cast(op)?.value().ok()?;
    let bools = dense::bools(value, usize::try_from(*lanes).ok()?);
    let first = bools.iter().take_while(|lane| **lane != 0).count();
    let is_first = bools.iter().skip(first).all(|lane| *lane == 0);
    i64::try_from(first).ok().filter(|_| is_first)
}

/// Returns the stride of a constant index vector that begins with 0; `None` if the distances of its lanes differ.
fn equal_distance(distances: Value) -> Option<i64> {
    let text = Constant::of(distances)?.text();
    let (_, list) = text.split_once('[')?;
    let (list, _) = list.split_once(']')?;
    let numbers: Option<Vec<i64>> = list.split(',').map(|n| n.trim().parse().ok()).collect();
    let numbers = numbers?;
    let distance = *numbers.get(1)?;
    let are_equal = (0..).zip(&numbers).all(|(lane, number)| *number == lane * distance);
    (are_equal && distance >= 0).then_some(distance)
}
